// The targets of a config for a request, in the order in which they are tried, and why a request would reach each of them.
// It must not depend on how a call is made. Chance is an argument.
import * as Result from "effect/Result"
import type { RequestFacts } from "../domain/config/conditions.ts"
import type { ConfigGroup, ConfigNode, ConfigTarget, GatewayConfig } from "../domain/config/GatewayConfig.ts"
import type { FaultPath } from "../domain/faults.ts"
import { BodyInvalid, ProviderMissing } from "../domain/GatewayError.ts"
import { lists } from "../domain/GatewayKey.ts"
import type { ModelRef } from "../domain/ModelRef.ts"
import type { CarriedCredentials, CatalogView, ProviderAccount, ProviderKind } from "../domain/ProviderAccount.ts"
import {
  type Asked,
  type FallbackEdge,
  inPlace,
  type Named,
  namedByRequest,
  noEdges,
  type Plan,
  type PlanFault,
  type Planned,
  planOne,
  type PlanResult,
  readModel,
  resolved,
  unnamed
} from "./plan.ts"

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

/** What decides the order of targets. */
export interface Order extends Conditioned {
  /** From 0 to 1, the latter excluded. */
  readonly draw: () => number
  /** Whether a target would refuse to be called; load goes to others as long as there are some. */
  readonly isOpen: (planned: Planned) => boolean
  /** Called with each target that gets no load because it would refuse. */
  readonly passOver?: (target: number) => void
}

/**
 * The provider of one target of several is its own; a config of a single target only fills what the request leaves open.
 * A model that a target sets wins with its prefix.
 */
const namedFor = (
  target: ConfigTarget,
  own: ModelRef | undefined,
  byRequest: Named | undefined,
  alone: boolean
): Named | undefined => {
  if (own?.slug !== undefined) return { slug: own.slug, param: "x-gateway-config" }
  const byTarget: Named | undefined =
    target.slug === undefined ? undefined : { slug: target.slug, param: "x-gateway-config" }
  return alone ? (byRequest ?? byTarget) : (byTarget ?? byRequest)
}

/** The targets of a config by their index; undefined for those that this request is not sent to. */
export interface Resolved {
  readonly targets: ReadonlyArray<Planned | undefined>
  /** Why the targets that are left out have no account; the request fails by it where its way leads to one of them. */
  readonly fault: PlanFault | undefined
}

/** A slug in the model is an order: the config of a key applies within that account, and a config that the request names goes before it. */
const orderedSlug = (
  asked: Asked,
  byRequest: Named | undefined,
  targets: ReadonlyArray<ConfigTarget>
): string | undefined =>
  asked.isKeyConfig === true && byRequest?.param === "model" && targets.length > 1 ? byRequest.slug : undefined

/**
 * All targets of the config. A fault of any target is reported immediately, even if that target would not be tried; but
 * one for which no account can be chosen counts only where the request would be sent to it.
 */
export const resolveTargets = (
  { targets }: GatewayConfig,
  asked: Asked,
  catalog: CatalogView
): PlanResult<Resolved> => {
  const read = readModel(asked.model, catalog, asked.key)
  if (Result.isFailure(read)) return Result.fail(read.failure)
  const { ref } = read.success
  const byRequest = namedByRequest(ref, asked.header)
  const isInline = asked.configId === undefined
  const isGranted = asked.configId !== undefined && lists(asked.key.configs, asked.configId)
  const chosenOnes: Array<Chosen | undefined> = []
  let fault: PlanFault | undefined
  const ordered = orderedSlug(asked, byRequest, targets)
  if (ordered !== undefined) {
    // The account has to be one that the request may use, whether or not a target names it.
    const alone = planOne(asked, catalog)
    if (Result.isFailure(alone)) return Result.fail(alone.failure)
  }
  for (const target of targets) {
    const own = target.model === undefined ? undefined : readModel(target.model, catalog, asked.key)
    if (own !== undefined && Result.isFailure(own)) return Result.fail(own.failure)
    const named = namedFor(target, own?.success.ref, byRequest, targets.length === 1)
    const { betas, ref: model } = own?.success ?? read.success
    const modelId = model.rest
    const chosen = named === undefined ? unnamed(modelId, catalog, asked) : Result.succeed(named)
    if (Result.isFailure(chosen) || (ordered !== undefined && chosen.success.slug !== ordered)) {
      if (Result.isFailure(chosen)) fault ??= chosen.failure
      chosenOnes.push(undefined)
      continue
    }
    // A request without a model gets that of the config.
    const isModelGranted = asked.model === asked.grantedModel || (isGranted && asked.model === target.defaultModel)
    const { param, slug } = chosen.success
    const account = resolved(chosen.success, modelId, catalog, asked.key, {
      slug:
        (isGranted && (param === "x-gateway-config" || slug === target.slug)) || (isModelGranted && slug === ref.slug),
      model: own === undefined ? isModelGranted : isGranted
    })
    if (Result.isFailure(account)) return Result.fail(account.failure)
    chosenOnes.push({ account: account.success, modelId, betas, target })
  }
  const selected = byRequest === undefined ? undefined : catalog.resolve(byRequest.slug)?.kind
  const kinds = new Set(chosenOnes.flatMap((one) => (one === undefined ? [] : [one.account.kind])))
  const [kind] = kinds
  const resolvedOnes = chosenOnes.map((one) => {
    if (one === undefined) return undefined
    const planned = withOwn(one, asked.carried, kinds.size === 1 ? kind : selected, isInline)
    return kinds.size === 1 ? planned : { ...planned, mixesKinds: true }
  })
  return Result.succeed({ targets: resolvedOnes, fault })
}

/** True where some target of a node is one that the request may be sent to. */
const isReachable = (node: ConfigNode, all: Resolved["targets"]): boolean =>
  node.kind === "target" ? all[node.index] !== undefined : node.members.some((member) => isReachable(member.node, all))

/** A target whose account is found. */
interface Chosen {
  readonly account: ProviderAccount
  readonly modelId: string
  readonly betas: ReadonlyArray<string>
  readonly target: ConfigTarget
}

/**
 * An Authorization header does not name its provider: it goes to the kind of provider that the request selects,
 * or to the only one there is. A target's own credential goes to the account it names and nowhere else.
 */
const withOwn = (
  { account, betas, modelId, target }: Chosen,
  byRequest: CarriedCredentials,
  selected: ProviderKind | undefined,
  isInline: boolean
): Planned => {
  const carried = { ...byRequest, authorization: account.kind === selected ? byRequest.authorization : undefined }
  const own = target.slug === account.slug ? target.credentials : undefined
  const isOwn = own !== undefined && (own.authorization !== undefined || own.vertexServiceAccountJson !== undefined)
  const rest = {
    modelId,
    betas,
    carried: isOwn ? own : carried,
    origin: isOwn && !isInline ? "stored" : "caller",
    target,
    edges: noEdges
  } as const
  return inPlace(account, rest, byRequest, own === undefined ? undefined : { of: own, isInline })
}

const indicesOf = (node: ConfigNode): ReadonlyArray<number> =>
  node.kind === "target" ? [node.index] : node.members.flatMap((member) => indicesOf(member.node))

/** One member by the weights of those that would be called. */
const drawMember = (
  { members }: ConfigGroup,
  { fault, targets: all }: Resolved,
  { draw, isOpen, passOver }: Order
): ConfigNode | undefined => {
  const isClosed = (node: ConfigNode): boolean => {
    if (node.kind === "group") return node.members.some((member) => isClosed(member.node))
    const planned = all[node.index]
    return planned !== undefined && !isOpen(planned)
  }
  const weighing = members.filter(({ node, weight }) => weight > 0 && (fault !== undefined || isReachable(node, all)))
  const healthy = weighing.filter(({ node }) => isClosed(node))
  const candidates = healthy.length === 0 ? weighing : healthy
  if (passOver !== undefined && candidates.length < weighing.length)
    for (const { node } of weighing) if (!isClosed(node)) indicesOf(node).forEach(passOver)
  let left = draw() * candidates.reduce((sum, { weight }) => sum + weight, 0)
  for (const { node, weight } of candidates) {
    left -= weight
    if (left < 0) return node
  }
  return candidates.at(-1)?.node
}

/** The targets that any plan of this request could contain: load balancing draws again for each plan, and circuits open meanwhile. */
export const possibleTargets = (
  { root }: GatewayConfig,
  { fault, targets: all }: Resolved,
  conditioned: Conditioned
): PlanResult<ReadonlyArray<Planned>> => {
  const possible: Array<Planned> = []
  let isBlocked = false
  const branches = new Branches(conditioned)
  const visit = (node: ConfigNode | undefined): void => {
    if (node === undefined) return
    if (node.kind === "target") {
      const planned = all[node.index]
      if (planned === undefined) isBlocked = true
      else possible.push(planned)
      return
    }
    switch (node.mode) {
      case "single":
        return visit(node.members[0]?.node)
      case "conditional":
        return visit(branches.of(node))
      case "loadbalance":
        return node.members.filter(({ weight }) => weight > 0).forEach((member) => visit(member.node))
      case "fallback":
        return node.members.forEach((member) => visit(member.node))
    }
  }
  visit(root)
  return isBlocked && fault !== undefined ? Result.fail(fault) : branches.within(possible)
}

/** The targets of a config that may be called, in the order in which they are tried. */
export const orderTargets = ({ root }: GatewayConfig, resolvedOnes: Resolved, order: Order): PlanResult<Plan> => {
  const { fault, targets: all } = resolvedOnes
  const plan: Array<Planned> = []
  let isBlocked = false
  const branches = new Branches(order)
  const visit = (node: ConfigNode | undefined, edges: ReadonlyArray<FallbackEdge>): void => {
    if (node === undefined) return
    if (node.kind === "target") {
      const planned = all[node.index]
      if (planned === undefined) isBlocked = true
      else plan.push({ ...planned, edges })
      return
    }
    switch (node.mode) {
      case "single":
        return visit(node.members[0]?.node, edges)
      case "loadbalance":
        return visit(drawMember(node, resolvedOnes, order), edges)
      case "conditional":
        return visit(branches.of(node), edges)
      case "fallback":
        for (const [index, { node: member }] of node.members.entries()) {
          const { answers, codes } = node
          const edge = answers === undefined ? { codes, to: 0 } : { codes, answers, to: 0 }
          visit(member, index < node.members.length - 1 ? [edge, ...edges] : edges)
          edge.to = plan.length
        }
    }
  }
  visit(root, noEdges)
  if (isBlocked && fault !== undefined) return Result.fail(fault)
  return Result.flatMap(branches.within(plan), ([first, ...others]) =>
    first === undefined ? Result.fail(new ProviderMissing({ known: [] })) : Result.succeed([first, ...others])
  )
}

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
