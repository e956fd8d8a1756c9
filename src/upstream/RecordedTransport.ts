// Transports with a cassette: one records the exchanges of another transport, one plays recorded ones back offline.
// Must not know files, providers or what a body means.
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import {
  bytesOf,
  type CassetteUnusable,
  type Exchange,
  exchangeKey,
  openFolder,
  readFolder,
  recordedExchange,
  recordedRequest
} from "./Cassette.ts"
import type { AuthHeaders, TransportRequest, TransportResponse } from "./HttpExchange.ts"
import { scriptedTransport, type TransportService } from "./ScriptedTransport.ts"
import { TransportFault } from "./TransportFault.ts"

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
