// The record verbs on keys, providers, configs and prompts of the store: list, get, create, update, delete, rotate.
// Must not validate a change; `Administration` does, here and in the admin API.
import { readFile } from "node:fs/promises"
import { text } from "node:stream/consumers"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { Administration } from "../../admin/Administration.ts"
import type { Managed } from "../../admin/Managed.ts"
import type { GatewayError } from "../../domain/GatewayError.ts"
import { mostGraceSeconds } from "../../domain/GatewayKey.ts"
import { isJsonObject, type Json, type JsonObject, jsonObjectOf, parseJsonText } from "../../domain/text/json.ts"
import { visible } from "../../domain/text/printable.ts"
import type { Settings } from "../../domain/settings/Settings.ts"
import { Gateway } from "../../Gateway.ts"
import type { UsageLog } from "../../keys/UsageLog.ts"
import { errorFacts } from "../../api/errorFacts.ts"
import type { Actor } from "../../store/StoredRecord.ts"
import {
  alignColumns,
  commandFailure,
  type Failure,
  printAnswer,
  renderJson,
  storeFailure,
  usageFailure
} from "../Output.ts"
import { loadForCommand, readVariable } from "../settings/LoadSettings.ts"
import { parseSettingsText } from "../settings/SettingsText.ts"

// The flags of `keys create` and `keys update` that set a field of a key, so that a fault names what was typed.

const flags: Readonly<Record<string, string>> = {
  name: "--name",
  scopes: "--scope",
  providers: "--provider",
  models: "--model",
  configs: "--allow-config",
  prompts: "--allow-prompt",
  config: "--use-config",
  expires_at: "--expires-at",
  "rate_limit.requests_per_minute": "--requests-per-minute",
  "rate_limit.tokens_per_minute": "--tokens-per-minute",
  "rate_limit.requests_burst": "--requests-burst",
  "rate_limit.tokens_burst": "--tokens-burst",
  concurrency: "--concurrency",
  "budget.usd": "--budget-usd",
  "budget.per": "--budget-per",
  metadata: "--metadata",
  metadata_locked: "--metadata-locked",
  "other_models.messages": "--other-models"
}

/** The flag of a field such as `budget.per` or `scopes[0]`; the path itself where no flag sets it. */
export const keyFlagOf = (path: string): string => flags[path] ?? flags[path.replace(/[[.].*$/, "")] ?? path

// The columns of the tables that list keys, providers, configs and prompts.

type Column = readonly [head: string, cell: (resource: JsonObject) => string]

const renderValue = (value: Json | undefined): string =>
  value === undefined || value === null
    ? "-"
    : Array.isArray(value)
      ? value.map(renderValue).join(",")
      : isJsonObject(value)
        ? Object.entries(value)
            .map(([name, member]) => `${name}=${renderValue(member)}`)
            .join(",")
        : String(value)

const fieldColumn = (name: string, head = name): Column => [head, (resource) => renderValue(resource[name])]

const columns = {
  keys: [
    fieldColumn("id"),
    fieldColumn("name"),
    fieldColumn("prefix"),
    fieldColumn("scopes"),
    fieldColumn("providers"),
    fieldColumn("models"),
    [
      "state",
      ({ expires_at: expires, revoked_at: revoked }) =>
        revoked === undefined ? (expires === undefined ? "active" : `until ${renderValue(expires)}`) : "revoked"
    ],
    fieldColumn("source")
  ],
  providers: [
    fieldColumn("slug"),
    fieldColumn("provider"),
    fieldColumn("project_id", "project"),
    fieldColumn("region"),
    ["credential", ({ credential }) => (isJsonObject(credential) ? renderValue(credential["type"]) : "-")],
    fieldColumn("source")
  ],
  configs: [fieldColumn("id"), fieldColumn("name"), fieldColumn("version"), fieldColumn("source")],
  prompts: [
    fieldColumn("id"),
    fieldColumn("name"),
    fieldColumn("model"),
    fieldColumn("version"),
    fieldColumn("labels"),
    fieldColumn("source")
  ]
} as const satisfies Readonly<Record<string, ReadonlyArray<Column>>>

/** A header row, and one row per resource. */
export const recordRows = (
  noun: keyof typeof columns,
  resources: ReadonlyArray<JsonObject>
): ReadonlyArray<ReadonlyArray<string>> => {
  const shown: ReadonlyArray<Column> = columns[noun]
  return [shown.map(([head]) => head), ...resources.map((resource) => shown.map(([, cell]) => cell(resource)))]
}

/** One row per field of a resource. */
export const fieldRows = (resource: JsonObject): ReadonlyArray<ReadonlyArray<string>> =>
  Object.entries(resource)
    .filter(([name]) => name !== "object")
    .map(([name, value]) => [
      name,
      isJsonObject(value) || Array.isArray(value) ? JSON.stringify(value) : renderValue(value)
    ])

export type RecordKind = "keys" | "providers" | "configs" | "prompts"

export interface RecordOptions {
  readonly config: string | undefined
}
export interface PrintOptions extends RecordOptions {
  readonly json: boolean
}

/** Where an account's secrets are read from. */
export interface SecretSources {
  readonly apiKeyFile?: string | undefined
  readonly apiKeyEnv?: string | undefined
  readonly credentialsFile?: string | undefined
}

export interface WriteOptions extends PrintOptions {
  readonly file: string | undefined
  /** Parts of the resource, one per flag. */
  readonly parts: ReadonlyArray<JsonObject>
  readonly unset?: ReadonlyArray<string>
  readonly secrets: SecretSources
}

const actor: Actor = { id: "cli", requestId: undefined }
const pageRows = 100

/** A usage failure has one line for each fault of the written resource. */
const toFailure =
  (noun: RecordKind, placeOf: (path: string) => string) =>
  (error: GatewayError): Failure => {
    switch (error._tag) {
      case "RecordInvalid":
        return usageFailure(
          error.faults.map(({ message, path }) => (path === "" ? message : `${placeOf(path)}  ${message}`)).join("\n")
        )
      case "RecordUnknown":
        return commandFailure(
          `There is no such ${error.kind}; ${noun} list shows them with their ${noun === "providers" ? "slugs" : "ids"}.`
        )
      default:
        return commandFailure(errorFacts(error).message)
    }
  }

/** Runs the work on the store of the configuration. */
export const onStore = Effect.fnUntraced(function* <A>(
  { config }: RecordOptions,
  work: (settings: Settings) => Effect.Effect<A, Failure, Administration | UsageLog>
): Effect.fn.Return<A, Failure> {
  const { settings } = yield* loadForCommand({ config, flags: {} })
  const { store } = settings
  if (store === undefined || (store.location.kind === "sqlite" && store.location.path === ":memory:")) {
    return yield* usageFailure(
      "the store of this configuration is the memory of the gateway; use its admin API, or set store.url"
    )
  }
  return yield* work(settings).pipe(
    Effect.provide(Gateway.layerAdministration(settings)),
    Effect.catchTag("StoreUnusable", (error) => Effect.fail(storeFailure(error)))
  )
})

const administer = <A>(
  noun: RecordKind,
  options: RecordOptions & { readonly file?: string | undefined },
  work: (administration: Administration["Service"]) => Effect.Effect<A, GatewayError>
): Effect.Effect<A, Failure> =>
  onStore(options, () =>
    Effect.flatMap(Administration, (administration) =>
      Effect.mapError(
        work(administration),
        // A fault of a file has the path of its field.
        toFailure(noun, noun === "keys" && options.file === undefined ? keyFlagOf : (path) => path)
      )
    )
  )

/** The operations that the four kinds share; fields are plain JSON here. */
const managedOf = (administration: Administration["Service"], noun: RecordKind): Managed<object> => administration[noun]

const listAllRows = Effect.fnUntraced(function* (managed: Managed<object>) {
  const rows: Array<JsonObject> = []
  let cursor: string | undefined
  do {
    const page = yield* managed.list(pageRows, cursor)
    rows.push(...page.rows.map(jsonObjectOf))
    cursor = page.next
  } while (cursor !== undefined)
  return rows
})

export const listRecords = Effect.fn("Cli.list")(function* (
  noun: RecordKind,
  asked: PrintOptions
): Effect.fn.Return<void, Failure> {
  const rows = yield* administer(noun, asked, (administration) => listAllRows(managedOf(administration, noun)))
  yield* printAnswer(asked, rows, alignColumns(recordRows(noun, rows)))
})

export const getRecord = Effect.fn("Cli.get")(function* (
  noun: RecordKind,
  id: string,
  asked: PrintOptions
): Effect.fn.Return<void, Failure> {
  const resource = yield* administer(noun, asked, (administration) => managedOf(administration, noun).get(id))
  yield* printAnswer(asked, resource, alignColumns(fieldRows(jsonObjectOf(resource))))
})

const readContent = (path: string): Effect.Effect<string, Failure> =>
  Effect.tryPromise({
    try: () => (path === "-" ? text(process.stdin) : readFile(path, "utf8")),
    catch: () => usageFailure(`${path} cannot be read`)
  })

/** Reads the resource from a file. For configs the file may hold the config alone. */
const readFileBody = Effect.fnUntraced(function* (noun: RecordKind, path: string | undefined) {
  if (path === undefined) return {}
  const content = yield* readContent(path)
  const name = path === "-" && content.trimStart().startsWith("{") ? "stdin.json" : path
  const parsed = yield* Effect.mapError(Effect.fromResult(parseSettingsText(name, content)), ({ line, message }) =>
    usageFailure(`${path}${line === undefined ? "" : `:${line}`}  cannot be read: ${message}`)
  )
  if (!isJsonObject(parsed.value)) return yield* usageFailure(`${path}  must be a mapping of fields`)
  return noun === "configs" && parsed.value["config"] === undefined ? { config: parsed.value } : parsed.value
})

const readSecretBody = Effect.fnUntraced(function* ({ apiKeyEnv, apiKeyFile, credentialsFile }: SecretSources) {
  const body: Record<string, JsonObject | string> = {}
  if (apiKeyFile !== undefined) body["api_key"] = (yield* readContent(apiKeyFile)).trim()
  if (apiKeyEnv !== undefined) {
    const apiKey = yield* readVariable(apiKeyEnv)
    if (apiKey === undefined)
      return yield* usageFailure(`--api-key-env  the environment variable ${apiKeyEnv} is not set`)
    body["api_key"] = apiKey
  }
  if (credentialsFile !== undefined) {
    const json = Result.getOrUndefined(parseJsonText(yield* readContent(credentialsFile)))
    if (!isJsonObject(json)) return yield* usageFailure(`--credentials-file  ${credentialsFile} does not hold JSON`)
    body["credentials"] = { type: "service_account", json }
  }
  return body
})

/** Fields that flags set part by part; the parts are merged. */
const mergedFields: ReadonlySet<string> = new Set(["rate_limit", "budget", "labels", "metadata", "gcs"])

/** Later parts win over earlier ones. */
const mergeParts = (parts: ReadonlyArray<JsonObject>): JsonObject => {
  const out: Record<string, JsonObject[string]> = {}
  for (const [name, value] of parts.flatMap((part) => Object.entries(part))) {
    const below = out[name]
    out[name] = mergedFields.has(name) && isJsonObject(below) && isJsonObject(value) ? { ...below, ...value } : value
  }
  return out
}

/** Merges file, flags and secrets; the later wins. */
const readChanges = Effect.fnUntraced(function* (noun: RecordKind, { file, parts, secrets }: WriteOptions) {
  return mergeParts([yield* readFileBody(noun, file), ...parts, yield* readSecretBody(secrets)])
})

const nameOf = (resource: JsonObject): string => {
  const { id, slug } = resource
  return typeof slug === "string" ? slug : typeof id === "string" ? id : ""
}

/** Prints the resource as JSON, or one line on stderr. A new key's text alone goes to stdout, for scripts. */
const printResource = (what: string, resource: object, { json }: PrintOptions): Effect.Effect<void> => {
  if (json) return Console.log(renderJson(resource))
  const fields = jsonObjectOf(resource)
  const { key, version } = fields
  const line = Console.error(
    `${what} ${visible(nameOf(fields))}${typeof version === "number" ? `, version ${version}` : ""}${typeof key === "string" ? "; its text is shown only here" : ""}`
  )
  return typeof key === "string" ? Effect.andThen(line, Console.log(key)) : line
}

const singularKinds: Readonly<Record<RecordKind, string>> = {
  keys: "key",
  providers: "provider",
  configs: "config",
  prompts: "prompt"
}

export const createRecord = Effect.fn("Cli.create")(function* (
  noun: RecordKind,
  given: WriteOptions
): Effect.fn.Return<void, Failure> {
  const body = yield* readChanges(noun, given)
  const made = yield* administer(noun, given, (administration) => managedOf(administration, noun).create(body, actor))
  yield* printResource(`made ${singularKinds[noun]}`, made, given)
})

export const updateRecord = Effect.fn("Cli.update")(function* (
  noun: RecordKind,
  id: string,
  given: WriteOptions
): Effect.fn.Return<void, Failure> {
  const { file, unset = [] } = given
  const changes = yield* readChanges(noun, given)
  if (file === undefined && unset.length === 0 && Object.keys(changes).length === 0)
    return yield* usageFailure("nothing to change: give flags, --unset or --file")
  const changed = yield* administer(noun, given, (administration) => {
    const managed = managedOf(administration, noun)
    // A file replaces the whole resource; flags change single fields.
    const before = file === undefined ? Effect.map(managed.get(id), jsonObjectOf) : Effect.succeed<JsonObject>({})
    return Effect.flatMap(before, (fields) => {
      const body = Object.entries(mergeParts([fields, changes])).filter(
        ([name]) => !unset.includes(name) && !(noun === "keys" && name === "id")
      )
      return managed.update(
        id,
        Object.fromEntries([...body, ...(noun === "configs" || noun === "prompts" ? [["id", id]] : [])]),
        actor
      )
    })
  })
  yield* printResource(`changed ${singularKinds[noun]}`, changed, given)
})

export const removeRecord = Effect.fn("Cli.remove")(function* (
  noun: RecordKind,
  id: string,
  asked: PrintOptions
): Effect.fn.Return<void, Failure> {
  yield* administer(noun, asked, (administration) => managedOf(administration, noun).remove(id, actor))
  const done = noun === "keys" ? "revoked" : "deleted"
  yield* asked.json
    ? Console.log(renderJson({ [noun === "providers" ? "slug" : "id"]: id, [done]: true }))
    : Console.error(`${done} ${singularKinds[noun]} ${visible(id)}`)
})

export interface RotateOptions extends PrintOptions {
  /** How long the old text is taken as well; undefined: not at all. */
  readonly graceSeconds: number | undefined
}

export const rotateKey = Effect.fn("Cli.rotate")(function* (
  id: string,
  given: RotateOptions
): Effect.fn.Return<void, Failure> {
  const { graceSeconds } = given
  if (graceSeconds !== undefined && (graceSeconds < 1 || graceSeconds > mostGraceSeconds))
    return yield* usageFailure(`--grace-seconds  is a whole number from 1 to ${mostGraceSeconds}`)
  const key = yield* administer("keys", given, (administration) =>
    administration.keys.rotate(id, actor, undefined, graceSeconds)
  )
  yield* printResource("gave another text to key", key, given)
})
