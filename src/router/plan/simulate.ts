// Where a config would send a request, and why: every node of the config with the share of such requests that it gets.
// It must not depend on circuits or on chance. Weights become shares instead of a draw.
import type * as Result from "effect/Result"
import type { ConfigGroup, ConfigNode, GatewayConfig } from "../../domain/config/GatewayConfig.ts"
import type { BodyInvalid } from "../../domain/GatewayError.ts"
import type { FaultPath } from "../../domain/faults.ts"
import { Branches, type Conditioned } from "./Branches.ts"
import type { Planned } from "./plan.ts"

/** `failure`: after a failure of the target before; `never`: not for this request. */
export type Reached = "first" | "failure" | "never"

export interface SimulatedNode {
  /** The place of the node in the config. */
  readonly at: FaultPath
  readonly mode: ConfigGroup["mode"] | undefined
  /** Undefined for a group. */
  readonly planned: Planned | undefined
  /** Of the requests like this one: how many go there first, from 0 to 1. */
  readonly share: number
  readonly reached: Reached
  readonly why: string
}

/** How a member of a group is reached, given how the group is. */
type Way = Pick<SimulatedNode, "share" | "reached" | "why">

const never = (why: string): Way => ({ share: 0, reached: "never", why })

const codesText = (codes: ReadonlySet<number> | undefined): string =>
  codes === undefined ? "that another target may not have" : `with status ${[...codes].join(", ")}`

const balanced = ({ members }: ConfigGroup, { reached, share }: Way): ReadonlyArray<Way> => {
  const whole = members.reduce((sum, { weight }) => sum + weight, 0)
  return members.map(({ weight }) =>
    weight > 0
      ? { share: (share * weight) / whole, reached, why: `its weight is ${weight} of ${whole}` }
      : never("its weight is 0")
  )
}

const conditional = (group: ConfigGroup, { reached, share }: Way, branches: Branches): ReadonlyArray<Way> => {
  const { conditions, members, otherwise } = group
  const condition = branches.conditionOf(group)
  const chosen = conditions[condition]?.then ?? otherwise
  const why = condition < 0 ? "no condition holds, and it is the default" : `condition ${condition + 1} holds`
  return members.map((_, index) =>
    index === chosen
      ? { share, reached, why }
      : never(condition < 0 ? "no condition for it holds" : `condition ${condition + 1} holds for another target`)
  )
}

const membersOf = (group: ConfigGroup, way: Way, branches: Branches): ReadonlyArray<Way> => {
  const { codes, members, mode } = group
  if (way.reached === "never") return members.map(() => never("its group is not asked"))
  switch (mode) {
    case "single":
      return members.map((_, index) =>
        index === 0 ? { ...way, why: "it is the first target" } : never("only the first target is asked")
      )
    case "conditional":
      return conditional(group, way, branches)
    case "loadbalance":
      return balanced(group, way)
    case "fallback":
      return members.map((_, index) =>
        index === 0
          ? { ...way, why: "it is the first target" }
          : { share: 0, reached: "failure", why: `after a failure ${codesText(codes)}` }
      )
  }
}

/** All nodes, each before its members. `planned` has the targets of the config in their order. */
export const simulateConfig = (
  { root }: GatewayConfig,
  planned: ReadonlyArray<Planned | undefined>,
  conditioned: Conditioned
): Result.Result<ReadonlyArray<SimulatedNode>, BodyInvalid> => {
  const nodes: Array<SimulatedNode> = []
  const branches = new Branches(conditioned)
  const visit = (node: ConfigNode, at: FaultPath, way: Way): void => {
    if (node.kind === "target") {
      nodes.push({ at, mode: undefined, planned: planned[node.index], ...way })
      return
    }
    nodes.push({ at, mode: node.mode, planned: undefined, ...way })
    const ways = membersOf(node, way, branches)
    for (const [index, { node: member }] of node.members.entries())
      visit(member, [...at, "targets", index], ways[index] ?? never("its group is not asked"))
  }
  visit(root, [], { share: 1, reached: "first", why: "every request of the config" })
  return branches.within(nodes)
}
