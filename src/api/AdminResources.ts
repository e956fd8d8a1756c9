// Schemas of the admin API's resources: providers, keys, configs, prompts, requests, usage, audit entries.
// It must not know paths, or where a resource is stored.
import * as Schema from "effect/Schema"
import { nonEmptyText } from "../domain/config/configured.ts"
import { WrittenConfig } from "../domain/config/GatewayConfig.ts"
import { ModelFields } from "../domain/models/ModelRecord.ts"
import { PromptEntry } from "../domain/Prompt.ts"
import { tiers } from "../domain/Usage.ts"
import { ProviderEntry } from "../domain/ProviderAccount.ts"
import { WrittenKey } from "../domain/GatewayKey.ts"
import { openObject } from "./contractParts.ts"

const opt = Schema.optionalKey
const moment = Schema.String.annotate({ description: "RFC 3339." })

/** Set by the gateway. A body may repeat these fields; the gateway ignores them. */
const managedFields = {
  source: Schema.Literals(["file", "store"]).annotate({
    description: "file: declared in the configuration, and read-only here."
  }),
  managed: opt(Schema.Literal("file")),
  version: opt(Schema.Number.annotate({ description: "1 when created, one more with each change." })),
  created_at: opt(moment),
  updated_at: opt(moment)
}

const { api_key: _key, credentials: _credentials, ...shownProvider } = ProviderEntry.fields

export const Provider = Schema.Struct({
  object: Schema.Literal("provider"),
  ...shownProvider,
  provider: Schema.String,
  credential: opt(
    Schema.Struct({
      type: Schema.Literals([
        "api_key",
        "access_token",
        "service_account",
        "authorized_user",
        "external_account",
        "external_account_authorized_user",
        "impersonated",
        "application_default"
      ]),
      fingerprint: opt(
        Schema.String.annotate({
          description: "Part of a hash, and the end of a long text; the credential itself is never shown."
        })
      ),
      client_email: opt(Schema.String)
    })
  ),
  ...managedFields
}).annotate({ identifier: "AdminProvider" })
export interface Provider extends Schema.Schema.Type<typeof Provider> {}

export const WrittenProvider = ProviderEntry.annotate({ identifier: "AdminProviderBody" })
export interface WrittenProvider extends Schema.Schema.Type<typeof WrittenProvider> {}

export const Key = Schema.Struct({
  object: Schema.Literal("key"),
  id: Schema.String,
  ...WrittenKey.fields,
  key: opt(
    Schema.String.annotate({ description: "The text of the key; in the answer that made it, and never again." })
  ),
  prefix: opt(Schema.String.annotate({ description: "How the text begins." })),
  revoked_at: opt(moment),
  previous_until: opt(
    Schema.String.annotate({ description: "Until when the text before the last rotation is taken as well. RFC 3339." })
  ),
  spent_usd: opt(Schema.Number.annotate({ description: "What the key has spent in the period of its budget." })),
  last_used_at: opt(moment),
  ...managedFields
}).annotate({ identifier: "AdminKey" })
export interface Key extends Schema.Schema.Type<typeof Key> {}

export const WrittenKeyBody = WrittenKey.annotate({ identifier: "AdminKeyBody" })
export interface WrittenKeyBody extends Schema.Schema.Type<typeof WrittenKeyBody> {}

export const Config = Schema.Struct({
  object: Schema.Literal("config"),
  id: Schema.String,
  name: opt(nonEmptyText),
  config: WrittenConfig,
  ...managedFields,
  versions: opt(
    Schema.Array(Schema.Number).annotate({
      description: "In the answer about one config: its stored versions, each readable as {id}@{version}."
    })
  )
}).annotate({ identifier: "AdminConfig" })
export interface Config extends Schema.Schema.Type<typeof Config> {}

export const WrittenConfigBody = Schema.Struct({
  id: nonEmptyText,
  name: opt(nonEmptyText),
  config: WrittenConfig
}).annotate({
  identifier: "AdminConfigBody"
})

export interface WrittenConfigBody extends Schema.Schema.Type<typeof WrittenConfigBody> {}

const { version: _version, ...promptFields } = PromptEntry.fields

export const Prompt = Schema.Struct({
  object: Schema.Literal("prompt"),
  ...promptFields,
  messages: opt(Schema.Array(openObject)),
  parameters: opt(openObject),
  ...managedFields,
  version: Schema.Number.annotate({ description: "The version shown." }),
  versions: Schema.Array(Schema.Number).annotate({
    description: "Every version there is, each readable as {id}@{version}."
  })
}).annotate({ identifier: "AdminPrompt" })
export interface Prompt extends Schema.Schema.Type<typeof Prompt> {}

export const WrittenPrompt = Schema.Struct(promptFields).annotate({ identifier: "AdminPromptBody" })
export interface WrittenPrompt extends Schema.Schema.Type<typeof WrittenPrompt> {}

/** The result of a provider test. */
export const ProviderCheck = Schema.Struct({
  object: Schema.Literal("provider_test"),
  slug: Schema.String,
  ok: Schema.Boolean,
  message: Schema.String.annotate({ description: "What is wrong, and what to do." }),
  model: opt(Schema.String.annotate({ description: "Whose tokens were counted." })),
  code: opt(Schema.String),
  upstream_status: opt(Schema.Number),
  duration_ms: Schema.Number
}).annotate({ identifier: "AdminProviderTest" })
export interface ProviderCheck extends Schema.Schema.Type<typeof ProviderCheck> {}

export const Change = Schema.Struct({
  object: Schema.Literal("audit_entry"),
  at: moment,
  actor: Schema.String.annotate({ description: "Id of the admin key, or cli." }),
  request_id: opt(Schema.String),
  action: Schema.Literals(["create", "update", "delete", "revoke", "rotate", "read"]).annotate({
    description: "revoke and rotate are what becomes of keys, read is of the captured content of a request."
  }),
  kind: Schema.Literals(["provider", "key", "config", "prompt", "request"]),
  id: Schema.String,
  version: Schema.Number
}).annotate({ identifier: "AdminAuditEntry" })
export interface Change extends Schema.Schema.Type<typeof Change> {}

const count = Schema.Number
const attempt = Schema.Struct({
  provider: Schema.String,
  model: Schema.String,
  target: Schema.Number,
  started_ms: Schema.Number.annotate({ description: "After the arrival of the request." }),
  duration_ms: Schema.Number,
  token_ms: opt(
    Schema.Number.annotate({ description: "After the start: until its access token was there. None for API keys." })
  ),
  sent_ms: opt(Schema.Number.annotate({ description: "After the start: until the request was on a connection." })),
  first_chunk_ms: opt(Schema.Number),
  upstream_status: opt(Schema.Number),
  error_code: opt(Schema.String),
  error_message: opt(Schema.String)
})

export const AdminRequest = Schema.Struct({
  object: Schema.Literal("request"),
  id: Schema.String.annotate({ description: "The gateway's own id, which no other request has." }),
  request_id: Schema.String.annotate({ description: "The x-request-id of its client, else id." }),
  trace_id: Schema.String,
  ts: moment,
  route: Schema.String,
  status: Schema.Number,
  provider: opt(Schema.String),
  model: opt(Schema.String),
  target: opt(Schema.Number),
  model_warning: opt(Schema.String.annotate({ description: "The announced or past end of the model." })),
  skipped_targets: opt(Schema.Array(Schema.Number).annotate({ description: "By place: their circuits were open." })),
  stream: Schema.Boolean,
  cache: opt(Schema.String),
  duration_ms: Schema.Number,
  ttft_ms: opt(Schema.Number),
  overhead_ms: Schema.Number,
  usage: opt(
    Schema.Struct({
      input_tokens: count,
      output_tokens: count,
      cached_tokens: count,
      cache_write_tokens: count,
      reasoning_tokens: count,
      images: count,
      cached_audio_tokens: opt(count),
      audio_input_tokens: opt(count),
      audio_output_tokens: opt(count),
      image_output_tokens: opt(count),
      cache_write_1h_tokens: opt(
        count.annotate({ description: "What of cache_write_tokens is kept for an hour instead of five minutes." })
      ),
      searches: opt(count.annotate({ description: "Searches of the provider's own." })),
      tier: opt(
        Schema.Literals(tiers).annotate({ description: "The tier that served, where it is not the standard one." })
      )
    })
  ),
  usage_estimated: opt(Schema.Literal(true).annotate({ description: "What a cut stream lacks is estimated." })),
  cost_usd: opt(Schema.Number),
  cost_partial: opt(
    Schema.Literal(true).annotate({ description: "Something was used whose price is not known; the cost lacks it." })
  ),
  place: opt(Schema.String.annotate({ description: "The location that was called." })),
  cost_lines: opt(
    Schema.Array(
      Schema.Struct({
        part: Schema.String,
        count,
        usd_per_million: opt(Schema.Number),
        usd_each: opt(Schema.Number),
        factor: opt(Schema.Number.annotate({ description: "Of the tier, the location and the operator's discount." })),
        cost_usd: Schema.Number
      })
    ).annotate({
      description: "Of one request: its usage at the prices of its day, as they are known now. Parts are disjoint."
    })
  ),
  has_content: opt(
    Schema.Literal(true).annotate({ description: "Of one request: its content is kept, and can be read." })
  ),
  saved: opt(
    Schema.Struct({ input_tokens: count, output_tokens: count, cost_usd: opt(Schema.Number) }).annotate({
      description: "What an answer from the cache would have used."
    })
  ),
  key_id: opt(Schema.String),
  user_id: opt(Schema.String.annotate({ description: "By user, safety_identifier or metadata.user_id." })),
  config: opt(Schema.String),
  client: opt(Schema.String),
  metadata: opt(
    Schema.Record(Schema.String, Schema.String).annotate({
      description: "The metadata of the names in telemetry.usage_metadata."
    })
  ),
  ignored_params: opt(
    Schema.Array(Schema.String).annotate({
      description: "Parameters of the request without effect; other for those that the gateway does not know."
    })
  ),
  adjusted_params: opt(
    Schema.Array(Schema.String).annotate({
      description: "Parameters that were sent with another value, each as name=asked>sent."
    })
  ),
  error_code: opt(Schema.String),
  error_message: opt(Schema.String).annotate({
    description: "What the client read, without credentials and addresses."
  }),
  error_param: opt(Schema.String),
  attempts: Schema.Array(attempt)
}).annotate({ identifier: "AdminRequest" })
export interface AdminRequest extends Schema.Schema.Type<typeof AdminRequest> {}

const contentText = Schema.Struct({
  text: Schema.String,
  bytes: Schema.Number.annotate({ description: "Of the whole; text is its beginning where is_cut is true." }),
  is_cut: Schema.Boolean
})
export const AdminRequestContent = Schema.Struct({
  object: Schema.Literal("request_content"),
  id: Schema.String,
  expires_at: moment,
  request: contentText.annotate({ description: "The body as the client sent it." }),
  calls: Schema.Array(
    Schema.Struct({
      provider: Schema.String,
      model: Schema.String,
      target: Schema.Number,
      url: Schema.String,
      body: contentText.annotate({ description: "The body as the upstream got it." }),
      ignored_params: Schema.Array(Schema.String),
      adjusted_params: Schema.Array(Schema.String)
    })
  ),
  answer: opt(
    contentText.annotate({ description: "The answer as the client got it: a body, or the events of a stream." })
  )
}).annotate({ identifier: "AdminRequestContent" })
export interface AdminRequestContent extends Schema.Schema.Type<typeof AdminRequestContent> {}

export const AdminUsage = Schema.Struct({
  day: opt(Schema.String),
  start: opt(Schema.String.annotate({ description: "With bucket: the moment at which it begins." })),
  key: opt(Schema.String.annotate({ description: "The id of the gateway key; empty for requests without one." })),
  key_name: opt(Schema.String.annotate({ description: "The name of that key, for people." })),
  provider: opt(Schema.String),
  model: opt(Schema.String),
  config: opt(
    Schema.String.annotate({ description: "The id of the config; inline for one that a request contained." })
  ),
  client: opt(Schema.String.annotate({ description: "The program that sent the requests, by its user-agent." })),
  status: opt(Schema.String.annotate({ description: "The class of the status, such as 5xx." })),
  error: opt(Schema.String.annotate({ description: "The code of the error; empty without one." })),
  requests: count,
  errors: count,
  input_tokens: count,
  output_tokens: count,
  cached_tokens: count,
  cost_usd: Schema.Number,
  cache_hits: opt(count.annotate({ description: "With bucket: answers from the cache." })),
  duration_ms: opt(Schema.Number.annotate({ description: "With bucket: how long the requests took together." })),
  overhead_ms: opt(Schema.Number.annotate({ description: "With bucket: the time that the gateway added, together." })),
  duration_bands: opt(
    Schema.Array(count).annotate({
      description:
        "With bucket: requests that took at most 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 30000, 60000, 120000 ms, and longer."
    })
  ),
  ttft_bands: opt(
    Schema.Array(count).annotate({
      description: "With bucket: streams by the time to their first token, in the same bands."
    })
  )
}).annotate({ identifier: "AdminUsage" })
export interface AdminUsage extends Schema.Schema.Type<typeof AdminUsage> {}

export const AdminClient = Schema.Struct({
  object: Schema.Literal("client"),
  id: Schema.String,
  name: Schema.String,
  place: Schema.String.annotate({ description: "Where the lines belong." }),
  language: Schema.Literals(["sh", "ts", "toml", "json", "text"]),
  route: Schema.String.annotate({ description: "How the routes of its requests begin." }),
  model: Schema.String.annotate({ description: "A model that its route serves." }),
  lines: Schema.String.annotate({ description: "With {origin}, {key} and {model} in the places of the values." })
}).annotate({ identifier: "AdminClient" })
export interface AdminClient extends Schema.Schema.Type<typeof AdminClient> {}

export const AdminMetric = Schema.Struct({
  object: Schema.Literal("metric"),
  name: Schema.String,
  labels: Schema.Record(Schema.String, Schema.String),
  value: Schema.Number
}).annotate({ identifier: "AdminMetric" })
export interface AdminMetric extends Schema.Schema.Type<typeof AdminMetric> {}

export const AdminModelFacts = Schema.Struct({
  object: Schema.Literal("model_facts"),
  model: Schema.String,
  from: Schema.String.annotate({ description: "The id or pattern whose record it is." }),
  record: Schema.Struct({ id: Schema.String, ...ModelFields.fields }),
  origins: Schema.Record(Schema.String, Schema.String).annotate({
    description: "By field: user (the configuration), file (built in), or inherited from another id."
  }),
  learned: Schema.Array(
    Schema.Struct({
      provider: Schema.String.annotate({ description: "Kind of provider." }),
      account: Schema.String.annotate({ description: "Slug of the account whose upstream taught it." }),
      key: Schema.String.annotate({ description: "Id of the gateway key for which it holds." }),
      project: opt(Schema.String.annotate({ description: "Project of the call, where it has one." })),
      region: opt(Schema.String.annotate({ description: "Region of the call, where it has one." })),
      config: opt(
        Schema.String.annotate({ description: "Config whose credential was used instead of the account's." })
      ),
      row: opt(Schema.String.annotate({ description: "The refusal that taught it, as H2." })),
      value: opt(Schema.String.annotate({ description: "The refused value; empty for any." })),
      answers: opt(Schema.String.annotate({ description: "The model that last answered under a moving name." }))
    })
  ).annotate({ description: "What requests have taught in the last hour, each for one key at one account." })
}).annotate({ identifier: "AdminModelFacts" })

export const AdminRequestEvent = Schema.Struct({
  object: Schema.Literal("request_event"),
  data: Schema.Array(Schema.Record(Schema.String, Schema.Unknown)).annotate({
    description: "Requests in the form of AdminRequest, the newest first."
  }),
  skipped: Schema.Number.annotate({ description: "How many more requests ended, which are in the list only." })
}).annotate({ identifier: "AdminRequestEvent" })

/** The schema of one page of a list. */
export const pageSchema = <S extends Schema.Top>(one: S, identifier: string) =>
  Schema.Struct({
    object: Schema.Literal("list"),
    data: Schema.Array(one),
    next_cursor: Schema.NullOr(
      Schema.String.annotate({ description: "Ask for the next page with cursor; null on the last." })
    )
  }).annotate({ identifier })

export const AdminProblem = Schema.Struct({
  type: Schema.String.annotate({ description: "urn:model-gateway:error: and the code of the error." }),
  title: Schema.String,
  status: Schema.Number,
  detail: Schema.String.annotate({ description: "What is wrong, where, and what to do." }),
  instance: Schema.String.annotate({ description: "The request id." }),
  errors: opt(
    Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String })).annotate({
      description: "Every fault, where there may be several."
    })
  )
}).annotate({ identifier: "AdminProblem" })
export interface AdminProblem extends Schema.Schema.Type<typeof AdminProblem> {}
