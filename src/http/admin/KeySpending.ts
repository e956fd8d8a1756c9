// Adds to a key what it has spent and when it was used last.
// It must not depend on how either is counted.
import * as Effect from "effect/Effect"
import type { Key } from "../../api/AdminResources.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { noNames, readKey } from "../../domain/settings/readKey.ts"
import { dollarsOf } from "../../domain/Usage.ts"
import { Admission } from "../../keys/Admission.ts"

export const withSpending: Effect.Effect<(key: Key) => Effect.Effect<Key, StoreUnavailable>, never, Admission> =
  Effect.map(Admission, ({ spent }) => (key) => {
    const { key: record } = readKey(key.id, key, noNames)
    return Effect.map(spent(record), ({ lastUsedMillis, spentMicros }) => ({
      ...key,
      spent_usd: dollarsOf(spentMicros),
      ...(lastUsedMillis === undefined ? {} : { last_used_at: new Date(lastUsedMillis).toISOString() })
    }))
  })
