// The list of named attacks, in the order they run.
// Must not run an attack.
import { answers } from "./answers.ts"
import type { Attack } from "./attack.ts"
import { bounds } from "./bounds.ts"
import { taught } from "./lessons.ts"
import { load } from "./load.ts"
import { money } from "./money.ts"
import { native } from "./native.ts"
import { tenants } from "./tenants.ts"
import { values } from "./values.ts"

export const attacks: ReadonlyArray<Attack> = [
  ...bounds,
  ...native,
  ...taught,
  ...money,
  ...values,
  ...tenants,
  ...load,
  ...answers
]
