// Reads configs of Portkey: one, a list of exported ones, or a mapping by id. Fields unknown here are taken out and named.
// Must not know files or the command line.
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { compileConfig } from "../../domain/config/readConfig.ts"
import { WrittenConfig } from "../../domain/config/GatewayConfig.ts"
import { type Fault, type FaultPath, faultsOfIssue, renderPath } from "../../domain/faults.ts"
import { defaultLimits } from "../../domain/Limits.ts"
import { isJsonObject, type Json, type JsonObject, parseJsonText } from "../../domain/text/json.ts"
import { parseFamily } from "../../domain/ModelRef.ts"
import { parseName } from "../../domain/models/modelName.ts"
import { builtInModels } from "../../domain/models/modelTable.ts"
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

/** A target with the slug and the model that it names. */
interface Use {
  readonly slug: string
  readonly model: string | undefined
}

const textMember = (value: JsonObject, name: string): string | undefined => {
  const member = value[name]
  return typeof member === "string" ? member : undefined
}

const targetsOf = (config: JsonObject): ReadonlyArray<JsonObject> =>
  Array.isArray(config["targets"]) ? config["targets"].filter(isJsonObject) : []

/** What one target names: by `provider` or `virtual_key`, or in front of its model. */
const useOf = (target: JsonObject): Use | undefined => {
  const params = target["override_params"]
  const written = isJsonObject(params) ? textMember(params, "model") : undefined
  const [, prefix, model = written] = /^@([^/]+)\/(.+)$/.exec(written ?? "") ?? []
  const slug = prefix ?? (textMember(target, "provider") ?? textMember(target, "virtual_key"))?.replace(/^@/, "")
  return slug === undefined ? undefined : { slug, model }
}

const usesOf = (config: JsonObject): ReadonlyArray<Use> => [
  ...[useOf(config)].filter((use) => use !== undefined),
  ...targetsOf(config).flatMap(usesOf)
]

/** Words in slugs that name a product of Google's. */
const vertexWords = ["vertex", "gcp"]
const googleWords = ["google", "gemini", "palm"]
const has = (slug: string, words: ReadonlyArray<string>) => words.some((word) => slug.includes(word))

/** The product that serves a model under this name, where only one of Google's does. */
const productOf = (model: string): "google" | "vertex-ai" | undefined => {
  const read = parseFamily(model)
  if (Result.isFailure(read)) return undefined
  const { family, modelId } = read.success
  if (family === "gemini") {
    const isKnown = builtInModels.find(modelId).source === "file" || parseName(modelId) !== undefined
    return isKnown ? "google" : undefined
  }
  // Other vendors write `claude-x` and `publisher/model` too; the prefix is that of Vertex AI.
  return modelId !== model && !model.includes("/") ? "vertex-ai" : undefined
}

/**
 * The kind of an account, by its slug or by every model that is asked of it; undefined where nothing shows that it is
 * Google's. Its key would go to Google, so a guess is not made.
 */
const kindOf = (slug: string, models: ReadonlyArray<string>): "google" | "vertex-ai" | undefined => {
  if (has(slug, vertexWords)) return "vertex-ai"
  if (has(slug, googleWords)) return "google"
  const kinds = new Set(models.map(productOf))
  return kinds.size === 1 ? [...kinds][0] : undefined
}

/** The config without the targets of these slugs; undefined where none is left. */
const withoutSlugs = (config: JsonObject, slugs: ReadonlySet<string>): JsonObject | undefined => {
  if (slugs.has(useOf(config)?.slug ?? "")) return undefined
  const { targets, ...others } = config
  if (!Array.isArray(targets)) return config
  const remaining = targetsOf(config).flatMap((target) => {
    const ours = withoutSlugs(target, slugs)
    return ours === undefined ? [] : [ours]
  })
  return remaining.length === 0 ? undefined : { ...others, targets: remaining }
}

const variable = (slug: string, end: string): string =>
  `\${${slug.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_")}_${end}}`

/** Portkey keeps credentials apart from configs, so each account takes its own from variables. */
const accountOf = (slug: string, kind: "google" | "vertex-ai"): JsonObject =>
  kind === "vertex-ai"
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

/** The configs that work here, with an account for each slug of Google's that they name, and what they leave out. */
export const readPortkey = (file: Json): Result.Result<Imported, string> => {
  const written = configsOf(file)
  if (written.length === 0) return Result.fail("holds no config of Portkey: one, a list, or a mapping by id")
  const left: Array<LeftOut> = []
  const parsed = written.map(([id, config]) => [id, typeof config === "string" ? textConfig(config) : config] as const)
  const uses = parsed.flatMap(([, config]) => (isJsonObject(config) ? usesOf(config) : []))
  const kinds = new Map(
    [...Map.groupBy(uses, ({ slug }) => slug)].map(([slug, ofSlug]) => [
      slug,
      kindOf(
        slug,
        ofSlug.flatMap(({ model }) => model ?? [])
      )
    ])
  )
  const foreign = new Set([...kinds].flatMap(([slug, kind]) => (kind === undefined ? [slug] : [])))
  const configs = parsed.flatMap(([id, config]) => {
    const others = isJsonObject(config) ? usesOf(config).filter(({ slug }) => foreign.has(slug)) : []
    for (const slug of new Set(others.map((use) => use.slug)))
      left.push({
        path: `configs.${id}`,
        why: `nothing shows that "${slug}" is an account of Google's; its targets are left out`
      })
    const ours = others.length > 0 && isJsonObject(config) ? withoutSlugs(config, foreign) : config
    const sound = ours === undefined ? undefined : mended(id, ours, left)
    return sound === undefined ? [] : [[id, sound] as const]
  })
  const accounts = new Accounts()
  for (const slug of new Set(configs.flatMap(([, config]) => usesOf(config)).map((use) => use.slug))) {
    const kind = kinds.get(slug)
    if (kind !== undefined) accounts.slug(slug, accountOf(slug, kind))
  }
  return Result.succeed({ settings: { providers: accounts.entries, configs: Object.fromEntries(configs) }, left })
}
