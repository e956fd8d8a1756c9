// Requests, sums, pages of usage and the test of a provider in the form of the admin API.
// It must not depend on the key of the caller, and must not know whether HTTP or the command line asks.
import { type RequestRow, roundToMicros } from "../../domain/RequestRow.ts"
import { type CostLine, dollarsOf } from "../../domain/Usage.ts"
import type { SeriesPoint, SeriesQuery, SeriesScope, TopEntry, TopQuery } from "../../domain/usage/usageSeries.ts"
import type { UsageGroup, UsageQuery } from "../../domain/usage/usageSums.ts"
import * as Effect from "effect/Effect"
import type { GatewayError, StoreUnavailable } from "../../domain/GatewayError.ts"
import type { UsageLog } from "../../keys/UsageLog.ts"
import { seriesCursor, usageCursor } from "./adminQuery.ts"
import type { ProviderTested } from "../../admin/ProviderTest.ts"
import type { ProviderCheck } from "../../api/AdminResources.ts"
import { errorFacts } from "../../api/errorFacts.ts"

/** A request of a list, of an event, or alone. */
export const shownRequest = (row: RequestRow) => ({ object: "request", ...row })

const partNames: Readonly<Record<CostLine["part"], string>> = {
  input: "input_tokens",
  cached_input: "cached_tokens",
  cached_audio_input: "cached_audio_tokens",
  cache_write: "cache_write_tokens",
  cache_write_1h: "cache_write_1h_tokens",
  audio_input: "audio_input_tokens",
  output: "output_tokens",
  audio_output: "audio_output_tokens",
  image_output: "image_output_tokens",
  image: "images",
  search: "searches"
}

/** A product of decimal fractions without the noise of binary ones. */
const exact = (value: number): number => Number(value.toPrecision(12))

export const shownCostLine = ({ count, dollars, factor, part, rate }: CostLine) => ({
  part: partNames[part],
  count,
  ...(part === "image" || part === "search" ? { usd_each: exact(rate) } : { usd_per_million: exact(rate) }),
  ...(factor === undefined ? {} : { factor: exact(factor) }),
  cost_usd: dollars
})

/** The name of a key is next to its id. */
type NameOfKey = (id: string) => string | undefined

/** The columns of sums, after those of their dimensions. */
const sumColumns = ["requests", "errors", "input_tokens", "output_tokens", "cached_tokens", "cost_usd"]

const withKeyName = (names: ReadonlyArray<string>): ReadonlyArray<string> =>
  names.flatMap((name) => (name === "key" ? [name, "key_name"] : [name]))

/** The columns of a page of usage as CSV. */
export const usageColumns = (query: UsageQuery | SeriesQuery): ReadonlyArray<string> =>
  "bucket" in query
    ? ["start", ...withKeyName(query.scope === "all" ? [] : [query.scope]), ...sumColumns, "duration_ms"]
    : [...withKeyName(query.groupBy), ...sumColumns]

const keyNamed = (id: string | undefined, nameOf: NameOfKey): { readonly key_name?: string } => {
  const name = id === undefined ? undefined : nameOf(id)
  return name === undefined ? {} : { key_name: name }
}

const shownUsage = ({ by, cached, costMicros, errors, input, output, requests }: UsageGroup, nameOf: NameOfKey) => ({
  ...by,
  ...keyNamed(by.key, nameOf),
  requests,
  errors,
  input_tokens: input,
  output_tokens: output,
  cached_tokens: cached,
  cost_usd: dollarsOf(costMicros)
})

/** The sums of a time, of all requests or of one value of a dimension. */
const shownSums = (scope: SeriesScope, { name, sums }: TopEntry, nameOf: NameOfKey) => ({
  ...(scope === "all" ? {} : { [scope]: name }),
  ...keyNamed(scope === "key" ? name : undefined, nameOf),
  ...shownUsage({ by: {}, ...sums }, nameOf),
  cache_hits: sums.hits,
  duration_ms: Math.round(sums.durationMillis),
  overhead_ms: roundToMicros(sums.overheadMillis),
  duration_bands: sums.bands,
  ttft_bands: sums.firstBands
})

const shownPoint = (point: SeriesPoint, nameOf: NameOfKey) => ({
  start: new Date(point.startMillis).toISOString(),
  ...shownSums(point.scope, point, nameOf)
})

// One page of usage in the form of the admin API: its rows and the cursor of the next page.

export interface ShownUsagePage {
  readonly rows: ReadonlyArray<object>
  readonly cursor: string | undefined
}

export const usagePages =
  (log: UsageLog["Service"], nameOf: (id: string) => string | undefined) =>
  (query: UsageQuery | SeriesQuery | TopQuery): Effect.Effect<ShownUsagePage, StoreUnavailable> => {
    if ("top" in query)
      return Effect.map(log.top(query), (entries) => ({
        rows: entries.map((entry) => shownSums(query.scope, entry, nameOf)),
        cursor: undefined
      }))
    return "bucket" in query
      ? Effect.map(log.series(query), ({ next, points }) => ({
          rows: points.map((point) => shownPoint(point, nameOf)),
          cursor: next === undefined ? undefined : seriesCursor(next)
        }))
      : Effect.map(log.usage(query), ({ groups, next }) => ({
          rows: groups.map((group) => shownUsage(group, nameOf)),
          cursor: next === undefined ? undefined : usageCursor(next)
        }))
  }

// The result of reaching a provider as text: what is wrong, and what to do.

/** The remedy for an operator; undefined where the message contains it already. */
const advice = (error: GatewayError): string => {
  if (error._tag === "CredentialsMissing") return "Give the account an api_key or credentials."
  if (error._tag !== "ProviderError") return ""
  switch (error.reason._tag) {
    case "CredentialsRejected":
      return "Give the account a credential that is valid."
    case "PermissionDenied":
      return "Grant its principal the role Vertex AI User (roles/aiplatform.user), or enable the API in its project."
    case "ModelNotFound":
      return "The credential was taken; check region, project_id and models of the account."
    case "Transport":
      return "Check base_url of the account, the name service and the firewall between here and there."
    case "Timeout":
      return "Check the firewall between here and there, and base_url of the account."
    case "RateLimited":
    case "QuotaExhausted":
      return "The credential was taken; its quota is used up for now."
    case "Overloaded":
    case "Internal":
    case "CircuitOpen":
      return "The provider has trouble of its own; try again later."
    case "BadReply":
      return "What answers there is not the provider; check base_url of the account."
    default:
      return ""
  }
}

export const providerTestResult = ({ durationMillis, error, model, slug }: ProviderTested): ProviderCheck => {
  const common = { object: "provider_test" as const, slug, model, duration_ms: durationMillis }
  if (error === undefined) return { ...common, ok: true, message: "The provider answers, and takes the credential." }
  const { code, message, upstream } = errorFacts(error)
  return {
    ...common,
    ok: false,
    message: `${message} ${advice(error)}`.trim(),
    code,
    ...(upstream?.status === undefined ? {} : { upstream_status: upstream.status })
  }
}
