// Where the master keys come from: the operator, or a file that only the gateway's user may read.
// It must not know what they encrypt.
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
import { fingerprint, keyOf } from "./Envelope.ts"
import { StoreUnusable } from "./Sql.ts"

/** 32 bytes each, as base64. The first encrypts, all of them decrypt. */
export type MasterTexts = ReadonlyArray<Redacted.Redacted<string>>

export interface MasterKeys {
  /** Asked again whenever something turns up that none of the keys opens. */
  readonly all: Effect.Effect<MasterTexts, StoreUnusable>
  /** Puts a new key first, where keys are the gateway's own to make. */
  readonly renew: Effect.Effect<void, StoreUnusable>
  /** Forgets all but the first and those of these fingerprints, where keys are the gateway's own. */
  readonly retire: (used: ReadonlySet<string>) => Effect.Effect<void, StoreUnusable>
  /** What an operator looks at when no key fits. */
  readonly where: string
}

export const randomMasterText = (): string => randomBytes(32).toString("base64")

/** Keys the operator sets and changes. */
export const masterKeysGiven = (texts: MasterTexts, where: string): MasterKeys => ({
  all: Effect.succeed(texts),
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

/** What has a new name, or another file under its name, has it after a loss of power as well. */
const settle = (folder: string): void => {
  // Windows opens no folders.
  if (process.platform === "win32") return
  const opened = openSync(folder, "r")
  fsyncSync(opened)
  closeSync(opened)
}

/** The file as a whole or not at all, whatever happens to the process or the machine. */
const replace = (path: string, lines: ReadonlyArray<string>): void => {
  const draft = `${path}.${process.pid}`
  const file = openSync(draft, "w", 0o600)
  writeSync(file, `${lines.join("\n")}\n`)
  fsyncSync(file)
  closeSync(file)
  chmodSync(draft, 0o600)
  renameSync(draft, path)
  settle(dirname(path))
}

const make = (path: string): void => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  try {
    const file = openSync(path, "wx", 0o600)
    writeSync(file, `${randomMasterText()}\n`)
    fsyncSync(file)
    closeSync(file)
    settle(dirname(path))
  } catch (error) {
    // Another process was faster: its key is the one.
    if (codeOf(error) !== "EEXIST") throw error
  }
}

/** Of a text that is no key it is that of no key. */
const fingerprintOf = (text: string): string => {
  const key = keyOf(Buffer.from(text, "base64"))
  return key === undefined ? "" : fingerprint(key)
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

/** Keys in a file, one a line; made with one key when it is absent, refused when others than its owner can read it. */
export const masterKeysFile = (path: string): MasterKeys => ({
  all: attempt(path, "read", () => {
    try {
      return linesOf(path).map((line) => Redacted.make(line))
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error
      make(path)
      return linesOf(path).map((line) => Redacted.make(line))
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
