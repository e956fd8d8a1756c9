// The attacks with names, in the order they run.
// It must not know how they are run.
import type { Attack } from "./attack.ts"
import { bounds } from "./bounds.ts"
import { load } from "./load.ts"
import { money } from "./money.ts"

export const attacks: ReadonlyArray<Attack> = [...bounds, ...money, ...load]
