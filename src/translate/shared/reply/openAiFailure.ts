// A call that an OpenAI-compatible upstream refused, or Google in front of it: status and body to the reason.
// It must not know our own answers.
import { isJsonObject, type Json, type JsonObject } from "../../../domain/text/json.ts"
import type { Reason } from "../../../domain/ProviderError.ts"
import { failureFromGoogle } from "../google/googleFailure.ts"
import { readUpstreamError, statusInside } from "./upstreamError.ts"

/** Total: any status, any body. What no model server says of its own, Google says. */
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

/** The error that came as a 200, by itself or as an event; undefined when there is none. */
export const failureInside = (given: JsonObject): Reason | undefined => {
  const error = given["object"] === "error" ? given : given["error"]
  if (error === undefined || error === null || error === false) return undefined
  return failureFromOpenAi(statusInside(error), {}, isJsonObject(error) ? error : { error }, "stored")
}
