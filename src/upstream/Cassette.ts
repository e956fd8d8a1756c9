// A cassette: the folder of recorded exchanges with upstreams, one file each, without credentials.
// Must not know how exchanges are made or played back.
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { parseJsonText } from "../domain/text/json.ts"
import { scrub } from "../domain/text/scrub.ts"
import { toBytes } from "./HttpCall.ts"
import type { TransportRequest } from "./HttpExchange.ts"

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
export type Exchange = typeof Exchange.Type
type Part = typeof Part.Type

/** A response as it was received. */
export interface ReceivedResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly reads: ReadonlyArray<Uint8Array>
}

const partOf = (bytes: Uint8Array): Part => {
  const buffer = toBytes(bytes)
  const text = buffer.toString()
  return Buffer.from(text).equals(buffer) ? { text } : { base64: buffer.toString("base64") }
}

export const bytesOf = (part: Part): Buffer =>
  "text" in part ? Buffer.from(part.text) : Buffer.from(part.base64, "base64")

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
export const recordedRequest = (
  { body, headers, method, url }: TransportRequest,
  secrets: ReadonlyArray<string>
): Exchange["request"] => ({
  method,
  url: scrub(url, secrets),
  headers: scrubbedHeaders(headers, secrets),
  ...(body === undefined ? {} : { body: partOf(scrubbed(toBytes(body), secrets)) })
})

export const recordedExchange = (
  request: TransportRequest,
  { headers, reads, status }: ReceivedResponse,
  secrets: ReadonlyArray<string>
): Exchange => ({
  request: recordedRequest(request, secrets),
  response: { status, headers: scrubbedHeaders(headers, secrets), body: partsOf(reads, secrets) }
})

/** Requests with the same text are the same to a cassette: method, address and body. */
export const exchangeKey = ({ body, method, url }: Exchange["request"]): string =>
  JSON.stringify([method, url, body ?? null])

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
export const openFolder = (
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
        const found: Array<readonly [name: string, exchange: Result.Result<Exchange, string>]> = []
        for (const [, name] of await numbersIn(folder)) found.push([name, await readExchange(join(folder, name))])
        return found
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
