// The schema of the configuration file: server, store, Redis, providers, keys, prompts, configs, prices, log, limits.
// It must not know environment variables or flags, or how a value is used.
import * as Schema from "effect/Schema"
import { attributionSection } from "./attribution.ts"
import { nonEmptyText, nonEmptyTexts, wholeNumber } from "../config/configured.ts"
import { WrittenConfig } from "../config/GatewayConfig.ts"
import { contentModes } from "../RequestRow.ts"
import { ModelOverlay } from "../models/ModelRecord.ts"
import { limitsSection } from "../Limits.ts"
import { PriceEntry } from "../Usage.ts"
import { PromptEntry } from "../Prompt.ts"
import { ProviderEntry, tlsFiles } from "../ProviderAccount.ts"
import { WrittenKey } from "../GatewayKey.ts"
import { otherModelsRules } from "../serving.ts"

const server = Schema.Struct({
  host: Schema.optionalKey(nonEmptyText.annotate({ description: "Address to listen on; 127.0.0.1 unless set." })),
  port: Schema.optionalKey(
    wholeNumber(0, 65_535).annotate({ description: "Port to listen on; 8787 unless set, 0 for any free one." })
  ),
  admin_port: Schema.optionalKey(
    wholeNumber(0, 65_535).annotate({
      description: "A port of its own for /admin/v1 and /metrics; they share the main one unless set."
    })
  ),
  admin_host: Schema.optionalKey(nonEmptyText.annotate({ description: "Address of that port; 127.0.0.1 unless set." })),
  base_path: Schema.optionalKey(
    nonEmptyText.annotate({
      description:
        "Path below which a reverse proxy shows the gateway, as /llm. Requests come with this prefix or without; links and the console have it."
    })
  ),
  cors: Schema.optionalKey(
    nonEmptyTexts.annotate({
      description: "Origins whose web pages may call /v1, as https://app.example.com; * for all. None unless set."
    })
  ),
  workers: Schema.optionalKey(
    Schema.Union([wholeNumber(1, 1_024), Schema.Literal("auto")]).annotate({
      description: "Processes that serve together on the port; 1 unless set, auto for one a processor."
    })
  ),
  console: Schema.optionalKey(
    Schema.Boolean.annotate({
      description:
        "false: there is no web console; it is at /console, on the admin port where there is one, unless set."
    })
  ),
  console_hosts: Schema.optionalKey(
    nonEmptyTexts.annotate({
      description:
        "Host names under which browsers use the console, as gateway.example.com; addresses and localhost always are."
    })
  ),
  trusted_proxies: Schema.optionalKey(
    nonEmptyTexts.annotate({
      description:
        "Proxies whose X-Forwarded-For and X-Forwarded-Proto are believed: addresses, and ranges such as 10.0.0.0/8. None unless set."
    })
  ),
  tls: Schema.optionalKey(
    Schema.Struct({
      cert_file: nonEmptyText.annotate({
        description: "PEM file of the certificate and those that lead to its authority, relative to this file."
      }),
      key_file: nonEmptyText.annotate({ description: "PEM file of its private key, without a passphrase." })
    }).annotate({ description: "Certificate of both ports, read again when a file changes; plain HTTP unless set." })
  ),
  metrics_auth: Schema.optionalKey(
    Schema.Literals(["none", "admin"]).annotate({
      description: "Who may read /metrics: anyone unless set, or holders of an admin key."
    })
  )
})

const store = Schema.Struct({
  url: Schema.optionalKey(
    nonEmptyText.annotate({
      description:
        "Database of the gateway: sqlite:PATH (relative to this file) or postgres://...; a SQLite file in the data directory unless set. Write ${NAME} where it holds a password."
    })
  )
})

const redis = Schema.Struct({
  url: Schema.optionalKey(
    nonEmptyText.annotate({
      description:
        "redis:// or rediss:// address of what several gateways share; write ${NAME} where it holds a password."
    })
  ),
  tls: Schema.optionalKey(tlsFiles.annotate({ description: "Certificates of Redis, for rediss://." }))
})

const log = Schema.Struct({
  format: Schema.optionalKey(
    Schema.Literals(["json", "pretty", "off"]).annotate({
      description: "Form of the lines on stdout: json unless that is a terminal."
    })
  ),
  level: Schema.optionalKey(
    Schema.Literals(["info", "warn", "error"]).annotate({ description: "The least that is written; info unless set." })
  ),
  content: Schema.optionalKey(
    Schema.Literals(contentModes).annotate({
      description:
        "Whose bodies and answers are kept in the store, sealed, for the admin API: off unless set, errors for requests that end in one, or all. They are never written to the log."
    })
  )
})

const metadataName = Schema.String.check(
  Schema.makeFilter(
    (name: string) =>
      /^[A-Za-z0-9_-]{1,64}$/.test(name) ? undefined : "expected a name of 1 to 64 letters, digits, _ and -",
    { toJsonSchema: () => ({ pattern: "^[A-Za-z0-9_-]{1,64}$" }) }
  )
)

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
  ),
  end_user: Schema.optionalKey(
    Schema.Literals(["hashed", "plain"]).annotate({
      description: "plain: requests keep the user that the body names as it is; a digest of it unless set."
    })
  ),
  usage_metadata: Schema.optionalKey(
    Schema.Array(metadataName).check(Schema.isMaxLength(8)).annotate({
      description: "Names of metadata by which usage is summed, such as team: at most 8, each with few values."
    })
  )
})

const messages = Schema.Struct({
  other_models: Schema.optionalKey(
    Schema.Literals(otherModelsRules).annotate({
      description: "translate: POST /v1/messages serves models that are not Claude too; refuse unless set."
    })
  )
})

const responses = Schema.Struct({
  store: Schema.optionalKey(
    Schema.Literals(["on", "off"]).annotate({
      description: "off: no response is kept, whatever requests ask; kept where they ask unless set."
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

const network = Schema.Struct({
  proxy: Schema.optionalKey(
    nonEmptyText.annotate({
      description:
        "Address of the HTTP proxy to all other hosts, or off; HTTPS_PROXY and HTTP_PROXY of the environment unless set. Write ${NAME} where it holds a password."
    })
  ),
  no_proxy: Schema.optionalKey(
    nonEmptyTexts.annotate({
      description:
        "Hosts without the proxy, as in NO_PROXY, which it replaces: names with all below them, addresses, ranges such as 10.0.0.0/8, each perhaps with a port."
    })
  ),
  ca_file: Schema.optionalKey(
    nonEmptyText.annotate({
      description: "PEM file of further certificate authorities, relative to this file; those of Node stay."
    })
  )
})

const native = Schema.Struct({
  google: Schema.optionalKey(
    nonEmptyText.annotate({
      description: "Slug that serves paths of the Gemini API, where neither request nor config names one."
    })
  ),
  vertex: Schema.optionalKey(
    nonEmptyText.annotate({
      description: "Slug that serves paths of Vertex AI, where neither request nor config names one."
    })
  )
})

const slug = (models: string) =>
  Schema.optionalKey(
    nonEmptyText.annotate({ description: `Slug of the provider that serves ${models} without a slug in the model.` })
  )
const defaults = Schema.Struct({
  claude: slug("Claude"),
  gemini: slug("Gemini, embedding and image models"),
  openai: slug("models of other publishers")
})

const key = Schema.Struct({
  ...WrittenKey.fields,
  key: nonEmptyText.annotate({ description: "The gateway key's text; write ${NAME} and keep it out of the file." })
})

/**
 * The configuration file after the replacement of `${NAME}`. An unknown key is a fault: decode with
 * `onExcessProperty: "error"`.
 */
export const settingsFile = Schema.Struct({
  server: Schema.optionalKey(server),
  store: Schema.optionalKey(store),
  redis: Schema.optionalKey(redis),
  providers: Schema.optionalKey(Schema.Array(ProviderEntry)),
  keys: Schema.optionalKey(Schema.Array(key)),
  prompts: Schema.optionalKey(Schema.Array(PromptEntry)),
  configs: Schema.optionalKey(Schema.Record(Schema.String, WrittenConfig)),
  prices: Schema.optionalKey(
    Schema.Record(Schema.String, PriceEntry).annotate({
      description:
        "Prices by model id, or by slug/id for one account; they win over list prices. A list states prices that change on a day."
    })
  ),
  models: Schema.optionalKey(
    Schema.Record(Schema.String, ModelOverlay).annotate({
      description:
        "Facts about models, by id or by pattern with *; merged over the built-in ones. inherits names the model whose facts an id has."
    })
  ),
  models_file: Schema.optionalKey(
    nonEmptyText.annotate({ description: "A file of such facts, relative to this file; models wins over it." })
  ),
  heal: Schema.optionalKey(
    Schema.Literals(["on", "off"]).annotate({
      description: "off: a request that an upstream refuses for a known reason is not changed and sent again."
    })
  ),
  defaults: Schema.optionalKey(defaults),
  aliases: Schema.optionalKey(
    Schema.Record(Schema.String, nonEmptyText).annotate({
      description:
        'Names of models that clients may use, each with the model it stands for, as sonnet: "@vertex-ai/claude-sonnet-4-6".'
    })
  ),
  attribution: Schema.optionalKey(attributionSection),
  log: Schema.optionalKey(log),
  telemetry: Schema.optionalKey(telemetry),
  media: Schema.optionalKey(media),
  native: Schema.optionalKey(native),
  network: Schema.optionalKey(network),
  messages: Schema.optionalKey(messages),
  responses: Schema.optionalKey(responses),
  long_decode: Schema.optionalKey(
    Schema.Literals(["on", "off"]).annotate({
      description: "off: an answer that is longer than one request gives ends there, with finish_reason length."
    })
  ),
  limits: Schema.optionalKey(limitsSection)
})
export type SettingsFile = typeof settingsFile.Type
