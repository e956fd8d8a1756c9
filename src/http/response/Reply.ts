// Complete answers of the service, each in one buffer.
// It must not depend on how an answer was made.
import type * as Effect from "effect/Effect"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import { chatUsage, embeddingsUsage, noUsage } from "../../operations/usage.ts"
import type { RequestContext, ServedBy } from "../../domain/RequestContext.ts"
import type { Usage } from "../../domain/Usage.ts"
import type { PassedReply } from "../../translate/messages-to-claude.ts"
import { PassedEmbeddings } from "../../translate/shared/reply/embeddingList.ts"
import {
  customCompletion,
  omittedFrom,
  picturedCompletion,
  strictlyCompletion,
  strictlyEmbeddings
} from "../../translate/shared/reply/clientForm.ts"
import type { ChatCompletion } from "../../wire/openai/ChatReply.ts"
import type { EmbeddingList } from "../../wire/openai/Embeddings.ts"
import type { IncomingRequest } from "../request/IncomingRequest.ts"
import { type AnswerEnding, baseHeaders, closingHeaders, servedHeaders, withEnding } from "./responseHeaders.ts"

/** A JSON answer of 200 with the headers every answer has. */
export const json = (
  value: unknown,
  incoming: IncomingRequest,
  headers: Record<string, string> = baseHeaders(incoming)
): Answered => whole(JSON.stringify(value), "application/json", incoming, headers)

const whole = (
  body: string | Uint8Array,
  contentType: string,
  incoming: IncomingRequest,
  headers: Record<string, string>
): Answered => {
  incoming.recorder?.content?.answered(body)
  headers["content-type"] = contentType
  return incoming.exchange.whole(body, closingHeaders(headers, incoming))
}

/** A complete answer of an operation, with the account that served it. */
export const answer = (
  value: unknown,
  served: ServedBy,
  usage: Usage | undefined,
  incoming: IncomingRequest,
  ending?: AnswerEnding
): Answered => {
  incoming.recorder?.answered(served, usage)
  return json(value, incoming, servedHeaders(incoming, served, ending))
}

/** Vectors that are still the upstream's text stay it. */
export const embeddings = (
  list: EmbeddingList,
  served: ServedBy,
  strict: boolean,
  incoming: IncomingRequest
): Answered => {
  incoming.recorder?.answered(served, embeddingsUsage(list))
  const text =
    list instanceof PassedEmbeddings ? list.json(strict) : JSON.stringify(strict ? strictlyEmbeddings(list) : list)
  return whole(text, "application/json", incoming, servedHeaders(incoming, served))
}

export const completion = (
  full: ChatCompletion,
  served: ServedBy,
  { images, strict }: Pick<RequestContext, "images" | "strict">,
  incoming: IncomingRequest
): Answered => {
  const pictured = picturedCompletion(full, images, strict)
  return answer(
    customCompletion(strict ? strictlyCompletion(pictured) : pictured, incoming.customTools),
    withEnding(served, full.model_status),
    chatUsage(full.usage),
    incoming,
    { isInterrupted: full.continuation === "interrupted", omitted: strict ? omittedFrom(full, images) : [] }
  )
}

/** A complete native answer as its own bytes, whatever was asked. */
export const passed = (
  { bytes, contentType, images, modelStatus, usage }: PassedReply,
  target: ServedBy,
  _asked: unknown,
  incoming: IncomingRequest
): Answered => {
  const served = withEnding(target, modelStatus)
  incoming.recorder?.answered(served, withImages(chatUsage(usage), images))
  return whole(bytes, contentType, incoming, servedHeaders(incoming, served))
}

const withImages = (usage: Usage | undefined, images: number | undefined): Usage | undefined =>
  images === undefined ? usage : { ...(usage ?? noUsage), images }

type Answered = Effect.Effect<HttpServerResponse.HttpServerResponse>
