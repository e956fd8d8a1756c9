// A native call that Google refused: the usual reason, and the details of google.rpc.Status that Google's clients decide by.
// It must not know our own answers. Rules: N1002, N1003, T2310. Source: gemini-cli-core googleQuotaErrors, google/rpc/error_details.proto.
import type { Reason } from "../../domain/ProviderError.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import { upstreamText } from "../../domain/text/publicText.ts"
import { redacted, type Redaction } from "../../domain/text/redaction.ts"
import { type ReadFailure, readUpstreamError, statusInside } from "../shared/reply/upstreamError.ts"
import { failureFromGoogle } from "../shared/reply/upstreamFailures.ts"

/** A refusal with its details; details about a stored credential are removed. */
const withDetails = (reason: Reason, details: ReadonlyArray<JsonObject>): Reason =>
  details.length === 0 || reason._tag === "CredentialsRejected" ? reason : { ...reason, details }

export const failureFromNative: ReadFailure = (status, headers, body, origin) =>
  withDetails(
    failureFromGoogle(status, headers, body, origin),
    shownDetails(readUpstreamError(status, headers, body).details)
  )

/** An error inside a 200. Whose credential was refused is not known there, so a stored one is assumed. */
export const failureInsideNative = (error: JsonObject, redaction: Redaction): Reason => {
  const shown = redaction.json(error)
  const read = isJsonObject(shown) ? shown : {}
  return failureFromNative(statusInside(read), {}, { error: read }, "stored")
}

// The parts of a google.rpc.Status of an upstream that clients decide by, without what must not be shown.

const prefix = "type.googleapis.com/google.rpc."
const mostDetails = 16
const mostMembers = 16
const textBytes = 256

const text = (value: Json | undefined, bytes = textBytes): string | undefined =>
  typeof value === "string" ? upstreamText(value, bytes) : undefined

/** Words of a closed grammar need no search: reasons, quota ids and delays are what clients compare. */
const word = (value: Json | undefined): string | undefined =>
  typeof value === "string" && /^[\w./-]{1,128}$/.test(value) && !/projects?\//.test(value) ? value : undefined

const list = (value: Json | undefined): ReadonlyArray<JsonObject> =>
  Array.isArray(value) ? value.filter(isJsonObject).slice(0, mostMembers) : []

const without = (entries: Readonly<Record<string, Json | undefined>>): JsonObject =>
  Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined))

/** Members of a map that name no project, host or consumer. */
const shownMap = (value: Json | undefined): JsonObject | undefined => {
  if (!isJsonObject(value)) return undefined
  const hidden = /project|consumer|container|resource|method|endpoint/i
  const entries = Object.entries(value)
    .filter(([name]) => !hidden.test(name))
    .slice(0, mostMembers)
    .flatMap(([name, inner]) => {
      const shown = word(inner) ?? text(inner)
      return shown === undefined || !/^[\w-]{1,64}$/.test(name) ? [] : [[name, shown] as const]
    })
  return Object.fromEntries(entries)
}

type Shown = (detail: JsonObject) => JsonObject | undefined

/** Kinds of details by the end of their type; any other, such as DebugInfo, is left out. */
const kinds: Readonly<Record<string, Shown>> = {
  RetryInfo: ({ retryDelay }) =>
    typeof retryDelay === "string" && /^\d{1,9}(\.\d{1,9})?s$/.test(retryDelay) ? { retryDelay } : undefined,
  QuotaFailure: ({ violations }) => ({
    violations: list(violations).map(({ description, quotaDimensions, quotaId, quotaMetric, quotaValue, subject }) =>
      without({
        quotaMetric: word(quotaMetric),
        quotaId: word(quotaId),
        quotaDimensions: shownMap(quotaDimensions),
        quotaValue: word(quotaValue),
        subject: subject === undefined ? undefined : text(subject),
        description: text(description)
      })
    )
  }),
  ErrorInfo: ({ domain, metadata, reason }) =>
    without({ reason: word(reason), domain: word(domain), metadata: shownMap(metadata) }),
  BadRequest: ({ fieldViolations }) => ({
    fieldViolations: list(fieldViolations).map(({ description, field }) =>
      without({ field: text(field), description: text(description, 1_024) })
    )
  }),
  Help: ({ links }) => ({
    links: list(links).map(({ description, url }) => without({ description: text(description), url: text(url) }))
  }),
  LocalizedMessage: ({ locale, message }) => without({ locale: word(locale), message: text(message, 1_024) })
}

/** The known details, in their order. */
const shownDetails = (details: Json | undefined): ReadonlyArray<JsonObject> =>
  list(details)
    .slice(0, mostDetails)
    .flatMap((detail) => {
      const type = detail["@type"]
      const name = typeof type === "string" && type.startsWith(prefix) ? type.slice(prefix.length) : ""
      const shown = Object.hasOwn(kinds, name) ? kinds[name]?.(detail) : undefined
      return shown === undefined ? [] : [{ "@type": `${prefix}${name}`, ...shown }]
    })

/** A Status as it may be shown: code, word, scrubbed message and known details. */
export const shownStatus = (error: JsonObject, redaction: Redaction): Json => {
  const message = error["message"]
  const details = shownDetails(error["details"])
  return redaction.json(
    without({
      code: typeof error["code"] === "number" ? error["code"] : undefined,
      message: typeof message === "string" ? upstreamText(redaction.text(message)) || redacted : undefined,
      status: word(error["status"]),
      ...(details.length === 0 ? {} : { details })
    })
  )
}
