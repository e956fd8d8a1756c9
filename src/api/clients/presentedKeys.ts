// The texts a request presents as its gateway key, in the order in which they are tried.
// It must not know which keys exist. Rules: N204, and section 4 of the contract.
import { gatewayHeader, type HeaderRecord, requestHeaderNames, withoutBearer } from "../Headers.ts"

const longest = 512

/** True for text that could be a key: printable, without spaces, of a bounded length. */
const isKeyText = (text: string | undefined): text is string =>
  text !== undefined && text.length <= longest && /^[\x21-\x7e]+$/.test(text)

/**
 * The own header alone where it is sent, so that a provider's credential elsewhere is never tried as a key. Else every
 * place where an SDK puts its key, `?key=` of native routes last: the first that is a known key counts, whatever its form.
 */
export const presentedKeys = (headers: HeaderRecord, queryKey?: string): ReadonlyArray<string> => {
  const own = gatewayHeader(headers, requestHeaderNames.apiKey)?.trim()
  if (own !== undefined && own !== "") return [own]
  const authorization = headers["authorization"]
  const places = [
    authorization === undefined ? undefined : withoutBearer(authorization),
    headers["x-api-key"]?.trim(),
    headers["x-goog-api-key"]?.trim(),
    headers["api-key"]?.trim(),
    queryKey?.trim()
  ]
  return [...new Set(places.filter(isKeyText))]
}

/** How the credentials of others begin, the longer beginning first. */
const foreignForms: ReadonlyArray<readonly [RegExp, string]> = [
  [/^sk-ant-/, "a key of Anthropic"],
  [/^sk-or-/, "a key of OpenRouter"],
  [/^sk-lf-|^pk-lf-/, "a key of Langfuse"],
  [/^sk-/, "a key of OpenAI"],
  [/^pk-/, "a public key of another service"],
  [/^(AIza|AQ\.)/, "an API key of Google"],
  [/^ya29\./, "an access token of Google"],
  [/^eyJ/, "a signed token"],
  [/^gsk_/, "a key of Groq"],
  [/^xai-/, "a key of xAI"],
  [/^hf_/, "a token of Hugging Face"]
]

/** What a text that is no known key is by its form. The text itself is never repeated. */
export const foreignForm = (text: string): string | undefined => foreignForms.find(([form]) => form.test(text))?.[1]
