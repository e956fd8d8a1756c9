// Fetches media behind public https addresses, for upstreams that take bytes only. Off unless the operator wants it.
// It must not know requests, dialects or what the bytes are for. Hosts get neither credential nor header of anybody.
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Semaphore from "effect/Semaphore"
import { Busy, ConcurrencyReached } from "../domain/GatewayError.ts"
import { Limits, type LimitValues } from "../domain/Limits.ts"
import type { Room, Shortage } from "../domain/Room.ts"
import { isPublicMedia } from "../translate/shared/media/media.ts"
import { anyBytes, isReadable, normaliseMime } from "../translate/shared/media/mime.ts"
import { isGlobalAddress } from "../translate/shared/media/publicHost.ts"
import type { FetchedMedia } from "../translate/Translator.ts"
import type { TransportRequest, TransportResponse } from "./HttpExchange.ts"
import { HostAddresses } from "./HostAddresses.ts"
import { MediaFault, type MediaFaultKind, mediaFaultText } from "./MediaFault.ts"
import { Transport } from "./Transport.ts"

/** Too much is being fetched, by all requests or by those of this key. */
type NoRoom = Busy | ConcurrencyReached

/** What became of each address of one request, all of them within `millis`; `room` counts what was fetched until the request ends. */
export type MediaFetch = (
  urls: ReadonlyArray<string>,
  millis: number,
  room?: Room
) => Effect.Effect<ReadonlyMap<string, FetchedMedia>, NoRoom>

/** Undefined: nothing is fetched. */
export const MediaFetch: Context.Reference<MediaFetch | undefined> = Context.Reference<MediaFetch | undefined>(
  "gateway/upstream/MediaFetch",
  {
    defaultValue: () => undefined
  }
)

export const mediaFetchLayer: Layer.Layer<never, never, Transport> = Layer.effect(
  MediaFetch,
  Effect.gen(function* () {
    const transport = yield* Transport
    const addressesOf = yield* HostAddresses
    const limits = yield* Limits
    const connections = yield* Semaphore.make(limits.mediaConnections)
    const whole: Held = { bytes: 0 }

    const fetchOne = (
      text: string,
      own: Held,
      room: Room | undefined
    ): Effect.Effect<FetchedMedia, MediaFault | NoRoom> => {
      const url = isPublicMedia(text) ? URL.parse(text) : null
      if (url === null) return refuse({ kind: "no_public_address" })
      const called = Effect.flatMap(checkedAddresses(url, addressesOf), (addresses) =>
        Effect.flatMap(Effect.mapError(transport.open(requestFor(url, addresses, limits)), ofTransport), (response) =>
          read(response, { own, whole, room, limits })
        )
      )
      return connections.withPermits(1)(Effect.scoped(called))
    }

    return (urls, millis, room) => {
      if (urls.length > limits.mediaUrls)
        return Effect.succeed(new Map(urls.map((url) => [url, failed({ kind: "too_many", limit: limits.mediaUrls })])))
      const own: Held = { bytes: 0 }
      return Effect.clockWith((clock) => {
        const ends = clock.currentTimeMillisUnsafe() + Math.min(millis, limits.mediaMillis)
        const outcome = (url: string): Effect.Effect<readonly [string, FetchedMedia], NoRoom> =>
          fetchOne(url, own, room).pipe(
            Effect.timeoutOrElse({
              duration: Math.max(0, ends - clock.currentTimeMillisUnsafe()),
              orElse: () => refuse({ kind: "timeout" })
            }),
            Effect.catchTag("MediaFault", ({ why }) => Effect.succeed(failed(why))),
            Effect.map((fetched) => [url, fetched] as const)
          )
        return Effect.forEach(urls, (url) => Effect.suspend(() => outcome(url)), { concurrency: atOnce })
      }).pipe(
        Effect.map((all) => new Map(all)),
        Effect.ensuring(
          Effect.sync(() => {
            whole.bytes -= own.bytes
          })
        )
      )
    }
  })
)

/** Of one request. */
const atOnce = 8

/** Bytes in memory that are not handed over yet. */
interface Held {
  bytes: number
}

interface Reading {
  readonly own: Held
  /** Of all requests. */
  readonly whole: Held
  /** Of the request, until it ends. */
  readonly room: Room | undefined
  readonly limits: LimitValues
}

const refuse = (why: MediaFaultKind): Effect.Effect<never, MediaFault> => Effect.fail(new MediaFault({ why }))

const ofTransport = ({
  kind
}: {
  readonly kind: Extract<MediaFaultKind, { kind: "transport" }>["fault"]
}): MediaFault => new MediaFault({ why: { kind: "transport", fault: kind } })

const failed = (why: MediaFaultKind): FetchedMedia => ({ _tag: "Failed", message: mediaFaultText(why) })

/** One address that is not public refuses the host; those looked at are the ones called, and the name is not asked again. */
const checkedAddresses = (
  { hostname }: URL,
  addressesOf: HostAddresses
): Effect.Effect<ReadonlyArray<string>, MediaFault> => {
  const literal = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname
  return Effect.flatMap(isGlobalAddress(literal) ? Effect.succeed([literal]) : addressesOf(hostname), (addresses) =>
    addresses.length > 0 && addresses.every(isGlobalAddress)
      ? Effect.succeed(addresses)
      : refuse({ kind: "no_public_address" })
  )
}

const requestFor = (
  { origin, pathname, search }: URL,
  addresses: ReadonlyArray<string>,
  { connectMillis, mediaMillis }: LimitValues
): TransportRequest => ({
  method: "GET",
  url: origin + pathname + search,
  addresses,
  headers: {},
  auth: {},
  body: undefined,
  connectMillis,
  firstByteMillis: mediaMillis,
  idleMillis: mediaMillis,
  totalMillis: mediaMillis
})

/** What says nothing passes: the bytes are looked at as well, by those who read them. */
const isFetched = (contentType: string | undefined): boolean => {
  const mime = contentType === undefined ? anyBytes : (normaliseMime(contentType) ?? anyBytes)
  return mime.endsWith("/octet-stream") || (isReadable(mime) && !/^(audio|video)\//.test(mime))
}

/** The head is judged before anything of the body is taken. */
const read = (response: TransportResponse, reading: Reading): Effect.Effect<FetchedMedia, MediaFault | NoRoom> => {
  const { headers, status } = response
  const {
    limits: { mediaBytes },
    own
  } = reading
  const contentType = headers["content-type"]
  if (status >= 300 && status < 400) return refuse({ kind: "redirect" })
  if (status !== 200) return refuse({ kind: "status", status })
  if (!isFetched(contentType)) return refuse({ kind: "type" })
  if (own.bytes + Number(headers["content-length"] ?? 0) > mediaBytes)
    return refuse({ kind: "too_large", limitBytes: mediaBytes })
  const parts: Array<Uint8Array> = []
  return Effect.flatMap(readBody(response.body, parts, reading), (): Effect.Effect<FetchedMedia, MediaFault> => {
    const data = Buffer.concat(parts).toString("base64")
    return data === "" ? refuse({ kind: "empty" }) : Effect.succeed({ _tag: "Fetched", contentType, data })
  })
}

/** Counts what comes, so that neither a request nor all of them hold more than they may. */
const readBody = (
  body: TransportResponse["body"],
  parts: Array<Uint8Array>,
  reading: Reading
): Effect.Effect<void, MediaFault | NoRoom> => {
  const {
    limits: { mediaBytes, mediaInFlightBytes },
    own,
    room,
    whole
  } = reading
  const pull: Effect.Effect<void, MediaFault | NoRoom> = Effect.matchEffect(body, {
    onFailure: (end) => (Cause.isDone(end) ? Effect.void : Effect.fail(ofTransport(end))),
    onSuccess: (some) => {
      let shortage: Shortage | undefined
      for (const bytes of some) {
        parts.push(bytes)
        own.bytes += bytes.length
        whole.bytes += bytes.length
        shortage ??= room?.take(bytes.length)
      }
      if (shortage === "key") return Effect.fail(new ConcurrencyReached({ resource: "bytes", limit: undefined }))
      if (own.bytes > mediaBytes) return refuse({ kind: "too_large", limitBytes: mediaBytes })
      return shortage === "all" || whole.bytes > mediaInFlightBytes
        ? Effect.fail(new Busy({ code: "overloaded", retryAfterMillis: 1_000 }))
        : pull
    }
  })
  return pull
}
