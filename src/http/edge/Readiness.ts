// The dependencies of the gateway, and whether each of them is available: for the health routes.
// It must not depend on any of them; the composition of the service names them.
import * as Context from "effect/Context"

/**
 * By name: true while it is available, else false or what is wrong with it, in one word. Each health request calls it,
 * so it must be a cheap read of memory.
 */
export type Readiness = Readonly<Record<string, () => boolean | string>>

/** None but the configuration, which is there when the service is. */
export const Readiness: Context.Reference<Readiness> = Context.Reference<Readiness>("gateway/http/Readiness", {
  defaultValue: () => ({})
})
