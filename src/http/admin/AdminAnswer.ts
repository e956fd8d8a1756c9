// Answers of the admin API: an entry with its ETag, a page of a list, or an empty answer.
// It must not depend on how an answer was made.
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { entityTag } from "./entityTag.ts"
import { baseHeaders } from "../response/baseHeaders.ts"
import type { IncomingRequest } from "../request/IncomingRequest.ts"

type Response = HttpServerResponse.HttpServerResponse

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
interface Shown {
  readonly version?: number
  readonly created_at?: string
}

const tagOf = ({ created_at: created, version }: Shown): Readonly<Record<string, string>> =>
  version === undefined || created === undefined
    ? {}
    : { etag: entityTag({ version, createdMillis: Date.parse(created) }) }

export const shown = (entry: Shown, incoming: IncomingRequest): Response => answer(entry, incoming, 200, tagOf(entry))

/** `location` is the path of the new entry. */
export const created = (entry: Shown, location: string, incoming: IncomingRequest): Response =>
  answer(entry, incoming, 201, { ...tagOf(entry), location })

export const gone = (incoming: IncomingRequest): Response =>
  HttpServerResponse.empty({ status: 204, headers: baseHeaders(incoming) })

export const answered = (value: unknown, incoming: IncomingRequest): Response => answer(value, incoming, 200)

/** A page of a list. */
export const listed = (
  { next, rows }: { readonly rows: ReadonlyArray<unknown>; readonly next: string | undefined },
  incoming: IncomingRequest
): Response => answer({ object: "list", data: rows, next_cursor: next ?? null }, incoming, 200)
