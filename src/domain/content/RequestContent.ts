// The content of one request as it is kept for operators: the client's body, the upstream bodies, the answer.
// It must not know how content is captured or stored. It never contains headers or credentials.
import * as Schema from "effect/Schema"

/** Whose content is kept: of no request, of those that end in an error, or of all. */
export const contentModes = ["off", "errors", "all"] as const
export type ContentMode = (typeof contentModes)[number]

/** `bytes` is the whole length; `isCut`: the text is only its beginning. */
const ContentText = Schema.Struct({
  text: Schema.String,
  bytes: Schema.Number,
  isCut: Schema.Boolean
})
export type ContentText = typeof ContentText.Type

/** One upstream call as it was sent. `adjusted` has the text form of dry runs. */
const ContentCall = Schema.Struct({
  provider: Schema.String,
  model: Schema.String,
  target: Schema.Number,
  url: Schema.String,
  body: ContentText,
  ignored: Schema.Array(Schema.String),
  adjusted: Schema.Array(Schema.String)
})
export type ContentCall = typeof ContentCall.Type

/** The answer is as the client got it: a body, or the events of a stream. */
export const RequestContent = Schema.Struct({
  request: ContentText,
  calls: Schema.Array(ContentCall),
  answer: Schema.optionalKey(ContentText)
})
export type RequestContent = typeof RequestContent.Type

/** Content with the request it belongs to. */
export interface KeptContent {
  /** The gateway's own id of the request. */
  readonly id: string
  readonly expiresMillis: number
  readonly content: RequestContent
}
