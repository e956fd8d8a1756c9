// The keys of a service that has none: one to call models with for this run, and one to administer it with, kept in its store.
// It must not know where keys are told.
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { Administration } from "../admin/Administration.ts"
import { hasKey } from "../admin/KeyRecords.ts"
import { inference } from "../domain/settings/readKey.ts"
import type { Settings } from "../domain/settings/Settings.ts"
import { errorFacts } from "../api/errorFacts.ts"
import { makeKey } from "../keys/KeyText.ts"
import { type Declarations, Holdings } from "../store/Holdings.ts"
import { failed } from "./Failure.ts"

export interface FirstKeys {
  /** Texts of the keys that were made; undefined where there was one. */
  readonly inference: string | undefined
  readonly admin: string | undefined
}

/** What is declared, and the key that was made for this run unless another may call models. */
export const withKey =
  (made: string | undefined) =>
  (read: Settings): Declarations => {
    const isMissing = made !== undefined && !read.keys.some(({ scopes = inference }) => scopes.includes("inference"))
    return isMissing ? { ...read, keys: [...read.keys, { name: "generated", key: Redacted.make(made) }] } : read
  }

/** Makes what is missing of both; the gateway takes them when this is done. */
export const firstKeys = Effect.fnUntraced(
  function* (settings: Settings) {
    const { keys } = yield* Administration
    const holdings = yield* Holdings
    yield* holdings.refresh
    const made = hasKey(holdings.held(), "inference") ? undefined : makeKey()
    yield* holdings.declare(withKey(made)(settings))
    const admin = yield* keys.createFirst("admin", { id: "cli", requestId: undefined })
    const first: FirstKeys = { inference: made, admin: admin?.key }
    return first
  },
  Effect.mapError((error) => failed(`the first keys cannot be made: ${errorFacts(error).message}`))
)
