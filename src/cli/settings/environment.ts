// What variables and flags put into a configuration: ${NAME} references, `GATEWAY_...` overrides, secrets mounted as files.
// Must not validate a value or know what a secret is for. The value of a variable never enters a fault.
import * as Result from "effect/Result"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import { type Fault, faultAt, type FaultPath, renderPath, unreadName } from "../../domain/faults.ts"
import { defaultLimits } from "../../domain/Limits.ts"

/** Environment variables by name. Empty counts as unset. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Reads a file of the configuration by its path as written, and by where it is written. The failure is one sentence. */
export type FileText = (path: string, writtenIn: "file" | "environment") => Result.Result<string, string>

const referencePattern = /\$\{([^}:]*)(?::-([^}]*))?\}/g
const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Names of the variables that a configuration refers to. */
const referencesIn = (value: Json): ReadonlyArray<string> =>
  [...(JSON.stringify(value) ?? "").matchAll(referencePattern)]
    .map(([, name = ""]) => name)
    .filter((name) => variableName.test(name))

/** Where the references of a configuration lead. */
export interface References {
  /** Text of a file, by its path as written in the configuration. */
  readonly fileText: (path: string) => Result.Result<string, string>
  /** Text of a version of a secret, by its resource name. */
  readonly secretText: (name: string) => Result.Result<string, string>
}

interface Substitution extends References {
  readonly env: Environment
  readonly faults: Array<Fault>
}

const nowhere: References = {
  fileText: () => Result.fail("files are not read here"),
  secretText: () => Result.fail("Secret Manager is not asked here")
}

const substituteText = (text: string, { env, faults }: Substitution, path: FaultPath): string => {
  const before = faults.length
  const replaced = text.replace(referencePattern, (_, name: string, fallback: string | undefined) => {
    const value = Object.hasOwn(env, name) ? env[name] : undefined
    if (value !== undefined && value !== "") return value
    if (fallback !== undefined) return fallback
    faults.push(
      faultAt(
        path,
        variableName.test(name)
          ? `the environment variable ${name} is not set; set it, or write \${${name}:-default}`
          : "expected ${NAME} or ${NAME:-default}"
      )
    )
    return ""
  })
  return faults.length === before ? replaced : unreadName
}

/** Sections whose mappings belong to others: bodies, templates, facts. */
const withoutReferences: ReadonlySet<unknown> = new Set(["aliases", "configs", "models", "prices", "prompts"])

/** A secret by reference: a mapping with one of these members alone, in the place of a text. */
const referenceIn = (value: JsonObject, path: FaultPath): readonly [kind: string, name: string] | undefined => {
  const [[kind, name] = [], ...more] = Object.entries(value)
  const isReference = more.length === 0 && typeof name === "string" && /^(?:env|file|secret)$/.test(kind ?? "")
  // `credentials: { file }` is a credential file of Google.
  return isReference && path.at(-1) !== "credentials" && !withoutReferences.has(path[0])
    ? [String(kind), name]
    : undefined
}

const secretName = /^projects\/[^/\s]+\/secrets\/[^/\s]+(?:\/versions\/[^/\s]+)?$/
const latest = (name: string): string => (name.includes("/versions/") ? name : `${name}/versions/latest`)

/** The resource names of all secrets that a configuration refers to. */
export const secretsIn = (value: Json, path: FaultPath = []): ReadonlyArray<string> => {
  if (Array.isArray(value)) return value.flatMap((item: Json, index) => secretsIn(item, [...path, index]))
  if (!isJsonObject(value)) return []
  const [kind, name = ""] = referenceIn(value, path) ?? []
  if (kind !== undefined) return kind === "secret" && secretName.test(name) ? [latest(name)] : []
  return Object.entries(value).flatMap(([key, member]) => secretsIn(member ?? null, [...path, key]))
}

const referenceText = (
  [kind, name]: readonly [kind: string, name: string],
  { env, fileText, secretText }: Substitution
): Result.Result<string, string> => {
  switch (kind) {
    case "env": {
      const value = Object.hasOwn(env, name) ? env[name] : undefined
      return value ? Result.succeed(value) : Result.fail(`the environment variable ${name} is not set`)
    }
    case "file":
      return fileText(name)
    default:
      return secretName.test(name)
        ? secretText(latest(name))
        : Result.fail("expected projects/PROJECT/secrets/SECRET, or that with /versions/VERSION")
  }
}

const substituteReference = (
  reference: readonly [kind: string, name: string],
  context: Substitution,
  path: FaultPath
): Json =>
  Result.match(referenceText(reference, context), {
    onFailure: (message) => {
      context.faults.push(faultAt(path, message))
      return unreadName
    },
    onSuccess: (text) => text.replace(/\r?\n$/, "")
  })

const substituteValue = (value: Json, context: Substitution, path: FaultPath): Json => {
  if (typeof value === "string") return substituteText(value, context, path)
  if (Array.isArray(value)) return value.map((item: Json, index) => substituteValue(item, context, [...path, index]))
  if (!isJsonObject(value)) return value
  const reference = referenceIn(value, path)
  if (reference !== undefined) return substituteReference(reference, context, path)
  // `Object.fromEntries` keeps a member named `__proto__` an ordinary member.
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) =>
      member === undefined ? [] : [[key, substituteValue(member, context, [...path, key])] as const]
    )
  )
}

/** The value with every reference replaced, and a fault for each that leads nowhere. A text with a fault is `unreadName`. */
export const substitute = (
  value: Json,
  env: Environment,
  references: References = nowhere
): { readonly value: Json; readonly faults: ReadonlyArray<Fault> } => {
  const faults: Array<Fault> = []
  return { value: substituteValue(value, { ...references, env, faults }, []), faults }
}

// Overrides of the configuration file by environment variables (`GATEWAY_...`, `PORT`) and by command-line flags.

/** Flags that override the configuration. */
export interface Flags {
  readonly host?: string
  readonly port?: number
  readonly workers?: string
  /** False turns the console off. */
  readonly console?: false
  readonly logFormat?: string
  readonly logLevel?: string
}

/** The variable of a setting: `jsonDepth` of `limits` is `GATEWAY_LIMITS_JSON_DEPTH`. */
export const variableOf = (section: string, name: string): string =>
  `GATEWAY_${section}_${name.replace(/[A-Z]/g, "_$&")}`.toUpperCase()

export interface Override {
  readonly section: "server" | "store" | "redis" | "limits" | "log" | "telemetry" | "media" | "messages" | "responses"
  readonly name: string
  /** The variable or flag, for faults. */
  readonly origin: string
  readonly value: Json
}

/** Values set outside the file, in ascending precedence. */
export const collectOverrides = (env: Environment, flags: Flags): ReadonlyArray<Override> => {
  const overrides: Array<Override> = []
  const variable = (section: Override["section"], name: string, origin: string) => {
    const value = Object.hasOwn(env, origin) ? env[origin] : undefined
    if (value !== undefined && value !== "") overrides.push({ section, name, origin, value })
  }
  variable("server", "port", "PORT")
  variable("server", "host", variableOf("server", "host"))
  variable("server", "port", variableOf("server", "port"))
  variable("server", "admin_host", variableOf("server", "admin_host"))
  variable("server", "admin_port", variableOf("server", "admin_port"))
  variable("server", "workers", variableOf("server", "workers"))
  variable("server", "base_path", variableOf("server", "base_path"))
  variable("server", "trusted_proxies", variableOf("server", "trusted_proxies"))
  variable("server", "cors", variableOf("server", "cors"))
  variable("server", "console", variableOf("server", "console"))
  variable("server", "console_hosts", variableOf("server", "console_hosts"))
  variable("server", "metrics_auth", variableOf("server", "metrics_auth"))
  // Platforms set DATABASE_URL for any database; only Postgres is meant for this gateway.
  if (env["DATABASE_URL"]?.startsWith("postgres") === true) variable("store", "url", "DATABASE_URL")
  variable("store", "url", variableOf("store", "url"))
  variable("redis", "url", "REDIS_URL")
  variable("redis", "url", variableOf("redis", "url"))
  variable("log", "format", variableOf("log", "format"))
  variable("log", "level", variableOf("log", "level"))
  variable("log", "content", variableOf("log", "content"))
  variable("media", "fetch", variableOf("media", "fetch"))
  variable("messages", "other_models", variableOf("messages", "other_models"))
  variable("responses", "store", variableOf("responses", "store"))
  for (const name of Object.keys(defaultLimits)) variable("limits", name, variableOf("limits", name))
  if (flags.host !== undefined) overrides.push({ section: "server", name: "host", origin: "--host", value: flags.host })
  if (flags.port !== undefined) overrides.push({ section: "server", name: "port", origin: "--port", value: flags.port })
  if (flags.workers !== undefined)
    overrides.push({ section: "server", name: "workers", origin: "--workers", value: flags.workers })
  if (flags.console !== undefined)
    overrides.push({ section: "server", name: "console", origin: "--no-console", value: flags.console })
  if (flags.logFormat !== undefined)
    overrides.push({ section: "log", name: "format", origin: "--log-format", value: flags.logFormat })
  if (flags.logLevel !== undefined)
    overrides.push({ section: "log", name: "level", origin: "--log-level", value: flags.logLevel })
  return overrides
}

/** Variables and references are texts; converts digits to numbers where the schema expects numbers. */
const withNumbers = (section: JsonObject, isNumber: (name: string) => boolean): JsonObject =>
  Object.fromEntries(
    Object.entries(section).map(([name, value]) => [
      name,
      isNumber(name) && typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value
    ])
  )

/** Converts `true` and `false` from text to booleans. */
const withFlags = (section: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(section).map(([name, value]) => [name, value === "true" ? true : value === "false" ? false : value])
  )

/** Converts a comma-separated text to a list. */
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

const serverLists: ReadonlyArray<string> = ["console_hosts", "cors", "trusted_proxies"]
const serverNumbers: ReadonlySet<string> = new Set(["port", "admin_port", "workers"])

/** The file with the overrides applied. An empty section (`keys:` without members) counts as absent. */
export const applyOverrides = (file: JsonObject, over: ReadonlyArray<Override>): JsonObject => {
  const out: Record<string, Json | undefined> = {}
  for (const [name, section] of Object.entries(file)) {
    if (section !== null) out[name] = section
  }
  for (const { name, section, value } of over) {
    const below = out[section] ?? {}
    if (isJsonObject(below)) out[section] = { ...below, [name]: value }
  }
  if (isJsonObject(out["server"]))
    out["server"] = withFlags(
      withNumbers(serverLists.reduce(withLists, out["server"]), (name) => serverNumbers.has(name))
    )
  if (isJsonObject(out["limits"])) out["limits"] = withNumbers(out["limits"], () => true)
  if (isJsonObject(out["media"])) out["media"] = withFlags(out["media"])
  return out
}

export const originOf = (path: string, over: ReadonlyArray<Override>): string | undefined =>
  over.findLast((one) => renderPath([one.section, one.name]) === path)?.origin

/** Reports the variable or flag as the path of a fault when its value came from there. */
export const nameOrigin = (fault: Fault, over: ReadonlyArray<Override>): Fault => {
  // A variable holds the whole list, so the index is dropped.
  const origin = originOf(fault.path.replace(/\[\d+\]$/, ""), over)
  return origin === undefined ? fault : { ...fault, path: origin, at: undefined }
}

// Reads secrets that are mounted as files: `NAME_FILE` holds the path of a file with the value of `NAME`.

/** Variables that hold secrets. Variables that the configuration refers to are added. */
const secretVariables: ReadonlyArray<string> = [
  "GEMINI_API_KEY",
  "GOOGLE_API_KEY",
  "GATEWAY_API_KEY",
  "GATEWAY_ADMIN_KEY",
  "GATEWAY_SECRET_KEY",
  "GATEWAY_REDIS_URL",
  "REDIS_URL",
  "GATEWAY_STORE_URL",
  "DATABASE_URL"
]

const nonEmptyVariable = (env: Environment, name: string): string | undefined =>
  Object.hasOwn(env, name) ? env[name] || undefined : undefined

/** The environment with the content of the secret files. A variable that is set wins over its file. */
export const withSecretFiles = (
  env: Environment,
  configuration: Json,
  read: (path: string) => Result.Result<string, string>
): { readonly env: Environment; readonly faults: ReadonlyArray<Fault> } => {
  const contents: Record<string, string> = {}
  const faults: Array<Fault> = []
  for (const name of new Set([...secretVariables, ...referencesIn(configuration)])) {
    const path = nonEmptyVariable(env, name) === undefined ? nonEmptyVariable(env, `${name}_FILE`) : undefined
    if (path === undefined) continue
    const text = read(path)
    if (Result.isFailure(text)) faults.push({ path: `${name}_FILE`, message: text.failure, at: undefined })
    else contents[name] = text.success.replace(/\r?\n$/, "")
  }
  return { env: { ...env, ...contents }, faults }
}
