// Schemas of what the admin API reports and does not store: settings in force, the check of a config, models of a provider.
// It must not know paths, or how settings are read and configs checked.
import * as Schema from "effect/Schema"
import { nonEmptyText } from "../domain/config/configured.ts"
import { openObject } from "./contractParts.ts"

const opt = Schema.optionalKey
const moment = Schema.String.annotate({ description: "RFC 3339." })

export const AdminSettings = Schema.Struct({
  object: Schema.Literal("settings"),
  version: Schema.String,
  node: Schema.String,
  started_at: moment,
  file: Schema.NullOr(Schema.String.annotate({ description: "The configuration file; null where there is none." })),
  store: Schema.Struct({
    place: Schema.String.annotate({ description: "Without name and password." }),
    state: Schema.String.annotate({ description: "ok, unreachable, or why it takes no writes, as disk_full." })
  }),
  redis: Schema.NullOr(Schema.Struct({ state: Schema.String })),
  exporter: Schema.NullOr(
    Schema.Struct({ traces: Schema.Boolean, metrics: Schema.Boolean }).annotate({
      description: "What is sent to an OpenTelemetry collector."
    })
  ),
  prices: Schema.Struct({
    list: Schema.String.annotate({ description: "The public price list." }),
    models_as_of: Schema.String.annotate({ description: "The day of the facts about models, prices included." })
  }),
  settings: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      value: opt(Schema.Unknown.annotate({ description: "Without secrets; absent where nothing is set." })),
      source: Schema.Literals(["flag", "variable", "file", "default"]),
      from: opt(Schema.String.annotate({ description: "As --port, GATEWAY_SERVER_PORT or gateway.yaml:12." })),
      effective: opt(Schema.Number.annotate({ description: "What is in force, where the process lowered a limit." })),
      description: opt(Schema.String)
    })
  )
}).annotate({ identifier: "AdminSettings" })
export interface AdminSettings extends Schema.Schema.Type<typeof AdminSettings> {}

// Schemas of the check of a config: what is sent, and its faults, notices and plan.

/** A request to try a config with. */
const CheckedRequest = Schema.Struct({
  key: opt(
    Schema.String.annotate({
      description: "The id of the gateway key that sends it; a key that may use all unless set."
    })
  ),
  provider: opt(Schema.String.annotate({ description: "The slug of x-gateway-provider." })),
  metadata: opt(Schema.Record(Schema.String, Schema.String)),
  body: openObject.annotate({ description: "A chat completion, as model and messages." })
})

export const ConfigCheckBody = Schema.Struct({
  id: opt(nonEmptyText.annotate({ description: "The stored config whose credentials the masks are for." })),
  config: Schema.Unknown.annotate({ description: "The config, with or without faults." }),
  request: opt(CheckedRequest)
}).annotate({ identifier: "AdminConfigCheckBody" })

export const ConfigCheck = Schema.Struct({
  object: Schema.Literal("config_check"),
  ok: Schema.Boolean.annotate({ description: "Whether the config can be saved." }),
  faults: Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String })),
  notices: Schema.Array(
    Schema.Struct({
      path: Schema.String,
      kind: Schema.Literals(["shut_down", "deprecated", "unknown", "not_offered"]),
      message: Schema.String
    })
  ).annotate({ description: "Models of targets that end, have ended, are not known or are not offered there." }),
  plan: opt(
    Schema.Array(
      Schema.Struct({
        path: Schema.String,
        mode: opt(Schema.Literals(["single", "fallback", "loadbalance", "conditional"])),
        provider: opt(Schema.String),
        model: opt(Schema.String),
        reached: Schema.Literals(["first", "failure", "never"]).annotate({
          description: "first: by the first call; failure: after the failure of another target."
        }),
        share: Schema.Number.annotate({ description: "How many of such requests go there first, from 0 to 1." }),
        why: Schema.String
      })
    ).annotate({ description: "With a request: every group and target, each before its members." })
  ),
  refused: opt(
    Schema.Struct({ code: Schema.String, message: Schema.String }).annotate({
      description: "With a request: why the gateway would refuse it before any call."
    })
  )
}).annotate({ identifier: "AdminConfigCheck" })
export interface ConfigCheck extends Schema.Schema.Type<typeof ConfigCheck> {}

// Schema of a model of a provider: where it is served, and whether it ends.

/** A model of an account, by the facts; the provider is not asked. */
export const ProviderModel = Schema.Struct({
  object: Schema.Literal("provider_model"),
  id: Schema.String,
  locations: opt(
    Schema.Array(Schema.String).annotate({ description: "On Vertex AI, where known; regions for all single regions." })
  ),
  is_served_here: opt(Schema.Boolean.annotate({ description: "Whether the region of the account is among them." })),
  notice: opt(
    Schema.Struct({
      kind: Schema.Literals(["shut_down", "deprecated", "unknown", "not_offered"]),
      message: Schema.String
    }).annotate({ description: "That it ends, has ended or is not offered there." })
  )
}).annotate({ identifier: "AdminProviderModel" })
export interface ProviderModel extends Schema.Schema.Type<typeof ProviderModel> {}
