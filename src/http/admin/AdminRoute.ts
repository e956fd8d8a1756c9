// A route of the admin API: what it reads of a request, and its answers, which are an entry with its ETag (RFC 9110), a page of a list, or empty.
// It must not depend on the kind of an entry, or on what any route does.
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Result from "effect/Result"
import type { GatewayError, RouteUnknown } from "../../domain/GatewayError.ts"
import type { JsonObject } from "../../domain/text/json.ts"
import type { Actor } from "../../store/StoredRecord.ts"
import { type Call, scopedRoute } from "../edge/GatewayAuth.ts"
import type { RouteMethod, RoutePath } from "../edge/Route.ts"
import { type IncomingRequest, pathUnknown } from "../request/IncomingRequest.ts"
import { textReader } from "../request/ReadBody.ts"
import { baseHeaders } from "../response/responseHeaders.ts"

type Response = HttpServerResponse.HttpServerResponse

/** A route for holders of a key with the scope `admin`. */
export const adminRoute = <Method extends RouteMethod, Step extends Effect.Effect<unknown, GatewayError, unknown>>(
  method: Method,
  path: Extract<RoutePath<Method>, `/admin/v1/${string}`>,
  handler: (call: Call) => Generator<Step, Response, never>
) => scopedRoute("admin", method, path, handler)

/** The id of a path, percent-decoded; Effect's parameter takes an empty segment as well. */
export const idInPath = ({ incoming }: Call): Effect.Effect<string, RouteUnknown> => {
  const id = decodeURIComponent(incoming.path.split("/")[4] ?? "")
  return id === "" ? Effect.fail(pathUnknown(incoming)) : Effect.succeed(id)
}

/** The object that a request writes. */
export const writtenObject = ({ incoming }: Call) =>
  Effect.flatMap(
    textReader<JsonObject>((body) => Result.succeed(body), "adminBodyBytes"),
    (read) => read(incoming)
  )

/** The origin of a change, for the audit log. */
export const actorOf = ({ incoming, key }: Call): Actor => ({ id: key.id, requestId: incoming.requestId })

const answer = (
  value: unknown,
  incoming: IncomingRequest,
  status: number,
  headers: Readonly<Record<string, string>> = {}
): Response =>
  HttpServerResponse.text(JSON.stringify(value), {
    status,
    contentType: "application/json",
    headers: { ...baseHeaders(incoming), ...headers }
  })

/** What is shown of every entry; those that are declared have neither. */
export interface ShownEntry {
  readonly version?: number
  readonly created_at?: string
}

const tagOf = ({ created_at: createdAt, version }: ShownEntry): Readonly<Record<string, string>> =>
  version === undefined || createdAt === undefined
    ? {}
    : { etag: entityTag({ version, createdMillis: Date.parse(createdAt) }) }

export const entryAnswer = (entry: ShownEntry, incoming: IncomingRequest): Response =>
  answer(entry, incoming, 200, tagOf(entry))

/** `location` is the path of the new entry. */
export const createdAnswer = (entry: ShownEntry, location: string, incoming: IncomingRequest): Response =>
  answer(entry, incoming, 201, { ...tagOf(entry), location })

export const emptyAnswer = (incoming: IncomingRequest): Response =>
  HttpServerResponse.empty({ status: 204, headers: baseHeaders(incoming) })

export const valueAnswer = (value: unknown, incoming: IncomingRequest): Response => answer(value, incoming, 200)

/** A page of a list, or a list that is one page. */
export const listAnswer = (
  rows: ReadonlyArray<unknown>,
  incoming: IncomingRequest,
  next?: number | string | undefined
): Response =>
  answer({ object: "list", data: rows, next_cursor: next === undefined ? null : String(next) }, incoming, 200)

// The ETag of a kept entry, and the condition of If-Match.

interface Versioned {
  readonly version: number
  readonly createdMillis: number
}

/** An entry that was removed and made again has another tag than before. */
const entityTag = ({ createdMillis, version }: Versioned): string => `"${version}-${createdMillis.toString(36)}"`

/** A weak tag never matches: a change is made from one exact version. */
const strongTags = /(?:^|,)\s*("[^"]*")\s*(?=,|$)/g

/** Whether an entry is one that If-Match names; undefined where the header is not sent. */
export const expectedEntry = ({ incoming }: Call): ((entry: Versioned) => boolean) | undefined => {
  const ifMatch = incoming.headers["if-match"]
  if (ifMatch === undefined) return undefined
  if (ifMatch.trim() === "*") return () => true
  const tags = new Set([...ifMatch.matchAll(strongTags)].map(([, tag]) => tag))
  return (entry) => tags.has(entityTag(entry))
}
