// Writes the generated pages (errors, parameters, metrics, settings, map, architecture) and the settings' JSON Schema.
// Must not state a status, code or rule of its own.
import { writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import {
  BodyInvalid,
  BodyTooLarge,
  BudgetSpent,
  Busy,
  ConcurrencyReached,
  ContentTypeUnsupported,
  CredentialsInvalid,
  CredentialsMissing,
  type GatewayError,
  KeyInvalid,
  KeyMissing,
  MethodNotAllowed,
  ModelNotAllowed,
  ModelNotPriced,
  ObjectNotAllowed,
  ProviderMissing,
  RateLimitReached,
  RecordChanged,
  RecordInvalid,
  RecordRefused,
  RecordUnknown,
  RouteUnknown,
  StoreUnavailable,
  ScopeMissing,
  PageRefused,
  SessionRefused,
  type SingleError,
  SlugUnknown,
  Unexpected,
  UnsupportedOperation,
  UnsupportedParameter,
  UpgradeRequired
} from "../../src/domain/GatewayError.ts"
import { ProviderError, type Reason } from "../../src/domain/ProviderError.ts"
import { metrics, type MetricSpec, prometheusName } from "../../src/telemetry/metrics.ts"
import { errorFacts } from "../../src/api/errorFacts.ts"
import { claudeParams } from "../../src/translate/chat-to-claude/params.ts"
import { geminiParams } from "../../src/translate/chat-to-gemini/params.ts"
import { openAiParams } from "../../src/translate/chat-to-openai/params.ts"
import { predictChatParams as promptParams } from "../../src/translate/chat-to-predict/params.ts"
import { batchParams, embedContentParams } from "../../src/translate/embeddings-to-gemini.ts"
import { openAiEmbeddingsParams } from "../../src/translate/embeddings-to-openai.ts"
import { predictEmbeddingsParams } from "../../src/translate/embeddings-to-predict.ts"
import { geminiImageParams } from "../../src/translate/images-to-gemini.ts"
import { imagenParams } from "../../src/translate/images-to-imagen.ts"
import { settingsPage, settingsSchema } from "./settingsSchema.ts"
import { modelsPage } from "./modelsPage.ts"
import { structurePages } from "./structurePages.ts"
import type { ParamRule } from "../../src/translate/Translator.ts"

/** Samples of one error: what happened, and the error. One per code it can have. */
type Samples<E> = ReadonlyArray<readonly [happened: string, error: E]>

const text = { message: "" }
const spentBudget = { usd: 1, per: "day", estimateUsd: 0.1, leftUsd: 0, resets: "", retryMillis: 1 } as const

const own: Record<Exclude<SingleError["_tag"], "ProviderError">, Samples<GatewayError>> = {
  KeyMissing: [["No gateway key was sent", new KeyMissing()]],
  KeyInvalid: [["The gateway key is wrong", new KeyInvalid()]],
  SessionRefused: [
    ["A sign-in to the console fails", new SessionRefused({ reason: "credential" })],
    ["Too many sign-ins of an address failed", new SessionRefused({ reason: "attempts", retryMillis: 1 })],
    ["The console is used under an unknown host name", new SessionRefused({ reason: "host" })],
    ["A page of another origin uses a console session", new SessionRefused({ reason: "origin" })],
    ["A change by a console session lacks x-gateway-console", new SessionRefused({ reason: "header" })]
  ],
  PageRefused: [
    ["A page under an unknown host name, or of another origin, reads the metrics", new PageRefused({ reason: "host" })]
  ],
  ScopeMissing: [["The key is not for this route", new ScopeMissing({ scope: "admin" })]],
  ModelNotAllowed: [["The key may not use this provider or model", new ModelNotAllowed(text)]],
  ModelNotPriced: [
    ["The key has a budget, and what the model costs is not known", new ModelNotPriced({ slug: "", modelId: "" })]
  ],
  ObjectNotAllowed: [
    [
      "The account lets no request read this object under its stored credential",
      new ObjectNotAllowed({ ...text, code: "object_not_allowed" })
    ],
    [
      "The account lets no request store pictures there under its stored credential",
      new ObjectNotAllowed({ ...text, code: "storage_not_allowed" })
    ]
  ],
  CredentialsMissing: [["Neither the request nor the slug has a provider credential", new CredentialsMissing(text)]],
  CredentialsInvalid: [["The Authorization header cannot be a provider credential", new CredentialsInvalid(text)]],
  ProviderMissing: [["No provider was named and there is more than one", new ProviderMissing({ known: [] })]],
  SlugUnknown: [["The slug is not in the catalog", new SlugUnknown({ slug: "", param: "model", known: [] })]],
  RecordUnknown: [
    ["The model is not on offer", new RecordUnknown({ kind: "model", id: "" })],
    ["There is no such prompt, or no such version of it", new RecordUnknown({ kind: "prompt", id: "" })],
    ["There is no config of this id", new RecordUnknown({ kind: "config", id: "" })],
    ["The key has no kept response of this id", new RecordUnknown({ kind: "response", id: "" })]
  ],
  RecordInvalid: [
    ["What an operator writes is wrong; `errors` of the problem names the places", new RecordInvalid({ faults: [] })]
  ],
  RecordRefused: [
    ["The id is taken", new RecordRefused({ ...text, code: "already_exists" })],
    [
      "The credential of a config would be sent to another host by the change",
      new RecordRefused({ ...text, code: "credentials_would_move" })
    ],
    [
      "The entry is declared in the configuration, and read-only here",
      new RecordRefused({ ...text, code: "declared_in_configuration" })
    ],
    ["Other entries would stop working by the change", new RecordRefused({ ...text, code: "in_use" })],
    ["The key is revoked, and changes no more", new RecordRefused({ ...text, code: "key_revoked" })],
    ["It is the last key with the scope `admin`", new RecordRefused({ ...text, code: "last_admin_key" })],
    ["What is stored of the entry cannot be read", new RecordRefused({ ...text, code: "record_unreadable" })],
    [
      "Several keys sent the `x-request-id` that is looked up",
      new RecordRefused({ ...text, code: "request_id_ambiguous" })
    ]
  ],
  RecordChanged: [["The entry has changed since the version in `If-Match`", new RecordChanged({ version: 1 })]],
  ContentTypeUnsupported: [
    ["The body is not `application/json`", new ContentTypeUnsupported({ ...text, code: "unsupported_content_type" })],
    ["The body is not UTF-8 by its header", new ContentTypeUnsupported({ ...text, code: "unsupported_charset" })],
    ["The body is compressed", new ContentTypeUnsupported({ ...text, code: "unsupported_content_encoding" })]
  ],
  BodyTooLarge: [["The body is over the limit", new BodyTooLarge({ limitBytes: 0, param: null })]],
  BodyInvalid: [
    ["The body is no JSON", new BodyInvalid({ ...text, code: "invalid_json", param: null })],
    [
      "A prompt lacks a variable, or one is no string",
      new BodyInvalid({ ...text, code: "missing_variable", param: "(`variables.` and its name)" })
    ],
    [
      "Media by address at a model that reads none, while `media.fetch` is off",
      new BodyInvalid({ ...text, code: "invalid_media_url", param: "(path)" })
    ],
    [
      "Media by address could not be fetched; the message has the reason",
      new BodyInvalid({ ...text, code: "media_fetch_failed", param: "(path)" })
    ],
    [
      "A value in the body is wrong; `param` names it",
      new BodyInvalid({ ...text, code: "invalid_value", param: "(path)" })
    ]
  ],
  UnsupportedParameter: [
    [
      "A parameter has no equivalent and the client asked for refusal",
      new UnsupportedParameter({ ...text, param: "(name)" })
    ]
  ],
  UnsupportedOperation: [["The model's family has no such operation here", new UnsupportedOperation(text)]],
  RouteUnknown: [["The URL does not exist", new RouteUnknown({ method: "GET", path: "/" })]],
  MethodNotAllowed: [["The URL takes another method", new MethodNotAllowed({ method: "GET", allow: ["POST"] })]],
  UpgradeRequired: [["A WebSocket was asked for", new UpgradeRequired()]],
  Busy: [
    ["Too many requests are in flight", new Busy({ code: "overloaded", retryAfterMillis: 1 })],
    ["The service is shutting down", new Busy({ code: "server_shutting_down", retryAfterMillis: 1 })]
  ],
  ConcurrencyReached: [
    [
      "The running requests of the key are as many, or hold as much memory, as they may",
      new ConcurrencyReached({ resource: "requests", limit: 1 })
    ]
  ],
  RateLimitReached: [
    [
      "The key has reached its limit of requests or tokens a minute",
      new RateLimitReached({ kind: "requests", limit: 1, retryMillis: 1, requests: undefined, tokens: undefined })
    ]
  ],
  BudgetSpent: [
    ["The key has spent its budget", new BudgetSpent({ ...spentBudget, isReserved: false })],
    [
      "What is left of the key's budget is set aside for requests that are running",
      new BudgetSpent({ ...spentBudget, isReserved: true })
    ]
  ],
  StoreUnavailable: [
    [
      "The store cannot be reached and this process does not know the answer",
      new StoreUnavailable({ reason: "unreachable" })
    ],
    ["The store takes no more writes", new StoreUnavailable({ reason: "full" })]
  ],
  Unexpected: [["A defect of the gateway itself", new Unexpected()]]
}

const reasons: Record<Reason["_tag"], Samples<Reason>> = {
  InvalidRequest: [
    [
      "The provider found the request invalid; where it sent a code in words, that is the code",
      { ...text, _tag: "InvalidRequest" }
    ],
    [
      "The provider asks for a precondition, e.g. billing",
      { ...text, _tag: "InvalidRequest", code: "upstream_failed_precondition" }
    ],
    ["The provider refused the content", { ...text, _tag: "InvalidRequest", code: "content_policy_violation" }],
    ["The model cannot do this", { ...text, _tag: "InvalidRequest", code: "unsupported_operation" }]
  ],
  ToolMixRejected: [["Grounding and function tools in one request", { ...text, _tag: "ToolMixRejected" }]],
  SignatureRejected: [["A thought signature is missing or foreign", { ...text, _tag: "SignatureRejected" }]],
  ContextTooLong: [["The prompt is longer than the model's context", { ...text, _tag: "ContextTooLong" }]],
  PayloadTooLarge: [["The request is over the provider's own size limit", { ...text, _tag: "PayloadTooLarge" }]],
  CredentialsRejected: [
    ["The credential in the request was refused", { ...text, _tag: "CredentialsRejected", origin: "caller" }],
    ["The stored credential was refused", { ...text, _tag: "CredentialsRejected", origin: "stored" }]
  ],
  PermissionDenied: [
    ["The account lacks a permission", { ...text, _tag: "PermissionDenied" }],
    [
      "The account lacks `aiplatform.endpoints.predict`",
      { ...text, _tag: "PermissionDenied", permission: "aiplatform.endpoints.predict" }
    ],
    [
      "The model needs data retention, and the organisation has none",
      { ...text, _tag: "PermissionDenied", code: "model_not_permitted" }
    ]
  ],
  ModelNotFound: [["The provider has no such model", { ...text, _tag: "ModelNotFound" }]],
  RateLimited: [["The provider's rate limit", { ...text, _tag: "RateLimited", retryAfterMillis: 1 }]],
  QuotaExhausted: [
    ["A quota that a short wait does not restore", { ...text, _tag: "QuotaExhausted" }],
    ["The provider's account is not paid", { ...text, _tag: "QuotaExhausted", isBilling: true }]
  ],
  Overloaded: [
    ["The provider is unavailable", { ...text, _tag: "Overloaded", code: "upstream_unavailable" }],
    ["The provider has no capacity", { ...text, _tag: "Overloaded", code: "upstream_overloaded" }]
  ],
  Internal: [["The provider failed inside", { ...text, _tag: "Internal", status: 500 }]],
  Timeout: [["The provider took too long", { ...text, _tag: "Timeout", phase: "idle" }]],
  Transport: [
    ["The provider cannot be reached", { ...text, _tag: "Transport", kind: "refused" }],
    ["The provider's certificate is not trusted", { ...text, _tag: "Transport", kind: "tls" }]
  ],
  CircuitOpen: [
    [
      "The circuit of the target is open: it failed too often of late to be called",
      { ...text, _tag: "CircuitOpen", retryAfterMillis: 1 }
    ]
  ],
  NoRoom: [
    ["The running requests of the key hold more memory than its share", { ...text, _tag: "NoRoom", shortage: "key" }],
    ["The gateway has no memory left for the call", { ...text, _tag: "NoRoom", shortage: "all" }]
  ],
  BadReply: [
    ["The provider's answer cannot be read", { ...text, _tag: "BadReply", kind: "unreadable" }],
    ["The provider's answer is too large or a redirect", { ...text, _tag: "BadReply", kind: "too_large" }],
    ["The provider's stream ended early", { ...text, _tag: "BadReply", kind: "truncated" }]
  ]
}

const row = (...cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`
const code = (value: string): string => `\`${value}\``

const errorRow = ([happened, error]: readonly [string, GatewayError]): string => {
  const facts = errorFacts(error)
  return row(
    happened,
    String(facts.status),
    code(facts.type),
    code(facts.code),
    facts.param === null || facts.param === ""
      ? ""
      : facts.param.startsWith("(")
        ? facts.param.slice(1, -1)
        : code(facts.param),
    Object.keys(facts.headers).map(code).join(", ")
  )
}

const errorHead = [
  row("what happened", "status", "type", "code", "param", "headers"),
  row("---", "---", "---", "---", "---", "---")
]

const errorsPage = (): string => {
  const ours = Object.values(own).flat().map(errorRow)
  const theirs = Object.values(reasons)
    .flat()
    .map(([happened, reason]) => errorRow([happened, new ProviderError({ slug: "", reason })]))
  return [
    "# Errors",
    "",
    "Generated by `npm run docs`. Do not edit.",
    "",
    'The body is always `{"error":{"message","type","param","code"}}`. The message states what is wrong, where, and what to do.',
    "When strict schema compliance is off, `provider`, `upstream_status` and, where an upstream named a quota, `details.quota_id` may join inside `error`.",
    "Where a config has several targets and none answers, the error is that of the last one that was tried.",
    'After the first byte of a stream an error is one `data: {"error":{...}}` frame, and no `[DONE]` follows.',
    "Every error that the same request meets again has `x-should-retry: false`. On Google's routes a spent budget is 429 with a `QuotaFailure` of a day, because Google has no 402.",
    "",
    "## Found by the gateway",
    "",
    ...errorHead,
    ...ours,
    "",
    "## Reported by the provider",
    "",
    ...errorHead,
    ...theirs,
    ""
  ].join("\n")
}

type Rules = Readonly<Record<string, ParamRule>>

const ruleCell = (rule: ParamRule | undefined): string => {
  switch (rule?.kind) {
    case "mapped":
      return rule.to.replaceAll("|", "\\|")
    case "ignored":
      return `left out and named: ${rule.why}`
    case "silent":
      return `left out: ${rule.why}`
    case undefined:
      return ""
  }
}

/** One row per parameter, one column per upstream; the first column's order holds. */
const rulesTable = (columns: ReadonlyArray<readonly [title: string, rules: Rules]>): ReadonlyArray<string> => [
  row("parameter", ...columns.map(([title]) => title)),
  row("---", ...columns.map(() => "---")),
  ...Object.keys(columns[0]?.[1] ?? {}).map((name) =>
    row(code(name), ...columns.map(([, rules]) => ruleCell(rules[name])))
  )
]

const parametersPage = (): string =>
  [
    "# Parameters",
    "",
    "Generated by `npm run docs`. Do not edit.",
    "",
    "What becomes of each known parameter, by the kind of model. A cell has the parameter's target, or the reason why it has none.",
    'A parameter that is "left out and named" appears in the response header `x-gateway-ignored-params`.',
    "`x-gateway-adjusted-params` names each parameter that is sent with another value, as `reasoning_effort=xhigh>high`.",
    "`x-gateway-unsupported-params: reject` refuses both with 400 `unsupported_parameter`.",
    "So does an unknown one, except where the upstream speaks OpenAI's own dialect: there it goes up as it is.",
    "Send `x-gateway-unsupported-params: reject` to have the request refused instead.",
    "",
    "## Chat completions",
    "",
    "Counting tokens (`POST /v1/chat/completions/count_tokens`) takes the same body.",
    "",
    ...rulesTable([
      ["Gemini, on either provider", geminiParams],
      ["Claude", claudeParams],
      ["Llama and other publishers; endpoints of dialect openai", openAiParams],
      ["endpoints of dialect predict", promptParams]
    ]),
    "",
    "## Embeddings",
    "",
    ...rulesTable([
      ["Gemini API", batchParams],
      ["Vertex AI, gemini-embedding-2 and later", embedContentParams],
      ["Vertex AI, older models; endpoints of dialect predict", predictEmbeddingsParams],
      ["endpoints of dialect openai", openAiEmbeddingsParams]
    ]),
    "",
    "## Image generation",
    "",
    "Names with `_` are read in camelCase as well.",
    "",
    ...rulesTable([
      ["Imagen", imagenParams],
      ["Gemini image models", geminiImageParams]
    ]),
    ""
  ].join("\n")

const metricsPage = (): string =>
  [
    "# Metrics",
    "",
    "Generated by `npm run docs`. Do not edit.",
    "",
    "The series of `GET /metrics`, under Prometheus' names. OpenTelemetry's names have dots and no unit. How to scrape them: [observability](observability.md#metrics).",
    "",
    row("metric", "kind", "labels", "meaning"),
    row("---", "---", "---", "---"),
    ...Object.values<MetricSpec>(metrics).map(({ description, kind, labels, name }) =>
      row(code(prometheusName(name).replaceAll(".", "_")), kind, labels.map(code).join(", "), description.slice(0, -1))
    ),
    ""
  ].join("\n")

/** Every generated page: path from the root of the repository, and its text. */
export const generatedPages = (): ReadonlyArray<{ readonly path: string; readonly text: string }> => [
  { path: "docs/errors.md", text: errorsPage() },
  { path: "docs/parameters.md", text: parametersPage() },
  { path: "docs/metrics.md", text: metricsPage() },
  { path: "docs/settings.md", text: settingsPage() },
  { path: "docs/models.md", text: modelsPage() },
  ...structurePages(),
  { path: "deploy/gateway.schema.json", text: `${JSON.stringify(settingsSchema, null, 2)}\n` }
]

const thisFile = fileURLToPath(import.meta.url)
if (process.argv[1] === thisFile) {
  for (const page of generatedPages()) writeFileSync(join(dirname(thisFile), "..", "..", page.path), page.text)
}
