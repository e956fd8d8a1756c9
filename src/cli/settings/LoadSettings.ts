// Finds and reads the configuration file and the environment, for commands and embedding applications; a fault has its line.
// Must not know how settings are used. No other file reads the environment.
import { existsSync, readFileSync, statSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, join, resolve } from "node:path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { Credentials, ProviderAccount } from "../../domain/ProviderAccount.ts"
import { parseCredential, quotaProjectOf } from "../../domain/settings/credentialFile.ts"
import { isJsonObject, type Json, parseJsonText } from "../../domain/text/json.ts"
import { defaultLimits } from "../../domain/Limits.ts"
import type { NetworkSetting } from "../../domain/settings/network.ts"
import type { SettingOrigin, Settings } from "../../domain/settings/Settings.ts"
import { settingsFile } from "../../domain/settings/settingsFile.ts"
import { type Failure, usageFailure } from "../Output.ts"
import {
  type Environment,
  type FileText,
  type Flags,
  type References,
  secretsIn,
  substitute,
  withSecretFiles
} from "./environment.ts"
import { settingOrigins } from "./SettingOrigins.ts"
import { platformFolder } from "../process/platform.ts"
import { readNetworks } from "./readAccounts.ts"
import { judgeSettings, metadataServer, readSettings } from "./readSettings.ts"
import type { Places } from "./readSections.ts"
import { parseSettingsText, type Position, type SettingsText } from "./SettingsText.ts"
import type { Fault } from "../../domain/faults.ts"
import * as Schema from "effect/Schema"

export interface LoadOptions {
  /** The flag `--config`. */
  readonly config: string | undefined
  readonly flags: Flags
  /** Files that were read before. They are used in place of those on the disk. */
  readonly copy?: FilesCopy
}

type FileContent = { readonly text: string } | { readonly fault: string }

/** Everything that was read from files, as plain JSON. It contains secrets. */
export interface FilesCopy {
  /** The configuration file; null when there is none. */
  readonly file: string | null
  readonly contents: Readonly<Record<string, FileContent>>
}

export interface Loaded {
  readonly settings: Settings
  /** The file as it was named or found. Undefined when there is none. */
  readonly file: string | undefined
  /** True for a file without any content. */
  readonly isBlank: boolean
  /** A line for each credential that cannot be used. Its account has none. */
  readonly credentialFaults: ReadonlyArray<string>
  readonly origins: ReadonlyArray<SettingOrigin>
}

/** The result of reading the configuration. */
export interface Reading {
  /** Every file that was read or looked for: the configuration and the credentials it names. */
  readonly files: ReadonlyArray<string>
  readonly copy: FilesCopy
  /** The secrets of Secret Manager that the configuration refers to, by resource name. */
  readonly secrets: ReadonlyArray<string>
  /** The `network` section, by which Secret Manager is reached, whatever else is at fault. */
  readonly network: NetworkSetting | undefined
  /** The configuration, or all its faults, one per line. */
  readonly outcome: Result.Result<Loaded, string>
}

const existingFile = (env: Environment): string | undefined => {
  const home = homeOf()
  const folder = env["XDG_CONFIG_HOME"] ?? (home === undefined ? undefined : join(home, ".config"))
  const candidates = [
    "gateway.yaml",
    "gateway.yml",
    "gateway.json",
    ...(folder === undefined ? [] : [join(folder, "model-gateway", "gateway.yaml")])
  ]
  return candidates.find((path) => existsSync(path))
}

/** Precedence: `--config`, `GATEWAY_CONFIG`, the working directory, the user's configuration directory. */
const chooseFile = (config: string | undefined, env: Environment): string | undefined =>
  config ?? (env["GATEWAY_CONFIG"] || undefined) ?? existingFile(env)

/** The user's directory; undefined for a user without an entry in the system's list and without HOME. */
const homeOf = (): string | undefined => {
  try {
    return homedir()
  } catch {
    return undefined
  }
}

/** The login of gcloud: used after GOOGLE_APPLICATION_CREDENTIALS and before the metadata server. */
const loginFile = (env: Environment): string | undefined => {
  const home = homeOf()
  const folder = env["CLOUDSDK_CONFIG"] || (home === undefined ? undefined : join(home, ".config", "gcloud"))
  const path = folder === undefined ? undefined : join(folder, "application_default_credentials.json")
  return path !== undefined && existsSync(path) ? path : undefined
}

/** The settings with the login of gcloud, and with the project that the login in use bills. */
const withLogin = (settings: Settings, env: Environment, readText: ReadText): Settings => {
  const path = settings.applicationCredentialsFile ?? loginFile(env)
  if (path === undefined) return settings
  const usesIt = ({ credentials }: ProviderAccount): boolean =>
    credentials?._tag === "ApplicationDefault" ||
    (credentials?._tag === "Impersonated" && credentials.source._tag === "ApplicationDefault")
  const login = settings.accounts.some(usesIt) ? readText(path, "the login") : undefined
  const json = login === undefined ? undefined : Result.getOrUndefined(Result.flatMap(login, parseJsonText))
  const quotaProject = json === undefined ? undefined : quotaProjectOf(Result.getOrUndefined(parseCredential(json)))
  const source: Credentials = { _tag: "ApplicationDefault", quotaProject }
  return {
    ...settings,
    applicationCredentialsFile: path,
    ...(quotaProject === undefined
      ? {}
      : {
          accounts: settings.accounts.map((account) =>
            usesIt(account)
              ? {
                  ...account,
                  credentials:
                    account.credentials?._tag === "Impersonated" ? { ...account.credentials, source } : source
                }
              : account
          )
        })
  }
}

/**
 * Precedence: `GATEWAY_DATA_DIR`, an existing `data` in the working directory, the platform's directory, and without a
 * directory of the user `data` again.
 */
const chooseDataDirectory = (env: Environment): string =>
  resolve(
    env["GATEWAY_DATA_DIR"] ||
      (statSync("data", { throwIfNoEntry: false })?.isDirectory() === true
        ? "data"
        : (platformFolder(process.platform, env, homeOf()) ?? "data"))
  )

const readContent = (path: string): FileContent => {
  try {
    return { text: readFileSync(path, "utf8") }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined
    return { fault: code === "ENOENT" ? "does not exist" : "cannot be read" }
  }
}

type ReadText = (path: string, what: string) => Result.Result<string, string>

/** The place of a secret among the contents of files. */
const secretPlace = (name: string): string => `secret:${name}`

/** Reads files from the copy, or from the disk into a copy. Secrets are in the copy, or among those just read. */
const textReader = (copy: FilesCopy | undefined, secrets: Readonly<Record<string, FileContent>>) => {
  const contents: Record<string, FileContent> = {}
  const keep = (place: string, what: string, content: FileContent): Result.Result<string, string> => {
    contents[place] = content
    return "text" in content ? Result.succeed(content.text) : Result.fail(`${what} ${content.fault}`)
  }
  const readText: ReadText = (path, what) => {
    const whole = resolve(path)
    const content = copy === undefined ? readContent(whole) : (copy.contents[whole] ?? { fault: "does not exist" })
    return keep(whole, what, content)
  }
  const readSecret = (name: string): Result.Result<string, string> => {
    const place = secretPlace(name)
    return keep(place, "the secret", copy?.contents[place] ?? secrets[name] ?? { fault: "is not read yet" })
  }
  return { contents, readText, readSecret }
}

/** One line per fault: faults of the file in file order, then faults of variables and flags. */
const faultLines = (
  file: string | undefined,
  text: SettingsText | undefined,
  faults: ReadonlyArray<Fault>
): ReadonlyArray<string> => {
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
}

const parseFile = (file: string, readText: ReadText): Result.Result<SettingsText, string> =>
  Result.flatMap(
    Result.mapError(readText(file, "the configuration file"), (message) => `${file}  ${message}`),
    (text) =>
      Result.mapError(
        parseSettingsText(file, text),
        ({ line, message }) => `${file}${line === undefined ? "" : `:${line}`}  cannot be read: ${message}`
      )
  )

const loadConfiguration = (
  options: LoadOptions,
  env: Environment,
  secrets: Readonly<Record<string, FileContent>> = {}
): Reading => {
  const file = options.copy === undefined ? chooseFile(options.config, env) : (options.copy.file ?? undefined)
  const { contents, readSecret, readText } = textReader(options.copy, secrets)
  const files = new Set(file === undefined ? [] : [resolve(file)])
  const parsed: Result.Result<SettingsText | undefined, string> =
    file === undefined ? Result.succeed(undefined) : parseFile(file, readText)
  const outcome = Result.flatMap(parsed, (text) => {
    const base = file === undefined ? "." : dirname(file)
    const whole: Places["resolve"] = (path, writtenIn) => resolve(writtenIn === "file" ? base : ".", path)
    const places: Places = { data: chooseDataDirectory(env), resolve: whole }
    const opened =
      (what: string): FileText =>
      (path, writtenIn) => {
        files.add(whole(path, writtenIn))
        return readText(whole(path, writtenIn), what)
      }
    const value: Json = text?.value ?? null
    const mounted = withSecretFiles(env, value, (path) => opened("the file")(path, "environment"))
    const references: References = {
      fileText: (path) => opened("the file")(path, "file"),
      secretText: readSecret
    }
    const { faults: judged, settings } = judgeSettings({
      file: value,
      env: mounted.env,
      references,
      flags: options.flags,
      fileText: opened("the credential file"),
      pemText: opened("the file of certificates"),
      modelsText: opened("the file of models"),
      places
    })
    const faults = [...mounted.faults, ...judged]
    const lines = faultLines(file, text, faults)
    return settings !== undefined && mounted.faults.length === 0
      ? Result.succeed({
          settings: withLogin(settings, env, readText),
          credentialFaults: lines,
          file,
          isBlank: text?.isBlank === true,
          origins: settingOrigins({
            file: file === undefined || text === undefined ? undefined : { name: file, text },
            env: mounted.env,
            flags: options.flags,
            references
          })
        })
      : Result.fail(lines.join("\n"))
  })
  const value = Result.isSuccess(parsed) ? (parsed.success?.value ?? null) : null
  const pemText: FileText = (path, writtenIn) =>
    readText(
      resolve(writtenIn === "file" && file !== undefined ? dirname(file) : ".", path),
      "the file of certificates"
    )
  return {
    files: [...files],
    copy: { file: file ?? null, contents },
    outcome,
    secrets: secretsIn(value),
    network: networkOf(value, env, pemText)
  }
}

const decodeNetwork = Schema.decodeUnknownOption(Schema.Struct({ network: settingsFile.fields.network }))

/** The network of a configuration that may have faults elsewhere. */
const networkOf = (value: Json, env: Environment, pemText: FileText): NetworkSetting | undefined => {
  const written = isJsonObject(value) ? substitute(value["network"] ?? {}, env).value : {}
  const file = Option.getOrElse(decodeNetwork({ network: written }), () => ({}))
  return readNetworks(file, env, pemText).value.network
}

/** Reads the configuration of this process as it is now. Secrets of Secret Manager are read each time, unless a copy has them. */
export const readConfiguration = (options: LoadOptions): Effect.Effect<Reading> =>
  Effect.flatMap(
    Effect.sync(() => loadConfiguration(options, process.env)),
    (reading) => {
      const { secrets } = reading
      if (options.copy !== undefined || secrets.length === 0) return Effect.succeed(reading)
      return Effect.gen(function* () {
        const { readSecrets } = yield* Effect.promise(() => import("./SecretManager.ts"))
        const contents = yield* readSecrets(secrets, {
          endpoint: process.env["CLOUDSDK_API_ENDPOINT_OVERRIDES_SECRETMANAGER"]?.replace(/\/$/, ""),
          credentialsFile: process.env["GOOGLE_APPLICATION_CREDENTIALS"] || loginFile(process.env),
          metadataUrl: metadataServer(process.env).metadataUrl,
          network: reading.network,
          limits: defaultLimits
        })
        return loadConfiguration(options, process.env, contents)
      })
    }
  )

/** Warns of each credential that cannot be used. */
export const warnOfCredentials = ({ credentialFaults }: Loaded): Effect.Effect<void> =>
  Effect.forEach(credentialFaults, (line) => Effect.logWarning(`An account has no credential: ${line}`), {
    discard: true
  })

/** Reads an environment variable. Empty counts as unset. */
export const readVariable = (name: string): Effect.Effect<string | undefined> =>
  Effect.sync(() => (Object.hasOwn(process.env, name) ? process.env[name] || undefined : undefined))

/** The configuration with the copy of its files, or one failure with a line per fault. */
export const loadWithCopy = (
  options: LoadOptions
): Effect.Effect<{ readonly loaded: Loaded; readonly copy: FilesCopy }, Failure> =>
  Effect.flatMap(readConfiguration(options), ({ copy, outcome }) =>
    Effect.fromResult(Result.mapBoth(outcome, { onSuccess: (loaded) => ({ loaded, copy }), onFailure: usageFailure }))
  )

/** The configuration of this process, or one failure with a line per fault. */
export const loadForCommand = (options: LoadOptions): Effect.Effect<Loaded, Failure> =>
  Effect.map(loadWithCopy(options), ({ loaded }) => loaded)

/** The variables that the demo takes. It has accounts and a store of its own, and reads no file. */
const demoVariables = [
  "GATEWAY_API_KEY",
  "GATEWAY_LOG_FORMAT",
  "GATEWAY_LOG_LEVEL",
  "GATEWAY_SERVER_HOST",
  "GATEWAY_SERVER_PORT",
  "PORT"
]

interface DemoLoaded {
  readonly settings: Settings
  readonly key: string | undefined
  readonly origins: ReadonlyArray<SettingOrigin>
}

/** Address and log of a demo from the flags and those variables, and the text of `GATEWAY_API_KEY`. */
export const loadDemoSettings = (flags: Flags): Effect.Effect<DemoLoaded, Failure> =>
  Effect.suspend(() => {
    const env = Object.fromEntries(demoVariables.map((name) => [name, process.env[name]]))
    const read = readSettings({ file: null, env, flags, fileText: () => Result.fail("is not read by the demo") })
    return Effect.fromResult(
      Result.mapBoth(read, {
        onSuccess: (settings) => ({
          settings,
          key: env["GATEWAY_API_KEY"] || undefined,
          origins: settingOrigins({ file: undefined, env, flags })
        }),
        onFailure: (faults) => usageFailure(faultLines(undefined, undefined, faults).join("\n"))
      })
    )
  })

// Settings for an application that embeds the gateway: the same file and variables as `serve` reads.

/** The configuration has faults: one line for each, with its place. */
export class SettingsInvalid extends Schema.TaggedError<SettingsInvalid>()("SettingsInvalid", {
  faults: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return this.faults.join("\n")
  }
}

/** The settings of a file, else of the file that `serve` finds, else of the environment alone. */
export const loadSettings = (file?: string): Effect.Effect<Settings, SettingsInvalid> =>
  Effect.flatMap(readConfiguration({ config: file, flags: {} }), ({ outcome }) =>
    Result.match(outcome, {
      onFailure: (text) => Effect.fail(new SettingsInvalid({ faults: text.split("\n") })),
      onSuccess: (loaded) => Effect.as(warnOfCredentials(loaded), loaded.settings)
    })
  )
