// Overrides of the configuration file by environment variables (`GATEWAY_...`, `PORT`) and by command-line flags.
// Must not validate a value; a secret never enters a fault.
import { type Fault, renderPath } from "../../domain/faults.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import { defaultLimits } from "../../domain/Limits.ts"
import type { Environment } from "./substitute.ts"

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
  variable("server", "workers", variableOf("server", "workers"))
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
  if (flags.host !== undefined) found.push({ section: "server", name: "host", origin: "--host", value: flags.host })
  if (flags.port !== undefined) found.push({ section: "server", name: "port", origin: "--port", value: flags.port })
  if (flags.workers !== undefined)
    found.push({ section: "server", name: "workers", origin: "--workers", value: flags.workers })
  if (flags.console !== undefined)
    found.push({ section: "server", name: "console", origin: "--no-console", value: flags.console })
  if (flags.logFormat !== undefined)
    found.push({ section: "log", name: "format", origin: "--log-format", value: flags.logFormat })
  if (flags.logLevel !== undefined)
    found.push({ section: "log", name: "level", origin: "--log-level", value: flags.logLevel })
  return found
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
      withNumbers(withLists(withLists(out["server"], "cors"), "console_hosts"), (name) => serverNumbers.has(name))
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
