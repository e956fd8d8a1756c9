// Encryption at rest: bytes sealed with AES-256-GCM and bound to their context, master keys, and fingerprints of secrets.
// Must not know what a secret is for, or where sealed bytes are stored.
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash,
  type KeyObject,
  randomBytes
} from "node:crypto"
import * as Redacted from "effect/Redacted"
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
import { StoreUnusable } from "./database/Sql.ts"

/** The associated data of sealed bytes: what they belong to. */
export interface SealContext {
  readonly kind: string
  readonly id: string
  readonly version: number
}

/** First byte of sealed bytes; a later format gets another number. */
const sealedForm = 1
export const ivBytes = 12
const tagBytes = 16
const keyBytes = 32
const headBytes = 1 + ivBytes + tagBytes

export const randomKey = (): Buffer => randomBytes(keyBytes)

/** A key of 32 bytes; undefined for another length. Printing the result shows no secret. */
export const keyOf = (bytes: Uint8Array): KeyObject | undefined =>
  bytes.length === keyBytes ? createSecretKey(bytes) : undefined

/** A public name for a key; the key cannot be computed from it. */
export const keyFingerprint = (key: KeyObject): string =>
  createHmac("sha256", key).update("model-gateway key id").digest("hex").slice(0, 16)

/** Each part is prefixed with its length, so that two contexts never have the same bytes. */
export const associated = ({ id, kind, version }: SealContext): Buffer =>
  Buffer.concat(
    [kind, id, String(version)].flatMap((part) => {
      const bytes = Buffer.from(part, "utf8")
      const length = Buffer.alloc(4)
      length.writeUInt32BE(bytes.length)
      return [length, bytes]
    })
  )

/**
 * Format byte, 96 bits, tag, ciphertext. The bits are random unless given; given ones must be a function of context and
 * content.
 */
export const sealBytes = (
  key: KeyObject,
  context: SealContext,
  plain: Uint8Array,
  iv: Uint8Array = randomBytes(ivBytes)
): Uint8Array => {
  const cipher = createCipheriv("aes-256-gcm", key, iv, { authTagLength: tagBytes }).setAAD(associated(context))
  const text = Buffer.concat([cipher.update(plain), cipher.final()])
  return Uint8Array.from(Buffer.concat([Buffer.of(sealedForm), iv, cipher.getAuthTag(), text]))
}

/** The plain bytes; undefined when a bit of `sealed`, the context or the key differs. */
export const openBytes = (key: KeyObject, context: SealContext, sealed: Uint8Array): Buffer | undefined => {
  if (sealed[0] !== sealedForm || sealed.length < headBytes) return undefined
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(1, 1 + ivBytes), { authTagLength: tagBytes })
    .setAAD(associated(context))
    .setAuthTag(sealed.subarray(1 + ivBytes, headBytes))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(headBytes)), decipher.final()])
  } catch {
    return undefined
  }
}

/** The context of the captured content of a request. */
export const contentContext = (id: string): SealContext => ({ kind: "content", id, version: 1 })

/** The context of a stored response. */
export const responseContext = (id: string): SealContext => ({ kind: "response", id, version: 1 })

// Fingerprints of secrets: a short digest that identifies a secret without revealing it.

/** The last characters of a shorter text would reveal too much of it. */
const longSecretLength = 24

/** The first 8 hexadecimal digits of the SHA-256, and of a long text its last four characters. */
export const secretFingerprint = (secret: Redacted.Redacted<string>): string => {
  const text = Redacted.value(secret)
  const digits = hash("sha256", text).slice(0, 8)
  return text.length < longSecretLength || text.includes("\n") ? digits : `${digits}...${text.slice(-4)}`
}

// Master keys of the store: set by the operator, or kept in a key file that only the gateway's user may read.

/** 32 bytes each, as base64. The first one encrypts; each of them decrypts. */
type MasterTexts = ReadonlyArray<Redacted.Redacted<string>>

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

const attemptOnFile = <A>(path: string, what: string, run: () => A): Effect.Effect<A, StoreUnusable> =>
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
const replaceFile = (path: string, lines: ReadonlyArray<string>): void => {
  const draft = `${path}.${process.pid}`
  const file = openSync(draft, "w", 0o600)
  writeSync(file, `${lines.join("\n")}\n`)
  fsyncSync(file)
  closeSync(file)
  chmodSync(draft, 0o600)
  renameSync(draft, path)
  syncFolder(dirname(path))
}

const makeKeyFile = (path: string): void => {
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

const keyFileMissing = (path: string): StoreUnusable =>
  new StoreUnusable({
    message: `the key file ${path} is missing, and the store has secrets that no other key opens: put its copy back, or set GATEWAY_SECRET_KEY`
  })

/**
 * Keys in a file, one a line. The file is made for a new store only: a new key for a store with secrets would open none of
 * them. A file that others can read is refused.
 */
export const masterKeysFile = (path: string): MasterKeys => ({
  prepare: attemptOnFile(path, "written", () => makeKeyFile(path)),
  read: attemptOnFile(path, "read", () => {
    try {
      return linesOf(path).map((line) => Redacted.make(line))
    } catch (error) {
      throw codeOf(error) === "ENOENT" ? keyFileMissing(path) : error
    }
  }),
  renew: attemptOnFile(path, "written", () => replaceFile(path, [randomMasterText(), ...linesOf(path)])),
  retire: (used) =>
    attemptOnFile(path, "written", () =>
      replaceFile(
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
