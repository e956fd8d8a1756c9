// The section of the settings' page that lists every environment variable, with what it is for and what it yields to.
// Must not read a variable.
import { variableOf } from "../../src/cli/settings/environment.ts"
import { postgresVariables } from "../../src/domain/settings/storeLocation.ts"
import { defaultLimits } from "../../src/domain/Limits.ts"

type Row = readonly [name: string, meaning: string, precedence: string]

const gap = "fills a gap"
const overFile = "over the file"
const sdk = "the only source"

/** Variables that are no key of the file under another name. */
const others: ReadonlyArray<Row> = [
  ["GATEWAY_CONFIG", "path of the configuration file", "after `--config`, before the working directory"],
  ["GATEWAY_DATA_DIR", "folder of the store and of its master key", "before `./data` and the folder of the user"],
  ["GATEWAY_API_KEY", "a gateway key that may call models", "next to the keys of the file"],
  ["GATEWAY_ADMIN_KEY", "a gateway key for the admin API", "next to the keys of the file"],
  ["GATEWAY_SECRET_KEY", "master keys of the store in base64, separated by commas", "before the file `secret.key`"],
  ["GATEWAY_VERTEX_BASE_URL", "`base_url` of `@vertex-ai`", overFile],
  ["GATEWAY_GEMINI_BASE_URL", "`base_url` of `@google`", overFile],
  ["GATEWAY_TOKEN_URL", "`token_url` of `@vertex-ai`", overFile],
  ["PORT", "`server.port`, as platforms set it", "over the file, after `GATEWAY_SERVER_PORT`"],
  ["DATABASE_URL", "`store.url`, where it starts with `postgres`", "over the file, after `GATEWAY_STORE_URL`"],
  ...Object.entries(postgresVariables).map(([name, part]): Row => [
    name,
    `\`${part}\` of a PostgreSQL address`,
    "fills a gap of `store.url`"
  ]),
  ["REDIS_URL", "`redis.url`", "over the file, after `GATEWAY_REDIS_URL`"],
  ["GEMINI_API_KEY", "API key of `@google`", gap],
  ["GOOGLE_API_KEY", "the same", "after `GEMINI_API_KEY`"],
  ["GOOGLE_CLOUD_PROJECT", "`project_id` of `@vertex-ai`", gap],
  ["GOOGLE_CLOUD_LOCATION", "`region` of `@vertex-ai`", gap],
  ["GCE_METADATA_HOST", "host of the metadata server", "before `metadata.google.internal`"],
  [
    "GOOGLE_APPLICATION_CREDENTIALS",
    "a credential file of any of Google's types: of `@vertex-ai`, and of each account with `application_default`",
    `${gap}; before the login of gcloud`
  ],
  [
    "CLOUDSDK_API_ENDPOINT_OVERRIDES_SECRETMANAGER",
    "another address of Secret Manager, such as a private endpoint",
    "the only source"
  ],
  ["CLOUDSDK_CONFIG", "folder of gcloud, with its login", "before `~/.config/gcloud`"],
  ["XDG_CONFIG_HOME", "folder with `model-gateway/gateway.yaml`", "before `~/.config`"],
  ["XDG_DATA_HOME", "folder for `model-gateway`, on Linux", "before `~/.local/share`"],
  ["LOCALAPPDATA", "the same on Windows", "before `AppData\\Local`"],
  ["HTTPS_PROXY", "proxy to other hosts; also in lower case, which wins", "fills a gap of `network.proxy`"],
  ["HTTP_PROXY", "the same for addresses of http", "fills a gap of `network.proxy`"],
  ["ALL_PROXY", "the same for both", "after the two above"],
  ["NO_PROXY", "hosts that are reached without it", "fills a gap of `network.no_proxy`"],
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "address of a collector: traces and metrics are exported", sdk],
  ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "the same for traces", "before the one above"],
  ["OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "the same for metrics", "before the one above"],
  ["OTEL_EXPORTER_OTLP_PROTOCOL", "`http/json`, which is all that is spoken", sdk],
  ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "the same for traces", sdk],
  ["OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "the same for metrics", sdk],
  ["OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "`delta` for changes instead of sums", sdk],
  ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "`true`: spans hold messages", sdk],
  ["OTEL_METRIC_EXPORT_INTERVAL", "milliseconds between two exports of metrics", sdk],
  ["OTEL_METRICS_EXPORTER", "`none`: no metrics are exported", sdk],
  ["OTEL_TRACES_EXPORTER", "`none`: no traces are exported", sdk],
  ["OTEL_RESOURCE_ATTRIBUTES", "attributes of the service", sdk],
  ["OTEL_SERVICE_NAME", "name of the service", "before `OTEL_RESOURCE_ATTRIBUTES`"],
  ["OTEL_SDK_DISABLED", "`true`: nothing is exported", sdk]
]

const limitVariables: ReadonlySet<string> = new Set(
  Object.keys(defaultLimits).map((name) => variableOf("limits", name))
)

/** The variables of single keys of the file; `limits` has one row for all. */
const ofKeys = (read: ReadonlySet<string>): ReadonlyArray<Row> =>
  [...read]
    .filter(
      (name) => /^GATEWAY_[A-Z]+_/.test(name) && !limitVariables.has(name) && !others.some(([other]) => other === name)
    )
    .sort()
    .map((name) => {
      const [, section = "", key = ""] = /^GATEWAY_([A-Z]+)_(.*)$/.exec(name) ?? []
      return [name, `\`${section.toLowerCase()}.${key.toLowerCase()}\``, overFile]
    })

/** The names of the page, those of `limits` included. */
export const listedVariables = (read: ReadonlySet<string>): ReadonlySet<string> =>
  new Set(
    [...others, ...ofKeys(read)]
      .flatMap(([name]) => (name.endsWith("_PROXY") ? [name, name.toLowerCase()] : [name]))
      .concat(...limitVariables)
  )

export const environmentPage = (read: ReadonlySet<string>): ReadonlyArray<string> => [
  "## Environment variables",
  "",
  "A flag wins over a variable. The last column has what else a variable wins over, or yields to. An empty variable counts as unset.",
  "Where a variable with a secret or any `${NAME}` of the file is not set, `NAME_FILE` is the path of a file that holds it. `NO_COLOR` turns colours off.",
  "",
  "Those that fill a gap belong to `@google` and `@vertex-ai`: where the file declares that slug without the field, or no account of its kind. Next to an account of the kind under another slug they do nothing.",
  "",
  "| variable | meaning | precedence |",
  "| --- | --- | --- |",
  ...[
    ...ofKeys(read),
    ["GATEWAY_LIMITS_*", "each key of `limits`: `GATEWAY_LIMITS_BODY_BYTES` is `limits.bodyBytes`", overFile] as const,
    ...others
  ].map(([name, meaning, precedence]) => `| \`${name}\` | ${meaning} | ${precedence} |`),
  ""
]
