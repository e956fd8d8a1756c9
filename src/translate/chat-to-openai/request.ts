// A chat request for an OpenAI-compatible upstream: passed whole, with what only the gateway understands taken out.
// It must not know URLs or credentials.
import * as Result from "effect/Result"
import type { RequestFault } from "../../domain/GatewayError.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import type { Adjustment, Translated, TranslateContext } from "../Translator.ts"
import { messagesToOpenAi } from "./messages.ts"
import { heldBack } from "./params.ts"

/** The body: the client's own fields in their order, known or not. */
export type OpenAiRequest = Readonly<Record<string, unknown>>

/** Efforts that these upstreams know (table 4). */
const knownEfforts: ReadonlyArray<string> = ["none", "minimal", "low", "medium", "high"]

/** An effort above those known is sent as the highest of them. */
const adjustedEffort = (name: string, value: unknown): Adjustment | undefined =>
  name === "reasoning_effort" && (value === "xhigh" || value === "max")
    ? { param: name, asked: value, sent: "high", takes: knownEfforts }
    : undefined

/** Nothing else is defaulted, clamped or checked that the upstream checks itself; null is an absent field. */
export const chatToOpenAiRequest = (
  request: ChatRequest,
  context: TranslateContext
): Result.Result<Translated<OpenAiRequest>, RequestFault> => {
  const messages = messagesToOpenAi(request.messages)
  if (Result.isFailure(messages)) return Result.fail(messages.failure)
  const ignored: Array<string> = []
  const fields: Array<readonly [string, unknown]> = []
  let effort: Adjustment | undefined
  for (const [name, value] of Object.entries(request)) {
    if (value === undefined || value === null) continue
    if (heldBack.has(name) || (name === "modalities" && asksForImages(value))) ignored.push(name)
    else if (name === "model") fields.push([name, context.target.modelId])
    else if (name === "messages") fields.push([name, messages.success])
    else if (name === "stream_options" && request.stream === true)
      fields.push([name, { ...request.stream_options, include_usage: true }])
    else if (name === "max_completion_tokens" && (request.max_tokens ?? undefined) === undefined)
      fields.push(["max_tokens", value])
    else {
      const adjusted = adjustedEffort(name, value)
      effort ??= adjusted
      fields.push([name, adjusted?.sent ?? value])
    }
  }
  // Usage is counted on every stream; the chunk is shown to clients that asked for it.
  if (request.stream === true && (request.stream_options ?? undefined) === undefined) {
    fields.push(["stream_options", { include_usage: true }])
  }
  return Result.succeed({
    body: Object.fromEntries(fields),
    headers: {},
    ignored,
    ...(effort === undefined ? {} : { adjusted: [effort] })
  })
}

const asksForImages = (modalities: unknown): boolean => Array.isArray(modalities) && modalities.includes("image")
