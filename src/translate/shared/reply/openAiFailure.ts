// Maps error responses of OpenAI-compatible upstreams, and of Google in front of them, to error reasons.
// Must not depend on the gateway's own error responses.
import { isJsonObject, type Json, type JsonObject } from "../../../domain/text/json.ts"
import type { Reason } from "../../../domain/ProviderError.ts"
import { failureFromGoogle } from "../google/googleFailure.ts"
import { readUpstreamError, statusInside } from "./upstreamError.ts"

/** Total: accepts any status and any body. Errors without a model server's marks are mapped as Google's. */
export const failureFromOpenAi = (
  status: number,
  headers: Readonly<Record<string, string>>,
  body: Json | string,
  origin: "caller" | "stored"
): Reason => {
  const error = readUpstreamError(status, headers, body)
  const { text, message } = error
  const code = error.code === undefined ? {} : { upstreamCode: error.code }
  if (status === 413) return { _tag: "PayloadTooLarge", message, ...code }
  if ((status === 400 || status === 422) && (error.code === "context_length_exceeded" || contextTexts.test(text))) {
    return { _tag: "ContextTooLong", message }
  }
  if (status === 404 && servedTexts.test(text))
    return { _tag: "ModelNotFound", message: `${message} ${servedHint}`, ...code }
  return failureFromGoogle(status, headers, body, origin)
}

const contextTexts = /maximum (context|model) length|context (length|window) (is |has been )?exceeded/i

const servedTexts = /\bmodel\b.{0,200}\bdoes not exist/i
const servedHint = "Set the endpoint's model in the provider's endpoints to the name under which it serves the model."

/** An error sent with status 200, as a body or an event; undefined when there is none. */
export const openAiFailureInside = (given: JsonObject): Reason | undefined => {
  const error = given["object"] === "error" ? given : given["error"]
  if (error === undefined || error === null || error === false) return undefined
  return failureFromOpenAi(statusInside(error), {}, isJsonObject(error) ? error : { error }, "stored")
}
