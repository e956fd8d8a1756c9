// Finds the configuration, reads it with its environment, and says every fault with its line.
// It must not know how Settings are used. The only reader of the environment.
import { existsSync, readFileSync, statSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, join, resolve } from "node:path"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Json } from "../../domain/text/json.ts"
import type { Settings } from "../../domain/settings/Settings.ts"
import { type Failure, usage } from "../Failure.ts"
import type { FileText } from "./readAccounts.ts"
import { type Flags, readSettings } from "./readSettings.ts"
import type { Places } from "./readStore.ts"
import type { Position } from "./locate.ts"
import type { Fault } from "../../domain/faults.ts"
import { withSecretFiles } from "./secretFiles.ts"
import { parseSettingsText, type SettingsText } from "./SettingsText.ts"
import type { Environment } from "./substitute.ts"

export interface LoadOptions {
  /** `--config`. */
  readonly config: string | undefined
  readonly flags: Flags
}

export interface Loaded {
  readonly settings: Settings
  /** The file as it was named or found; undefined when there is none. */
  readonly file: string | undefined
  /** Whether nothing at all stands in that file. */
  readonly isBlank: boolean
}

/** What came of reading the configuration. */
export interface Reading {
  /** Every file it was read from or would have been: the configuration and the credentials it names. */
  readonly files: ReadonlyArray<string>
  /** Or all its faults, a line each. */
  readonly outcome: Result.Result<Loaded, string>
}

const found = (env: Environment): string | undefined => {
  const home = env["XDG_CONFIG_HOME"] ?? join(homedir(), ".config")
  const candidates = ["gateway.yaml", "gateway.yml", "gateway.json", join(home, "model-gateway", "gateway.yaml")]
  return candidates.find((path) => existsSync(path))
}

/** `--config`, `GATEWAY_CONFIG`, the working directory, the user's configuration directory. */
const whichFile = (config: string | undefined, env: Environment): string | undefined =>
  config ?? (env["GATEWAY_CONFIG"] || undefined) ?? found(env)

/** Where `gcloud auth application-default login` leaves a login; behind GOOGLE_APPLICATION_CREDENTIALS, before the machine's own. */
const withLogin = (settings: Settings): Settings => {
  const path = join(homedir(), ".config", "gcloud", "application_default_credentials.json")
  return settings.applicationCredentialsFile === undefined && existsSync(path)
    ? { ...settings, applicationCredentialsFile: path }
    : settings
}

/** What the platform sets aside for the data of a program. */
const platformDirectory = (env: Environment): string => {
  if (process.platform === "win32")
    return join(env["LOCALAPPDATA"] || join(homedir(), "AppData", "Local"), "model-gateway")
  if (process.platform === "darwin") return join(homedir(), "Library", "Application Support", "model-gateway")
  return join(env["XDG_DATA_HOME"] || join(homedir(), ".local", "share"), "model-gateway")
}

/** `GATEWAY_DATA_DIR`, `data` of the working directory where there is one, the platform's directory for the data of a program. */
const dataDirectory = (env: Environment): string =>
  resolve(
    env["GATEWAY_DATA_DIR"] ||
      (statSync("data", { throwIfNoEntry: false })?.isDirectory() === true ? "data" : platformDirectory(env))
  )

const readText = (path: string, what: string): Result.Result<string, string> => {
  try {
    return Result.succeed(readFileSync(path, "utf8"))
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined
    return Result.fail(code === "ENOENT" ? `${what} does not exist` : `${what} cannot be read`)
  }
}

/** One line per fault: those of the file in its order, then those of variables and flags. */
const faultLines = (file: string | undefined, text: SettingsText | undefined, faults: ReadonlyArray<Fault>): string => {
  const placed = faults.map((fault) => ({
    fault,
    position: fault.at === undefined ? undefined : text?.locate(fault.at)
  }))
  const order = (position: Position | undefined): number =>
    position === undefined ? Number.MAX_SAFE_INTEGER : position.line * 1e4 + position.column
  return placed
    .toSorted((one, other) => order(one.position) - order(other.position))
    .map(({ fault, position }) =>
      [
        ...(position === undefined || file === undefined
          ? file !== undefined && fault.at?.length === 0
            ? [file]
            : []
          : [`${file}:${position.line}:${position.column}`]),
        ...(fault.path === "" ? [] : [fault.path]),
        fault.message
      ].join("  ")
    )
    .join("\n")
}

const parseFile = (file: string): Result.Result<SettingsText, string> =>
  Result.flatMap(
    Result.mapError(readText(file, "the configuration file"), (message) => `${file}  ${message}`),
    (text) =>
      Result.mapError(
        parseSettingsText(file, text),
        ({ line, message }) => `${file}${line === undefined ? "" : `:${line}`}  cannot be read: ${message}`
      )
  )

const load = (options: LoadOptions, env: Environment): Reading => {
  const file = whichFile(options.config, env)
  const files = new Set(file === undefined ? [] : [resolve(file)])
  const parsed: Result.Result<SettingsText | undefined, string> =
    file === undefined ? Result.succeed(undefined) : parseFile(file)
  const outcome = Result.flatMap(parsed, (text) => {
    const base = file === undefined ? "." : dirname(file)
    const whole: Places["resolve"] = (path, writtenIn) => resolve(writtenIn === "file" ? base : ".", path)
    const places: Places = { data: dataDirectory(env), resolve: whole }
    const opened =
      (what: string): FileText =>
      (path, writtenIn) => {
        files.add(whole(path, writtenIn))
        return readText(whole(path, writtenIn), what)
      }
    const value: Json = text?.value ?? null
    const secrets = withSecretFiles(env, value, (path) => opened("the file")(path, "environment"))
    const read = readSettings({
      file: value,
      env: secrets.env,
      flags: options.flags,
      fileText: opened("the credential file"),
      places
    })
    const faults = [...secrets.faults, ...(Result.isFailure(read) ? read.failure : [])]
    return Result.isSuccess(read) && faults.length === 0
      ? Result.succeed({ settings: withLogin(read.success), file, isBlank: text?.isBlank === true })
      : Result.fail(faultLines(file, text, faults))
  })
  return { files: [...files], outcome }
}

/** The configuration of this process as it is written now. */
export const readConfiguration = (options: LoadOptions): Effect.Effect<Reading> =>
  Effect.sync(() => load(options, process.env))

/** A variable of the environment that is set and not empty. */
export const variable = (name: string): Effect.Effect<string | undefined> =>
  Effect.sync(() => (Object.hasOwn(process.env, name) ? process.env[name] || undefined : undefined))

/** The configuration of this process, or one failure whose lines are all its faults. */
export const loadSettings = (options: LoadOptions): Effect.Effect<Loaded, Failure> =>
  Effect.flatMap(readConfiguration(options), ({ outcome }) => Effect.fromResult(Result.mapError(outcome, usage)))
