// Where a model is served, by the facts, and which model an account can be tested with for nothing.
// It must not know requests or hosts.
import type { ModelRecord } from "./ModelRecord.ts"
import type { ModelTable } from "./modelTable.ts"

const isRegion = (location: string): boolean => /\d$/.test(location)

/** True for a model whose locations are not known, as well. */
export const isServedAt = ({ locations }: ModelRecord, location: string): boolean =>
  locations === undefined || locations.includes(location) || (locations.includes("regions") && isRegion(location))

/** The first for accounts of `global`, `us` and `eu` and of the Gemini API, the second for single regions. */
const probes = ["gemini-3.8-flash", "gemini-2.5-flash"] as const

/** A model whose tokens every account of a location can count for nothing. */
export const probeModel = (models: ModelTable, location: string | undefined): string =>
  probes.find((id) => location === undefined || isServedAt(models.find(id).record, location)) ?? probes[0]
