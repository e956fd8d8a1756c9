// Complete answers of the service, each in one buffer.
// It must not depend on how an answer was made.
import * as Effect from "effect/Effect"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import { chatUsage, embeddingsUsage, imagesUsage, noUsage } from "../../operations/usage.ts"
import type { RequestContext, ServedBy } from "../../domain/RequestContext.ts"
import type { Usage } from "../../domain/Usage.ts"
import type { PassedReply } from "../../translate/messages-to-claude.ts"
import { PassedEmbeddings } from "../../translate/shared/reply/embeddingList.ts"
import {
  type AnswerCost,
  customCompletion,
  omittedFrom,
  picturedCompletion,
  strictlyCompletion,
  strictlyEmbeddings,
  strictlyImages,
  withCost
} from "../../translate/shared/reply/clientForm.ts"
import type { ChatCompletion } from "../../wire/openai/ChatReply.ts"
import type { EmbeddingList } from "../../wire/openai/Embeddings.ts"
import type { ImageList } from "../../wire/openai/Images.ts"
import type { IncomingRequest } from "../request/IncomingRequest.ts"
import {
  type AnswerEnding,
  baseHeaders,
  closingHeaders,
  servedHeaders,
  shownCost,
  withEnding
} from "./responseHeaders.ts"

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

/** What an operation has answered: `write` makes the answer once its cost is known, for which the first one of a process loads prices. */
const settled = (
  served: ServedBy,
  usage: Usage | undefined,
  incoming: IncomingRequest,
  write: (cost: AnswerCost | undefined) => Answered
): Answered => {
  const { recorder, startedMillis } = incoming
  if (recorder === undefined) return write(undefined)
  recorder.answered(served, usage)
  const shown = () => write(shownCost(incoming, served))
  const isPriced = recorder.prices === undefined || recorder.charged(startedMillis) !== undefined
  return isPriced ? shown() : Effect.flatMap(recorder.prices.load, shown)
}

/** A complete answer of an operation, with the account that served it. */
export const answer = (
  value: unknown,
  served: ServedBy,
  usage: Usage | undefined,
  incoming: IncomingRequest,
  ending?: AnswerEnding
): Answered => settled(served, usage, incoming, () => json(value, incoming, servedHeaders(incoming, served, ending)))

/** Vectors that are still the upstream's text stay it. */
export const embeddings = (
  list: EmbeddingList,
  served: ServedBy,
  strict: boolean,
  incoming: IncomingRequest
): Answered =>
  settled(served, embeddingsUsage(list), incoming, (cost) => {
    const { usage } = withCost({ usage: list.usage }, strict ? undefined : cost)
    const text =
      list instanceof PassedEmbeddings
        ? list.json(strict, usage)
        : JSON.stringify(strict ? strictlyEmbeddings(list) : { ...list, usage })
    return whole(text, "application/json", incoming, servedHeaders(incoming, served))
  })

/** A list of images. */
export const images = (full: ImageList, served: ServedBy, strict: boolean, incoming: IncomingRequest): Answered =>
  settled(served, imagesUsage(full), incoming, (cost) =>
    json(strict ? strictlyImages(full) : withCost(full, cost), incoming, servedHeaders(incoming, served))
  )

export const completion = (
  full: ChatCompletion,
  served: ServedBy,
  { images, strict }: Pick<RequestContext, "images" | "strict">,
  incoming: IncomingRequest
): Answered => {
  const ended = withEnding(served, full.model_status)
  return settled(ended, chatUsage(full.usage), incoming, (cost) => {
    const pictured = picturedCompletion(full, images, strict)
    const formed = strict ? strictlyCompletion(pictured) : withCost(pictured, cost)
    const ending = {
      isInterrupted: full.continuation === "interrupted",
      omitted: strict ? omittedFrom(full, images) : []
    }
    return json(customCompletion(formed, incoming.customTools), incoming, servedHeaders(incoming, ended, ending))
  })
}

/** A complete native answer as its own bytes, whatever was asked. */
export const passed = (
  { bytes, contentType, images, modelStatus, usage }: PassedReply,
  target: ServedBy,
  _asked: unknown,
  incoming: IncomingRequest
): Answered => {
  const served = withEnding(target, modelStatus)
  return settled(served, withImages(chatUsage(usage), images), incoming, () =>
    whole(bytes, contentType, incoming, servedHeaders(incoming, served))
  )
}

const withImages = (usage: Usage | undefined, images: number | undefined): Usage | undefined =>
  images === undefined ? usage : { ...(usage ?? noUsage), images }

type Answered = Effect.Effect<HttpServerResponse.HttpServerResponse>
