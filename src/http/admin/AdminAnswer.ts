// Answers of the admin API: an entry with its ETag (RFC 9110), a page of a list, or an empty answer; and the condition of If-Match.
// It must not depend on how an answer was made, or on the kind of an entry.
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { baseHeaders } from "../response/responseHeaders.ts"
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

const tagOf = ({ created_at: createdAnswer, version }: Shown): Readonly<Record<string, string>> =>
  version === undefined || createdAnswer === undefined
    ? {}
    : { etag: entityTag({ version, createdMillis: Date.parse(createdAnswer) }) }

export const entryAnswer = (entry: Shown, incoming: IncomingRequest): Response =>
  answer(entry, incoming, 200, tagOf(entry))

/** `location` is the path of the new entry. */
export const createdAnswer = (entry: Shown, location: string, incoming: IncomingRequest): Response =>
  answer(entry, incoming, 201, { ...tagOf(entry), location })

export const emptyAnswer = (incoming: IncomingRequest): Response =>
  HttpServerResponse.empty({ status: 204, headers: baseHeaders(incoming) })

export const valueAnswer = (value: unknown, incoming: IncomingRequest): Response => answer(value, incoming, 200)

/** A page of a list. */
export const listAnswer = (
  { next, rows }: { readonly rows: ReadonlyArray<unknown>; readonly next: string | undefined },
  incoming: IncomingRequest
): Response => answer({ object: "list", data: rows, next_cursor: next ?? null }, incoming, 200)

// The ETag of a kept entry, and the condition of If-Match (RFC 9110).

interface Versioned {
  readonly version: number
  readonly createdMillis: number
}

/** An entry that was removed and made again has another tag than before. */
const entityTag = ({ createdMillis, version }: Versioned): string => `"${version}-${createdMillis.toString(36)}"`

/** A weak tag never matches: a change is made from one exact version. */
const strongTags = /(?:^|,)\s*("[^"]*")\s*(?=,|$)/g

/** Whether an entry is one that If-Match names; undefined where the header is not sent. */
export const matchingTag = (ifMatch: string | undefined): ((entry: Versioned) => boolean) | undefined => {
  if (ifMatch === undefined) return undefined
  if (ifMatch.trim() === "*") return () => true
  const tags = new Set([...ifMatch.matchAll(strongTags)].map(([, tag]) => tag))
  return (entry) => tags.has(entityTag(entry))
}
