// Makes the plan of a request, with the state of circuits where load could go elsewhere.
// It must not know how a target is called.
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { GatewayConfig } from "../domain/config/GatewayConfig.ts"
import type { GatewayError } from "../domain/GatewayError.ts"
import type { GatewayKey } from "../domain/GatewayKey.ts"
import type { LimitValues } from "../domain/Limits.ts"
import type { CatalogView } from "../domain/ProviderAccount.ts"
import type { Circuits } from "../state/Circuits.ts"
import type { Operations } from "../provider/Provider.ts"
import type { Asking } from "./Attempts.ts"
import { bodies } from "./bodies.ts"
import { circuitOf } from "./circuit.ts"
import { orderTargets, type Plan, type Planned, planOne, possibleTargets, resolveTargets } from "./plan.ts"

export interface PlanningServices {
  /** For requests that bring none. */
  readonly catalog: CatalogView
  readonly circuits: Circuits["Service"]
  readonly limits: LimitValues
  /** From 0 to 1, the latter excluded. */
  readonly draw: () => number
}

const none: ReadonlySet<string> = new Set()

export const planning = ({ catalog: present, circuits, draw, limits: { conditionSteps } }: PlanningServices) => {
  const openOnes = (
    config: GatewayConfig,
    all: ReadonlyArray<Planned>,
    key: GatewayKey
  ): Effect.Effect<ReadonlySet<string>> =>
    config.sharesGuarded
      ? circuits.open(all.map((planned) => circuitOf(planned, key)).filter((circuit) => circuit !== undefined))
      : Effect.succeed(none)

  const askedOf = <Op extends keyof Operations>({ context, operation, request }: Asking<Op>) => {
    const { carried, catalog = present, configId, grantedModel, key, metadata, providerHeader: header } = context
    return {
      catalog,
      asked: { model: request.model, header, key, carried, configId, grantedModel },
      facts: () => ({ metadata, params: bodies[operation].params(request), path: bodies[operation].path })
    }
  }

  return {
    plan: <Op extends keyof Operations>(asking: Asking<Op>): Effect.Effect<Plan, GatewayError> => {
      const { config, key, observed } = asking.context
      observed?.routing(asking.context)
      const { asked, catalog, facts } = askedOf(asking)
      if (config === undefined) return Effect.fromResult(planOne(asked, catalog))
      const all = resolveTargets(config, asked, catalog)
      if (Result.isFailure(all)) return Effect.fail(all.failure)
      return Effect.flatMap(openOnes(config, all.success, key), (open) => {
        const isOpen = (planned: Planned) => open.has(circuitOf(planned, key)?.name ?? "")
        return Effect.fromResult(orderTargets(config, all.success, { facts, conditionSteps, draw, isOpen }))
      })
    },
    /** The targets of all plans that could be made of this request. */
    possible: <Op extends keyof Operations>(
      asking: Asking<Op>
    ): Result.Result<ReadonlyArray<Planned>, GatewayError> => {
      const { config } = asking.context
      const { asked, catalog, facts } = askedOf(asking)
      return config === undefined
        ? planOne(asked, catalog)
        : Result.flatMap(resolveTargets(config, asked, catalog), (all) =>
            possibleTargets(config, all, { facts, conditionSteps })
          )
    }
  }
}
