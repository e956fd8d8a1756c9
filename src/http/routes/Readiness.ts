// What the gateway stands on, and whether each of it is there: for the health routes.
// It must not know what any of it is; whoever puts the service together names them.
import * as Context from "effect/Context"

/** By name: true while it is there. Asked on each look, so it must cost nothing and touch nothing. */
export type Readiness = Readonly<Record<string, () => boolean>>

/** None but the configuration, which is there when the service is. */
export const Readiness: Context.Reference<Readiness> = Context.Reference<Readiness>("gateway/http/Readiness", {
  defaultValue: () => ({})
})
