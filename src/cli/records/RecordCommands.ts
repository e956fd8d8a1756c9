// What operators keep in the store, from the command line: list, get, create, update, delete, revoke, rotate.
// It must not know what a kind means: administration judges every change, here as in the admin API.
import { readFile } from "node:fs/promises"
import { text } from "node:stream/consumers"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { Administration } from "../../admin/Administration.ts"
import type { Managed } from "../../admin/Managed.ts"
import type { GatewayError } from "../../domain/GatewayError.ts"
import { isJsonObject, type JsonObject, jsonObjectOf, parseJsonText } from "../../domain/text/json.ts"
import { visible, visibleLines } from "../../domain/text/printable.ts"
import { Gateway } from "../../Gateway.ts"
import { errorFacts } from "../../api/errorFacts.ts"
import type { Actor } from "../../store/Records.ts"
import { failed, type Failure, storeFailure, usage } from "../Failure.ts"
import { loadSettings, variable } from "../settings/LoadSettings.ts"
import { fieldRows, recordRows } from "./recordColumns.ts"
import { parseSettingsText } from "../settings/SettingsText.ts"
import { evenly } from "../table.ts"

export type Noun = "keys" | "providers" | "configs" | "prompts"

export interface Asked {
  readonly config: string | undefined
}
export interface Shown extends Asked {
  readonly json: boolean
}

/** Where secrets of an account are read from. */
export interface Secrets {
  readonly apiKeyFile?: string | undefined
  readonly apiKeyEnv?: string | undefined
  readonly credentialsFile?: string | undefined
}

export interface Written extends Shown {
  readonly file: string | undefined
  /** What flags say, a part of the resource each. */
  readonly parts: ReadonlyArray<JsonObject>
  readonly unset?: ReadonlyArray<string>
  readonly secrets: Secrets
}

const actor: Actor = { id: "cli", requestId: undefined }
const pageRows = 100

/** Every fault of what was written is a line. */
const said =
  (noun: Noun) =>
  (error: GatewayError): Failure => {
    switch (error._tag) {
      case "RecordInvalid":
        return usage(
          error.faults.map(({ message, path }) => (path === "" ? message : `${path}  ${message}`)).join("\n")
        )
      case "RecordUnknown":
        return failed(
          `There is no such ${error.kind}; ${noun} list shows them with their ${noun === "providers" ? "slugs" : "ids"}.`
        )
      default:
        return failed(errorFacts(error).message)
    }
  }

/** Does this on the store of the configuration. */
const administered = Effect.fnUntraced(function* <A>(
  noun: Noun,
  { config }: Asked,
  work: (administration: Administration["Service"]) => Effect.Effect<A, GatewayError>
): Effect.fn.Return<A, Failure> {
  const { settings } = yield* loadSettings({ config, flags: {} })
  const { store } = settings
  if (store === undefined || (store.location.kind === "sqlite" && store.location.path === ":memory:")) {
    return yield* usage(
      "the store of this configuration is the memory of the gateway; use its admin API, or set store.url"
    )
  }
  return yield* Effect.flatMap(Administration, (administration) =>
    Effect.mapError(work(administration), said(noun))
  ).pipe(
    Effect.provide(Gateway.layerAdministration(settings)),
    Effect.catchTag("StoreUnusable", (error) => Effect.fail(storeFailure(error)))
  )
})

/** What the four kinds have in common; their fields are JSON here. */
const managedOf = (administration: Administration["Service"], noun: Noun): Managed<object> => administration[noun]

const printed = (resource: object): string => visibleLines(JSON.stringify(resource, null, 2))

const every = Effect.fnUntraced(function* (managed: Managed<object>) {
  const rows: Array<JsonObject> = []
  let cursor: string | undefined
  do {
    const page = yield* managed.list(pageRows, cursor)
    rows.push(...page.rows.map(jsonObjectOf))
    cursor = page.next
  } while (cursor !== undefined)
  return rows
})

export const list = Effect.fn("Cli.list")(function* (noun: Noun, asked: Shown): Effect.fn.Return<void, Failure> {
  const rows = yield* administered(noun, asked, (administration) => every(managedOf(administration, noun)))
  yield* Console.log(asked.json ? printed(rows) : evenly(recordRows(noun, rows)).join("\n"))
})

export const get = Effect.fn("Cli.get")(function* (
  noun: Noun,
  id: string,
  asked: Shown
): Effect.fn.Return<void, Failure> {
  const resource = yield* administered(noun, asked, (administration) => managedOf(administration, noun).get(id))
  yield* Console.log(asked.json ? printed(resource) : evenly(fieldRows(jsonObjectOf(resource))).join("\n"))
})

const contentOf = (path: string): Effect.Effect<string, Failure> =>
  Effect.tryPromise({
    try: () => (path === "-" ? text(process.stdin) : readFile(path, "utf8")),
    catch: () => usage(`${path} cannot be read`)
  })

/** The resource that stands in a file. For configs the file may hold the config alone. */
const fileBody = Effect.fnUntraced(function* (noun: Noun, path: string | undefined) {
  if (path === undefined) return {}
  const content = yield* contentOf(path)
  const name = path === "-" && content.trimStart().startsWith("{") ? "stdin.json" : path
  const parsed = yield* Effect.mapError(Effect.fromResult(parseSettingsText(name, content)), ({ line, message }) =>
    usage(`${path}${line === undefined ? "" : `:${line}`}  cannot be read: ${message}`)
  )
  if (!isJsonObject(parsed.value)) return yield* usage(`${path}  must be a mapping of fields`)
  return noun === "configs" && parsed.value["config"] === undefined ? { config: parsed.value } : parsed.value
})

const secretBody = Effect.fnUntraced(function* ({ apiKeyEnv, apiKeyFile, credentialsFile }: Secrets) {
  const body: Record<string, JsonObject | string> = {}
  if (apiKeyFile !== undefined) body["api_key"] = (yield* contentOf(apiKeyFile)).trim()
  if (apiKeyEnv !== undefined) {
    const found = yield* variable(apiKeyEnv)
    if (found === undefined) return yield* usage(`--api-key-env  the environment variable ${apiKeyEnv} is not set`)
    body["api_key"] = found
  }
  if (credentialsFile !== undefined) {
    const json = Result.getOrUndefined(parseJsonText(yield* contentOf(credentialsFile)))
    if (!isJsonObject(json)) return yield* usage(`--credentials-file  ${credentialsFile} does not hold JSON`)
    body["credentials"] = { type: "service_account", json }
  }
  return body
})

/** Fields of which flags name one part at a time. */
const inParts: ReadonlySet<string> = new Set(["rate_limit", "budget", "labels", "metadata", "gcs"])

/** Later parts over earlier ones. */
const merged = (parts: ReadonlyArray<JsonObject>): JsonObject => {
  const out: Record<string, JsonObject[string]> = {}
  for (const [name, value] of parts.flatMap((part) => Object.entries(part))) {
    const below = out[name]
    out[name] = inParts.has(name) && isJsonObject(below) && isJsonObject(value) ? { ...below, ...value } : value
  }
  return out
}

/** What the file, the flags and the secrets say, the later over the earlier. */
const written = Effect.fnUntraced(function* (noun: Noun, { file, parts, secrets }: Written) {
  return merged([yield* fileBody(noun, file), ...parts, yield* secretBody(secrets)])
})

const nameOf = (resource: JsonObject): string => {
  const { id, slug } = resource
  return typeof slug === "string" ? slug : typeof id === "string" ? id : ""
}

/** The resource as JSON, or one line on stderr about it; of a key its text alone goes to stdout, so that it can be taken from there. */
const told = (what: string, resource: object, { json }: Shown): Effect.Effect<void> => {
  if (json) return Console.log(printed(resource))
  const fields = jsonObjectOf(resource)
  const { key, version } = fields
  const line = Console.error(
    `${what} ${visible(nameOf(fields))}${typeof version === "number" ? `, version ${version}` : ""}${typeof key === "string" ? "; its text is told this once" : ""}`
  )
  return typeof key === "string" ? Effect.andThen(line, Console.log(key)) : line
}

const singular: Readonly<Record<Noun, string>> = {
  keys: "key",
  providers: "provider",
  configs: "config",
  prompts: "prompt"
}

export const create = Effect.fn("Cli.create")(function* (noun: Noun, given: Written): Effect.fn.Return<void, Failure> {
  const body = yield* written(noun, given)
  const made = yield* administered(noun, given, (administration) => managedOf(administration, noun).create(body, actor))
  yield* told(`made ${singular[noun]}`, made, given)
})

export const update = Effect.fn("Cli.update")(function* (
  noun: Noun,
  id: string,
  given: Written
): Effect.fn.Return<void, Failure> {
  const { file, unset = [] } = given
  const changes = yield* written(noun, given)
  if (file === undefined && unset.length === 0 && Object.keys(changes).length === 0)
    return yield* usage("nothing to change: give flags, --unset or --file")
  const changed = yield* administered(noun, given, (administration) => {
    const managed = managedOf(administration, noun)
    // A file says all there is to be, flags what is to change.
    const before = file === undefined ? Effect.map(managed.get(id), jsonObjectOf) : Effect.succeed<JsonObject>({})
    return Effect.flatMap(before, (fields) => {
      const body = Object.entries(merged([fields, changes])).filter(
        ([name]) => !unset.includes(name) && !(noun === "keys" && name === "id")
      )
      return managed.update(
        id,
        Object.fromEntries([...body, ...(noun === "configs" || noun === "prompts" ? [["id", id]] : [])]),
        actor
      )
    })
  })
  yield* told(`changed ${singular[noun]}`, changed, given)
})

export const remove = Effect.fn("Cli.remove")(function* (
  noun: Noun,
  id: string,
  asked: Asked
): Effect.fn.Return<void, Failure> {
  yield* administered(noun, asked, (administration) => managedOf(administration, noun).remove(id, actor))
  yield* Console.error(`${noun === "keys" ? "revoked" : "deleted"} ${singular[noun]} ${visible(id)}`)
})

export const rotate = Effect.fn("Cli.rotate")(function* (id: string, asked: Shown): Effect.fn.Return<void, Failure> {
  const key = yield* administered("keys", asked, (administration) => administration.keys.rotate(id, actor))
  yield* told("gave another text to key", key, asked)
})
