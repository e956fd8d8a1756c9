// From the bytes of a request to a decoded body, or to its first fault.
// It must not depend on routes, keys or the meaning of a body.
import { isUtf8 } from "node:buffer"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { HeaderRecord } from "../../api/Headers.ts"
import { decodeNumbers } from "../../domain/faults.ts"
import {
  BodyInvalid,
  BodyTooLarge,
  type Busy,
  type ConcurrencyReached,
  ContentTypeUnsupported
} from "../../domain/GatewayError.ts"
import { type JsonObject, type MemberSpan, parseBody, scan } from "../../domain/text/json.ts"
import { Limits, type LimitValues } from "../../domain/Limits.ts"
import { bytesOfValues, noRoomFault } from "../../domain/RequestContext.ts"
import { inTurn } from "../../batching/OwnTurn.ts"
import type { IncomingRequest } from "./IncomingRequest.ts"

type ReadFault = BodyTooLarge | Busy | ConcurrencyReached | BodyInvalid

/** Reads the body of a request, whose bytes stay counted until the request ends; `model` replaces a missing one, and the model of the path any. */
export type ReadBody<A> = (
  incoming: IncomingRequest,
  model?: string
) => Effect.Effect<A, ContentTypeUnsupported | ReadFault>

/** What a route checks beyond the schema of its body. */
export type Check<A> = (value: A, limits: LimitValues) => Result.Result<A, BodyInvalid>

/** The limit of a route's bodies; none is above `bodyBytes`. */
export type BodyLimit = "bodyBytes" | "embeddingsBodyBytes" | "imagesBodyBytes" | "promptsBodyBytes" | "adminBodyBytes"

/** A decoder of one schema, compiled once; it stops at the first fault. */
export const bodyDecoder = <A>(schema: Schema.Codec<A, unknown>, check: Check<A>) => {
  const decode = Schema.decodeUnknownResult(schema)
  return (body: JsonObject, limits: LimitValues): Result.Result<A, BodyInvalid> =>
    Result.flatMap(decodeNumbers(decode, body), (decoded) => check(decoded, limits))
}

/** A reader of bodies of one schema; `inner` counts the values in their texts. */
export const bodyReader = <A>(
  schema: Schema.Codec<A, unknown>,
  check: Check<A>,
  most: BodyLimit = "bodyBytes",
  inner?: (value: A) => number
): Effect.Effect<ReadBody<A>> => {
  const decode = bodyDecoder(schema, check)
  const reader = textReader((body, _bytes, limits) => decode(body, limits), most)
  return inner === undefined
    ? reader
    : Effect.map(
        reader,
        (read) => (incoming, model) =>
          Effect.flatMapEager(read(incoming, model), (value) => {
            const fault = takeValues(incoming, inner(value))
            return fault === undefined ? Effect.succeed(value) : Effect.fail(fault)
          })
      )
}

/** A reader of the value, and of its bytes and the limits that it leaves to the JSON in its texts. */
export const textReader = <A>(
  read: (body: JsonObject, bytes: Uint8Array, limits: LimitValues) => Result.Result<A, BodyInvalid>,
  most: BodyLimit = "bodyBytes"
): Effect.Effect<ReadBody<A>> => objectReader(read, most, () => undefined)

/** A reader for bodies whose text is passed on: the pass that checks the bounds finds the members at the top too. */
export const spansReader = <A>(
  read: (body: JsonObject, bytes: Uint8Array, spans: ReadonlyArray<MemberSpan>) => Result.Result<A, BodyInvalid>
): Effect.Effect<ReadBody<A>> =>
  objectReader(
    (body, bytes, _limits, spans = []) => read(body, bytes, spans),
    "bodyBytes",
    () => []
  )

const objectReader = <A>(
  read: (
    body: JsonObject,
    bytes: Uint8Array,
    limits: LimitValues,
    spans: ReadonlyArray<MemberSpan> | undefined
  ) => Result.Result<A, BodyInvalid>,
  most: BodyLimit,
  makeSpans: () => Array<MemberSpan> | undefined
): Effect.Effect<ReadBody<A>> =>
  Effect.map(Limits, (all) => {
    const limits = { ...all, bodyBytes: Math.min(all.bodyBytes, all[most]) }
    return (incoming, model) => {
      const fault = contentFault(incoming.headers)
      return fault === undefined
        ? Effect.flatMapEager(readBytes(incoming, limits), (bytes) => {
            incoming.recorder?.content?.received(bytes)
            const spans = makeSpans()
            let left = limits
            const parsed = parseBody(bytes, limits, spans, (values) => {
              left = leftBy(limits, values)
              return takeValues(incoming, values)
            })
            if (Result.isFailure(parsed)) return Effect.fail(parsed.failure)
            const body = parsed.success
            const named = incoming.pathModel ?? (body["model"] === undefined ? model : undefined)
            const filled = named === undefined ? body : { ...body, model: named }
            return inTurn(incoming.hold?.size, () => Effect.fromResult(read(filled, bytes, left, spans)))
          })
        : Effect.fail(fault)
    }
  })

/** The bytes of a body, and the limits they were read under. */
export interface ReadBytes {
  readonly bytes: Uint8Array
  readonly limits: LimitValues
}

/** A reader of bytes alone, for bodies that are not parsed. Google's documents leave the content type out (N307). */
export const bytesReader = (
  most: BodyLimit
): Effect.Effect<(incoming: IncomingRequest) => Effect.Effect<ReadBytes, ContentTypeUnsupported | ReadFault>> =>
  Effect.map(Limits, (all) => {
    const limits = { ...all, bodyBytes: Math.min(all.bodyBytes, all[most]) }
    return (incoming) => {
      const { headers } = incoming
      const fault = contentFault({ ...headers, "content-type": headers["content-type"] ?? "application/json" })
      return fault === undefined
        ? Effect.flatMapEager(readBytes(incoming, limits), (bytes) => {
            incoming.recorder?.content?.received(bytes)
            const fault = isUtf8(bytes) ? takeScanned(incoming, bytes, limits) : notUtf8()
            return fault === undefined ? Effect.succeed({ bytes, limits }) : Effect.fail(fault)
          })
        : Effect.fail(fault)
    }
  })

/** A smaller body has few values. */
const fewBytes = 16 * 1024

/** Budgets, conditions and records parse the body. What is beyond a limit is refused by its reader. */
const takeScanned = (incoming: IncomingRequest, bytes: Uint8Array, limits: LimitValues): ReadFault | undefined => {
  if (bytes.length < fewBytes) return undefined
  const scanned = scan(bytes, limits)
  return scanned._tag === "Scanned" ? takeValues(incoming, scanned.values) : undefined
}

const notUtf8 = () =>
  new BodyInvalid({ code: "invalid_utf8", param: null, message: "The request body is not valid UTF-8." })

const unsupported = (code: ContentTypeUnsupported["code"], message: string) =>
  new ContentTypeUnsupported({ code, message })

/** JSON in UTF-8, not compressed. */
const contentFault = (headers: HeaderRecord): ContentTypeUnsupported | undefined => {
  if (headers["content-type"] === "application/json" && headers["content-encoding"] === undefined) return undefined
  const [type, ...parameters] = (headers["content-type"] ?? "")
    .toLowerCase()
    .split(";")
    .map((part) => part.trim())
  if (type !== "application/json") {
    return unsupported("unsupported_content_type", "Send the body as content-type: application/json.")
  }
  const charset = parameters
    .find((part) => part.startsWith("charset="))
    ?.slice("charset=".length)
    .replaceAll('"', "")
  if (charset !== undefined && charset !== "utf-8" && charset !== "utf8" && charset !== "us-ascii") {
    return unsupported("unsupported_charset", "Send the body in UTF-8.")
  }
  const encoding = (headers["content-encoding"] ?? "").trim().toLowerCase()
  return encoding === "" || encoding === "identity"
    ? undefined
    : unsupported("unsupported_content_encoding", "Send the body without content-encoding.")
}

/** A request of many values leaves less of its budget to the JSON in its texts. */
const leftBy = (limits: LimitValues, values: number): LimitValues =>
  values < manyValues ? limits : { ...limits, jsonValues: limits.jsonValues - values }

const manyValues = 1_000

/** Reserves what parsed values take. */
export const takeValues = ({ hold }: IncomingRequest, values: number): Busy | ConcurrencyReached | undefined => {
  const bytes = bytesOfValues(values)
  const shortage = bytes === 0 ? undefined : hold?.takeBody(bytes)
  return shortage === undefined ? undefined : noRoomFault(shortage)
}

const tooLarge = (limits: LimitValues) => new BodyTooLarge({ limitBytes: limits.bodyBytes, param: null })

/** Counts bytes that have come; `size` is that of the body so far, these included. */
const countBytes = (
  bytes: number,
  size: number,
  limits: LimitValues,
  { hold }: IncomingRequest
): ReadFault | undefined => {
  if (size > limits.bodyBytes) return tooLarge(limits)
  const shortage = hold?.takeBody(bytes)
  if (shortage === undefined) return undefined
  // Bodies that arrive together would otherwise refuse each other before the first of them has ended.
  hold?.giveBody()
  return noRoomFault(shortage)
}

const unreadable = () =>
  new BodyInvalid({ code: "invalid_json", param: null, message: "The request body could not be read." })

const readBytes = (incoming: IncomingRequest, limits: LimitValues): Effect.Effect<Uint8Array, ReadFault> =>
  Number(incoming.headers["content-length"] ?? 0) > limits.bodyBytes
    ? Effect.fail(tooLarge(limits))
    : incoming.exchange.readBody<ReadFault>({
        mostBytes: limits.bodyBytes,
        count: (bytes, size) => countBytes(bytes, size, limits, incoming),
        tooLarge: () => tooLarge(limits),
        unreadable
      })
