// A gateway config: as it is written, in the words of the closest peer so that configs carry over, and made ready.
// It must not know headers, files or who serves a target.
import * as Schema from "effect/Schema"
import { millis, text, texts, whole } from "./configured.ts"
import type { Query } from "./conditions.ts"
import type { Edits } from "./edits.ts"
import type { FaultPath } from "../faults.ts"
import type { CarriedCredentials } from "../ProviderAccount.ts"

const opt = Schema.optionalKey
const pairs = Schema.Record(Schema.String, Schema.String)
const codes = Schema.Array(whole(100, 599))

/** A year. */
const mostAgeSeconds = 31_536_000

/** More is no help against an upstream in need. */
const mostRetries = 5

const circuit = Schema.Struct({
  failure_threshold: opt(whole(1, 1_000).annotate({ description: "Failures in a row that open the circuit." })),
  failure_threshold_percentage: opt(
    whole(1, 100).annotate({ description: "Share of failures among the last calls that opens it." })
  ),
  minimum_requests: opt(whole(1, 1_000).annotate({ description: "Calls before that share counts; 10 unless set." })),
  cooldown_interval: opt(millis.annotate({ description: "Milliseconds it stays open; 30,000 unless set." })),
  failure_status_codes: opt(codes.annotate({ description: "What counts as a failure; 500 and above unless set." }))
})

const strategy = Schema.Struct({
  mode: Schema.Literals(["single", "fallback", "loadbalance", "conditional"]),
  on_status_codes: opt(codes.annotate({ description: "Failures after which the next target is tried." })),
  conditions: opt(Schema.Array(Schema.Struct({ query: Schema.JsonObject, then: text }))),
  default: opt(text.annotate({ description: "Name of the target for requests that fit no condition." })),
  cb_config: opt(circuit)
})

const retry = Schema.Struct({
  attempts: whole(0, mostRetries).annotate({ description: "Calls after the first one." }),
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
    whole(1, mostAgeSeconds).annotate({ description: "Seconds an answer is given again; 3,600 unless set." })
  )
})

const fields = {
  name: opt(text),
  weight: opt(
    Schema.Number.check(
      Schema.makeFilter((value: number) =>
        value >= 0 && value <= 1_000_000 ? undefined : "expected a number from 0 to 1000000"
      )
    )
  ),
  provider: opt(text.annotate({ description: "Slug of an account, with or without @." })),
  virtual_key: opt(text.annotate({ description: "The same as provider." })),
  passthrough: opt(
    Schema.Literal(true).annotate({
      description: "Says that the request names the provider, as it does wherever a target names none."
    })
  ),
  api_key: opt(text),
  vertex_project_id: opt(text),
  vertex_region: opt(text),
  vertex_service_account_json: opt(Schema.JsonObject),
  override_params: opt(Schema.JsonObject),
  default_params: opt(Schema.JsonObject),
  drop_params: opt(texts),
  retry: opt(retry),
  request_timeout: opt(
    millis.annotate({ description: "Milliseconds of one attempt; of a stream, to its first byte." })
  ),
  timeouts: opt(timeouts),
  cb_config: opt(circuit),
  cache: opt(cache),
  labels: opt(pairs),
  metadata: opt(pairs),
  strategy: opt(strategy)
}

/** Every word of a target but `targets`, by which it is a group. */
export const targetWords: ReadonlyArray<string> = Object.keys(fields)

type Fields = Schema.Struct<typeof fields>["Type"]

/** A config as it is written; a target of it is written the same way, and may hold targets of its own. */
export interface WrittenConfig extends Fields {
  readonly targets?: ReadonlyArray<WrittenConfig>
}

export const WrittenConfig: Schema.Codec<WrittenConfig> = Schema.Struct({
  ...fields,
  targets: opt(Schema.Array(Schema.suspend((): Schema.Codec<WrittenConfig> => WrittenConfig)))
})

export type WrittenCircuit = typeof circuit.Type

/** How often one target is called again. */
export interface RetryRule {
  readonly attempts: number
  /** Undefined: whatever a second try may cure. */
  readonly codes: ReadonlySet<number> | undefined
  /** Whether a long wait that the upstream asks for is worth while. */
  readonly patient: boolean
}

/** Milliseconds; undefined leaves the operator's limits. */
export interface TargetTimes {
  readonly request: number | undefined
  readonly connect: number | undefined
  readonly firstByte: number | undefined
  readonly idle: number | undefined
  readonly total: number | undefined
}

export interface CircuitRule {
  /** Tells rules apart: circuits of different rules are different circuits. */
  readonly id: string
  readonly consecutive: number | undefined
  readonly rate: { readonly threshold: number; readonly minimum: number } | undefined
  readonly cooldownMillis: number
  /** Undefined: 500 and above. */
  readonly codes: ReadonlySet<number> | undefined
}

export interface CacheRule {
  /** Undefined leaves the operator's usual age. */
  readonly maxAgeSeconds: number | undefined
}

/** One way to serve a request, with what stands above it in the config laid in. */
export interface ConfigTarget {
  readonly kind: "target"
  /** Its place among all targets, in the order they are written. */
  readonly index: number
  /** The steps to it in the config; none for a config that is one target. */
  readonly at: FaultPath
  readonly slug: string | undefined
  /** Goes to the account of `slug` only. */
  readonly credentials: CarriedCredentials | undefined
  /** The model that overrides the request's, and the one that stands in for a missing one. */
  readonly model: string | undefined
  readonly defaultModel: string | undefined
  readonly edits: Edits | undefined
  readonly labels: Readonly<Record<string, string>> | undefined
  readonly retry: RetryRule | undefined
  readonly times: TargetTimes | undefined
  readonly circuit: CircuitRule | undefined
  readonly cache: CacheRule | undefined
}

export interface ConfigGroup {
  readonly kind: "group"
  readonly mode: "single" | "fallback" | "loadbalance" | "conditional"
  /** Failures after which a fallback goes on; undefined: whatever another target may cure. */
  readonly codes: ReadonlySet<number> | undefined
  readonly members: ReadonlyArray<{ readonly node: ConfigNode; readonly weight: number }>
  readonly conditions: ReadonlyArray<{ readonly holds: Query; readonly then: number }>
  /** The member for requests that fit no condition. */
  readonly otherwise: number
}

export type ConfigNode = ConfigTarget | ConfigGroup

/** A config made ready: inheritance resolved, names found, patterns read. */
export interface GatewayConfig {
  readonly root: ConfigNode
  readonly targets: ReadonlyArray<ConfigTarget>
  /** A model for requests without one, where every target states its own. */
  readonly model: string | undefined
  readonly metadata: Readonly<Record<string, string>>
  /** Whether load is shared among targets of which some have circuits. */
  readonly sharesGuarded: boolean
  /** As it is written, with masks in the place of its credentials. */
  readonly shown: WrittenConfig
}
