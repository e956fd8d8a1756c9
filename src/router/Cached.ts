// Answers a call from the cache, or makes it and keeps its answer for those who ask later.
// It must not know who asks for that, or what an answer is.
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { digestOf } from "../auth/TokenEntries.ts"
import type { GatewayError } from "../domain/GatewayError.ts"
import { isJsonObject, parseExactJsonText } from "../domain/text/json.ts"
import type { RequestContext } from "../domain/RequestContext.ts"
import type { ResponseCache } from "../state/ResponseCache.ts"
import type { Operations } from "../provider/Provider.ts"
import type { Progress } from "../translate/Translator.ts"
import type { Opened } from "../upstream/Upstream.ts"
import type { Usage } from "../wire/openai/ChatReply.ts"
import type { Attempt } from "./Attempts.ts"
import { type CacheAsk, cacheIdentity } from "./cacheKey.ts"
import type { Recorded } from "./recorded.ts"

export type CacheStatus = "DISABLED" | "MISS" | "HIT" | "REFRESH"

/** An answer as text, and back. */
export interface Keeping<A> {
  readonly recall: (text: string) => A
  /** The answer, which saves itself when it is complete. */
  readonly keep: (value: A, save: (text: string) => Effect.Effect<void>) => Effect.Effect<A>
}

export const cached = <Op extends keyof Operations, A, R>(
  cache: ResponseCache["Service"],
  { maxAgeSeconds, refresh }: CacheAsk,
  context: RequestContext,
  { account, prepared, request }: Attempt<Op>,
  { keep, recall }: Keeping<A>,
  call: Effect.Effect<A, GatewayError, R>
): Effect.Effect<readonly [value: A, status: CacheStatus], GatewayError, R> => {
  const { credentials } = account
  // Without a credential nobody is answered, be it from the cache.
  if (credentials === undefined) return Effect.map(call, (value) => [value, "DISABLED"])
  const key = cache.keyOf(cacheIdentity(context, account, digestOf(credentials), request, prepared))
  const millis = maxAgeSeconds * 1_000
  const save = (text: string) => cache.set(key, text, millis, context.key.id)
  const made = (status: CacheStatus) =>
    Effect.flatMap(call, (value) => Effect.map(keep(value, save), (kept) => [kept, status] as const))
  return refresh
    ? made("REFRESH")
    : Effect.flatMap(cache.get(key, millis), (text) =>
        text === undefined ? made("MISS") : Effect.succeed([recall(text), "HIT"] as const)
      )
}

/** What was counted by the upstream of a kept stream: its first line. */
const usageOf = (line: string): Usage | undefined => {
  const usage = Result.getOrUndefined(parseExactJsonText(line))
  return isJsonObject(usage) ? (usage as Usage) : undefined
}

const counted: Progress = { isCounted: true, characters: 0 }

/** Streams keep themselves once they have come to their end; one that grows too long is not worth it. */
export const keptStreams = <Chunk>(
  { chunks: read, piece }: Pick<Recorded<unknown, Chunk>, "chunks" | "piece">,
  longest: number
): Keeping<Opened<Chunk>> => ({
  recall: (text) => {
    const end = text.indexOf("\n")
    return {
      chunks: Stream.fromIterable(read(text.slice(end + 1))),
      usage: () => usageOf(text.slice(0, end)),
      progress: () => counted
    }
  },
  keep: ({ chunks, progress, usage }, save) => {
    let pieces = ""
    const noted = Stream.mapArray(chunks, (some) => {
      for (const chunk of some) if (pieces.length <= longest) pieces += piece(chunk)
      return some
    })
    const saved = Effect.suspend(() =>
      pieces.length > longest ? Effect.void : save(`${JSON.stringify(usage() ?? null)}\n${pieces}`)
    )
    return Effect.succeed({ chunks: Stream.concat(noted, Stream.drain(Stream.fromEffect(saved))), usage, progress })
  }
})
