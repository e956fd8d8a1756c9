// Routes of the admin API (/admin/v1) as declarations for the OpenAPI document and typed clients.
// It must not know handlers; a test compares their paths, methods and answers with these declarations.
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import {
  AdminClient,
  AdminMetric,
  AdminModelFacts,
  AdminProblem,
  AdminRequest,
  AdminRequestContent,
  AdminRequestEvent,
  AdminUsage,
  Change,
  Config,
  Key,
  pageSchema,
  Prompt,
  Provider,
  ProviderCheck,
  WrittenConfigBody,
  WrittenKeyBody,
  WrittenPrompt,
  WrittenProvider
} from "./AdminResources.ts"
import { AdminSettings, ConfigCheck, ConfigCheckBody, ProviderModel } from "./AdminReports.ts"
import { about, arrivalFields, DryRun, gatewayAnswer, GatewayAuth, openObject, retryFields } from "./contractParts.ts"

const opt = Schema.optionalKey

const problem = (status: number) =>
  HttpApiSchema.status(status)(
    HttpApiSchema.WithHeaders(AdminProblem, status === 503 ? { ...arrivalFields, ...retryFields } : arrivalFields).pipe(
      HttpApiSchema.asJson({ contentType: "application/problem+json" })
    )
  )

const ofAsking = [400, 401, 500, 503].map(problem)
const ofReading = [401, 404, 409, 500, 503].map(problem)
const ofMaking = [400, 401, 409, 413, 415, 500, 503, 507].map(problem)
const ofChanging = [400, 401, 404, 409, 412, 413, 415, 500, 503, 507].map(problem)
const ofTaking = [401, 404, 409, 412, 500, 503, 507].map(problem)

const page = {
  limit: opt(Schema.String.annotate({ description: "How many at most: 1 to 1000, 100 by default." })),
  cursor: opt(Schema.String.annotate({ description: "next_cursor of the page before." }))
}
const ifMatch = {
  "if-match": opt(
    Schema.String.annotate({ description: "The ETag the change is made from; 412 where the entry has another by now." })
  )
}
const tagged = {
  ...arrivalFields,
  etag: opt(
    Schema.String.annotate({ description: "What If-Match takes; none for what is declared in the configuration." })
  )
}
const withTag = <S extends Schema.Top>(schema: S) => HttpApiSchema.WithHeaders(schema, tagged)
const made = <S extends Schema.Top>(schema: S) =>
  HttpApiSchema.status(201)(
    HttpApiSchema.WithHeaders(schema, {
      ...tagged,
      location: Schema.String.annotate({ description: "The path of the new entry." })
    })
  )
const none = HttpApiSchema.NoContent

const idOf = (description: string) => ({ id: Schema.String.annotate({ description }) })

/** The five routes of one kind of resource; `words` name one entry and the list. */
const kind = <
  const Name extends string,
  const Path extends `/admin/v1/${string}`,
  S extends Schema.Top,
  W extends Schema.Top
>(
  name: Name,
  path: Path,
  {
    id,
    listName,
    removes,
    shown,
    words: [single, several],
    written
  }: {
    readonly shown: S
    readonly listName: string
    readonly written: W
    readonly words: readonly [string, string]
    readonly id: string
    readonly removes?: string
  }
) =>
  HttpApiGroup.make(name)
    .add(
      HttpApiEndpoint.get("list", path, {
        query: page,
        success: gatewayAnswer(pageSchema(shown, listName)),
        error: ofAsking
      }).annotateMerge(about(several)),
      HttpApiEndpoint.post("create", path, { payload: written, success: made(shown), error: ofMaking }).annotateMerge(
        about(`Make ${single}`)
      ),
      HttpApiEndpoint.get("retrieve", `${path}/:id`, {
        params: idOf(id),
        success: withTag(shown),
        error: ofReading
      }).annotateMerge(about("One of them")),
      HttpApiEndpoint.put("update", `${path}/:id`, {
        params: idOf(id),
        headers: ifMatch,
        payload: written,
        success: withTag(shown),
        error: ofChanging
      }).annotateMerge(
        about(
          `Change ${single}`,
          "What was read can be sent back. What is left out is no more; a credential that is left out stays."
        )
      ),
      HttpApiEndpoint.delete("remove", `${path}/:id`, {
        params: idOf(id),
        headers: ifMatch,
        success: none,
        error: ofTaking
      }).annotateMerge(about(removes ?? `Remove ${single}`))
    )
    .middleware(GatewayAuth)

export class AdminProviders extends kind("adminProviders", "/admin/v1/providers", {
  shown: Provider,
  listName: "AdminProviderList",
  written: WrittenProvider,
  words: ["a provider", "Accounts of providers, by slug"],
  id: "The slug."
})
  .add(
    HttpApiEndpoint.post("test", "/admin/v1/providers/:id/test", {
      params: idOf("The slug."),
      success: gatewayAnswer(ProviderCheck),
      error: [401, 404, 500, 503].map(problem)
    }).annotateMerge(
      about("Reach a provider", "Counts the tokens of a word, which is free, and reports what is wrong and what to do.")
    )
  )
  .add(
    HttpApiEndpoint.get("models", "/admin/v1/providers/:id/models", {
      params: idOf("The slug."),
      success: gatewayAnswer(pageSchema(ProviderModel, "AdminProviderModelList")),
      error: [401, 404, 500, 503].map(problem)
    }).annotateMerge(about("The models of a provider", "By the facts: where each is served, and whether it ends."))
  )
  .middleware(GatewayAuth)
  .annotateMerge(OpenApi.annotations({ title: "Admin: providers" })) {}

export class AdminKeys extends kind("adminKeys", "/admin/v1/keys", {
  shown: Key,
  listName: "AdminKeyList",
  written: WrittenKeyBody,
  words: ["a gateway key", "Gateway keys"],
  id: "The key's id, which is not its text.",
  removes: "Revoke a gateway key"
})
  .add(
    HttpApiEndpoint.post("rotate", "/admin/v1/keys/:id/rotate", {
      params: idOf("The key's id."),
      headers: ifMatch,
      query: {
        grace_seconds: opt(
          Schema.String.annotate({
            description: "How long the old text is taken as well: 1 to 2592000 (30 days); not at all unless set."
          })
        )
      },
      success: withTag(Key),
      error: [400, 401, 404, 409, 412, 500, 503, 507].map(problem)
    }).annotateMerge(
      about(
        "Give a key another text",
        "The old text is refused from then on, or after grace_seconds; the new one is in this answer, and never again."
      )
    )
  )
  .middleware(GatewayAuth)
  .annotateMerge(OpenApi.annotations({ title: "Admin: keys" })) {}

export class AdminConfigs extends kind("adminConfigs", "/admin/v1/configs", {
  shown: Config,
  listName: "AdminConfigList",
  written: WrittenConfigBody,
  words: ["a config", "Gateway configs"],
  id: "The config's id; to read also id@version."
})
  .add(
    HttpApiEndpoint.post("check", "/admin/v1/check", {
      payload: ConfigCheckBody,
      success: gatewayAnswer(ConfigCheck),
      error: [400, 401, 404, 413, 415, 500, 503].map(problem)
    }).annotateMerge(
      about(
        "Check a config, and try it with a request",
        "Nothing is saved or sent. With a request the answer has the share of each target, and why. Open circuits are not counted."
      )
    )
  )
  .middleware(GatewayAuth)
  .annotateMerge(OpenApi.annotations({ title: "Admin: configs" })) {}

export class AdminPrompts extends kind("adminPrompts", "/admin/v1/prompts", {
  shown: Prompt,
  listName: "AdminPromptList",
  written: WrittenPrompt,
  words: ["a prompt", "Prompts and partials, each in its newest version"],
  id: "The prompt's id; to read also id@version or id@label."
}).annotateMerge(OpenApi.annotations({ title: "Admin: prompts" })) {}

const filter = (description: string) => opt(Schema.String.annotate({ description }))

/** The filters of requests; metadata.NAME takes a name of telemetry.usage_metadata. */
const requestFilters = {
  status: filter("HTTP status."),
  provider: filter("Slug."),
  model: filter("Model id."),
  key: filter("Id of a gateway key."),
  user: filter("The user that the body of the request named."),
  route: filter("Path of the route, such as /v1/chat/completions."),
  client: filter("Program of the user-agent, without its version."),
  config: filter("Id of a config, or inline."),
  cache: filter("HIT, MISS, REFRESH or DISABLED."),
  error: filter("Error code."),
  request_id: filter("The x-request-id that clients sent."),
  trace_id: filter("Id of a trace."),
  min_duration_ms: filter("Only requests that took at least so many milliseconds."),
  min_cost_usd: filter("Only requests that cost at least so many US dollars."),
  since: filter("RFC 3339. Only requests that ended then or later."),
  until: filter("RFC 3339. Only requests that ended before.")
}

export const DeletedRequests = Schema.Struct({
  object: Schema.Literal("requests_deleted"),
  requests: Schema.Number,
  contents: Schema.Number
}).annotate({ identifier: "AdminRequestsDeleted" })
export interface DeletedRequests extends Schema.Schema.Type<typeof DeletedRequests> {}

export class AdminReports extends HttpApiGroup.make("adminReports")
  .add(
    HttpApiEndpoint.get("requests", "/admin/v1/requests", {
      query: { ...page, ...requestFilters },
      success: gatewayAnswer(pageSchema(AdminRequest, "AdminRequestList")),
      error: ofAsking
    }).annotateMerge(about("The latest requests, the newest first")),
    HttpApiEndpoint.delete("deleteRequests", "/admin/v1/requests", {
      query: {
        user: requestFilters.user,
        key: requestFilters.key,
        before: requestFilters.until
      },
      success: gatewayAnswer(DeletedRequests),
      error: ofAsking
    }).annotateMerge(
      about(
        "Delete requests with their content",
        "At least one of the fields is set, and all that are set hold. Sums of usage stay. The audit log gets an entry."
      )
    ),
    HttpApiEndpoint.get("requestEvents", "/admin/v1/requests/events", {
      query: { limit: page.limit, ...requestFilters },
      success: HttpApiSchema.StreamSse({ data: AdminRequestEvent }),
      error: ofAsking
    }).annotateMerge(
      about(
        "The requests as they end",
        "An event stream, without end, of events named requests. Each has the requests of the last half second, the newest first. A reader that is slow gets the newest limit of them, and skipped counts the rest, before filters. The stream ends with the key or the console session."
      )
    ),
    HttpApiEndpoint.get("request", "/admin/v1/requests/:id", {
      params: idOf("The request's id, or its x-request-id where one key alone sent it."),
      success: gatewayAnswer(AdminRequest),
      error: [401, 404, 409, 500, 503].map(problem)
    }).annotateMerge(about("One of them")),
    HttpApiEndpoint.get("content", "/admin/v1/requests/:id/content", {
      params: idOf("The request's own id."),
      success: gatewayAnswer(AdminRequestContent),
      error: [401, 404, 500, 503].map(problem)
    }).annotateMerge(
      about(
        "The captured bodies and answer of a request",
        "They are there where log.content or the key's log_content has them kept. Each read is in the audit log."
      )
    ),
    HttpApiEndpoint.get("usage", "/admin/v1/usage", {
      query: {
        bucket: filter("minute, hour or day: usage over time. Without it, sums of whole days."),
        from: filter("First day, as 2027-01-31. With bucket the moment of RFC 3339 from which on buckets begin."),
        to: filter("Last day. With bucket the moment before which buckets begin."),
        group_by: filter(
          "Any of day, key, provider, model, config, client and metadata.NAME, joined by commas; day by default. With bucket one of key, provider, model, status, error."
        ),
        top: filter(
          "requests, errors, tokens or cost: with bucket and group_by the values with the highest sums of the whole time, highest first, limit of them."
        ),
        key: filter("Only requests of the key with this id. This and the next take no bucket."),
        provider: filter("Slug."),
        model: filter("Model id."),
        config: filter("Id of a config, or inline."),
        client: filter("Program, by its user-agent."),
        limit: filter("How many groups at most: 1 to 1000, 1000 unless set."),
        cursor: page.cursor
      },
      success: gatewayAnswer(pageSchema(AdminUsage, "AdminUsageList")),
      error: ofAsking
    }).annotateMerge(
      about(
        "What all requests used, summed",
        "With Accept: text/csv the page is CSV, and the header link has the next one. Further filters are metadata.NAME, and further fields of a row, for the names in telemetry.usage_metadata."
      )
    ),
    HttpApiEndpoint.get("clients", "/admin/v1/clients", {
      success: gatewayAnswer(pageSchema(AdminClient, "AdminClientList")),
      error: [401, 500, 503].map(problem)
    }).annotateMerge(about("The lines that connect each client")),
    HttpApiEndpoint.get("metrics", "/admin/v1/metrics", {
      query: { name: filter("Names of metrics, joined by commas; all of them unless set.") },
      success: gatewayAnswer(pageSchema(AdminMetric, "AdminMetricList")),
      error: ofAsking
    }).annotateMerge(
      about("Counters and gauges", "Those of GET /metrics, of all processes together. Histograms are not among them.")
    ),
    HttpApiEndpoint.get("settings", "/admin/v1/settings", {
      success: gatewayAnswer(AdminSettings),
      error: [401, 500, 503].map(problem)
    }).annotateMerge(
      about(
        "Every setting and where it comes from",
        "Also the state of store, Redis and exporter, and the age of prices. Secrets are never shown. Providers, keys, configs and prompts have lists of their own."
      )
    ),
    HttpApiEndpoint.get("audit", "/admin/v1/audit", {
      query: page,
      success: gatewayAnswer(pageSchema(Change, "AdminAuditList")),
      error: ofAsking
    }).annotateMerge(about("Who changed what, the newest first")),
    HttpApiEndpoint.get("facts", "/admin/v1/models/facts", {
      query: { model: Schema.String.annotate({ description: "Model id, with or without a slug." }) },
      success: gatewayAnswer(AdminModelFacts),
      error: ofAsking
    }).annotateMerge(about("The facts in force about a model, the origin of each, and what was learned")),
    HttpApiEndpoint.post("dryRun", "/admin/v1/dry-runs", {
      query: {
        route: filter(
          "Route of the body: /v1/chat/completions (the default), /v1/messages, /v1/responses, /v1/embeddings, /v1/images/generations, or the path of a call to Google, such as /v1beta/models/gemini-3.8-flash:generateContent."
        ),
        key: filter("Id of the gateway key whose rules apply; without it those of the caller."),
        config: filter("Id of a config; without it that of the key."),
        provider: filter("Slug for a model that names no provider.")
      },
      payload: openObject.annotate({ description: "The body as a client would send it to the route." }),
      success: gatewayAnswer(DryRun),
      error: [400, 401, 404, 409, 413, 415, 422, 429, 500, 503].map(problem)
    }).annotateMerge(
      about("What an upstream would get of a body", "Nothing is sent, and nothing counts against the key.")
    ),
    HttpApiEndpoint.delete("forget", "/admin/v1/models/learned", {
      success: none,
      error: [401, 500, 503].map(problem)
    }).annotateMerge(
      about(
        "Forget the lessons of refusals",
        "Later requests are sent unchanged again, in every gateway on the same Redis."
      )
    )
  )
  .middleware(GatewayAuth)
  .annotateMerge(OpenApi.annotations({ title: "Admin: reports" })) {}

/** Requires a key with the scope `admin`. */
export class AdminApi extends HttpApi.make("model-gateway-admin").add(
  AdminProviders,
  AdminKeys,
  AdminConfigs,
  AdminPrompts,
  AdminReports
) {}
