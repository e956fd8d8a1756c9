// Compiles a gateway config: inheritance, targets, strategies, circuits, conditions; or lists its faults with paths.
// It must not know headers, files or which accounts exist.
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { parseQuery, type QueryAllowance } from "./conditions.ts"
import { type DropPath, type Edits, mergeDeep, parseDropPath } from "./edits.ts"
import { type Fault, faultAt, type FaultPath, faultsOfIssue, hint, quoteValue } from "../faults.ts"
import {
  type AnswerFault,
  type CircuitRule,
  type ConfigGroup,
  type ConfigNode,
  type ConfigTarget,
  type GatewayConfig,
  maskedConfig,
  type RetryRule,
  type TargetTimes,
  type WrittenCircuit,
  WrittenConfig
} from "./GatewayConfig.ts"
import type { Json, JsonObject } from "../text/json.ts"
import type { LimitValues } from "../Limits.ts"
import { isSlug } from "../ModelRef.ts"
import { type CarriedCredentials, isProject, isRegion } from "../ProviderAccount.ts"
import { refusedKeysOf } from "./configured.ts"

export type ConfigLimits = Pick<LimitValues, "configDepth" | "configTargets" | "configPatterns">

/** What a node passes on to its targets. */
type Inherited = Pick<ConfigTarget, "edits" | "labels" | "requestType" | "retry" | "times" | "circuit" | "cache">

const nothing: Inherited = {
  edits: undefined,
  labels: undefined,
  retry: undefined,
  times: undefined,
  circuit: undefined,
  cache: undefined
}

/** Fields set by the route or by the upstream's dialect; a config cannot change them. */
const ownedFields = new Set(["stream", "contents", "anthropic_version"])

/** Fields that are allowed on a target only, not on a group. */
const targetOnly = [
  "provider",
  "virtual_key",
  "passthrough",
  "api_key",
  "vertex_project_id",
  "vertex_region",
  "vertex_service_account_json"
] as const

const setOf = (codes: ReadonlyArray<number> | undefined): ReadonlySet<number> | undefined =>
  codes === undefined ? undefined : new Set(codes)

const answersOf = (on: NonNullable<WrittenConfig["strategy"]>["on"]): ReadonlySet<AnswerFault> | undefined => {
  const faults = (["refusal", "empty"] as const).filter((fault) => on?.[fault] === "next")
  return faults.length === 0 ? undefined : new Set(faults)
}

const requestTypeOf = (requestType: Inherited["requestType"]): Pick<Inherited, "requestType"> =>
  requestType === undefined ? {} : { requestType }

const retryOf = ({ retry }: WrittenConfig, above: RetryRule | undefined): RetryRule | undefined =>
  retry === undefined
    ? above
    : {
        attempts: retry.attempts,
        codes: setOf(retry.on_status_codes),
        patient: retry.use_retry_after_header ?? retry.use_retry_after_headers ?? false
      }

const timesOf = (
  { request_timeout: request, timeouts }: WrittenConfig,
  above: TargetTimes | undefined
): TargetTimes | undefined =>
  request === undefined && timeouts === undefined
    ? above
    : {
        request: request ?? above?.request,
        connect: timeouts?.connect ?? above?.connect,
        firstByte: timeouts?.first_byte ?? above?.firstByte,
        idle: timeouts?.idle ?? above?.idle,
        total: timeouts?.total ?? above?.total
      }

const usualMinimum = 10
const usualCooldown = 30_000

const circuitOf = (written: WrittenCircuit): CircuitRule => ({
  id: JSON.stringify(written),
  consecutive: written.failure_threshold,
  rate:
    written.failure_threshold_percentage === undefined
      ? undefined
      : {
          threshold: written.failure_threshold_percentage / 100,
          minimum: written.minimum_requests ?? usualMinimum
        },
  cooldownMillis: written.cooldown_interval ?? usualCooldown,
  codes: setOf(written.failure_status_codes)
})

/** A hint compares a name with those of all targets. Only the first 4 faults get one, to bound the cost. */
const mostHints = 4

/** Walks a config once and collects all faults. */
class Compiler {
  readonly faults: Array<Fault> = []
  readonly targets: Array<ConfigTarget> = []
  private readonly limits: ConfigLimits
  private readonly allowance: QueryAllowance
  /** Number of leading path steps that lead to the config itself. */
  private readonly above: number

  constructor(limits: ConfigLimits, above: number) {
    this.limits = limits
    this.allowance = { patterns: limits.configPatterns, mostPatterns: limits.configPatterns }
    this.above = above
  }

  node(written: WrittenConfig, at: FaultPath, depth: number, above: Inherited): ConfigNode {
    const inherited: Inherited = {
      edits: this.edits(written, at, above.edits),
      labels:
        written.labels === undefined
          ? above.labels
          : { ...above.labels, ...this.pairs(written.labels, [...at, "labels"]) },
      ...requestTypeOf(written.request_type ?? above.requestType),
      retry: retryOf(written, above.retry),
      times: timesOf(written, above.times),
      circuit: this.circuit(written, at) ?? above.circuit,
      cache: written.cache === undefined ? above.cache : { maxAgeSeconds: written.cache.max_age }
    }
    if (depth > 0 && written.metadata !== undefined)
      this.fault([...at, "metadata"], "belongs to the config, not to one of its targets")
    if (depth > 0 && written.other_models !== undefined)
      this.fault([...at, "other_models"], "belongs to the config, not to one of its targets")
    const { mode } = written.strategy ?? {}
    if (written.targets === undefined && (mode === undefined || mode === "single"))
      return this.target(written, at, inherited)
    return this.group(written, at, depth, inherited)
  }

  private fault(at: FaultPath, message: string): void {
    this.faults.push(faultAt(at, message))
  }

  private pairs(pairs: Readonly<Record<string, string>>, at: FaultPath): Readonly<Record<string, string>> {
    for (const key of refusedKeysOf(pairs)) this.fault([...at, key], "is no name for a label")
    return pairs
  }

  private circuit({ cb_config: targetCircuit, strategy }: WrittenConfig, at: FaultPath): CircuitRule | undefined {
    const written = targetCircuit ?? strategy?.cb_config
    if (written === undefined) return undefined
    if (written.failure_threshold === undefined && written.failure_threshold_percentage === undefined) {
      this.fault(
        [...at, ...(targetCircuit === undefined ? ["strategy"] : []), "cb_config"],
        "states when a circuit opens by failure_threshold or failure_threshold_percentage"
      )
    }
    return circuitOf(written)
  }

  private edits(written: WrittenConfig, at: FaultPath, above: Edits | undefined): Edits | undefined {
    const { default_params: defaults, override_params: overrides, drop_params: drops } = written
    if (defaults === undefined && overrides === undefined && drops === undefined) return above
    return {
      defaults: mergeDeep(above?.defaults ?? {}, this.params(defaults, [...at, "default_params"])),
      overrides: mergeDeep(above?.overrides ?? {}, this.params(overrides, [...at, "override_params"])),
      drops: [...(above?.drops ?? []), ...this.drops(drops ?? [], [...at, "drop_params"])]
    }
  }

  private params(params: JsonObject | undefined, at: FaultPath): JsonObject {
    for (const key of Object.keys(params ?? {})) {
      if (ownedFields.has(key)) this.fault([...at, key], "cannot be set by a config")
    }
    const model = params?.["model"]
    if (model !== undefined && typeof model !== "string") this.fault([...at, "model"], "expected text")
    return params ?? {}
  }

  private drops(paths: ReadonlyArray<string>, at: FaultPath): ReadonlyArray<DropPath> {
    return paths.flatMap((path, index) => {
      const parsed = parseDropPath(path)
      if (Result.isFailure(parsed)) this.fault([...at, index], `${quoteValue(path)} ${parsed.failure}`)
      else if (parsed.success.length === 1 && ownedFields.has(String(parsed.success[0])))
        this.fault([...at, index], "cannot be dropped by a config")
      return Result.isFailure(parsed) ? [] : [parsed.success]
    })
  }

  private target(written: WrittenConfig, at: FaultPath, inherited: Inherited): ConfigTarget {
    const index = this.targets.length
    if (index === this.limits.configTargets)
      this.fault(at, `is one target too many: a config has at most ${this.limits.configTargets}`)
    const slug = this.slug(written, at)
    const model = inherited.edits?.overrides["model"]
    const defaultModel = inherited.edits?.defaults["model"]
    const target: ConfigTarget = {
      kind: "target",
      index,
      at: at.slice(this.above),
      slug,
      credentials: this.credentials(written, at, slug),
      model: typeof model === "string" ? model : undefined,
      defaultModel: typeof defaultModel === "string" ? defaultModel : undefined,
      ...inherited
    }
    this.targets.push(target)
    return target
  }

  private slug({ provider, virtual_key: key }: WrittenConfig, at: FaultPath): string | undefined {
    const field = provider === undefined ? "virtual_key" : "provider"
    const named = provider ?? key
    if (provider !== undefined && key !== undefined)
      this.fault([...at, "virtual_key"], "is next to provider; one of them is enough")
    if (named === undefined) return undefined
    const slug = named.startsWith("@") ? named.slice(1) : named
    if (!isSlug(slug))
      this.fault([...at, field], `${quoteValue(named)} is not a slug: lower-case letters, digits and "-", at most 63`)
    return slug
  }

  private credentials(written: WrittenConfig, at: FaultPath, slug: string | undefined): CarriedCredentials | undefined {
    const {
      api_key: key,
      vertex_project_id: project,
      vertex_region: region,
      vertex_service_account_json: account
    } = written
    if (key === undefined && project === undefined && region === undefined && account === undefined) return undefined
    if (slug === undefined) this.fault(at, "has credentials or a place of a provider, but names no provider")
    if (project !== undefined && !isProject(project))
      this.fault([...at, "vertex_project_id"], `${quoteValue(project)} is not a Google Cloud project id or number`)
    if (region !== undefined && !isRegion(region))
      this.fault(
        [...at, "vertex_region"],
        `${quoteValue(region)} is not a region, such as us-central1, global, us or eu`
      )
    return {
      authorization: key === undefined ? undefined : Redacted.make(key),
      googApiKey: undefined,
      vertexProjectId: project,
      vertexRegion: region,
      vertexServiceAccountJson: account === undefined ? undefined : Redacted.make(JSON.stringify(account))
    }
  }

  private group(written: WrittenConfig, at: FaultPath, depth: number, inherited: Inherited): ConfigGroup {
    for (const field of targetOnly) {
      if (written[field] !== undefined) this.fault([...at, field], "belongs to a target, not to a group of targets")
    }
    const { mode, on, on_status_codes: codes } = written.strategy ?? {}
    if (on !== undefined && mode !== undefined && mode !== "fallback")
      this.fault([...at, "strategy", "on"], "belongs to the mode fallback")
    if (mode === undefined)
      this.fault([...at, "strategy"], "is missing: its mode states what the targets are to each other")
    const targets = written.targets ?? []
    if (targets.length === 0) this.fault([...at, "targets"], "names no target")
    if (depth === this.limits.configDepth)
      this.fault([...at, "targets"], `is nested deeper than ${this.limits.configDepth} levels`)
    // One target over the limit produces the fault; further ones are not read.
    const inner = depth < this.limits.configDepth ? targets.slice(0, this.limits.configTargets + 1) : []
    const members = inner.map((target, index) => ({
      node: this.node(target, [...at, "targets", index], depth + 1, inherited),
      weight: target.weight ?? 1
    }))
    if (mode === "loadbalance" && members.length > 0 && members.every(({ weight }) => weight === 0)) {
      this.fault([...at, "targets"], "gives all targets the weight 0")
    }
    const group: ConfigGroup = {
      kind: "group",
      mode: mode ?? "single",
      codes: setOf(codes),
      answers: answersOf(on),
      members,
      conditions: [],
      otherwise: 0
    }
    return mode === "conditional" ? { ...group, ...this.conditions(written, at) } : group
  }

  private conditions(
    { strategy, targets: written = [] }: WrittenConfig,
    at: FaultPath
  ): Pick<ConfigGroup, "conditions" | "otherwise"> {
    const here = [...at, "strategy"]
    const targets = written.slice(0, this.limits.configTargets + 1)
    const names = targets.flatMap(({ name }) => name ?? [])
    const named = (name: string | undefined, place: FaultPath): number => {
      if (name === undefined) {
        this.fault(place, "is missing: it names the target for requests that fit no condition")
        return 0
      }
      if (!names.includes(name))
        this.fault(
          place,
          `${quoteValue(name)} is no name of a target${this.faults.length < mostHints ? hint(name, names) : ""}`
        )
      return Math.max(
        0,
        targets.findIndex((target) => target.name === name)
      )
    }
    for (const [index, target] of targets.entries()) {
      if (targets.some((other, place) => place < index && other.name !== undefined && other.name === target.name)) {
        this.fault(
          [...at, "targets", index, "name"],
          `${quoteValue(target.name ?? "")} is the name of another target as well`
        )
      }
    }
    if (strategy?.conditions === undefined) this.fault([...here, "conditions"], "is missing")
    return {
      conditions: (strategy?.conditions ?? []).flatMap(({ query, then }, index) => {
        const place = [...here, "conditions", index]
        const parsed = parseQuery(query, [...place, "query"], this.allowance)
        if (Result.isFailure(parsed)) this.faults.push(parsed.failure)
        const member = named(then, [...place, "then"])
        return Result.isFailure(parsed) ? [] : [{ holds: parsed.success, then: member }]
      }),
      otherwise: named(strategy?.default, [...here, "default"])
    }
  }
}

const isShared = (node: ConfigNode): boolean =>
  node.kind === "group" && (node.mode === "loadbalance" || node.members.some((member) => isShared(member.node)))

/** Compiles a config of valid shape and returns all its faults; `at` is the path of the config. */
export const compileConfig = (
  written: WrittenConfig,
  limits: ConfigLimits,
  at: FaultPath = []
): { readonly config: GatewayConfig; readonly faults: ReadonlyArray<Fault> } => {
  const compiler = new Compiler(limits, at.length)
  const root = compiler.node(written, at, 0, nothing)
  const { faults, targets } = compiler
  const models = targets.map(({ defaultModel, model }) => model ?? (targets.length === 1 ? defaultModel : undefined))
  for (const key of refusedKeysOf(written.metadata ?? {}))
    faults.push(faultAt([...at, "metadata", key], "is no name for metadata"))
  return {
    config: {
      root,
      targets,
      model: models.every((model) => model !== undefined) ? models[0] : undefined,
      metadata: written.metadata ?? {},
      ...(written.other_models === undefined ? {} : { otherModels: written.other_models }),
      sharesGuarded: isShared(root) && targets.some(({ circuit }) => circuit !== undefined),
      shown: maskedConfig(written)
    },
    faults
  }
}

const decode = Schema.decodeUnknownResult(WrittenConfig, { errors: "first", onExcessProperty: "error" })

/** Fields of Portkey's configs that would choose a destination. Only the operator may choose one. */
const hostFields = new Set(["custom_host", "base_url", "api_base", "host"])

/** Compiles a config from any JSON value, or returns its first fault. */
export const readConfig = (value: Json, limits: ConfigLimits): Result.Result<GatewayConfig, Fault> => {
  const decoded = decode(value)
  if (Result.isFailure(decoded)) {
    const fault = faultsOfIssue(decoded.failure.issue, value)[0] ?? faultAt([], "is not a config")
    return Result.fail(
      hostFields.has(String(fault.at?.at(-1)))
        ? faultAt(fault.at ?? [], "is not taken: where a provider lives is the operator's decision")
        : fault
    )
  }
  const {
    config,
    faults: [fault]
  } = compileConfig(decoded.success, limits)
  return fault === undefined ? Result.succeed(config) : Result.fail(fault)
}
