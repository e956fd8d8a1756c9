// The targets of a config for a request, in the order in which they are tried, and why a request would reach each of them.
// It must not depend on how a call is made. Chance is an argument.
import * as Result from "effect/Result"
import type { RequestFacts } from "../domain/config/conditions.ts"
import type { ConfigGroup, ConfigNode, ConfigTarget, GatewayConfig } from "../domain/config/GatewayConfig.ts"
import { type FaultPath, readEach } from "../domain/faults.ts"
import { BodyInvalid, ProviderMissing } from "../domain/GatewayError.ts"
import { lists } from "../domain/GatewayKey.ts"
import type { ModelRef } from "../domain/ModelRef.ts"
import type { CarriedCredentials, CatalogView, ProviderAccount, ProviderKind } from "../domain/ProviderAccount.ts"
import {
  type Asked,
  type FallbackEdge,
  inPlace,
  type NamedSlug,
  slugByRequest,
  noEdges,
  type Plan,
  type PlanFault,
  type Planned,
  planOne,
  type PlanResult,
  type ReadModel,
  readModel,
  grantedAccount,
  slugOfModel
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
class Branches {
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
const slugOfTarget = (
  target: ConfigTarget,
  ownModel: ModelRef | undefined,
  byRequest: NamedSlug | undefined,
  alone: boolean
): NamedSlug | undefined => {
  if (ownModel?.slug !== undefined) return { slug: ownModel.slug, param: "x-gateway-config" }
  const byTarget: NamedSlug | undefined =
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
  byRequest: NamedSlug | undefined,
  targets: ReadonlyArray<ConfigTarget>
): string | undefined =>
  asked.isKeyConfig === true && byRequest?.param === "model" && targets.length > 1 ? byRequest.slug : undefined

/** A target whose account is found. */
interface Chosen {
  readonly account: ProviderAccount
  readonly modelId: string
  readonly betas: ReadonlyArray<string>
  readonly target: ConfigTarget
}

/** What is the same for all targets of a config. */
interface Choosing {
  readonly asked: Asked
  readonly catalog: CatalogView
  /** The model of the request. */
  readonly requested: ReadModel
  readonly byRequest: NamedSlug | undefined
  readonly isGranted: boolean
  readonly isAlone: boolean
  /** The only account that the request may be sent to; undefined: every one. */
  readonly ordered: string | undefined
}

/** The account of a target; undefined for a target that this request is not sent to, with the fault where there is one. */
const chooseTarget = (
  target: ConfigTarget,
  { asked, byRequest, catalog, isAlone, isGranted, ordered, requested }: Choosing
): PlanResult<Chosen | { readonly fault: PlanFault | undefined }> => {
  const ownModel = target.model === undefined ? undefined : readModel(target.model, catalog, asked.key)
  if (ownModel !== undefined && Result.isFailure(ownModel)) return Result.fail(ownModel.failure)
  const { betas, ref: model } = ownModel?.success ?? requested
  const modelId = model.rest
  const named = slugOfTarget(target, ownModel?.success.ref, byRequest, isAlone)
  const slugged = named === undefined ? slugOfModel(modelId, catalog, asked) : Result.succeed(named)
  if (Result.isFailure(slugged)) return Result.succeed({ fault: slugged.failure })
  const { param, slug } = slugged.success
  if (ordered !== undefined && slug !== ordered) return Result.succeed({ fault: undefined })
  // A request without a model gets that of the config.
  const isModelGranted = asked.model === asked.grantedModel || (isGranted && asked.model === target.defaultModel)
  const account = grantedAccount(slugged.success, modelId, catalog, asked.key, {
    slug:
      (isGranted && (param === "x-gateway-config" || slug === target.slug)) ||
      (isModelGranted && slug === requested.ref.slug),
    model: ownModel === undefined ? isModelGranted : isGranted
  })
  return Result.map(account, (granted) => ({ account: granted, modelId, betas, target }))
}

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
  const requested = read.success
  const byRequest = slugByRequest(requested.ref, asked.header)
  const ordered = orderedSlug(asked, byRequest, targets)
  // The account has to be one that the request may use, whether or not a target names it.
  const alone = ordered === undefined ? undefined : planOne(asked, catalog)
  if (alone !== undefined && Result.isFailure(alone)) return Result.fail(alone.failure)
  const isInline = asked.configId === undefined
  const isGranted = asked.configId !== undefined && lists(asked.key.configs, asked.configId)
  const choosing = { asked, catalog, requested, byRequest, isGranted, isAlone: targets.length === 1, ordered }
  return Result.map(
    readEach(targets, (target) => chooseTarget(target, choosing)),
    (choices) => {
      const kinds = new Set(choices.flatMap((choice) => ("fault" in choice ? [] : [choice.account.kind])))
      const [onlyKind] = kinds
      const named = byRequest === undefined ? undefined : catalog.resolve(byRequest.slug)?.kind
      const selected = kinds.size === 1 ? onlyKind : named
      return {
        targets: choices.map((choice) => {
          if ("fault" in choice) return undefined
          const planned = withOwnCredential(choice, asked.carried, selected, isInline)
          return kinds.size === 1 ? planned : { ...planned, mixesKinds: true }
        }),
        fault: choices
          .map((choice) => ("fault" in choice ? choice.fault : undefined))
          .find((fault) => fault !== undefined)
      }
    }
  )
}

/**
 * An Authorization header does not name its provider: it goes to the kind of provider that the request selects,
 * or to the only one there is. A target's own credential goes to the account it names and nowhere else.
 */
const withOwnCredential = (
  { account, betas, modelId, target }: Chosen,
  byRequest: CarriedCredentials,
  selected: ProviderKind | undefined,
  isInline: boolean
): Planned => {
  const carried = { ...byRequest, authorization: account.kind === selected ? byRequest.authorization : undefined }
  const ownCredential = target.slug === account.slug ? target.credentials : undefined
  const isOwn = ownCredential?.authorization !== undefined || ownCredential?.vertexServiceAccountJson !== undefined
  const rest = {
    modelId,
    betas,
    carried: isOwn ? ownCredential : carried,
    origin: isOwn && !isInline ? "stored" : "caller",
    target,
    edges: noEdges
  } as const
  return inPlace(account, rest, byRequest, ownCredential === undefined ? undefined : { of: ownCredential, isInline })
}

const indicesOf = (node: ConfigNode): ReadonlyArray<number> =>
  node.kind === "target" ? [node.index] : node.members.flatMap((member) => indicesOf(member.node))

/** One member by the weights of those that would be called; none for a group without a weight. */
const drawMember = (
  { members }: ConfigGroup,
  { fault, targets }: Resolved,
  { draw, isOpen, passOver }: Order
): ReadonlyArray<ConfigNode> => {
  const isHealthy = (node: ConfigNode): boolean =>
    indicesOf(node).some((index) => {
      const planned = targets[index]
      return planned !== undefined && !isOpen(planned)
    })
  const isReachable = (node: ConfigNode): boolean => indicesOf(node).some((index) => targets[index] !== undefined)
  const weighing = members.filter(({ node, weight }) => weight > 0 && (fault !== undefined || isReachable(node)))
  const healthy = weighing.filter(({ node }) => isHealthy(node))
  const candidates = healthy.length === 0 ? weighing : healthy
  if (passOver !== undefined && candidates.length < weighing.length)
    for (const { node } of weighing) if (!isHealthy(node)) indicesOf(node).forEach(passOver)
  let left = draw() * candidates.reduce((sum, { weight }) => sum + weight, 0)
  const drawn = candidates.find(({ weight }) => (left -= weight) < 0) ?? candidates.at(-1)
  return drawn === undefined ? [] : [drawn.node]
}

/** The targets that a request may reach, each with its edges; `balanced` has the members of a group by weight that count. */
const reachedTargets = (
  { root }: GatewayConfig,
  { fault, targets }: Resolved,
  conditioned: Conditioned,
  balanced: (group: ConfigGroup) => ReadonlyArray<ConfigNode>
): PlanResult<ReadonlyArray<Planned>> => {
  const reached: Array<Planned> = []
  let isBlocked = false
  const branches = new Branches(conditioned)
  const visit = (node: ConfigNode | undefined, edges: ReadonlyArray<FallbackEdge>): void => {
    if (node === undefined) return
    if (node.kind === "target") {
      const planned = targets[node.index]
      if (planned === undefined) isBlocked = true
      else reached.push({ ...planned, edges })
      return
    }
    switch (node.mode) {
      case "single":
        return visit(node.members[0]?.node, edges)
      case "loadbalance":
        return balanced(node).forEach((member) => visit(member, edges))
      case "conditional":
        return visit(branches.of(node), edges)
      case "fallback":
        for (const [index, { node: member }] of node.members.entries()) {
          const { answers, codes } = node
          const edge = answers === undefined ? { codes, to: 0 } : { codes, answers, to: 0 }
          visit(member, index < node.members.length - 1 ? [edge, ...edges] : edges)
          edge.to = reached.length
        }
    }
  }
  visit(root, noEdges)
  return isBlocked && fault !== undefined ? Result.fail(fault) : branches.within(reached)
}

/** The targets that any plan of this request could contain: load balancing draws again for each plan, and circuits open meanwhile. */
export const possibleTargets = (
  config: GatewayConfig,
  resolution: Resolved,
  conditioned: Conditioned
): PlanResult<ReadonlyArray<Planned>> =>
  reachedTargets(config, resolution, conditioned, ({ members }) =>
    members.flatMap(({ node, weight }) => (weight > 0 ? [node] : []))
  )

/** The targets of a config that may be called, in the order in which they are tried. */
export const orderTargets = (config: GatewayConfig, resolution: Resolved, order: Order): PlanResult<Plan> =>
  Result.flatMap(
    reachedTargets(config, resolution, order, (group) => drawMember(group, resolution, order)),
    ([first, ...others]) =>
      first === undefined ? Result.fail(new ProviderMissing({ known: [] })) : Result.succeed([first, ...others])
  )

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
type Reach = Pick<SimulatedNode, "share" | "reached" | "why">

const never = (why: string): Reach => ({ share: 0, reached: "never", why })

const codesText = (codes: ReadonlySet<number> | undefined): string =>
  codes === undefined ? "that another target may not have" : `with status ${[...codes].join(", ")}`

const reachByWeight = ({ members }: ConfigGroup, { reached, share }: Reach): ReadonlyArray<Reach> => {
  const whole = members.reduce((sum, { weight }) => sum + weight, 0)
  return members.map(({ weight }) =>
    weight > 0
      ? { share: (share * weight) / whole, reached, why: `its weight is ${weight} of ${whole}` }
      : never("its weight is 0")
  )
}

const reachByCondition = (group: ConfigGroup, { reached, share }: Reach, branches: Branches): ReadonlyArray<Reach> => {
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

const reachOfMembers = (group: ConfigGroup, way: Reach, branches: Branches): ReadonlyArray<Reach> => {
  const { codes, members, mode } = group
  if (way.reached === "never") return members.map(() => never("its group is not asked"))
  switch (mode) {
    case "single":
      return members.map((_, index) =>
        index === 0 ? { ...way, why: "it is the first target" } : never("only the first target is asked")
      )
    case "conditional":
      return reachByCondition(group, way, branches)
    case "loadbalance":
      return reachByWeight(group, way)
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
  const visit = (node: ConfigNode, at: FaultPath, way: Reach): void => {
    if (node.kind === "target") {
      nodes.push({ at, mode: undefined, planned: planned[node.index], ...way })
      return
    }
    nodes.push({ at, mode: node.mode, planned: undefined, ...way })
    const ways = reachOfMembers(node, way, branches)
    for (const [index, { node: member }] of node.members.entries())
      visit(member, [...at, "targets", index], ways[index] ?? never("its group is not asked"))
  }
  visit(root, [], { share: 1, reached: "first", why: "every request of the config" })
  return branches.within(nodes)
}
