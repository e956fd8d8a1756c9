// Answers of the admin API: an entry with its ETag, a page of a list, nothing.
// It must not know how an answer came about.
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { entityTag } from "./entityTag.ts"
import { arrivalHeaders } from "../response/Refusal.ts"
import type { Arrival } from "../request/RequestContexts.ts"

type Response = HttpServerResponse.HttpServerResponse

const answer = (
  value: unknown,
  arrival: Arrival,
  status: number,
  headers: Readonly<Record<string, string>> = {}
): Response =>
  HttpServerResponse.text(JSON.stringify(value), {
    status,
    contentType: "application/json",
    headers: { ...arrivalHeaders(arrival), ...headers }
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

export const shown = (entry: Shown, arrival: Arrival): Response => answer(entry, arrival, 200, tagOf(entry))

/** `location` is the path of the new entry. */
export const created = (entry: Shown, location: string, arrival: Arrival): Response =>
  answer(entry, arrival, 201, { ...tagOf(entry), location })

export const gone = (arrival: Arrival): Response =>
  HttpServerResponse.empty({ status: 204, headers: arrivalHeaders(arrival) })

export const told = (value: unknown, arrival: Arrival): Response => answer(value, arrival, 200)

/** A page of a list. */
export const listed = (
  { next, rows }: { readonly rows: ReadonlyArray<unknown>; readonly next: string | undefined },
  arrival: Arrival
): Response => answer({ object: "list", data: rows, next_cursor: next ?? null }, arrival, 200)
