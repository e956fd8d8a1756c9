// From the bytes of a request to a decoded body, or to the first thing that is wrong with it.
// It must not know routes, keys or what the body asks for.
import { IncomingMessage } from "node:http"
import * as ByteSize from "effect/ByteSize"
import * as Effect from "effect/Effect"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { HeaderRecord } from "../../api/Headers.ts"
import { bodyFault } from "../../domain/text/bodyFault.ts"
import {
  BodyInvalid,
  BodyTooLarge,
  Busy,
  ConcurrencyReached,
  ContentTypeUnsupported
} from "../../domain/GatewayError.ts"
import { type JsonObject, parseBody } from "../../domain/text/json.ts"
import { Limits, type LimitValues } from "../../domain/Limits.ts"
import { inStep } from "../../upstream/Steps.ts"
import type { Arrival } from "./RequestContexts.ts"

type ReadFault = BodyTooLarge | Busy | ConcurrencyReached | BodyInvalid

/** Reads the body of a request, whose bytes stay counted until the request ends; `model` replaces a missing one. */
export type ReadBody<A> = (
  request: HttpServerRequest.HttpServerRequest,
  arrival: Arrival,
  model?: string
) => Effect.Effect<A, ContentTypeUnsupported | ReadFault>

/** What a route checks beyond the schema of its body. */
export type Check<A> = (value: A, limits: LimitValues) => Result.Result<A, BodyInvalid>

/** The limit of a route's bodies; none is above `bodyBytes`. */
export type BodyLimit = "bodyBytes" | "embeddingsBodyBytes" | "imagesBodyBytes" | "promptsBodyBytes" | "adminBodyBytes"

/** A decoder of one schema, compiled once; it stops at the first fault. */
export const bodyDecoder = <A>(schema: Schema.Codec<A, unknown>, check: Check<A>) => {
  const decode = Schema.decodeUnknownResult(schema)
  return (body: JsonObject, limits: LimitValues): Result.Result<A, BodyInvalid> => {
    const decoded = decode(body)
    return Result.isFailure(decoded) ? Result.fail(bodyFault(decoded.failure, body)) : check(decoded.success, limits)
  }
}

/** A reader of bodies of one schema. */
export const bodyReader = <A>(
  schema: Schema.Codec<A, unknown>,
  check: Check<A>,
  most: BodyLimit = "bodyBytes"
): Effect.Effect<ReadBody<A>> => {
  const decode = bodyDecoder(schema, check)
  return textReader((body, _bytes, limits) => decode(body, limits), most)
}

/** A reader that sees the bytes beside the value, for bodies whose text goes on as it came. */
export const textReader = <A>(
  read: (body: JsonObject, bytes: Uint8Array, limits: LimitValues) => Result.Result<A, BodyInvalid>,
  most: BodyLimit = "bodyBytes"
): Effect.Effect<ReadBody<A>> =>
  Effect.map(Limits, (all) => {
    const limits = { ...all, bodyBytes: Math.min(all.bodyBytes, all[most]) }
    return (request, arrival, model) => {
      const fault = contentFault(arrival.headers)
      return fault === undefined
        ? Effect.flatMapEager(readBytes(request, arrival, limits), (bytes) => {
            const parsed = parseBody(bytes, limits)
            if (Result.isFailure(parsed)) return Effect.fail(parsed.failure)
            const body = parsed.success
            return Effect.fromResult(
              read(model !== undefined && body["model"] === undefined ? { ...body, model } : body, bytes, limits)
            )
          })
        : Effect.fail(fault)
    }
  })

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

const tooLarge = (limits: LimitValues) => new BodyTooLarge({ limitBytes: limits.bodyBytes, param: null })

/** Counts bytes that have come; `size` is that of the body so far, these included. */
const countBytes = (bytes: number, size: number, limits: LimitValues, { hold }: Arrival): ReadFault | undefined => {
  if (size > limits.bodyBytes) return tooLarge(limits)
  const shortage = hold?.take(bytes)
  if (shortage === undefined) return undefined
  return shortage === "key"
    ? new ConcurrencyReached({ resource: "bytes", limit: undefined })
    : new Busy({ code: "overloaded", retryAfterMillis: 1000 })
}

/**
 * One listener on Node's own request where there is one: it costs a fifth of the accessor. A client that sent
 * `Expect: 100-continue` waits for an answer to it; in a server that is not ours only the accessor may give that.
 */
const readBytes = (
  request: HttpServerRequest.HttpServerRequest,
  arrival: Arrival,
  limits: LimitValues
): Effect.Effect<Uint8Array, ReadFault> => {
  const { headers, node } = arrival
  if (Number(headers["content-length"] ?? 0) > limits.bodyBytes) return Effect.fail(tooLarge(limits))
  const { source } = request
  if (!(source instanceof IncomingMessage)) return fromAccessor(request, limits, arrival)
  if (headers["expect"] !== undefined) {
    if (node === undefined) return fromAccessor(request, limits, arrival)
    node.writeContinue()
  }
  return source.complete && !source.destroyed ? arrived(source, limits, arrival) : fromNode(source, limits, arrival)
}

const nothing = Buffer.alloc(0)

/** A body that is here already is taken as a whole. */
const arrived = (
  source: IncomingMessage,
  limits: LimitValues,
  arrival: Arrival
): Effect.Effect<Uint8Array, ReadFault> => {
  const read: Buffer | null = source.read()
  const bytes = read ?? nothing
  const fault = countBytes(bytes.length, bytes.length, limits, arrival)
  return fault === undefined ? Effect.succeed(bytes) : Effect.fail(fault)
}

const fromNode = (
  source: IncomingMessage,
  limits: LimitValues,
  arrival: Arrival
): Effect.Effect<Uint8Array, ReadFault> =>
  Effect.callback<Uint8Array, ReadFault>((resume) => {
    const parts: Array<Buffer> = []
    let size = 0
    const detach = () => {
      source.off("data", onData)
      source.off("end", onEnd)
    }
    const stop = (fault: ReadFault) => {
      detach()
      source.pause()
      resume(Effect.fail(fault))
    }
    const onData = (part: Buffer) => {
      size += part.length
      const fault = countBytes(part.length, size, limits, arrival)
      if (fault !== undefined) return stop(fault)
      parts.push(part)
    }
    const onEnd = () => {
      const [only] = parts
      const bytes = only !== undefined && parts.length === 1 ? only : Buffer.concat(parts, size)
      detach()
      inStep("body", () => resume(Effect.succeed(bytes)))
    }
    source.on("data", onData)
    source.on("end", onEnd)
    return Effect.sync(detach)
  })

const fromAccessor = (
  request: HttpServerRequest.HttpServerRequest,
  limits: LimitValues,
  arrival: Arrival
): Effect.Effect<Uint8Array, ReadFault> =>
  request.arrayBuffer.pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(limits.bodyBytes)),
    Effect.mapError((error) =>
      error.reason._tag === "RequestParseError" && error.reason.reason === "BodyTooLarge"
        ? tooLarge(limits)
        : new BodyInvalid({ code: "invalid_json", param: null, message: "The request body could not be read." })
    ),
    Effect.flatMap((buffer) => {
      const fault = countBytes(buffer.byteLength, buffer.byteLength, limits, arrival)
      return fault === undefined ? Effect.succeed(new Uint8Array(buffer)) : Effect.fail(fault)
    })
  )
