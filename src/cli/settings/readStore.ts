// Reads where the store is and which keys encrypt its secrets, from the file's URL and the environment.
// Must not know how a store is opened. A secret never enters a fault.
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { type Fault, faultAt } from "../../domain/faults.ts"
import type { StoreSetting } from "../../domain/settings/Settings.ts"
import { withAbsoluteFiles, withPostgresVariables } from "../../domain/settings/postgresUrl.ts"
import { parseStoreUrl, type StoreLocation } from "../../domain/settings/storeLocation.ts"
import type { Environment } from "./substitute.ts"

/** Directories of this machine. */
export interface Places {
  /** The directory of the gateway's own files. */
  readonly data: string
  /** Makes a path absolute: relative to the file when written there, otherwise to the working directory. */
  readonly resolve: (path: string, writtenIn: "file" | "environment") => string
}

const secretKeyVariable = "GATEWAY_SECRET_KEY"
/** 32 bytes in base64. */
const base64Key = /^[A-Za-z0-9+/]{43}=?$/

const readSecretKeys = (env: Environment): Result.Result<StoreSetting["secretKeys"], Fault> => {
  const text = env[secretKeyVariable]
  if (text === undefined || text === "") return Result.succeed(undefined)
  const keys = text.split(",").map((one) => one.trim())
  return keys.every((one) => base64Key.test(one))
    ? Result.succeed(keys.map((one) => Redacted.make(one)))
    : Result.fail({
        path: secretKeyVariable,
        message:
          "must be 32 bytes in base64, as `openssl rand -base64 32` makes them; several are separated by commas, the first encrypts",
        at: undefined
      })
}

const resolveLocation = (location: StoreLocation, writtenIn: "file" | "environment", places: Places): StoreLocation =>
  location.kind === "sqlite" && location.path !== ":memory:"
    ? { kind: "sqlite", path: places.resolve(location.path, writtenIn) }
    : location

/** An address of PostgreSQL with what the variables of libpq add, and with absolute paths. */
const wholeUrl = (url: string, writtenIn: "file" | "environment", env: Environment, places: Places): string =>
  url.startsWith("postgres")
    ? withAbsoluteFiles(withPostgresVariables(url, env), (path) => places.resolve(path, writtenIn))
    : url

/** The setting or its faults. Without a URL: a SQLite database in the data directory. */
export const readStore = (
  url: string | undefined,
  writtenIn: "file" | "environment",
  env: Environment,
  places: Places
): { readonly setting: StoreSetting | undefined; readonly faults: ReadonlyArray<Fault> } => {
  const keys = readSecretKeys(env)
  const location =
    url === undefined
      ? Result.succeed<StoreLocation>({ kind: "sqlite", path: `${places.data}/gateway.db` })
      : Result.map(parseStoreUrl(wholeUrl(url, writtenIn, env, places)), (one) =>
          resolveLocation(one, writtenIn, places)
        )
  const faults = [
    ...(Result.isFailure(location) ? [faultAt(["store", "url"], location.failure)] : []),
    ...(Result.isFailure(keys) ? [keys.failure] : [])
  ]
  if (Result.isFailure(location) || Result.isFailure(keys)) return { setting: undefined, faults }
  const setting = { location: location.success, secretKeys: keys.success, keyFile: `${places.data}/secret.key` }
  return { setting, faults }
}
