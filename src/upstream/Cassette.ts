// A cassette is a folder of recorded exchanges with upstreams, without credentials: a transport records it, another plays it back.
// Must not know providers or what a body means.
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { parseJsonText } from "../domain/text/json.ts"
import { scrub } from "../domain/text/redaction.ts"
import { toBytes } from "./HttpCall.ts"
import { type AuthHeaders, TransportFault, type TransportRequest, type TransportResponse } from "./HttpExchange.ts"
import { scriptedTransport, type TransportService } from "./ScriptedTransport.ts"

/** The folder cannot be read or written, or a file in it is no recording. */
export class CassetteUnusable extends Schema.TaggedError<CassetteUnusable>()("CassetteUnusable", {
  folder: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `the recordings in ${this.folder} cannot be used: ${this.reason}`
  }
}

/** Bytes as text where they are UTF-8, else as base64. */
const Part = Schema.Union([Schema.Struct({ text: Schema.String }), Schema.Struct({ base64: Schema.String })])

/** One exchange: the request as it is recognised, and the response in the pieces in which it came. */
const Exchange = Schema.Struct({
  request: Schema.Struct({
    method: Schema.Literals(["GET", "POST"]),
    url: Schema.String,
    headers: Schema.Record(Schema.String, Schema.String),
    body: Schema.optionalKey(Part)
  }),
  response: Schema.Struct({
    status: Schema.Int,
    headers: Schema.Record(Schema.String, Schema.String),
    body: Schema.Array(Part)
  })
})
type Exchange = typeof Exchange.Type
type Part = typeof Part.Type

/** A response as it was received. */
interface ReceivedResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly reads: ReadonlyArray<Uint8Array>
}

const partOf = (bytes: Uint8Array): Part => {
  const buffer = toBytes(bytes)
  const text = buffer.toString()
  return Buffer.from(text).equals(buffer) ? { text } : { base64: buffer.toString("base64") }
}

const bytesOf = (part: Part): Buffer => ("text" in part ? Buffer.from(part.text) : Buffer.from(part.base64, "base64"))

/** Bytes without credentials; one character is one byte meanwhile, so that bytes that are no text survive. */
const scrubbed = (bytes: Uint8Array, secrets: ReadonlyArray<string>): Buffer =>
  Buffer.from(scrub(toBytes(bytes).toString("latin1"), secrets), "latin1")

/** A credential may lie across two reads: then the body is kept as one. */
const partsOf = (reads: ReadonlyArray<Uint8Array>, secrets: ReadonlyArray<string>): ReadonlyArray<Part> => {
  const whole = Buffer.concat(reads)
  const safe = scrubbed(whole, secrets)
  if (whole.equals(safe)) return reads.map(partOf)
  return [partOf(safe)]
}

const scrubbedHeaders = (
  headers: Readonly<Record<string, string>>,
  secrets: ReadonlyArray<string>
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => name !== "set-cookie")
      .map(([name, value]) => [name, scrub(value, secrets)])
  )

/** A request without credentials. Its headers of authorisation are left out. */
const recordedRequest = (
  { body, headers, method, url }: TransportRequest,
  secrets: ReadonlyArray<string>
): Exchange["request"] => ({
  method,
  url: scrub(url, secrets),
  headers: scrubbedHeaders(headers, secrets),
  ...(body === undefined ? {} : { body: partOf(scrubbed(toBytes(body), secrets)) })
})

const recordedExchange = (
  request: TransportRequest,
  { headers, reads, status }: ReceivedResponse,
  secrets: ReadonlyArray<string>
): Exchange => ({
  request: recordedRequest(request, secrets),
  response: { status, headers: scrubbedHeaders(headers, secrets), body: partsOf(reads, secrets) }
})

/** Requests with the same text are the same to a cassette: method, address and body. */
const exchangeKey = ({ body, method, url }: Exchange["request"]): string => JSON.stringify([method, url, body ?? null])

/** The host as a part of a file name. */
const hostOf = (url: string): string => new URL(url).hostname.replace(/[^\w.-]/g, "_")

const fileForm = /^(\d{4,})-[\w.-]+\.json$/

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const numbersIn = async (folder: string): Promise<ReadonlyArray<readonly [number: number, name: string]>> =>
  (await readdir(folder))
    .flatMap((name): ReadonlyArray<readonly [number, string]> => {
      const number = fileForm.exec(name)?.[1]
      return number === undefined ? [] : [[Number(number), name]]
    })
    .sort(([one], [other]) => one - other)

/** Makes the folder, and a writer whose numbers follow those of earlier recordings. */
const openFolder = (
  folder: string
): Effect.Effect<
  {
    readonly number: () => number
    readonly write: (number: number, exchange: Exchange) => Effect.Effect<void, string>
  },
  CassetteUnusable
> =>
  Effect.tryPromise({
    try: async () => {
      await mkdir(folder, { recursive: true })
      let last = (await numbersIn(folder)).at(-1)?.[0] ?? 0
      return {
        number: () => ++last,
        write: (number: number, exchange: Exchange) =>
          Effect.tryPromise({
            try: () =>
              writeFile(
                join(folder, `${String(number).padStart(4, "0")}-${hostOf(exchange.request.url)}.json`),
                `${JSON.stringify(exchange, undefined, 2)}\n`,
                { mode: 0o600, flag: "wx" }
              ),
            catch: reasonOf
          })
      }
    },
    catch: (error) => new CassetteUnusable({ folder, reason: reasonOf(error) })
  })

const readExchange = async (path: string): Promise<Result.Result<Exchange, string>> =>
  Result.flatMap(parseJsonText(await readFile(path, "utf8")), (json) =>
    Result.mapError(Schema.decodeUnknownResult(Exchange)(json), (issue) => issue.message)
  )

/** Every exchange of a folder, in the order of recording. */
export const readFolder = (folder: string): Effect.Effect<ReadonlyArray<Exchange>, CassetteUnusable> =>
  Effect.gen(function* () {
    const unusable = (reason: string) => new CassetteUnusable({ folder, reason })
    const read = yield* Effect.tryPromise({
      try: async () => {
        const exchanges: Array<readonly [name: string, exchange: Result.Result<Exchange, string>]> = []
        for (const [, name] of await numbersIn(folder)) exchanges.push([name, await readExchange(join(folder, name))])
        return exchanges
      },
      catch: (error) => unusable(reasonOf(error))
    })
    if (read.length === 0) return yield* unusable("there are none; record some with serve --record")
    return yield* Effect.forEach(read, ([name, exchange]) =>
      Result.isSuccess(exchange)
        ? Effect.succeed(exchange.success)
        : Effect.fail(unusable(`${name} is not a recording: ${exchange.failure}`))
    )
  })

/** The secret values of a call. Only the transport reads them. */
export type SecretsOf = (auth: AuthHeaders) => ReadonlyArray<string>

/**
 * Records whole responses of `over`: one file each, none for a call that fails or is given up, and none for a stream of
 * more than `mostBytes`.
 */
export const recordingTransport = (
  folder: string,
  over: TransportService,
  secretsOf: SecretsOf,
  mostBytes: number
): Effect.Effect<TransportService, CassetteUnusable> =>
  Effect.map(openFolder(folder), ({ number, write }) => {
    /** A recording that cannot be written is missing later; the request goes on. */
    const keep = (
      at: number,
      request: TransportRequest,
      { headers, status }: Pick<TransportResponse, "headers" | "status">,
      reads: ReadonlyArray<Uint8Array>
    ) =>
      Effect.catch(
        write(at, recordedExchange(request, { status, headers, reads }, secretsOf(request.auth))),
        (reason) => Effect.logWarning(`A call could not be recorded in ${folder}: ${reason}`)
      )
    return {
      collect: (request, bounds) =>
        Effect.suspend(() => {
          const at = number()
          return Effect.tap(over.collect(request, bounds), (response) => keep(at, request, response, [response.bytes]))
        }),
      open: (request) =>
        Effect.suspend(() => {
          const at = number()
          return Effect.map(over.open(request), (response) => {
            const reads: Array<Uint8Array> = []
            let bytes = 0
            return {
              ...response,
              body: Effect.matchEffect(response.body, {
                onSuccess: (pulled) => {
                  for (const read of pulled) bytes += read.length
                  if (bytes > mostBytes) reads.length = 0
                  else reads.push(...pulled)
                  return Effect.succeed(pulled)
                },
                onFailure: (error): TransportResponse["body"] =>
                  Cause.isDone(error)
                    ? Effect.andThen(
                        bytes > mostBytes
                          ? Effect.logWarning(`A stream of ${bytes} bytes is too long to be recorded in ${folder}.`)
                          : keep(at, request, response, reads),
                        Cause.done()
                      )
                    : Effect.fail(error)
              })
            }
          })
        })
    }
  })

/** Names the path only: a log hides whole addresses. */
const missingText = (
  folder: string,
  { method, url }: Exchange["request"],
  exchanges: ReadonlyArray<Exchange>
): string => {
  const others = exchanges.filter(({ request }) => request.method === method && request.url === url).length
  const path = new URL(url).pathname
  return others === 0
    ? `${folder} has no recording of ${method} ${path}: serve --record records one.`
    : `${folder} has no recording of ${method} ${path} with this body; it has ${others} with another one. serve --record records more.`
}

/**
 * Plays the exchanges of a folder back. Equal requests get their responses in the order of recording, then the last one
 * again. A request that was not recorded fails.
 */
export const replayingTransport = (
  folder: string,
  secretsOf: SecretsOf
): Effect.Effect<TransportService, CassetteUnusable> =>
  Effect.map(readFolder(folder), (exchanges) => {
    const byKey = Map.groupBy(exchanges, ({ request }) => exchangeKey(request))
    const played = new Map<string, number>()
    const next = (key: string): Exchange["response"] | undefined => {
      const recorded = byKey.get(key) ?? []
      const at = played.get(key) ?? 0
      played.set(key, at + 1)
      return recorded[Math.min(at, recorded.length - 1)]?.response
    }
    return scriptedTransport((request) => {
      const known = recordedRequest(request, secretsOf(request.auth))
      const response = next(exchangeKey(known))
      return response === undefined
        ? Effect.andThen(
            Effect.logWarning(missingText(folder, known, exchanges)),
            Effect.fail(new TransportFault({ kind: "unrecorded" }))
          )
        : { status: response.status, headers: response.headers, chunks: response.body.map(bytesOf) }
    })
  })
