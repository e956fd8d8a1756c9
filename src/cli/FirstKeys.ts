// The first gateway keys of a service without any: an inference key for this run and an admin key in the store.
// Must not print the keys.
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { Administration } from "../admin/Administration.ts"
import { hasKey } from "../admin/KeyRecords.ts"
import { defaultScopes } from "../domain/settings/readKey.ts"
import type { Settings } from "../domain/settings/Settings.ts"
import { errorFacts } from "../api/errorFacts.ts"
import { makeKey } from "../keys/KeyText.ts"
import { type Declarations, ConfigSnapshot } from "../store/ConfigSnapshot.ts"
import { commandFailure } from "./Failure.ts"

export interface FirstKeys {
  /** Text of the key that was made; undefined when the service already had one. */
  readonly inference: string | undefined
  readonly admin: string | undefined
}

/** The declarations, with the key made for this run unless another declared key may call models. */
export const declareWithKey =
  (made: string | undefined) =>
  (read: Settings): Declarations => {
    const isMissing =
      made !== undefined && !read.keys.some(({ scopes = defaultScopes }) => scopes.includes("inference"))
    return isMissing ? { ...read, keys: [...read.keys, { name: "generated", key: Redacted.make(made) }] } : read
  }

/** Makes the missing inference key and admin key. The gateway accepts both when this completes. */
export const makeMissingKeys = Effect.fnUntraced(
  function* (settings: Settings) {
    const { keys } = yield* Administration
    const holdings = yield* ConfigSnapshot
    yield* holdings.refresh
    const made = hasKey(holdings.current(), "inference") ? undefined : makeKey()
    yield* holdings.declare(declareWithKey(made)(settings))
    const admin = yield* keys.createFirst("admin", { id: "cli", requestId: undefined })
    const first: FirstKeys = { inference: made, admin: admin?.key }
    return first
  },
  Effect.mapError((error) => commandFailure(`the first keys cannot be made: ${errorFacts(error).message}`))
)
