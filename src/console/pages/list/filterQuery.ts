// The filters of the list of requests: their names in the address, which are those of the admin API, and their words.
// Must not know the list.

export interface FilterField {
  readonly name: string
  readonly label: string
  readonly hint?: string
}

/** The filters that are always in sight. */
export const mainFilters: ReadonlyArray<FilterField> = [
  { name: "status", label: "Status", hint: "503" },
  { name: "provider", label: "Provider" },
  { name: "model", label: "Model" },
  { name: "key", label: "Key", hint: "id of a key" },
  { name: "error", label: "Error", hint: "code" },
  { name: "request_id", label: "Request id" }
]

export const moreFilters: ReadonlyArray<FilterField> = [
  { name: "trace_id", label: "Trace id" },
  { name: "route", label: "Route", hint: "/v1/chat/completions" },
  { name: "client", label: "Client", hint: "OpenAI/Python" },
  { name: "config", label: "Config", hint: "id, or inline" },
  { name: "cache", label: "Cache", hint: "HIT" },
  { name: "min_duration_ms", label: "At least, ms", hint: "1000" },
  { name: "min_cost_usd", label: "At least, $", hint: "0.05" },
  { name: "since", label: "Since", hint: "2027-01-31T12:00:00Z" },
  { name: "until", label: "Until", hint: "2027-01-31T13:00:00Z" }
]

const fields: ReadonlySet<string> = new Set([...mainFilters, ...moreFilters].map(({ name }) => name))
const metadata = "metadata."

export type Query = Readonly<Record<string, string>>

const isFilter = (name: string): boolean => fields.has(name) || name.startsWith(metadata)

/** The filters of an address. */
export const readFilters = (query: URLSearchParams): Query =>
  Object.fromEntries([...query].filter(([name, value]) => value !== "" && isFilter(name)))

/** Whether any filter is set that is not always in sight. */
export const hasMore = (query: Query): boolean =>
  Object.keys(query).some((name) => mainFilters.every((field) => field.name !== name))

/** The metadata of the filters as `team=red`. */
export const metadataText = (query: Query): string =>
  Object.entries(query)
    .filter(([name]) => name.startsWith(metadata))
    .map(([name, value]) => `${name.slice(metadata.length)}=${value}`)
    .join(" ")

/** The filters with the metadata of this text, in place of all other metadata. */
export const withMetadata = (query: Query, text: string): Query => {
  const others = Object.entries(query).filter(([name]) => !name.startsWith(metadata))
  const pairs = text
    .trim()
    .split(/\s+/)
    .flatMap((pair): ReadonlyArray<readonly [string, string]> => {
      const at = pair.indexOf("=")
      return at < 1 ? [] : [[metadata + pair.slice(0, at), pair.slice(at + 1)]]
    })
  return Object.fromEntries([...others, ...pairs])
}
