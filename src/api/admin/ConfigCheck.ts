// Schemas of the check of a config: what is sent, and its faults, notices and plan.
// It must not know paths, or how a config is checked.
import * as Schema from "effect/Schema"
import { nonEmptyText } from "../../domain/config/configured.ts"
import { openObject } from "../shapes.ts"

const opt = Schema.optionalKey

/** A request to try a config with. */
export const CheckedRequest = Schema.Struct({
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
