// Sessions of the console: who is signed in, until when, and how often a sign-in failed.
// Must not know cookies, headers or pages.
import { randomBytes } from "node:crypto"
import { isIPv6 } from "node:net"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { KeyInvalid, SessionRefused, type StoreUnavailable } from "../domain/GatewayError.ts"
import type { GatewayKey } from "../domain/GatewayKey.ts"
import type { ConsoleSetting } from "../domain/settings/Settings.ts"
import { SessionTable } from "../store/SessionTable.ts"
import { RateCounters } from "../store/Spending.ts"
import { GatewayKeys } from "./GatewayKeys.ts"
import { RateBucket } from "./Admission.ts"

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

const minuteMillis = 60 * 1000
/** Lifetime of a session. */
const sessionMillis = 12 * 60 * minuteMillis
/** Lifetime of the link that is printed at start. */
const codeMillis = 10 * minuteMillis
/** Failed sign-ins of one network that are taken together; afterwards it has `failuresPerMinute`. */
const mostFailures = 10
const failuresPerMinute = 1

/** In place of the digest of a key: the session began without a credential, and counts while the console is open. */
const openDigest = "open"

/** The admin of a session that no key began: by the link, or by itself in the demo. */
const consoleKey: GatewayKey = { id: "console", name: "console", scopes: ["admin"] }

/** The /64 of an IPv6 address, which is one client's; any other address as it is, IPv4 in IPv6 included. */
const networkOf = (address: string): string => {
  if (!isIPv6(address) || address.includes(".")) return address
  const [head = [], tail] = address.split("::").map((side) => (side === "" ? [] : side.split(":")))
  const zeros = Array.from({ length: 8 - head.length - (tail?.length ?? 0) }, () => "0")
  return [...head, ...(tail === undefined ? [] : [...zeros, ...tail])].slice(0, 4).join(":")
}

/**
 * Judges a sign-in, and counts it where it fails. Clients of one proxy share an address, strangers and the operator, so a right
 * credential is taken however many wrong ones came before. The bound on guessing is its length, as at every route; the count
 * stops wrong tries only.
 */
const judgeCounted = Effect.fnUntraced(function* <A>(
  rates: RateCounters["Service"],
  address: string,
  judged: Effect.Effect<A, KeyInvalid | StoreUnavailable>
): Effect.fn.Return<A, KeyInvalid | SessionRefused | StoreUnavailable> {
  return yield* Effect.catchTag(
    judged,
    "KeyInvalid",
    Effect.fnUntraced(function* (invalid) {
      const bucket = new RateBucket(`sign-in ${networkOf(address)}`, "requests", failuresPerMinute, mostFailures)
      const { fullMillis, refusedAt } = yield* rates.take([bucket.ask(1)], false)
      return yield* refusedAt < 0
        ? invalid
        : new SessionRefused({ reason: "attempts", retryMillis: bucket.waitMillis(fullMillis[0] ?? 0, 1) })
    })
  )
})

export interface Sessions {
  /** Host names, next to loopback and plain addresses, under which the console is used. */
  readonly hosts: ReadonlyArray<string>
  /** Whether a page is signed in without a credential. */
  readonly isOpen: boolean
  /** Begins a session. After too many failures of an address, further wrong tries are refused as too many. */
  readonly begin: (
    credential: Credential,
    address: string
  ) => Effect.Effect<BegunSession, SessionRefused | StoreUnavailable>
  /** The key of a running session. A session ends when its key is revoked, rotated or expired. */
  readonly find: (id: string) => KeyOf
  readonly end: (id: string) => Effect.Effect<void, StoreUnavailable>
}

const make = Effect.fnUntraced(function* (setting: ConsoleSetting) {
  const keys = yield* GatewayKeys
  const table = yield* SessionTable
  const isOpen = setting.isOpen === true
  const rates = yield* RateCounters
  const refused = new SessionRefused({ reason: "credential" })
  const codeDigest = (text: string): string => keys.digest(`code ${text}`)
  const sessionDigest = (id: string): string => keys.digest(`session ${id}`)

  /** It is looked up first, so that a wrong code writes nothing to the store. */
  const takeCode = Effect.fnUntraced(function* (digest: string) {
    const taken = (yield* table.find(digest)) === undefined ? undefined : yield* table.take(digest)
    return taken === undefined ? yield* new KeyInvalid() : undefined
  })

  /** The digest of the key that a session looks up again; undefined for a session without one. */
  const keyDigestOf = (credential: Credential): Effect.Effect<string | undefined, KeyInvalid | StoreUnavailable> => {
    switch (credential._tag) {
      case "Nothing":
        return Effect.succeed(openDigest)
      case "Code":
        return takeCode(codeDigest(credential.text))
      case "Key":
        return Effect.flatMap(keys.find(credential.text), ({ scopes }) =>
          scopes.includes("admin") ? Effect.succeed(keys.digest(credential.text)) : Effect.fail(new KeyInvalid())
        )
    }
  }
  const keyOf = (digest: string | undefined): KeyOf => {
    if (digest === undefined || (digest === openDigest && isOpen)) return Effect.succeed(consoleKey)
    return digest === openDigest ? Effect.fail(new KeyInvalid()) : keys.findDigest(digest)
  }

  const judge = (credential: Credential) =>
    Effect.flatMap(keyDigestOf(credential), (digest) => Effect.map(keyOf(digest), (key) => [digest, key] as const))

  const begin = Effect.fnUntraced(function* (credential: Credential, address: string) {
    // A page that finds out whether the console is open has not tried to guess anything.
    const judged = credential._tag === "Nothing" ? judge(credential) : judgeCounted(rates, address, judge(credential))
    const [keyDigest, key] = yield* Effect.catchTag(judged, "KeyInvalid", () => Effect.fail(refused))
    const now = yield* Clock.currentTimeMillis
    const id = randomBytes(32).toString("base64url")
    const expiresMillis = now + sessionMillis
    yield* table.add(sessionDigest(id), { keyDigest, expiresMillis })
    return { id, keyId: key.id, expiresMillis }
  })

  const { code } = setting
  if (code !== undefined) {
    const expiresMillis = (yield* Clock.currentTimeMillis) + codeMillis
    yield* Effect.catch(table.add(codeDigest(Redacted.value(code)), { keyDigest: undefined, expiresMillis }), () =>
      Effect.logWarning("The link to the console does not work, because the store took no write at the start.")
    )
  }
  return {
    hosts: setting.hosts,
    isOpen,
    begin,
    // The key is looked up for each request, so that the session ends with it.
    find: (id) =>
      Effect.flatMap(table.find(sessionDigest(id)), (session) =>
        session === undefined ? Effect.fail(new KeyInvalid()) : keyOf(session.keyDigest)
      ),
    end: (id) => Effect.asVoid(table.take(sessionDigest(id)))
  } satisfies Sessions
})

/** The sessions of the console; undefined where there is no console. */
export class ConsoleSessions extends Context.Reference<Sessions | undefined>("gateway/keys/ConsoleSessions", {
  defaultValue: () => undefined
}) {
  /** Without a setting there is no console. */
  static readonly layerWith = (
    setting: ConsoleSetting | undefined
  ): Layer.Layer<never, never, GatewayKeys | SessionTable | RateCounters> =>
    setting === undefined ? Layer.empty : Layer.effect(ConsoleSessions, make(setting))
}
