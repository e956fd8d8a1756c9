// Fetches media for calls whose upstream takes bytes only, once for all attempts of a request.
// It must not depend on how media are fetched, or on which upstreams need it.
import * as Effect from "effect/Effect"
import type { GatewayError } from "../domain/GatewayError.ts"
import type { LimitValues } from "../domain/Limits.ts"
import type { RequestContext } from "../domain/RequestContext.ts"
import type { FetchedMedia } from "../translate/Translator.ts"
import type { MediaFetch } from "../upstream/MediaFetch.ts"

/** A request of a client; of one request all attempts give the same object. */
interface Asked {
  readonly context: RequestContext
}

export type Fetched = ReadonlyMap<string, FetchedMedia>

export type Fetching = (asking: Asked, urls: ReadonlyArray<string>) => Effect.Effect<Fetched, GatewayError>

/** Fetches media that no earlier attempt has fetched, within the deadline of the client. */
export const fetching = (fetch: MediaFetch, { mediaMillis }: LimitValues): Fetching => {
  const kept = new WeakMap<Asked, Fetched>()
  return (asking, urls) =>
    Effect.clockWith((clock) => {
      const before: Fetched = kept.get(asking) ?? new Map()
      const wanted = urls.filter((url) => !before.has(url))
      if (wanted.length === 0) return Effect.succeed(before)
      const { deadlineMillis } = asking.context
      const left =
        deadlineMillis === undefined ? mediaMillis : Math.max(0, deadlineMillis - clock.currentTimeMillisUnsafe())
      return Effect.map(fetch(wanted, left, asking.context.room, asking.context.key.id), (fetched) => {
        const all = new Map([...before, ...fetched])
        kept.set(asking, all)
        return all
      })
    })
}

/** Where media are fetched, and a request names none that is. */
export const nothingFetched: Fetched = new Map()

/** What is known of an address; undefined where nothing is fetched at all. */
export const fetchedAt = (media: Fetched | undefined, url: string): FetchedMedia | undefined =>
  media === undefined ? undefined : (media.get(url) ?? { _tag: "Unfetchable" })

/** For dry runs, which show a request and send none. */
export const notFetching: Fetching = (_asking, urls) =>
  Effect.succeed(new Map(urls.map((url) => [url, { _tag: "Shown" }])))
