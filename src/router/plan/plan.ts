// From a request to its targets, in the order in which they are tried: which slug, which account, with whose credential.
// It must not depend on how a call is made. Chance is an argument.
import * as Result from "effect/Result"
import { carriesCredential } from "../../auth/carried.ts"
import type {
  AnswerFault,
  ConfigGroup,
  ConfigNode,
  ConfigTarget,
  GatewayConfig
} from "../../domain/config/GatewayConfig.ts"
import {
  type CredentialsMissing,
  type GatewayError,
  ModelNotAllowed,
  ProviderMissing,
  SlugUnknown
} from "../../domain/GatewayError.ts"
import { allows, type GatewayKey, lists } from "../../domain/GatewayKey.ts"
import type { AccountChoice, ModelRef } from "../../domain/ModelRef.ts"
import type { CarriedCredentials, CatalogView, ProviderAccount, ProviderKind } from "../../domain/ProviderAccount.ts"
import { Branches, type Conditioned } from "./Branches.ts"
import { type Named, readModel, unnamed, withPlace } from "./accounts.ts"

/** What the plan reads of a request. */
export interface Asked {
  readonly model: string
  /** The slug of the provider header. */
  readonly header: string | undefined
  readonly key: GatewayKey
  readonly carried: CarriedCredentials
  /** Undefined for a config that came with the request. */
  readonly configId?: string | undefined
  /** The config is that of the key, and the request named none. */
  readonly isKeyConfig?: boolean | undefined
  /** On paths of Google's dialects: the kind of the path, and the operator's slug for it. */
  readonly native?: AccountChoice["native"]
  /** The model of a prompt that is granted to the key. */
  readonly grantedModel?: string | undefined
}

/** Where a request continues after a failure. */
export interface FallbackEdge {
  /** The status codes of its failures; undefined: every failure that another target may not have. */
  readonly codes: ReadonlySet<number> | undefined
  /** The answers after which it is taken as well; undefined: none. */
  readonly answers?: ReadonlySet<AnswerFault> | undefined
  readonly to: number
}

export interface Planned {
  /** The catalog's account at the place where it is called, before carried credentials are applied. */
  readonly account: ProviderAccount
  /** The model without its slug. */
  readonly modelId: string
  /** Flags for Anthropic that the name of the model asks for. */
  readonly betas: ReadonlyArray<string>
  /** The credentials to apply to the account, and their origin: those of an operator's config are stored ones. */
  readonly carried: CarriedCredentials
  readonly origin: ProviderAccount["origin"]
  /** Names under which the request asks for a place that it does not get. */
  readonly ignored: ReadonlyArray<string>
  /** The target in the config; undefined without a config. */
  readonly target: ConfigTarget | undefined
  /** The innermost first; all lead onwards. */
  readonly edges: ReadonlyArray<FallbackEdge>
  /** The config has targets of several kinds of provider. */
  readonly mixesKinds?: boolean
}

/** The first target is the one that is called; the others wait for failures. */
export type Plan = readonly [Planned, ...ReadonlyArray<Planned>]

/** Why a plan fails; credentials are the next step's business. */
export type PlanFault = Exclude<GatewayError, CredentialsMissing>

type Read<A> = Result.Result<A, PlanFault>

const noEdges: ReadonlyArray<FallbackEdge> = []

/** The slug the request itself names: by prefix, else by header. */
const namedByRequest = (ref: ModelRef, header: string | undefined): Named | undefined =>
  ref.slug !== undefined
    ? { slug: ref.slug, param: "model" }
    : header === undefined
      ? undefined
      : { slug: header, param: "x-gateway-provider" }

/** What a key's lists do not bind: what a config or prompt that is granted to it names. */
interface Granted {
  readonly slug: boolean
  readonly model: boolean
}

/** The account of a slug, if this key may use it for this model and the account offers it. */
const resolved = (
  { slug, param }: Named,
  modelId: string,
  catalog: CatalogView,
  key: GatewayKey,
  granted: Granted
): Read<ProviderAccount> => {
  const account = catalog.resolve(slug)
  if (account === undefined) {
    const known = catalog
      .list()
      .map((one) => one.slug)
      .filter((one) => allows(key.providers, one))
    return Result.fail(new SlugUnknown({ slug, param, known }))
  }
  if (!granted.slug && !allows(key.providers, slug)) {
    return Result.fail(new ModelNotAllowed({ message: `This key may not use the provider "${slug}".` }))
  }
  if (!granted.model && !allows(key.models, modelId)) {
    return Result.fail(
      new ModelNotAllowed({
        message: `This key may not use the model "${modelId}"; GET /v1/models lists what it may call.`
      })
    )
  }
  return allows(account.models, modelId)
    ? Result.succeed(account)
    : Result.fail(
        new ModelNotAllowed({
          message: `The provider "${slug}" does not offer the model "${modelId}"; GET /v1/models lists what it offers.`
        })
      )
}

/** The one target of a request without a config. */
export const planOne = (asked: Asked, catalog: CatalogView): Read<Plan> => {
  const { carried, grantedModel, header, key, model } = asked
  const read = readModel(model, catalog, key)
  if (Result.isFailure(read)) return Result.fail(read.failure)
  const { betas, ref } = read.success
  const named = namedByRequest(ref, header)
  const modelId = ref.rest
  const chosen = named === undefined ? unnamed(modelId, catalog, asked) : Result.succeed(named)
  if (Result.isFailure(chosen)) return Result.fail(chosen.failure)
  const isGranted = model === grantedModel
  const account = resolved(chosen.success, modelId, catalog, key, {
    slug: isGranted && ref.slug !== undefined,
    model: isGranted
  })
  return Result.isFailure(account)
    ? Result.fail(account.failure)
    : Result.succeed([
        inPlace(
          account.success,
          { modelId, betas, carried, origin: "caller", target: undefined, edges: noEdges },
          carried,
          undefined
        )
      ])
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
export const resolveTargets = ({ targets }: GatewayConfig, asked: Asked, catalog: CatalogView): Read<Resolved> => {
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

/** The target at its place. A stored credential, also one of an operator's config, goes where the request leads it only as far as its account allows. */
const inPlace = (
  account: ProviderAccount,
  { betas, carried, modelId, origin, target, edges }: Omit<Planned, "account" | "ignored">,
  byRequest: CarriedCredentials,
  config: { readonly of: CarriedCredentials; readonly isInline: boolean } | undefined
): Planned => {
  const isFree = carriesCredential(account, carried) ? origin === "caller" : account.credentials === undefined
  const place = withPlace(account, byRequest, config, isFree)
  return { account: place.account, modelId, betas, carried, origin, ignored: place.ignored, target, edges }
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
): Read<ReadonlyArray<Planned>> => {
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
export const orderTargets = ({ root }: GatewayConfig, resolvedOnes: Resolved, order: Order): Read<Plan> => {
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
