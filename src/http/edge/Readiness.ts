// The dependencies of the gateway, and whether each of them is available: for the health routes.
// It must not depend on any of them; the composition of the service names them.
import * as Context from "effect/Context"

/** What is wrong with a dependency: in one word, and for people, with what still works and what to do. */
export interface Unready {
  readonly state: string
  readonly message: string
}

/**
 * By name: true while it is available, else what is wrong with it; false is `down`. Each health request calls it, so it
 * must be a cheap read of memory.
 */
export type Readiness = Readonly<Record<string, () => boolean | string | Unready>>

/** None but the configuration, which is there when the service is. */
export const Readiness: Context.Reference<Readiness> = Context.Reference<Readiness>("gateway/http/Readiness", {
  defaultValue: () => ({})
})
