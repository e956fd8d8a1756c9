// Schema of the settings in force, each with its origin, and of what the service runs on.
// It must not know paths, or how settings are read.
import * as Schema from "effect/Schema"

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
