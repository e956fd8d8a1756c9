// Sessions of the console: who is signed in, until when, and how often a sign-in failed. They end with the process.
// Must not know cookies, headers or pages.
import { createHash, randomBytes, timingSafeEqual } from "node:crypto"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { KeyInvalid, SessionRefused, type StoreUnavailable } from "../domain/GatewayError.ts"
import type { GatewayKey } from "../domain/GatewayKey.ts"
import type { ConsoleSetting } from "../domain/settings/Settings.ts"
import { GatewayKeys } from "./GatewayKeys.ts"

/** What a sign-in presents. Nothing is enough where the console is open. */
export type Credential =
  | { readonly _tag: "Key"; readonly text: string }
  | { readonly _tag: "Code"; readonly text: string }
  | { readonly _tag: "Nothing" }

/** A session that was begun. `id` is its secret; `expiresMillis` is the moment it ends at the latest. */
export interface BegunSession {
  readonly id: string
  readonly keyId: string
  readonly expiresMillis: number
}

type KeyOf = Effect.Effect<GatewayKey, KeyInvalid | StoreUnavailable>

interface Session {
  readonly key: KeyOf
  readonly expiresMillis: number
}

const minuteMillis = 60 * 1000
/** Lifetime of a session. */
const sessionMillis = 12 * 60 * minuteMillis
/** Lifetime of the link that is printed at start. */
const codeMillis = 10 * minuteMillis
/** Most sessions; a further one ends the oldest. */
const mostSessions = 256
/** Failed sign-ins of one address in a window, after which it is refused until the window ends. */
const mostFailures = 10
/** Most addresses whose failures are counted; the oldest one is forgotten. */
const mostAddresses = 1024

/** The admin of a session that no key began: by the link, or by itself in the demo. */
const consoleKey: GatewayKey = {
  id: "console",
  name: "console",
  providers: undefined,
  models: undefined,
  scopes: ["admin"]
}

const digestOf = (text: string): Buffer => createHash("sha256").update(text).digest()

const dropOldest = (map: Map<string, unknown>, most: number): void => {
  if (map.size < most) return
  const [oldest] = map.keys()
  if (oldest !== undefined) map.delete(oldest)
}

/** Counts failed sign-ins by address, in windows of a minute. */
class Failures {
  readonly #windows = new Map<string, { count: number; readonly endsMillis: number }>()

  /** The time until an address may try again; undefined when it may now. */
  waitMillis(address: string, now: number): number | undefined {
    const window = this.#windows.get(address)
    return window === undefined || window.count < mostFailures || window.endsMillis <= now
      ? undefined
      : window.endsMillis - now
  }

  add(address: string, now: number): void {
    const window = this.#windows.get(address)
    if (window !== undefined && window.endsMillis > now) {
      window.count++
      return
    }
    this.#windows.delete(address)
    dropOldest(this.#windows, mostAddresses)
    this.#windows.set(address, { count: 1, endsMillis: now + minuteMillis })
  }
}

/** The code of the link, which begins one session. */
class OneTimeCode {
  #digest: Buffer | undefined
  readonly #endsMillis: number

  constructor(code: Redacted.Redacted<string> | undefined, now: number) {
    this.#digest = code === undefined ? undefined : digestOf(Redacted.value(code))
    this.#endsMillis = now + codeMillis
  }

  /** True for the code, once. */
  take(text: string, now: number): boolean {
    const digest = this.#digest
    if (digest === undefined || now >= this.#endsMillis || !timingSafeEqual(digest, digestOf(text))) return false
    this.#digest = undefined
    return true
  }
}

export interface Sessions {
  /** Host names, next to loopback and plain addresses, under which the console is used. */
  readonly hosts: ReadonlyArray<string>
  /** Whether a page is signed in without a credential. */
  readonly isOpen: boolean
  /** Begins a session. An address with too many failures is refused whatever it presents. */
  readonly begin: (
    credential: Credential,
    address: string
  ) => Effect.Effect<BegunSession, SessionRefused | StoreUnavailable>
  /** The key of a running session. A session ends when its key is revoked, rotated or expired. */
  readonly find: (id: string) => KeyOf
  readonly end: (id: string) => void
}

const make = (setting: ConsoleSetting) =>
  Effect.gen(function* () {
    const keys = yield* GatewayKeys
    const sessions = new Map<string, Session>()
    const failures = new Failures()
    const code = new OneTimeCode(setting.code, yield* Clock.currentTimeMillis)
    const refused = new SessionRefused({ reason: "credential" })

    const keyOf = (credential: Credential, now: number): KeyOf => {
      const isTaken =
        credential._tag === "Code"
          ? code.take(credential.text, now)
          : credential._tag === "Nothing" && setting.isOpen === true
      if (isTaken) return Effect.succeed(consoleKey)
      return credential._tag === "Key"
        ? Effect.filterOrFail(
            keys.find(credential.text),
            ({ scopes }) => scopes.includes("admin"),
            () => new KeyInvalid()
          )
        : Effect.fail(new KeyInvalid())
    }

    const begin = Effect.fnUntraced(function* (credential: Credential, address: string) {
      const now = yield* Clock.currentTimeMillis
      const wait = failures.waitMillis(address, now)
      if (wait !== undefined) return yield* new SessionRefused({ reason: "attempts", retryMillis: wait })
      const key = yield* keyOf(credential, now).pipe(
        Effect.catchTag("KeyInvalid", () => {
          // A page that finds out whether the console is open has not tried to guess anything.
          if (credential._tag !== "Nothing") failures.add(address, now)
          return Effect.fail(refused)
        })
      )
      const id = randomBytes(32).toString("base64url")
      const session: Session = {
        // Looked up for each request, so that the session ends with its key.
        key: credential._tag === "Key" ? Effect.suspend(() => keys.find(credential.text)) : Effect.succeed(key),
        expiresMillis: now + sessionMillis
      }
      dropOldest(sessions, mostSessions)
      sessions.set(digestOf(id).toString("base64"), session)
      return { id, keyId: key.id, expiresMillis: session.expiresMillis }
    })

    const find = (id: string): KeyOf =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const name = digestOf(id).toString("base64")
        const session = sessions.get(name)
        if (session !== undefined && now < session.expiresMillis)
          return Effect.tapErrorTag(session.key, "KeyInvalid", () => Effect.sync(() => sessions.delete(name)))
        sessions.delete(name)
        return Effect.fail(new KeyInvalid())
      })

    const end = (id: string): void => void sessions.delete(digestOf(id).toString("base64"))
    return { hosts: setting.hosts, isOpen: setting.isOpen === true, begin, find, end } satisfies Sessions
  })

/** The sessions of the console; undefined where there is no console. */
export class ConsoleSessions extends Context.Reference<Sessions | undefined>("gateway/keys/ConsoleSessions", {
  defaultValue: () => undefined
}) {
  /** Without a setting there is no console. */
  static readonly layerWith = (setting: ConsoleSetting | undefined): Layer.Layer<never, never, GatewayKeys> =>
    setting === undefined ? Layer.empty : Layer.effect(ConsoleSessions, make(setting))
}
