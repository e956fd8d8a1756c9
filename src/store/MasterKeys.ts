// Master keys of the store: set by the operator, or kept in a key file that only the gateway's user may read.
// Must not know what the keys encrypt.
import { randomBytes } from "node:crypto"
import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeSync
} from "node:fs"
import { dirname } from "node:path"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { keyFingerprint, keyOf } from "./Envelope.ts"
import { StoreUnusable } from "./database/Sql.ts"

/** 32 bytes each, as base64. The first one encrypts; each of them decrypts. */
export type MasterTexts = ReadonlyArray<Redacted.Redacted<string>>

export interface MasterKeys {
  /** Makes the key of a new store, where none is there. Does nothing for keys that the operator sets. */
  readonly prepare: Effect.Effect<void, StoreUnusable>
  /** Runs again when none of the known keys opens a data key. */
  readonly read: Effect.Effect<MasterTexts, StoreUnusable>
  /** Puts a new key first. Does nothing for keys that the operator sets. */
  readonly renew: Effect.Effect<void, StoreUnusable>
  /** Removes all keys but the first and those with these fingerprints. Does nothing for keys that the operator sets. */
  readonly retire: (used: ReadonlySet<string>) => Effect.Effect<void, StoreUnusable>
  /** Names the source of the keys in error messages. */
  readonly where: string
}

export const randomMasterText = (): string => randomBytes(32).toString("base64")

/** Master keys that the operator sets and changes. */
export const masterKeysGiven = (texts: MasterTexts, where: string): MasterKeys => ({
  prepare: Effect.void,
  read: Effect.succeed(texts),
  renew: Effect.void,
  retire: () => Effect.void,
  where
})

const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error ? String(error.code) : String(error)

const attempt = <A>(path: string, what: string, run: () => A): Effect.Effect<A, StoreUnusable> =>
  Effect.try({
    try: run,
    catch: (error) =>
      error instanceof StoreUnusable
        ? error
        : new StoreUnusable({ message: `the key file ${path} cannot be ${what}: ${codeOf(error)}` })
  })

/** Writes the folder's entries to the disk, so that a created or renamed file survives a loss of power. */
const syncFolder = (folder: string): void => {
  // Windows cannot open a folder.
  if (process.platform === "win32") return
  const opened = openSync(folder, "r")
  fsyncSync(opened)
  closeSync(opened)
}

/** Replaces the file atomically, also when the process or the machine stops. */
const replace = (path: string, lines: ReadonlyArray<string>): void => {
  const draft = `${path}.${process.pid}`
  const file = openSync(draft, "w", 0o600)
  writeSync(file, `${lines.join("\n")}\n`)
  fsyncSync(file)
  closeSync(file)
  chmodSync(draft, 0o600)
  renameSync(draft, path)
  syncFolder(dirname(path))
}

const make = (path: string): void => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  try {
    const file = openSync(path, "wx", 0o600)
    writeSync(file, `${randomMasterText()}\n`)
    fsyncSync(file)
    closeSync(file)
    syncFolder(dirname(path))
  } catch (error) {
    // Another process has made the file first; its key is used.
    if (codeOf(error) !== "EEXIST") throw error
  }
}

/** Empty for a text that is not a key. */
const fingerprintOf = (text: string): string => {
  const key = keyOf(Buffer.from(text, "base64"))
  return key === undefined ? "" : keyFingerprint(key)
}

const linesOf = (path: string): ReadonlyArray<string> => {
  const { mode } = statSync(path)
  if (process.platform !== "win32" && (mode & 0o077) !== 0) {
    throw new StoreUnusable({
      message: `the key file ${path} can be read by others (mode ${(mode & 0o777).toString(8).padStart(4, "0")}): chmod 600 ${path}`
    })
  }
  return readFileSync(path, "utf8")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
}

const missing = (path: string): StoreUnusable =>
  new StoreUnusable({
    message: `the key file ${path} is missing, and the store has secrets that no other key opens: put its copy back, or set GATEWAY_SECRET_KEY`
  })

/**
 * Keys in a file, one a line. The file is made for a new store only: a new key for a store with secrets would open none of
 * them. A file that others can read is refused.
 */
export const masterKeysFile = (path: string): MasterKeys => ({
  prepare: attempt(path, "written", () => make(path)),
  read: attempt(path, "read", () => {
    try {
      return linesOf(path).map((line) => Redacted.make(line))
    } catch (error) {
      throw codeOf(error) === "ENOENT" ? missing(path) : error
    }
  }),
  renew: attempt(path, "written", () => replace(path, [randomMasterText(), ...linesOf(path)])),
  retire: (used) =>
    attempt(path, "written", () =>
      replace(
        path,
        linesOf(path).filter((line, at) => at === 0 || used.has(fingerprintOf(line)))
      )
    ),
  where: `the key file ${path}`
})

/** The ids by which a store names these keys; none where they cannot be read. */
export const masterIds = (masters: MasterKeys): Effect.Effect<ReadonlyArray<string>> =>
  masters.read.pipe(
    Effect.map((texts) => texts.map((text) => fingerprintOf(Redacted.value(text)))),
    Effect.orElseSucceed(() => [])
  )
