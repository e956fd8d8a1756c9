// The whole configuration: the schema of its file, and the checked value the service starts from.
// It must not know files, environment variables or flags, nor how a credential is used.
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { millis, mostMillis, text, texts, whole } from "../config/configured.ts"
import { type GatewayConfig, WrittenConfig } from "../config/GatewayConfig.ts"
import type { GatewayKey } from "../GatewayKey.ts"
import type { LimitValues } from "../Limits.ts"
import type { Prompt } from "../Prompt.ts"
import type { ProviderAccount } from "../ProviderAccount.ts"
import type { StoreLocation } from "./storeLocation.ts"
import type { Price } from "../Usage.ts"

const server = Schema.Struct({
  host: Schema.optionalKey(text.annotate({ description: "Address to listen on; 127.0.0.1 unless set." })),
  port: Schema.optionalKey(
    whole(0, 65_535).annotate({ description: "Port to listen on; 8787 unless set, 0 for any free one." })
  ),
  admin_port: Schema.optionalKey(
    whole(0, 65_535).annotate({
      description: "A port of its own for /admin/v1 and /metrics; they share the main one unless set."
    })
  ),
  admin_host: Schema.optionalKey(text.annotate({ description: "Address of that port; 127.0.0.1 unless set." })),
  cors: Schema.optionalKey(
    texts.annotate({
      description: "Origins whose web pages may call /v1, as https://app.example.com; * for all. None unless set."
    })
  ),
  metrics_auth: Schema.optionalKey(
    Schema.Literals(["none", "admin"]).annotate({
      description: "Who may read /metrics: anyone unless set, or holders of an admin key."
    })
  )
})

const store = Schema.Struct({
  url: Schema.optionalKey(
    text.annotate({
      description:
        "Database of the gateway: sqlite:PATH (relative to this file) or postgres://...; a SQLite file in the data directory unless set. Write ${NAME} where it holds a password."
    })
  )
})

const redis = Schema.Struct({
  url: Schema.optionalKey(
    text.annotate({
      description:
        "redis:// or rediss:// address of what several gateways share; write ${NAME} where it holds a password."
    })
  )
})

const log = Schema.Struct({
  format: Schema.optionalKey(
    Schema.Literals(["json", "pretty", "off"]).annotate({
      description: "Form of the lines on stdout: json unless that is a terminal."
    })
  ),
  level: Schema.optionalKey(
    Schema.Literals(["info", "warn", "error"]).annotate({ description: "The least that is written; info unless set." })
  )
})

const telemetry = Schema.Struct({
  accounting: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "false: requests are neither counted, logged nor listed." })
  ),
  propagate_upstream: Schema.optionalKey(
    Schema.Boolean.annotate({
      description: "true: upstreams get the traceparent of a request; they get none unless set."
    })
  ),
  key_label: Schema.optionalKey(
    Schema.Boolean.annotate({
      description: "true: requests, tokens, costs and what is left of budgets are shown by gateway key."
    })
  )
})

const media = Schema.Struct({
  fetch: Schema.optionalKey(
    Schema.Boolean.annotate({
      description:
        "true: public https media are fetched for models that read none by address (Claude); refused unless set."
    })
  )
})

const dollars = (most: number) =>
  Schema.Number.check(
    Schema.makeFilter((value: number) =>
      value >= 0 && value <= most ? undefined : `expected US dollars from 0 to ${most}`
    )
  )

/** Spending is added up in millionths of a dollar, which must stay whole numbers. */
const mostBudget = 1_000_000_000
const mostPrice = 1_000_000

const rate = dollars(mostPrice)
const price = Schema.Struct({
  input: Schema.optionalKey(rate.annotate({ description: "US dollars per million tokens, here and below." })),
  output: Schema.optionalKey(rate),
  cached_input: Schema.optionalKey(rate),
  cache_write: Schema.optionalKey(rate),
  audio_input: Schema.optionalKey(rate),
  audio_output: Schema.optionalKey(rate),
  image_output: Schema.optionalKey(rate),
  image: Schema.optionalKey(rate.annotate({ description: "US dollars per picture." }))
})

const credentials = Schema.Union([
  Schema.Struct({
    type: Schema.Literal("service_account"),
    file: Schema.optionalKey(
      text.annotate({ description: "Path of the key file, relative to the configuration file." })
    ),
    json: Schema.optionalKey(Schema.JsonObject.annotate({ description: "The key file's content itself." }))
  }),
  Schema.Struct({
    type: Schema.Literal("access_token"),
    token: text.annotate({ description: "An access token; it lives for an hour." })
  }),
  Schema.Struct({ type: Schema.Literal("application_default") }),
  Schema.Struct({
    type: Schema.Literal("api_key"),
    key: text.annotate({ description: "An API key, of Vertex AI in express mode for one." })
  })
])

const endpoint = Schema.Struct({
  dialect: Schema.Literals(["openai", "gemini", "predict"]).annotate({ description: "What the endpoint speaks." }),
  host: Schema.optionalKey(text.annotate({ description: "Host of a dedicated endpoint." })),
  model: Schema.optionalKey(text.annotate({ description: "Name under which the endpoint serves its model." }))
})

/** An account as it is written down. */
export const ProviderEntry = Schema.Struct({
  slug: text.annotate({ description: "Name of the account, written @slug/ before a model." }),
  provider: Schema.Literals(["vertex-ai", "google"]).annotate({
    description: "Vertex AI or the Gemini Developer API."
  }),
  api_key: Schema.optionalKey(
    text.annotate({ description: "Key of the Gemini API; write ${NAME} and keep it out of the file." })
  ),
  project_id: Schema.optionalKey(
    text.annotate({ description: "Google Cloud project; that of the service account unless set." })
  ),
  region: Schema.optionalKey(text.annotate({ description: "A region, global, us or eu." })),
  credentials: Schema.optionalKey(
    credentials.annotate({ description: "As whom Vertex AI is called; without any, requests bring their own." })
  ),
  endpoints: Schema.optionalKey(
    Schema.Record(Schema.String, endpoint).annotate({
      description: "Endpoints you deployed, by the id in their model names."
    })
  ),
  models: Schema.optionalKey(
    texts.annotate({ description: "Model ids on offer; a * at the end stands for any rest." })
  ),
  api_version: Schema.optionalKey(
    text.annotate({ description: "v1 or v1beta1, for one; what each operation needs unless set." })
  ),
  quota_project: Schema.optionalKey(
    text.annotate({ description: "Project that is billed in place of the one that is called." })
  ),
  projects: Schema.optionalKey(
    texts.annotate({
      description:
        "Projects besides its own that a request may name under the stored credential; a * at the end stands for any rest. None unless set."
    })
  ),
  regions: Schema.optionalKey(
    texts.annotate({
      description:
        "Regions besides its own that a request may name under the stored credential; a * at the end stands for any rest. None unless set."
    })
  ),
  gcs: Schema.optionalKey(
    Schema.Struct({
      read: Schema.optionalKey(
        texts.annotate({ description: "Prefixes gs://bucket/path of the objects; any object unless set." })
      ),
      write: Schema.optionalKey(
        texts.annotate({ description: "Prefixes under which pictures may be stored; none unless set." })
      )
    }).annotate({ description: "What of Cloud Storage a request may name under the stored credential." })
  ),
  base_url: Schema.optionalKey(text.annotate({ description: "Replaces scheme and host of the provider." })),
  token_url: Schema.optionalKey(text.annotate({ description: "Replaces the token endpoint." }))
})

export type ProviderEntry = typeof ProviderEntry.Type

const scope = Schema.Literals(["inference", "admin"])

/** What is said of a gateway key besides its text, in the configuration and in the store. */
const keyFields = {
  name: text.annotate({ description: "Name of the key, in logs and lists." }),
  providers: Schema.optionalKey(texts.annotate({ description: "Slugs this key may use; all unless set." })),
  models: Schema.optionalKey(texts.annotate({ description: "Model ids this key may use; all unless set." })),
  configs: Schema.optionalKey(
    texts.annotate({
      description:
        "Configs this key may name; all unless set. A listed one may use its own targets, whatever providers and models allow."
    })
  ),
  prompts: Schema.optionalKey(
    texts.annotate({
      description:
        "Prompts this key may name; all unless set. A listed one may use its own model, whatever providers and models allow."
    })
  ),
  config: Schema.optionalKey(text.annotate({ description: "Config of requests that name none." })),
  scopes: Schema.optionalKey(
    Schema.Array(scope).annotate({ description: "What the key is for: inference unless set, admin for /admin/v1." })
  ),
  expires_at: Schema.optionalKey(
    text.annotate({ description: "From this moment on the key is refused, as 2027-01-31T12:00:00Z." })
  ),
  rate_limit: Schema.optionalKey(
    Schema.Struct({
      requests_per_minute: Schema.optionalKey(
        whole(1, mostMillis).annotate({ description: "Most requests in a minute." })
      ),
      tokens_per_minute: Schema.optionalKey(
        whole(1, mostMillis).annotate({ description: "Most tokens in a minute, in and out." })
      )
    }).annotate({ description: "Most that it may ask for." })
  ),
  budget: Schema.optionalKey(
    Schema.Struct({
      usd: dollars(mostBudget).annotate({ description: "US dollars, to the millionth." }),
      per: Schema.Literals(["day", "month"]).annotate({ description: "Of UTC." })
    }).annotate({ description: "Most that it may spend." })
  ),
  concurrency: Schema.optionalKey(
    whole(1, mostMillis).annotate({ description: "Most requests that run at once, in each gateway process." })
  ),
  metadata: Schema.optionalKey(
    Schema.Record(Schema.String, Schema.String).annotate({
      description: "What requests of this key carry besides their own metadata."
    })
  ),
  metadata_locked: Schema.optionalKey(
    Schema.Boolean.annotate({
      description:
        "true: neither a request nor a config gives the key's metadata other values; other names may be added."
    })
  )
}

const key = Schema.Struct({
  ...keyFields,
  key: text.annotate({ description: "The gateway key's text; write ${NAME} and keep it out of the file." })
})

/** A gateway key as it is written down, without its text. */
export const WrittenKey = Schema.Struct(keyFields)
export type WrittenKey = typeof WrittenKey.Type

/** One version of a prompt, or a partial, as it is written down. */
export const PromptEntry = Schema.Struct({
  id: text.annotate({ description: "Name of the prompt or partial; entries of one id are its versions." }),
  name: Schema.optionalKey(text.annotate({ description: "Title for people." })),
  version: Schema.optionalKey(
    whole(1, 999_999_999).annotate({ description: "One more than the version before, unless set." })
  ),
  model: Schema.optionalKey(text.annotate({ description: "Model of the chat; may carry @slug/." })),
  messages: Schema.optionalKey(
    Schema.Array(Schema.JsonObject).annotate({
      description: "Messages of the chat, with {{variables}} and {{>partials}} in their texts."
    })
  ),
  parameters: Schema.optionalKey(
    Schema.JsonObject.annotate({ description: "Any other parameter of the chat, with variables as well." })
  ),
  text: Schema.optionalKey(
    Schema.String.annotate({ description: "In place of model and messages: a partial that prompts put in by {{>id}}." })
  ),
  labels: Schema.optionalKey(
    Schema.Record(Schema.String, whole(1, 999_999_999)).annotate({
      description: "Versions by name; the one named production is served where none is asked for."
    })
  )
})

export type PromptEntry = typeof PromptEntry.Type

const duration = Schema.optionalKey(millis.annotate({ description: "Milliseconds." }))
const pause = Schema.optionalKey(whole(0, mostMillis).annotate({ description: "Milliseconds; 0 for none." }))
const size = Schema.optionalKey(whole(1, mostMillis).annotate({ description: "Bytes." }))
const count = Schema.optionalKey(whole(1, mostMillis))

const limits = Schema.Struct({
  bodyBytes: size,
  embeddingsBodyBytes: size,
  imagesBodyBytes: size,
  promptsBodyBytes: size,
  adminBodyBytes: size,
  bodiesInFlightBytes: size,
  jsonDepth: count,
  jsonValues: count,
  jsonKeys: count,
  headerBytes: size,
  headerCount: count,
  messages: count,
  tools: count,
  stopSequences: count,
  schemaDepth: count,
  schemaCopyBytes: size,
  promptDepth: count,
  promptPartials: count,
  eventBytes: size,
  replyBytes: size,
  errorBytes: size,
  connectMillis: duration,
  firstByteMillis: duration,
  unaryFirstByteMillis: duration,
  idleMillis: duration,
  totalMillis: duration,
  inFlight: count,
  adminInFlight: count,
  keptPercent: Schema.optionalKey(
    whole(0, 90).annotate({
      description: "Percent of slots and of bytes in flight, kept for keys below their fair share."
    })
  ),
  signatureEntries: count,
  signatureBytes: size,
  signatureTotalBytes: size,
  signatureMillis: duration,
  tokenEntries: count,
  streamWindowBytes: size,
  excerptBytes: size,
  drainMillis: pause,
  readyDelayMillis: pause,
  headersTimeoutMillis: duration,
  requestTimeoutMillis: duration,
  keepAliveMillis: duration,
  writeStallMillis: duration,
  connections: count,
  pingMillis: duration,
  configDepth: count,
  configTargets: count,
  configEntries: count,
  configBytes: size,
  configPatterns: count,
  conditionSteps: count,
  retries: Schema.optionalKey(whole(0, mostMillis)),
  retryBaseMillis: pause,
  retryCapMillis: pause,
  retryAfterMillis: pause,
  retryWaitMillis: pause,
  circuitEntries: count,
  circuitIdleMillis: duration,
  logBytes: size,
  requestsKept: count,
  usageEntries: count,
  cacheEntries: count,
  cacheBytes: size,
  cacheEntryBytes: size,
  cacheSeconds: count,
  redisMillis: duration,
  redisConnectMillis: duration,
  redisQueue: count,
  providerTestMillis: duration,
  refreshMillis: duration,
  storeConnections: count,
  storeAnswerMillis: duration,
  storeLockMillis: duration,
  storeStartMillis: pause,
  spendingMillis: duration,
  leaseMillis: duration,
  budgetOutputTokens: count,
  usageQueue: count,
  requestsStored: count,
  auditStored: count,
  usageDays: count,
  mediaBytes: size,
  mediaUrls: count,
  mediaMillis: duration,
  mediaInFlightBytes: size,
  mediaConnections: count
} satisfies Record<keyof LimitValues, unknown>)

/** The configuration file after `${NAME}` was replaced. An unknown key is a fault, so decode with `onExcessProperty: "error"`. */
export const settingsFile = Schema.Struct({
  server: Schema.optionalKey(server),
  store: Schema.optionalKey(store),
  redis: Schema.optionalKey(redis),
  providers: Schema.optionalKey(Schema.Array(ProviderEntry)),
  keys: Schema.optionalKey(Schema.Array(key)),
  prompts: Schema.optionalKey(Schema.Array(PromptEntry)),
  configs: Schema.optionalKey(Schema.Record(Schema.String, WrittenConfig)),
  prices: Schema.optionalKey(
    Schema.Record(Schema.String, price).annotate({
      description: "Prices by model id, or by slug/id for one account; they win over list prices."
    })
  ),
  log: Schema.optionalKey(log),
  telemetry: Schema.optionalKey(telemetry),
  media: Schema.optionalKey(media),
  limits: Schema.optionalKey(limits)
})
export type SettingsFile = typeof settingsFile.Type

/** A gateway key as configured; its text lives here until it is hashed. */
export interface KeySetting extends Omit<Partial<GatewayKey>, "id"> {
  readonly name: string
  readonly key: Redacted.Redacted<string>
}

/** What is written of requests. Without a format nothing is; `serve` chooses one by where it writes. */
export interface LogSetting {
  readonly format?: "json" | "pretty" | "off"
  /** The least that is written; undefined: info. */
  readonly level?: "info" | "warn" | "error"
}

/** What is sent to an OpenTelemetry collector; where, the SDK reads from the environment. */
export interface ExportSetting {
  readonly traces: boolean
  readonly metrics: { readonly intervalMillis: number | undefined; readonly isDelta: boolean } | undefined
  /** Whether spans hold the content of messages. */
  readonly content: boolean
  /** Whether the environment names the service. */
  readonly isNamed: boolean
}

/** Where records, the request log and spending are kept. */
export interface StoreSetting {
  readonly location: StoreLocation
  /** Master keys in base64, the first encrypts, all decrypt; undefined: those of the key file. */
  readonly secretKeys: ReadonlyArray<Redacted.Redacted<string>> | undefined
  /** Path of the key file, made when it is needed and absent. */
  readonly keyFile: string
}

/** Everything the service is started with: complete, checked, defaults filled in. */
export interface Settings {
  readonly server: {
    readonly host: string
    readonly port: number
    /** Where operators are served, apart from everybody else. */
    readonly admin?: { readonly host: string; readonly port: number }
    readonly metricsAuth?: "none" | "admin"
    /** Origins whose pages may call; `anyOrigin` for all. */
    readonly cors?: ReadonlyArray<string>
  }
  /** Address of the Redis that several gateways share; without it each has its own limits, circuits, signatures and cache. */
  readonly redis?: Redacted.Redacted<string>
  /** In the order of the file, the built-in slugs `vertex-ai` and `google` last unless declared. */
  readonly accounts: ReadonlyArray<ProviderAccount>
  readonly keys: ReadonlyArray<KeySetting>
  readonly limits: LimitValues
  /** Prompts and partials; their templates are sound. */
  readonly prompts?: ReadonlyArray<Prompt>
  /** Gateway configs by their ids. */
  readonly configs?: Readonly<Record<string, GatewayConfig>>
  /** File behind credentials of type `application_default`; without it they are the machine's own. */
  readonly applicationCredentialsFile?: string
  readonly log?: LogSetting
  /** Prices by model id or `slug/id`, before those of the list. */
  readonly prices?: Readonly<Record<string, Price>>
  /** Nothing is exported without it. */
  readonly export?: ExportSetting
  /** True: upstreams are told of the trace a request belongs to. */
  readonly propagateUpstream?: boolean
  /** False: requests are neither counted, logged nor listed. */
  readonly accounting?: boolean
  /** Without it everything stays in the memory of the process. */
  readonly store?: StoreSetting
  /** True: requests, tokens and costs are counted by gateway key as well. */
  readonly keyLabel?: boolean
  /** Whether media are fetched for upstreams that take bytes only. */
  readonly media?: { readonly fetch: boolean }
}

/** In the place of an origin: every one. */
export const anyOrigin = "*"

export const defaultServer: Settings["server"] = { host: "127.0.0.1", port: 8787 }
