// Fetches media from public https URLs, for upstreams that take bytes only. Off by default.
// Must not know requests, dialects or what the bytes are for. Hosts receive no credential and no header of a client.
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Resolver } from "node:dns/promises"
import { FairSlots } from "../domain/collections.ts"
import { Busy, ConcurrencyReached } from "../domain/GatewayError.ts"
import { Limits, type LimitValues } from "../domain/Limits.ts"
import type { Room, Shortage } from "../domain/RequestContext.ts"
import { monotonicMillis } from "../domain/time.ts"
import { isGlobalAddress, isPublicMedia } from "../translate/shared/media/media.ts"
import { anyBytes, isReadable, normaliseMime } from "../translate/shared/media/mime.ts"
import type { FetchedMedia } from "../translate/Translator.ts"
import { type FaultKind, faultReason, type TransportRequest, type TransportResponse } from "./HttpExchange.ts"
import { Transport } from "./Transport.ts"

/** The IPv4 and IPv6 addresses; empty for a name without any, or when the look-up fails. */
export type HostAddresses = (host: string) => Effect.Effect<ReadonlyArray<string>>

/** Uses these DNS servers, or those of the machine. */
export const hostAddressesBy =
  (servers?: ReadonlyArray<string>): HostAddresses =>
  (host) =>
    Effect.callback((resume) => {
      const resolver = new Resolver()
      if (servers !== undefined) resolver.setServers(servers)
      const ofKind = (kind: "A" | "AAAA"): Promise<ReadonlyArray<string>> =>
        resolver.resolve(host, kind).catch(() => [])
      void Promise.all([ofKind("A"), ofKind("AAAA")]).then((both) => resume(Effect.succeed(both.flat())))
      return Effect.sync(() => resolver.cancel())
    })

export const HostAddresses: Context.Reference<HostAddresses> = Context.Reference<HostAddresses>(
  "gateway/upstream/HostAddresses",
  {
    defaultValue: () => hostAddressesBy()
  }
)

/** Why a media URL was not fetched. */
type MediaFaultKind =
  /** The name has no address, or not only public ones. The client must not learn which of the two. */
  | { readonly kind: "no_public_address" }
  | { readonly kind: "redirect" }
  | { readonly kind: "status"; readonly status: number }
  | { readonly kind: "type" }
  | { readonly kind: "empty" }
  | { readonly kind: "too_large"; readonly limitBytes: number }
  | { readonly kind: "too_many"; readonly limit: number }
  | { readonly kind: "timeout" }
  | { readonly kind: "transport"; readonly fault: FaultKind }

class MediaFault extends Data.TaggedError("MediaFault")<{ readonly why: MediaFaultKind }> {}

/** The reason and the remedy, for the client. */
const mediaFaultText = (why: MediaFaultKind): string => {
  switch (why.kind) {
    case "no_public_address":
      return "The host of this URL has no public address."
    case "redirect":
      return "This URL answers with a redirect, which is not followed: send the address it leads to."
    case "status":
      return `This URL answers with status ${why.status}: it must be readable without a login.`
    case "type":
      return "This URL does not hold an image, a PDF or text."
    case "empty":
      return "This URL holds nothing."
    case "too_large":
      return `The media at the URLs of a request may have ${why.limitBytes} bytes in all; these have more.`
    case "too_many":
      return `A request may name ${why.limit} media URLs; this one names more.`
    case "timeout":
      return "What this URL holds did not come in the time allowed."
    case "transport":
      return faultReason({ kind: why.fault }, { name: "The host of this URL" }).message
  }
}

/** The media in flight exceed the limit of the gateway or of this key. */
type NoRoom = Busy | ConcurrencyReached

/**
 * The outcome for each URL of one request, within `millis`. `room` counts the fetched bytes until the request ends;
 * `owner` is the key whose share of the connections it takes.
 */
export type MediaFetch = (
  urls: ReadonlyArray<string>,
  millis: number,
  room?: Room,
  owner?: string
) => Effect.Effect<ReadonlyMap<string, FetchedMedia>, NoRoom>

/** Undefined: media are not fetched. */
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
    const connections = new FairSlots(limits.mediaConnections, limits.keptPercent)
    const total: ByteCount = { bytes: 0 }

    const fetchOne = (
      text: string,
      owner: string,
      ofRequest: ByteCount,
      room: Room | undefined
    ): Effect.Effect<FetchedMedia, MediaFault | NoRoom> => {
      const url = isPublicMedia(text) ? URL.parse(text) : null
      if (url === null) return refuse({ kind: "no_public_address" })
      const called = Effect.flatMap(checkedAddresses(url, addressesOf), (addresses) =>
        Effect.flatMap(Effect.mapError(transport.open(requestFor(url, addresses, limits)), ofTransport), (response) =>
          read(response, { ofRequest, total, room, limits })
        )
      )
      return withSlot(connections, owner, Effect.scoped(called))
    }

    return (urls, millis, room, owner = "") => {
      if (urls.length > limits.mediaUrls)
        return Effect.succeed(new Map(urls.map((url) => [url, failed({ kind: "too_many", limit: limits.mediaUrls })])))
      const ofRequest: ByteCount = { bytes: 0 }
      return Effect.clockWith((clock) => {
        const ends = monotonicMillis(clock) + Math.min(millis, limits.mediaMillis)
        const outcome = (url: string): Effect.Effect<readonly [string, FetchedMedia], NoRoom> =>
          fetchOne(url, owner, ofRequest, room).pipe(
            Effect.timeoutOrElse({
              duration: Math.max(0, ends - monotonicMillis(clock)),
              orElse: () => refuse({ kind: "timeout" })
            }),
            Effect.catchTag("MediaFault", ({ why }) => Effect.succeed(failed(why))),
            Effect.map((fetched) => [url, fetched] as const)
          )
        return Effect.forEach(urls, (url) => Effect.suspend(() => outcome(url)), { concurrency: urlsInParallel })
      }).pipe(
        Effect.map((outcomes) => new Map(outcomes)),
        Effect.ensuring(
          Effect.sync(() => {
            total.bytes -= ofRequest.bytes
          })
        )
      )
    }
  })
)

/** Runs the effect in a slot of the owner, which is given back however it ends, also while it waits. */
const withSlot = <A, E>(slots: FairSlots, owner: string, effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.suspend(() => {
    let leave = (): void => undefined
    const entered = Effect.callback<void>((resume) => {
      leave = slots.enter(owner, () => resume(Effect.void))
    })
    return Effect.ensuring(
      Effect.andThen(entered, effect),
      Effect.sync(() => leave())
    )
  })

/** Concurrent fetches of one request. */
const urlsInParallel = 8

/** Fetched bytes that requests hold in memory. */
interface ByteCount {
  bytes: number
}

interface Reading {
  readonly ofRequest: ByteCount
  /** Of all requests. */
  readonly total: ByteCount
  /** Counts the bytes until the request ends. */
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

/**
 * One address that is not public refuses the host. The checked addresses are the ones called; the name is not resolved
 * again.
 */
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

/** A missing or generic type passes: the translator detects the type from the bytes. */
const isFetched = (contentType: string | undefined): boolean => {
  const mime = contentType === undefined ? anyBytes : (normaliseMime(contentType) ?? anyBytes)
  return mime.endsWith("/octet-stream") || (isReadable(mime) && !/^(audio|video)\//.test(mime))
}

/** Checks the head before reading the body. */
const read = (response: TransportResponse, reading: Reading): Effect.Effect<FetchedMedia, MediaFault | NoRoom> => {
  const { headers, status } = response
  const {
    limits: { mediaBytes },
    ofRequest
  } = reading
  const contentType = headers["content-type"]
  if (status >= 300 && status < 400) return refuse({ kind: "redirect" })
  if (status !== 200) return refuse({ kind: "status", status })
  if (!isFetched(contentType)) return refuse({ kind: "type" })
  if (ofRequest.bytes + Number(headers["content-length"] ?? 0) > mediaBytes)
    return refuse({ kind: "too_large", limitBytes: mediaBytes })
  const parts: Array<Uint8Array> = []
  return Effect.flatMap(readBody(response.body, parts, reading), (): Effect.Effect<FetchedMedia, MediaFault> => {
    const data = Buffer.concat(parts).toString("base64")
    return data === "" ? refuse({ kind: "empty" }) : Effect.succeed({ _tag: "Fetched", contentType, data })
  })
}

/** Counts the bytes, so that neither one request nor all requests exceed their limits. */
const readBody = (
  body: TransportResponse["body"],
  parts: Array<Uint8Array>,
  reading: Reading
): Effect.Effect<void, MediaFault | NoRoom> => {
  const {
    limits: { mediaBytes, mediaInFlightBytes },
    ofRequest,
    room,
    total
  } = reading
  const pull: Effect.Effect<void, MediaFault | NoRoom> = Effect.matchEffect(body, {
    onFailure: (end) => (Cause.isDone(end) ? Effect.void : Effect.fail(ofTransport(end))),
    onSuccess: (reads) => {
      let shortage: Shortage | undefined
      for (const bytes of reads) {
        parts.push(bytes)
        ofRequest.bytes += bytes.length
        total.bytes += bytes.length
        shortage ??= room?.take(bytes.length)
      }
      if (shortage === "key") return Effect.fail(new ConcurrencyReached({ resource: "bytes", limit: undefined }))
      if (ofRequest.bytes > mediaBytes) return refuse({ kind: "too_large", limitBytes: mediaBytes })
      return shortage === "all" || total.bytes > mediaInFlightBytes
        ? Effect.fail(new Busy({ code: "overloaded", retryAfterMillis: 1_000 }))
        : pull
    }
  })
  return pull
}
