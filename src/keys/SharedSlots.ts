// The slots of keys with a limit of running requests, where several processes count them together.
// It must not know how the processes talk. Without it each process counts for itself.
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

export interface SharedSlots {
  /** Takes a slot. Succeeds with the function that frees it, or with undefined when all slots are taken. */
  readonly enter: (keyId: string, most: number) => Effect.Effect<(() => void) | undefined>
}

export const SharedSlots: Context.Reference<SharedSlots | undefined> = Context.Reference<SharedSlots | undefined>(
  "gateway/keys/SharedSlots",
  { defaultValue: () => undefined }
)
