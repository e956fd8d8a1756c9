// Gateway configs (Portkey's format): schema, compiled form, and the masked form that is displayed and saved again.
// It must not know headers, files, where configs are stored, or which account serves a target.
import * as Schema from "effect/Schema"
import { millis, nonEmptyText, nonEmptyTexts, wholeNumber } from "./configured.ts"
import type { Query } from "./conditions.ts"
import type { Edits } from "./edits.ts"
import { type Fault, faultAt, type FaultPath } from "../faults.ts"
import { type CarriedCredentials, type RequestType, requestTypes } from "../ProviderAccount.ts"
import { type OtherModels, WrittenOtherModels } from "../serving.ts"
import { isJsonObject } from "../text/json.ts"

const opt = Schema.optionalKey
const pairs = Schema.Record(Schema.String, Schema.String)
const codes = Schema.Array(wholeNumber(100, 599))

/** One year. */
const mostAgeSeconds = 31_536_000

/** More retries would only add load to a failing upstream. */
const mostRetries = 5

const circuit = Schema.Struct({
  failure_threshold: opt(wholeNumber(1, 1_000).annotate({ description: "Failures in a row that open the circuit." })),
  failure_threshold_percentage: opt(
    wholeNumber(1, 100).annotate({ description: "Share of failures among the last calls that opens it." })
  ),
  minimum_requests: opt(
    wholeNumber(1, 1_000).annotate({ description: "Calls before that share counts; 10 unless set." })
  ),
  cooldown_interval: opt(millis.annotate({ description: "Milliseconds it stays open; 30,000 unless set." })),
  failure_status_codes: opt(codes.annotate({ description: "What counts as a failure; 500 and above unless set." }))
})

const strategy = Schema.Struct({
  mode: Schema.Literals(["single", "fallback", "loadbalance", "conditional"]),
  on_status_codes: opt(codes.annotate({ description: "Failures after which the next target is tried." })),
  on: opt(
    Schema.Struct({ refusal: opt(Schema.Literal("next")), empty: opt(Schema.Literal("next")) }).annotate({
      description: "Answers after which the next target is tried as well: refusals, and empty ones. Of a fallback."
    })
  ),
  conditions: opt(Schema.Array(Schema.Struct({ query: Schema.JsonObject, then: nonEmptyText }))),
  default: opt(nonEmptyText.annotate({ description: "Name of the target for requests that fit no condition." })),
  cb_config: opt(circuit)
})

const retry = Schema.Struct({
  attempts: wholeNumber(0, mostRetries).annotate({ description: "Calls after the first one." }),
  on_status_codes: opt(codes),
  use_retry_after_header: opt(
    Schema.Boolean.annotate({ description: "Wait as long as the upstream asks, up to a minute in all." })
  ),
  use_retry_after_headers: opt(Schema.Boolean)
})

const timeouts = Schema.Struct({ connect: opt(millis), first_byte: opt(millis), idle: opt(millis), total: opt(millis) })

const cache = Schema.Struct({
  mode: Schema.Literals(["simple"]),
  max_age: opt(
    wholeNumber(1, mostAgeSeconds).annotate({ description: "Seconds an answer is given again; 3,600 unless set." })
  )
})

const fields = {
  name: opt(nonEmptyText),
  weight: opt(
    Schema.Number.check(
      Schema.makeFilter((value: number) =>
        value >= 0 && value <= 1_000_000 ? undefined : "expected a number from 0 to 1000000"
      )
    )
  ),
  provider: opt(nonEmptyText.annotate({ description: "Slug of an account, with or without @." })),
  virtual_key: opt(nonEmptyText.annotate({ description: "The same as provider." })),
  passthrough: opt(
    Schema.Literal(true).annotate({
      description: "The request names the provider, as it does wherever a target names none."
    })
  ),
  api_key: opt(nonEmptyText),
  vertex_project_id: opt(nonEmptyText),
  vertex_region: opt(nonEmptyText),
  vertex_service_account_json: opt(Schema.JsonObject),
  override_params: opt(Schema.JsonObject),
  default_params: opt(Schema.JsonObject),
  drop_params: opt(nonEmptyTexts),
  retry: opt(retry),
  request_timeout: opt(
    millis.annotate({ description: "Milliseconds of one attempt; of a stream, to its first byte." })
  ),
  timeouts: opt(timeouts),
  cb_config: opt(circuit),
  cache: opt(cache),
  labels: opt(pairs),
  request_type: opt(
    Schema.Literals(requestTypes).annotate({ description: "Throughput of Vertex AI, in the place of the account's." })
  ),
  metadata: opt(pairs),
  other_models: opt(WrittenOtherModels),
  strategy: opt(strategy)
}

/** Every field of a target. A group has `targets` in addition. */
export const targetWords: ReadonlyArray<string> = Object.keys(fields)

type Fields = Schema.Struct<typeof fields>["Type"]

/** A config in Portkey's JSON format. Targets use the same format and may contain further targets. */
export interface WrittenConfig extends Fields {
  readonly targets?: ReadonlyArray<WrittenConfig>
}

export const WrittenConfig: Schema.Codec<WrittenConfig> = Schema.Struct({
  ...fields,
  targets: opt(Schema.Array(Schema.suspend((): Schema.Codec<WrittenConfig> => WrittenConfig)))
})

export type WrittenCircuit = typeof circuit.Type

/** How often one target is retried. */
export interface RetryRule {
  readonly attempts: number
  /** Statuses that are retried; undefined: every failure that another try of the same target may fix. */
  readonly codes: ReadonlySet<number> | undefined
  /** Whether to wait as long as the upstream's retry delay asks. */
  readonly patient: boolean
}

/** Milliseconds; undefined keeps the operator's limits. */
export interface TargetTimes {
  readonly request: number | undefined
  readonly connect: number | undefined
  readonly firstByte: number | undefined
  readonly idle: number | undefined
  readonly total: number | undefined
}

export interface CircuitRule {
  /** Identifies the rule: targets with different rules have separate circuits. */
  readonly id: string
  readonly consecutive: number | undefined
  readonly rate: { readonly threshold: number; readonly minimum: number } | undefined
  readonly cooldownMillis: number
  /** Statuses that count as failures; undefined: 500 and above. */
  readonly codes: ReadonlySet<number> | undefined
}

export interface CacheRule {
  /** Undefined keeps the operator's default age. */
  readonly maxAgeSeconds: number | undefined
}

/** One compiled target, with everything it inherits from the levels above it. */
export interface ConfigTarget {
  readonly kind: "target"
  /** Its index among all targets, in the order of the config. */
  readonly index: number
  /** The path of the target in the config; empty for a config that is a single target. */
  readonly at: FaultPath
  readonly slug: string | undefined
  /** Sent to the account of `slug` only. */
  readonly credentials: CarriedCredentials | undefined
  /** `model` overrides the model of the request; `defaultModel` applies to requests without one. */
  readonly model: string | undefined
  readonly defaultModel: string | undefined
  readonly edits: Edits | undefined
  readonly labels: Readonly<Record<string, string>> | undefined
  /** That of the account unless set. */
  readonly requestType?: RequestType | undefined
  readonly retry: RetryRule | undefined
  readonly times: TargetTimes | undefined
  readonly circuit: CircuitRule | undefined
  readonly cache: CacheRule | undefined
}

/** A 200 that is of no use: the model or a filter refused, or there is nothing in it. */
export type AnswerFault = "refusal" | "empty"

export interface ConfigGroup {
  readonly kind: "group"
  readonly mode: "single" | "fallback" | "loadbalance" | "conditional"
  /** Statuses after which a fallback continues; undefined: every failure that another target may avoid. */
  readonly codes: ReadonlySet<number> | undefined
  /** Answers after which a fallback continues; undefined: none. */
  readonly answers: ReadonlySet<AnswerFault> | undefined
  readonly members: ReadonlyArray<{ readonly node: ConfigNode; readonly weight: number }>
  readonly conditions: ReadonlyArray<{ readonly holds: Query; readonly then: number }>
  /** Index of the member for requests that match no condition. */
  readonly otherwise: number
}

export type ConfigNode = ConfigTarget | ConfigGroup

/** A compiled config: inheritance resolved, targets indexed, patterns parsed. */
export interface GatewayConfig {
  readonly root: ConfigNode
  readonly targets: ReadonlyArray<ConfigTarget>
  /** A model for requests without one, when every target sets its own. */
  readonly model: string | undefined
  readonly metadata: Readonly<Record<string, string>>
  /** Dialects that serve models of other makers; undefined: what the file states. */
  readonly otherModels?: OtherModels | undefined
  /** Whether load is balanced among targets of which some have circuits. */
  readonly sharesGuarded: boolean
  /** The original config with its credentials masked. */
  readonly shown: WrittenConfig
}

// Masks the credentials in a config for display, and restores them when a masked config is saved again.

const mark = "***"

/** The last 4 characters of a long secret identify it; of a shorter one they would reveal too much. */
const longSecret = 24

const isMask = (value: unknown): boolean => typeof value === "string" && value.startsWith(mark)

/** A mask stays as it is: older versions of a config are stored with masks only. */
const maskedText = (secret: string): string =>
  isMask(secret) ? secret : secret.length < longSecret ? mark : mark + secret.slice(-4)

/** The fields that identify a service-account key. Every other field is masked. */
const open = new Set(["type", "project_id", "private_key_id", "client_email"])
type Account = NonNullable<WrittenConfig["vertex_service_account_json"]>
const maskedAccount = (account: Account): Account =>
  Object.fromEntries(Object.entries(account).map(([name, value]) => [name, open.has(name) ? value : mark]))

/** The config with its secrets masked. */
export const maskedConfig = (written: WrittenConfig): WrittenConfig => ({
  ...written,
  ...(written.api_key === undefined ? {} : { api_key: maskedText(written.api_key) }),
  ...(written.vertex_service_account_json === undefined
    ? {}
    : { vertex_service_account_json: maskedAccount(written.vertex_service_account_json) }),
  ...(written.targets === undefined ? {} : { targets: written.targets.map(maskedConfig) })
})

/** True when the config contains a secret. */
export const holdsSecrets = ({
  api_key: key,
  targets = [],
  vertex_service_account_json: account
}: WrittenConfig): boolean => key !== undefined || account !== undefined || targets.some(holdsSecrets)

/** Slugs of the accounts that receive a secret of the config, masked or not. */
export const secretSlugs = (config: WrittenConfig): ReadonlyArray<string> =>
  nodes(config).flatMap(
    ({ api_key: key, provider, vertex_service_account_json: account, virtual_key: named = provider }) =>
      named === undefined || (key === undefined && account === undefined) ? [] : [named.replace(/^@/, "")]
  )

const same = (one: Account, other: Account): boolean => JSON.stringify(one) === JSON.stringify(other)

/** Every node of a config, nested targets included. */
const nodes = (config: WrittenConfig): ReadonlyArray<WrittenConfig> => [
  config,
  ...(config.targets ?? []).flatMap(nodes)
]

/**
 * Replaces masks by the secrets of `before`, so that a config can be read, changed and saved. A mask is replaced only
 * by a secret of the same provider. Otherwise an editor without read access could redirect a secret to another
 * provider.
 */
export const unmaskedConfig = (
  written: WrittenConfig,
  before: WrittenConfig | undefined,
  at: FaultPath
): { readonly config: WrittenConfig; readonly faults: ReadonlyArray<Fault> } => {
  const known = before === undefined ? [] : nodes(before)
  const faults: Array<Fault> = []
  const fault = (place: FaultPath) => {
    faults.push(
      faultAt(
        place,
        "is how a credential is shown, and stands for none that this provider has here; write the credential itself"
      )
    )
  }
  const node = (one: WrittenConfig, here: FaultPath): WrittenConfig => {
    const kin = known.filter(({ provider, virtual_key: key }) => provider === one.provider && key === one.virtual_key)
    const { api_key: key, targets, vertex_service_account_json: account } = one
    const keyBefore = isMask(key)
      ? kin.find((other) => other.api_key !== undefined && maskedText(other.api_key) === key)?.api_key
      : key
    if (key !== undefined && keyBefore === undefined) fault([...here, "api_key"])
    const accountBefore =
      isJsonObject(account) && isMask(account["private_key"])
        ? kin.find(
            ({ vertex_service_account_json: other }) => other !== undefined && same(maskedAccount(other), account)
          )?.vertex_service_account_json
        : account
    if (account !== undefined && accountBefore === undefined) fault([...here, "vertex_service_account_json"])
    return {
      ...one,
      ...(keyBefore === undefined ? {} : { api_key: keyBefore }),
      ...(accountBefore === undefined ? {} : { vertex_service_account_json: accountBefore }),
      ...(targets === undefined
        ? {}
        : { targets: targets.map((target, index) => node(target, [...here, "targets", index])) })
    }
  }
  return { config: node(written, at), faults }
}
