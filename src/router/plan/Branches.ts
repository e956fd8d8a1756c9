// Decides which member of a conditional group a request goes to, within a bound of steps.
// It must not depend on targets or accounts.
import * as Result from "effect/Result"
import type { RequestFacts } from "../../domain/config/conditions.ts"
import type { ConfigGroup, ConfigNode } from "../../domain/config/GatewayConfig.ts"
import { BodyInvalid } from "../../domain/GatewayError.ts"

/** What conditions are decided by. */
export interface Conditioned {
  /** Asked for by conditions only, and once. */
  readonly facts: () => RequestFacts
  /** Steps that all conditions together may take. */
  readonly conditionSteps: number
}

/** What was decided with a spent budget is void, so the request goes nowhere. */
const tooManySteps = (most: number): BodyInvalid =>
  new BodyInvalid({
    code: "invalid_config",
    param: "x-gateway-config",
    message: `The conditions of the config need more than ${most} steps for this request (limits.conditionSteps); use fewer or simpler patterns.`
  })

/** Decides conditional groups: facts are made once, and all conditions share one budget of steps. */
export class Branches {
  private readonly conditioned: Conditioned
  private readonly budget: { left: number }
  private facts: RequestFacts | undefined

  constructor(conditioned: Conditioned) {
    this.conditioned = conditioned
    this.budget = { left: conditioned.conditionSteps }
  }

  /** The index of the first condition that holds; -1 where none does. */
  conditionOf({ conditions }: ConfigGroup): number {
    const facts = (this.facts ??= this.conditioned.facts())
    const { budget } = this
    return conditions.findIndex(({ holds }) => budget.left < 0 || holds(facts, budget))
  }

  of(group: ConfigGroup): ConfigNode | undefined {
    const { conditions, members, otherwise } = group
    return members[conditions[this.conditionOf(group)]?.then ?? otherwise]?.node
  }

  /** A value that they decided; a fault when the decisions needed more than the budget. */
  within<A>(decided: A): Result.Result<A, BodyInvalid> {
    return this.budget.left < 0 ? Result.fail(tooManySteps(this.conditioned.conditionSteps)) : Result.succeed(decided)
  }
}
