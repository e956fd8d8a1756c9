// Contract schemas of request and answer headers, each with its description.
// It must not know how headers are read or written.
import * as Schema from "effect/Schema"

const optionalHeader = (description: string) => Schema.optionalKey(Schema.String.annotate({ description }))
const requiredHeader = (description: string) => Schema.String.annotate({ description })

/** Headers of a request for a model. */
export const requestHeaders = {
  "x-gateway-provider": optionalHeader("Slug of the provider, with or without @, for a model that names none."),
  "x-gateway-config": optionalHeader("A gateway config: its id, or the config itself as JSON."),
  "x-gateway-metadata": optionalHeader(
    "JSON object of strings; goes to the log, and upstream as labels where that is asked."
  ),
  "x-gateway-trace-id": optionalHeader("1 to 128 printable characters that mark the answer and the log."),
  "x-gateway-request-timeout": optionalHeader("Milliseconds the whole request may take, retries included."),
  "x-gateway-cache": optionalHeader("off, refresh, or how many seconds old an answer may be."),
  "x-gateway-cache-force-refresh": optionalHeader("true asks the provider again and keeps the new answer."),
  "x-gateway-cache-namespace": optionalHeader("Answers are shared within a namespace instead of within a key."),
  "x-gateway-anthropic-beta": optionalHeader("Flags for Claude, joined by commas; the same as anthropic-beta."),
  "x-gateway-dry-run": optionalHeader("true answers what would be sent, and sends nothing."),
  "x-gateway-unsupported-params": optionalHeader(
    "ignore leaves out parameters without an equivalent and names them; reject refuses the request."
  ),
  "x-gateway-vertex-project-id": optionalHeader("Google Cloud project, for a credential of the request."),
  "x-gateway-vertex-region": optionalHeader("Region of Vertex AI, for a credential of the request."),
  "x-gateway-vertex-service-account-json": optionalHeader("A service account's key as JSON, for this request only."),
  "x-gateway-strict-schema-compliance": optionalHeader(
    "false adds the fields that OpenAI's schema lacks; true, the default, leaves them out."
  ),
  "x-gateway-images": optionalHeader(
    "markdown puts the pictures of a chat's answer into its text, as Markdown links with data."
  ),
  authorization: optionalHeader(
    "A credential for the provider, where the gateway key stands elsewhere: an access token or an API key."
  )
}

/** Headers on every answer to a request that reached the request handler. */
export const arrivalFields = {
  "x-request-id": requiredHeader("The id of this request in the log; the client's own where it sent one."),
  "x-gateway-trace-id": requiredHeader("The trace this request belongs to.")
}

/** Headers on answers of a provider, and on errors after a provider was called. */
export const calledFields = {
  ...arrivalFields,
  "x-gateway-provider": optionalHeader("Slug of the provider that was called last."),
  "x-gateway-last-used-option-index": optionalHeader("The place of its target in the config."),
  "x-gateway-retry-attempt-count": optionalHeader("How often that target was called again."),
  "x-gateway-skipped-targets": optionalHeader(
    "The places in the config of targets that were not called because their circuits were open, joined by commas."
  ),
  "x-gateway-cache-status": optionalHeader("DISABLED, MISS, HIT or REFRESH; never HIT on an error.")
}

/** Further headers on temporary errors. */
export const retryFields = {
  "retry-after": optionalHeader("Seconds to wait before another try."),
  "retry-after-ms": optionalHeader("The same in milliseconds."),
  "x-should-retry": optionalHeader("false where the same request will fail again.")
}

/** Headers on every answer of a provider. */
export const servedFields = {
  ...calledFields,
  "x-gateway-ignored-params": optionalHeader("Parameters that were left out, joined by commas."),
  "x-gateway-adjusted-params": optionalHeader(
    "Parameters that were sent with another value, as name=asked>sent, joined by commas."
  ),
  "x-gateway-translated": optionalHeader("messages-to-chat where a message was served by a model that is not Claude."),
  "x-gateway-continuation": optionalHeader(
    "interrupted where the rest of a long answer could not be had; the answer ends with finish_reason length."
  ),
  "x-gateway-omitted-content": optionalHeader(
    "What a strict answer leaves out because OpenAI's schema lacks it: images, provider_parts. A stream names images where the request asks for them."
  ),
  "x-gateway-model-warning": optionalHeader(
    "deprecated or shut_down, with the day of the model's end and its successor where they are known."
  )
}
