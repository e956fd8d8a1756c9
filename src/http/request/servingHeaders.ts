// The headers by which a client chooses how Vertex AI serves a request, by a closed list of names and values.
// It must not know routes or accounts.
import type { HeaderRecord } from "../../api/Headers.ts"
import { requestTypeHeader, requestTypes } from "../../domain/ProviderAccount.ts"

const sharedTypeHeader = "x-vertex-ai-llm-shared-request-type"
const sharedTypes = ["priority", "flex", "standard"] as const

const chosen = (value: string | undefined, values: ReadonlyArray<string>): string | undefined =>
  value === undefined ? undefined : values.find((one) => one === value.trim().toLowerCase())

/** Undefined for a request without such a header; another value is left out. */
export const servingHeaders = (headers: HeaderRecord): Readonly<Record<string, string>> | undefined => {
  const type = headers[requestTypeHeader]
  const shared = headers[sharedTypeHeader]
  if (type === undefined && shared === undefined) return undefined
  const kept = Object.entries({
    [requestTypeHeader]: chosen(type, requestTypes),
    [sharedTypeHeader]: chosen(shared, sharedTypes)
  }).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}
