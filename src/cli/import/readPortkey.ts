// Reads configs of Portkey: one, a list of exported ones, or a mapping by id. Fields unknown here are taken out and named.
// Must not know files or the command line.
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { compileConfig } from "../../domain/config/readConfig.ts"
import { WrittenConfig } from "../../domain/config/GatewayConfig.ts"
import { type Fault, type FaultPath, faultsOfIssue, renderPath } from "../../domain/faults.ts"
import { defaultLimits } from "../../domain/Limits.ts"
import { isJsonObject, type Json, type JsonObject, parseJsonText } from "../../domain/text/json.ts"
import { Accounts, type Imported, type LeftOut } from "./Imported.ts"

const decode = Schema.decodeUnknownResult(WrittenConfig, { errors: "all", onExcessProperty: "error" })

const faultsOf = (config: Json): ReadonlyArray<Fault> =>
  Result.match(decode(config), {
    onFailure: ({ issue }) => faultsOfIssue(issue, config),
    onSuccess: (written) => compileConfig(written, defaultLimits).faults
  })

/** The value without what stands at the path; a member of a list goes as a whole. */
const without = (value: Json, [step, ...rest]: FaultPath): Json => {
  if (Array.isArray(value) && typeof step === "number")
    return rest.length === 0 || typeof rest[0] === "number"
      ? value.filter((_, index) => index !== step)
      : value.map((member, index) => (index === step ? without(member, rest) : member))
  if (!isJsonObject(value) || typeof step !== "string") return value
  if (rest.length > 0) return { ...value, [step]: without(value[step] ?? null, rest) }
  const { [step]: _, ...others } = value
  return others
}

/** A config that compiles, by taking out one fault after the other; undefined where nothing is left of it. */
const mended = (id: string, config: Json, left: Array<LeftOut>): JsonObject | undefined => {
  let current = config
  for (;;) {
    const [fault] = faultsOf(current)
    if (fault === undefined) return isJsonObject(current) ? current : undefined
    const path = renderPath(["configs", id, ...(fault.at ?? [])])
    if (left.at(-1)?.path !== path) left.push({ path, why: fault.message })
    const next = withoutFault(current, fault.at ?? [])
    if (next === undefined) return undefined
    current = next
  }
}

/** The value without the innermost part of the path that it has: a member that is missing takes its parent along. */
const withoutFault = (value: Json, at: FaultPath): Json | undefined => {
  for (let length = at.length; length > 0; length--) {
    const next = without(value, at.slice(0, length))
    if (JSON.stringify(next) !== JSON.stringify(value)) return next
  }
  return undefined
}

/** The slugs that targets name, without `@`. */
const slugsOf = (config: JsonObject): ReadonlyArray<string> => {
  const own = config["provider"] ?? config["virtual_key"]
  const targets = Array.isArray(config["targets"]) ? config["targets"].filter(isJsonObject) : []
  return [...(typeof own === "string" ? [own.replace(/^@/, "")] : []), ...targets.flatMap(slugsOf)]
}

const variable = (slug: string, end: string): string =>
  `\${${slug.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_")}_${end}}`

/** Portkey keeps credentials apart from configs, so each account takes its own from variables. */
const accountOf = (slug: string): JsonObject =>
  slug.includes("vertex")
    ? {
        provider: "vertex-ai",
        project_id: variable(slug, "PROJECT"),
        region: "global",
        credentials: { type: "application_default" }
      }
    : { provider: "google", api_key: variable(slug, "API_KEY") }

/** An export may hold a config as text; another text stays, and is reported as no mapping. */
const textConfig = (text: string): Json => Result.getOrElse(parseJsonText(text), () => text)

/** Ids with their configs: an export has `data` or is a list, a single config gets the id `imported`. */
const configsOf = (file: Json): ReadonlyArray<readonly [string, Json]> => {
  if (isJsonObject(file) && Array.isArray(file["data"])) return configsOf(file["data"])
  if (Array.isArray(file))
    return file.filter(isJsonObject).map((entry, index) => {
      const id = entry["slug"] ?? entry["id"] ?? entry["name"]
      return [
        typeof id === "string" ? id.replaceAll(/[^\w.-]+/g, "-") : `imported-${index + 1}`,
        entry["config"] ?? entry
      ]
    })
  if (!isJsonObject(file)) return []
  const isOne = ["targets", "strategy", "provider", "virtual_key", "retry", "cache"].some((name) => name in file)
  if (isOne) return [["imported", file]]
  return Object.entries(file).flatMap(([id, config]) => (config === undefined ? [] : [[id, config] as const]))
}

/** The configs that work here, with an account for each slug they name, and what they leave out. */
export const readPortkey = (file: Json): Imported => {
  const left: Array<LeftOut> = []
  const accounts = new Accounts()
  const configs = configsOf(file).flatMap(([id, written]) => {
    const config = mended(id, typeof written === "string" ? textConfig(written) : written, left)
    return config === undefined ? [] : [[id, config] as const]
  })
  for (const slug of new Set(configs.flatMap(([, config]) => slugsOf(config)))) accounts.slug(slug, accountOf(slug))
  return { settings: { providers: accounts.entries, configs: Object.fromEntries(configs) }, left }
}
