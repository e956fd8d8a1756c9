// Answers a call from the cache, or makes it and keeps its answer; the parts of the cache's key.
// It must not depend on what an answer contains, or on how the parts become a key.
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { credentialDigest } from "../auth/TokenProvider.ts"
import type { CacheRule } from "../domain/config/GatewayConfig.ts"
import type { GatewayError } from "../domain/GatewayError.ts"
import type { Operation } from "../domain/operations.ts"
import type { ProviderAccount } from "../domain/ProviderAccount.ts"
import type { CacheOptions, CacheStatus, RequestContext } from "../domain/RequestContext.ts"
import { isJsonObject, parseExactJsonText } from "../domain/text/json.ts"
import type { Recorded } from "../operations/rules.ts"
import type { Operations, PreparedCall } from "../provider/Provider.ts"
import type { ResponseCache } from "../state/ResponseCache.ts"
import type { Progress } from "../translate/Translator.ts"
import type { Prepared } from "../upstream/Prepared.ts"
import type { Opened } from "../upstream/Upstream.ts"
import type { Usage } from "../wire/openai/ChatReply.ts"

/** How an answer may come from the cache. */
export interface CacheAsk {
  readonly maxAgeSeconds: number
  /** Make a new one, and keep it. */
  readonly refresh: boolean
}

/** Undefined unless the request or its config asks; the request's own word counts. */
export const cacheAsk = (
  options: CacheOptions | undefined,
  rule: CacheRule | undefined,
  usualSeconds: number
): CacheAsk | undefined => {
  if (options?.mode === "off" || (options?.mode !== "ask" && rule === undefined)) return undefined
  return {
    maxAgeSeconds: options?.maxAgeSeconds ?? rule?.maxAgeSeconds ?? usualSeconds,
    refresh: options?.refresh ?? false
  }
}

/**
 * Who asks, whose credential answers, where, and every word of the request as the target gets it (TH38).
 * Translation reads `strict`, `ordered` and the model as it was written, and the answer's reading may depend on the request itself.
 */
const cacheIdentity = (
  { cache, key, ordered, strict }: RequestContext,
  account: ProviderAccount,
  credential: string,
  request: object,
  { body, bytes, headers, target, url }: Prepared<unknown, unknown>
): ReadonlyArray<string | Uint8Array> => [
  cache?.namespace === undefined ? `key ${key.id}` : `namespace ${cache.namespace}`,
  account.slug,
  credential,
  target.operation,
  target.issuer,
  target.modelId,
  url,
  JSON.stringify(headers),
  ordered === true ? "ordered" : String(strict),
  bytes ?? JSON.stringify(body),
  // Bytes are the whole request; no decoded field adds to them.
  bytes === undefined
    ? "bytes" in request && request.bytes instanceof Uint8Array
      ? request.bytes
      : JSON.stringify(request)
    : ""
]

/** An answer as text, and back. */
export interface Keeping<A> {
  readonly recall: (text: string) => A
  /** The answer, which saves itself when it is complete. */
  readonly keep: (value: A, save: (text: string) => Effect.Effect<void>) => Effect.Effect<A>
}

/** The parts of an attempt by which its answer is kept. */
interface CachedAttempt<Op extends Operation> {
  readonly request: Operations[Op]["request"]
  readonly account: ProviderAccount
  readonly prepared: PreparedCall<Op>
}

/** Answers a call from the cache, or makes it and keeps its answer for later requests. */
export const cached = <Op extends Operation, A, R>(
  cache: ResponseCache["Service"],
  { maxAgeSeconds, refresh }: CacheAsk,
  context: RequestContext,
  { account, prepared, request }: CachedAttempt<Op>,
  { keep, recall }: Keeping<A>,
  call: Effect.Effect<A, GatewayError, R>
): Effect.Effect<readonly [value: A, status: CacheStatus], GatewayError, R> => {
  const { credentials } = account
  // A request without a credential gets no answer, not even from the cache.
  if (credentials === undefined) return Effect.map(call, (value) => [value, "DISABLED"])
  const key = cache.keyOf(cacheIdentity(context, account, credentialDigest(credentials), request, prepared))
  const millis = maxAgeSeconds * 1_000
  const save = (text: string) => cache.set(key, text, millis, context.key.id)
  const made = (status: CacheStatus) =>
    Effect.flatMap(call, (value) => Effect.map(keep(value, save), (keeping) => [keeping, status] as const))
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

const countedProgress: Progress = { isCounted: true, characters: 0 }

/** Complete answers keep themselves when they are there. */
export const answerKeeping = <Out>({
  isPart,
  read,
  write
}: Pick<Recorded<Out, never>, "isPart" | "read" | "write">): Keeping<Out> => ({
  recall: read,
  keep: (value, save) => (isPart?.(value) === true ? Effect.succeed(value) : Effect.as(save(write(value)), value))
})

/** Streams keep themselves at their end. A stream over `longest` characters is not kept. */
export const streamKeeping = <Chunk>(
  { chunks: read, isPart, piece }: Pick<Recorded<never, Chunk>, "chunks" | "isPart" | "piece">,
  longest: number
): Keeping<Opened<Chunk>> => ({
  recall: (text) => {
    const end = text.indexOf("\n")
    return {
      chunks: Stream.fromIterable(read(text.slice(end + 1))),
      usage: () => usageOf(text.slice(0, end)),
      progress: () => countedProgress,
      keepsRequest: false
    }
  },
  keep: ({ chunks, ...opened }, save) => {
    let pieces = ""
    let isKept = true
    const noted = Stream.mapArray(chunks, (batch) => {
      for (const chunk of batch) {
        if (pieces.length <= longest) pieces += piece(chunk)
        if (isPart?.(chunk) === true) isKept = false
      }
      return batch
    })
    const saved = Effect.suspend(() =>
      pieces.length > longest || !isKept ? Effect.void : save(`${JSON.stringify(opened.usage() ?? null)}\n${pieces}`)
    )
    return Effect.succeed({ ...opened, chunks: Stream.concat(noted, Stream.drain(Stream.fromEffect(saved))) })
  }
})
