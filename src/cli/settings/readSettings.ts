// From the parsed file, the environment and the flags to Settings, or to every fault at once.
// It must not know where the file was found; a secret never enters a fault.
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { type Fault, faultAt, type FaultPath, faultsOfIssue, renderPath, shown } from "../../domain/faults.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import type { KeyScope } from "../../domain/GatewayKey.ts"
import { defaultLimits } from "../../domain/Limits.ts"
import type { ProviderAccount } from "../../domain/ProviderAccount.ts"
import {
  anyOrigin,
  defaultServer,
  type KeySetting,
  type Settings,
  type SettingsFile,
  settingsFile
} from "../../domain/settings/Settings.ts"
import type { Price } from "../../domain/Usage.ts"
import { type FileText, readAccounts } from "./readAccounts.ts"
import { isMended, type Mended, mended } from "./mended.ts"
import { readConfigs } from "../../domain/config/readConfigs.ts"
import { noNames, readKey } from "../../domain/settings/readKey.ts"
import { readPrompts } from "../../catalog/readPrompts.ts"
import { readExport } from "./readExport.ts"
import { type Places, readStore } from "./readStore.ts"
import { type Environment, substitute } from "./substitute.ts"

/** What the command line says about the configuration. */
export interface Flags {
  readonly host?: string
  readonly port?: number
  readonly logFormat?: string
  readonly logLevel?: string
}

export interface SettingsInput {
  /** The parsed file; null when there is none. */
  readonly file: Json
  readonly env: Environment
  readonly flags: Flags
  readonly fileText: FileText
  /** Without it nothing is kept beyond the process. */
  readonly places?: Places
}

/** `jsonDepth` is `GATEWAY_LIMITS_JSON_DEPTH`. */
export const variableOf = (section: string, name: string): string =>
  `GATEWAY_${section}_${name.replace(/[A-Z]/g, "_$&")}`.toUpperCase()

interface Override {
  readonly section: "server" | "store" | "redis" | "limits" | "log" | "telemetry" | "media"
  readonly name: string
  /** What a fault names: the variable or the flag. */
  readonly origin: string
  readonly value: Json
}

/** Values set outside the file, weakest first. */
const overrides = (env: Environment, flags: Flags): ReadonlyArray<Override> => {
  const found: Array<Override> = []
  const variable = (section: Override["section"], name: string, origin: string) => {
    const value = Object.hasOwn(env, origin) ? env[origin] : undefined
    if (value !== undefined && value !== "") found.push({ section, name, origin, value })
  }
  variable("server", "port", "PORT")
  variable("server", "host", variableOf("server", "host"))
  variable("server", "port", variableOf("server", "port"))
  variable("server", "admin_host", variableOf("server", "admin_host"))
  variable("server", "admin_port", variableOf("server", "admin_port"))
  variable("server", "cors", variableOf("server", "cors"))
  variable("server", "metrics_auth", variableOf("server", "metrics_auth"))
  // Many a service is given one of another database.
  if (env["DATABASE_URL"]?.startsWith("postgres") === true) variable("store", "url", "DATABASE_URL")
  variable("store", "url", variableOf("store", "url"))
  variable("redis", "url", "REDIS_URL")
  variable("redis", "url", variableOf("redis", "url"))
  variable("log", "format", variableOf("log", "format"))
  variable("log", "level", variableOf("log", "level"))
  variable("media", "fetch", variableOf("media", "fetch"))
  for (const name of Object.keys(defaultLimits)) variable("limits", name, variableOf("limits", name))
  if (flags.host !== undefined) found.push({ section: "server", name: "host", origin: "--host", value: flags.host })
  if (flags.port !== undefined) found.push({ section: "server", name: "port", origin: "--port", value: flags.port })
  if (flags.logFormat !== undefined)
    found.push({ section: "log", name: "format", origin: "--log-format", value: flags.logFormat })
  if (flags.logLevel !== undefined)
    found.push({ section: "log", name: "level", origin: "--log-level", value: flags.logLevel })
  return found
}

/** Digits out of a variable or a reference are numbers where only numbers stand. */
const withNumbers = (section: JsonObject, isNumber: (name: string) => boolean): JsonObject =>
  Object.fromEntries(
    Object.entries(section).map(([name, value]) => [
      name,
      isNumber(name) && typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value
    ])
  )

/** The same of yes and no. */
const withFlags = (section: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(section).map(([name, value]) => [name, value === "true" ? true : value === "false" ? false : value])
  )

/** Out of a variable or a reference, where a list stands, several are separated by commas. */
const withLists = (section: JsonObject, name: string): JsonObject => {
  const value = section[name]
  return typeof value === "string"
    ? {
        ...section,
        [name]: value
          .split(",")
          .map((one) => one.trim())
          .filter((one) => one !== "")
      }
    : section
}

/** The file with overrides laid over it; an empty section (`keys:` and nothing below) counts as absent. */
const layered = (file: JsonObject, over: ReadonlyArray<Override>): JsonObject => {
  const out: Record<string, Json | undefined> = {}
  for (const [name, section] of Object.entries(file)) {
    if (section !== null) out[name] = section
  }
  for (const { name, section, value } of over) {
    const below = out[section] ?? {}
    if (isJsonObject(below)) out[section] = { ...below, [name]: value }
  }
  if (isJsonObject(out["server"]))
    out["server"] = withNumbers(withLists(out["server"], "cors"), (name) => name === "port" || name === "admin_port")
  if (isJsonObject(out["limits"])) out["limits"] = withNumbers(out["limits"], () => true)
  if (isJsonObject(out["media"])) out["media"] = withFlags(out["media"])
  return out
}

const decode = Schema.decodeUnknownResult(settingsFile, { errors: "all", onExcessProperty: "error" })

const hostGrammar = /^[A-Za-z0-9_.:-]{1,253}$/

/** What a browser sends as `Origin`: scheme, host and port, and nothing behind them. */
const isOrigin = (text: string): boolean =>
  text === anyOrigin || (/^https?:/.test(text) && URL.parse(text)?.origin === text)

const corsFaults = (origins: ReadonlyArray<string>): ReadonlyArray<Fault> =>
  origins.flatMap((one, index) =>
    isOrigin(one)
      ? []
      : [faultAt(["server", "cors", index], `${shown(one)} is not an origin such as https://app.example.com, or *`)]
  )

/** A password may hold anything; what a fault says of it is nothing. */
const redisFaults = (url: string | undefined): ReadonlyArray<Fault> =>
  url === undefined || (/^rediss?:\/\/[^\s/]+(\/\d{0,5})?$/.test(url) && URL.canParse(url))
    ? []
    : [
        faultAt(
          ["redis", "url"],
          "is not an address of the form redis://host:6379 or rediss://user:password@host:6380/0"
        )
      ]

const keyGrammar = /^[\x21-\x7e]{8,256}$/
const keyFault = "must be 8 to 256 printable characters without spaces"

const keyFaults = (file: SettingsFile, accounts: ReadonlyArray<ProviderAccount>): ReadonlyArray<Fault> => {
  const keys = file.keys ?? []
  const slugs = accounts.map((account) => account.slug)
  const configs = Object.keys(file.configs ?? {})
  const prompts = (file.prompts ?? []).map(({ id }) => id)
  return keys.flatMap((one, index) => {
    const at: FaultPath = ["keys", index]
    const earlier = keys.slice(0, index)
    return [
      ...(earlier.some((other) => other.name === one.name)
        ? [faultAt([...at, "name"], `${shown(one.name)} is declared twice`)]
        : []),
      ...(keyGrammar.test(one.key) ? [] : [faultAt([...at, "key"], keyFault)]),
      ...(earlier.some((other) => other.key === one.key)
        ? [faultAt([...at, "key"], "is the key of another name as well")]
        : []),
      ...readKey(one.name, one, { slugs, configs, prompts }, at).faults
    ]
  })
}

interface ReadKeys {
  readonly keys: ReadonlyArray<KeySetting>
  readonly faults: ReadonlyArray<Fault>
}

const environmentKey = (
  env: Environment,
  variable: string,
  name: string,
  scopes: ReadonlyArray<KeyScope>
): ReadKeys => {
  const key = env[variable]
  if (key === undefined || key === "") return { keys: [], faults: [] }
  return keyGrammar.test(key)
    ? { keys: [{ name, key: Redacted.make(key), providers: undefined, models: undefined, scopes }], faults: [] }
    : { keys: [], faults: [{ path: variable, message: keyFault, at: undefined }] }
}

/** One fault per place: the first says what to mend, those after it follow from it. */
const firstPerPlace = (faults: ReadonlyArray<Fault>): ReadonlyArray<Fault> =>
  faults.filter((fault, index) => faults.findIndex((other) => other.path === fault.path) === index)

const originOf = (path: string, over: ReadonlyArray<Override>): string | undefined =>
  over.findLast((one) => renderPath([one.section, one.name]) === path)?.origin

/** A fault of a value that came from a variable or flag names that one. */
const named = (fault: Fault, over: ReadonlyArray<Override>): Fault => {
  // A variable holds a whole list.
  const origin = originOf(fault.path.replace(/\[\d+\]$/, ""), over)
  return origin === undefined ? fault : { path: origin, message: fault.message, at: undefined }
}

/** How deep a configuration may be at fault: each round mends what the one before left incomplete. */
const mostRounds = 32

/** The configuration as far as it can be read: what is at fault is left out, or has a placeholder. */
const readable = (
  value: JsonObject,
  faults: ReadonlyArray<Fault>
): { readonly file: SettingsFile | undefined; readonly places: Mended["places"] } => {
  let mending = mended({ value, places: [] }, placesOf(faults))
  for (let round = 0; round < mostRounds; round++) {
    const file = decode(mending.value)
    if (Result.isSuccess(file)) return { file: file.success, places: mending.places }
    mending = mended(mending, placesOf(faultsOfIssue(file.failure.issue, mending.value)))
  }
  return { file: undefined, places: mending.places }
}

const placesOf = (faults: ReadonlyArray<Fault>): ReadonlyArray<FaultPath> =>
  faults.flatMap(({ at }) => (at === undefined ? [] : [at]))

const adminFaults = (
  { admin_host: host, admin_port: port }: NonNullable<SettingsFile["server"]>,
  mainPort: number
): ReadonlyArray<Fault> => [
  ...(host !== undefined && !hostGrammar.test(host)
    ? [faultAt(["server", "admin_host"], `${shown(host)} is not an address to listen on`)]
    : []),
  ...(host !== undefined && port === undefined
    ? [faultAt(["server", "admin_host"], "has no meaning without an admin_port")]
    : []),
  ...(port !== undefined && port !== 0 && port === mainPort
    ? [faultAt(["server", "admin_port"], "is the port of the API itself")]
    : [])
]

/** What the schema cannot say: grammars, credentials, names that must exist or be unique. */
const checked = (
  file: SettingsFile,
  input: SettingsInput,
  over: ReadonlyArray<Override>
): { readonly settings: Settings; readonly faults: ReadonlyArray<Fault> } => {
  const {
    admin_host: adminHost = defaultServer.host,
    admin_port: adminPort,
    cors = [],
    host = defaultServer.host,
    metrics_auth: metricsAuth,
    port = defaultServer.port
  } = file.server ?? {}
  const { accounts, faults } = readAccounts(file, input.env, input.fileText)
  const limits = { ...defaultLimits, ...file.limits }
  const prompts = readPrompts(file.prompts ?? [], accounts, limits)
  const configs = readConfigs(file.configs ?? {}, accounts, limits)
  const ambient = environmentKey(input.env, "GATEWAY_API_KEY", "environment", ["inference"])
  const admin = environmentKey(input.env, "GATEWAY_ADMIN_KEY", "admin", ["admin"])
  const exported = readExport(input.env)
  const storeOrigin = originOf("store.url", over) === undefined ? "file" : "environment"
  const stored =
    input.places === undefined ? undefined : readStore(file.store?.url, storeOrigin, input.env, input.places)
  const credentialsFile = input.env["GOOGLE_APPLICATION_CREDENTIALS"]
  return {
    settings: {
      server: {
        host,
        port,
        ...(adminPort === undefined ? {} : { admin: { host: adminHost, port: adminPort } }),
        ...(cors.length === 0 ? {} : { cors }),
        ...(metricsAuth === undefined ? {} : { metricsAuth })
      },
      accounts,
      keys: [...(file.keys ?? []).map(keySetting), ...ambient.keys, ...admin.keys],
      limits,
      ...(prompts.prompts.length === 0 ? {} : { prompts: prompts.prompts }),
      configs: configs.configs,
      ...(file.redis?.url === undefined ? {} : { redis: Redacted.make(file.redis.url) }),
      ...(file.log === undefined ? {} : { log: file.log }),
      ...(file.prices === undefined
        ? {}
        : { prices: Object.fromEntries(Object.entries(file.prices).map(([name, one]) => [name, priceOf(one)])) }),
      ...(stored?.setting === undefined ? {} : { store: stored.setting }),
      ...(exported.setting === undefined ? {} : { export: exported.setting }),
      ...(file.telemetry?.accounting === undefined ? {} : { accounting: file.telemetry.accounting }),
      ...(file.telemetry?.key_label === undefined ? {} : { keyLabel: file.telemetry.key_label }),
      ...(file.telemetry?.propagate_upstream === undefined
        ? {}
        : { propagateUpstream: file.telemetry.propagate_upstream }),
      ...(file.media?.fetch === undefined ? {} : { media: { fetch: file.media.fetch } }),
      ...(credentialsFile === undefined || credentialsFile === ""
        ? {}
        : { applicationCredentialsFile: credentialsFile })
    },
    faults: [
      ...(hostGrammar.test(host) ? [] : [faultAt(["server", "host"], `${shown(host)} is not an address to listen on`)]),
      ...(stored?.faults ?? []),
      ...adminFaults(file.server ?? {}, port),
      ...corsFaults(cors),
      ...redisFaults(file.redis?.url),
      ...faults,
      ...keyFaults(file, accounts),
      ...prompts.faults,
      ...configs.faults,
      ...ambient.faults,
      ...admin.faults,
      ...exported.faults
    ]
  }
}

/**
 * The configuration, or all its faults. Flags win over variables, these over the file, the file over defaults;
 * variables without the prefix `GATEWAY_` only fill what the file leaves open on the two built-in slugs.
 */
export const readSettings = (input: SettingsInput): Result.Result<Settings, ReadonlyArray<Fault>> => {
  const file = input.file ?? {}
  if (!isJsonObject(file)) return Result.fail([faultAt([], "the configuration must be a mapping of keys")])
  const over = overrides(input.env, input.flags)
  const substituted = substitute(file, input.env)
  const value = layered(isJsonObject(substituted.value) ? substituted.value : {}, over)
  const whole = decode(value)
  const shapeFaults = Result.isFailure(whole) ? faultsOfIssue(whole.failure.issue, value) : []
  const unread = [...substituted.faults, ...shapeFaults]
  const sound = readable(value, unread)
  const rest = sound.file === undefined ? undefined : checked(sound.file, input, over)
  const meant = (rest?.faults ?? []).filter(({ at }) => !isMended(sound.places, at))
  const faults = firstPerPlace([...unread, ...meant]).map((fault) => named(fault, over))
  return rest === undefined || faults.length > 0 ? Result.fail(faults) : Result.succeed(rest.settings)
}

const keySetting = (one: NonNullable<SettingsFile["keys"]>[number]): KeySetting => {
  const { id: _, ...key } = readKey(one.name, one, noNames).key
  return { ...key, key: Redacted.make(one.key) }
}

const priceOf = (one: NonNullable<SettingsFile["prices"]>[string]): Price => ({
  ...(one.input === undefined ? {} : { input: one.input }),
  ...(one.output === undefined ? {} : { output: one.output }),
  ...(one.cached_input === undefined ? {} : { cached: one.cached_input }),
  ...(one.cache_write === undefined ? {} : { cacheWritten: one.cache_write }),
  ...(one.audio_input === undefined ? {} : { audioInput: one.audio_input }),
  ...(one.audio_output === undefined ? {} : { audioOutput: one.audio_output }),
  ...(one.image_output === undefined ? {} : { imageOutput: one.image_output }),
  ...(one.image === undefined ? {} : { image: one.image })
})
