// The headers of requests and answers as the contract declares them, each with what it means.
// It must not know how they are read or written.
import * as Schema from "effect/Schema"

const said = (description: string) => Schema.optionalKey(Schema.String.annotate({ description }))
const always = (description: string) => Schema.String.annotate({ description })

/** What a request for a model may say beside its body. */
export const requestHeaders = {
  "x-gateway-provider": said("Slug of the provider, with or without @, for a model that names none."),
  "x-gateway-config": said("A gateway config: its id, or the config itself as JSON."),
  "x-gateway-metadata": said("JSON object of strings; goes to the log, and upstream as labels where that is asked."),
  "x-gateway-trace-id": said("1 to 128 printable characters that mark the answer and the log."),
  "x-gateway-request-timeout": said("Milliseconds the whole request may take, retries included."),
  "x-gateway-cache": said("off, refresh, or how many seconds old an answer may be."),
  "x-gateway-cache-force-refresh": said("true asks the provider again and keeps the new answer."),
  "x-gateway-cache-namespace": said("Answers are shared within a namespace instead of within a key."),
  "x-gateway-anthropic-beta": said("Flags for Claude, joined by commas; the same as anthropic-beta."),
  "x-gateway-dry-run": said("true answers what would be sent, and sends nothing."),
  "x-gateway-unsupported-params": said(
    "ignore leaves out parameters without an equivalent and names them; reject refuses the request."
  ),
  "x-gateway-vertex-project-id": said("Google Cloud project, beside a credential of the request."),
  "x-gateway-vertex-region": said("Region of Vertex AI, beside a credential of the request."),
  "x-gateway-vertex-service-account-json": said("A service account's key as JSON, for this request only."),
  "x-gateway-strict-schema-compliance": said(
    "false adds the fields that OpenAI's schema lacks; true, the default, leaves them out."
  ),
  authorization: said(
    "A credential for the provider, where the gateway key stands elsewhere: an access token or an API key."
  )
}

/** On every answer of a route of the boundary. */
export const arrivalFields = {
  "x-request-id": always("The id of this request in the log; the client's own where it sent one."),
  "x-gateway-trace-id": always("The trace this request belongs to.")
}

/** On answers of a provider, and on errors of a route that calls one, where one was called. */
export const calledFields = {
  ...arrivalFields,
  "x-gateway-provider": said("Slug of the provider that was called last."),
  "x-gateway-last-used-option-index": said("The place of its target in the config."),
  "x-gateway-retry-attempt-count": said("How often that target was called again."),
  "x-gateway-cache-status": said("DISABLED, MISS, HIT or REFRESH; never HIT on an error.")
}

/** On errors that may pass, besides. */
export const retryFields = {
  "retry-after": said("Seconds to wait before another try."),
  "retry-after-ms": said("The same in milliseconds."),
  "x-should-retry": said("false where the same request will fail again.")
}

/** On every answer that a provider gave. */
export const servedFields = {
  ...calledFields,
  "x-gateway-ignored-params": said("Parameters that were left out, joined by commas."),
  "x-gateway-adjusted-params": said(
    "Parameters that were sent with another value, as name=asked>sent, joined by commas."
  )
}
