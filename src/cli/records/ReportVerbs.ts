// The verbs `usage` and `requests`: their flags and help texts.
// Must not import the implementation of a verb; it is loaded when one is called.
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { commonFlags, optional } from "./RecordVerbs.ts"

const usageFlag = (name: string, description: string) => optional(Flag.String(name), description)

const usageMetadata = Flag.KeyValuePair("metadata").pipe(
  Flag.withDescription("name=value: only requests with it; telemetry.usage_metadata has the names"),
  Flag.optional,
  Flag.map(
    Option.match({
      onNone: (): Record<string, string> => ({}),
      onSome: (named) => Object.fromEntries(Object.entries(named).map(([name, value]) => [`metadata.${name}`, value]))
    })
  )
)

const usage = Command.make(
  "usage",
  {
    ...commonFlags,
    csv: Flag.Boolean("csv").pipe(Flag.withDescription("Print CSV"), Flag.withDefault(false)),
    by: usageFlag(
      "by",
      "Any of day, key, provider, model, config, client, metadata.NAME, joined by commas (default day)"
    ),
    from: usageFlag("from", "First day, as 2027-01-31; with --bucket a moment of RFC 3339"),
    to: usageFlag("to", "Last day; with --bucket the moment before which buckets begin"),
    bucket: usageFlag("bucket", "minute, hour or day: usage over time, by none or one of key, provider, model, status"),
    key: usageFlag("key", "Only requests of the key with this id"),
    provider: usageFlag("provider", "Only requests of this account"),
    model: usageFlag("model", "Only requests of this model"),
    useConfig: usageFlag("use-config", "Only requests of this config; inline for configs of requests"),
    client: usageFlag("client", "Only requests of this program, by its user-agent"),
    metadata: usageMetadata
  },
  ({ bucket, by, client, from, key, metadata, model, provider, to, useConfig, ...given }) =>
    Effect.flatMap(
      Effect.promise(() => import("./Reports.ts")),
      (verb) =>
        verb.printUsage({
          ...given,
          fields: {
            bucket,
            group_by: by,
            from,
            to,
            key,
            provider,
            model,
            config: useConfig,
            client,
            ...metadata
          }
        })
    )
).pipe(
  Command.withDescription("What requests used and cost, summed from the store"),
  Command.withExamples([
    { command: "model-gateway usage --by key,model --from 2027-01-01 --to 2027-01-31", description: "Who spent what" },
    { command: "model-gateway usage --by day,provider --csv > usage.csv", description: "For a spreadsheet" }
  ])
)

const deletion = Command.make(
  "delete",
  {
    ...commonFlags,
    user: usageFlag("user", "Requests whose body names this user"),
    key: usageFlag("key", "Requests of the key with this id"),
    before: usageFlag("before", "Requests that ended before this moment, as 2027-01-31T12:00:00Z")
  },
  ({ config, json, ...fields }) =>
    Effect.flatMap(
      Effect.promise(() => import("./Reports.ts")),
      (verb) => verb.printDeletion({ config, json, fields })
    )
).pipe(
  Command.withDescription("Delete requests from the store with their content; all flags that are set must hold"),
  Command.withExamples([{ command: "model-gateway requests delete --user alice", description: "Of one person" }])
)

const requests = Command.make(
  "requests",
  {
    ...commonFlags,
    key: usageFlag("key", "Only requests of the key with this id"),
    user: usageFlag("user", "Only requests whose body names this user"),
    provider: usageFlag("provider", "Only requests that this account answered"),
    model: usageFlag("model", "Only requests that this model answered"),
    status: usageFlag("status", "Only requests with this status, as 429"),
    error: usageFlag("error", "Only requests with this error code"),
    route: usageFlag("route", "Only requests of this route, as /v1/chat/completions"),
    client: usageFlag("client", "Only requests of this program, by its user-agent"),
    useConfig: usageFlag("use-config", "Only requests of this config; inline for configs of requests"),
    requestId: usageFlag("request-id", "Only the request with this id"),
    metadata: usageMetadata,
    since: usageFlag("since", "Only requests that ended at this moment or later, as 2027-01-31T12:00:00Z"),
    until: usageFlag("until", "Only requests that ended before this moment"),
    limit: usageFlag("limit", "Most requests to list: 1 to 1000 (default 20)")
  },
  ({ config, json, metadata, requestId, useConfig, ...named }) =>
    Effect.flatMap(
      Effect.promise(() => import("./Reports.ts")),
      (verb) =>
        verb.printRequests({
          config,
          json,
          fields: {
            ...metadata,
            ...Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined)),
            ...(useConfig === undefined ? {} : { config: useConfig }),
            ...(requestId === undefined ? {} : { request_id: requestId })
          }
        })
    )
).pipe(
  Command.withSubcommands([deletion]),
  Command.withDescription("The newest requests of the store, the last one first"),
  Command.withExamples([
    { command: "model-gateway requests --status 429 --since 2027-01-31T00:00:00Z" },
    { command: "model-gateway requests --limit 1 --json", description: "The last one, with each of its calls" }
  ])
)

export const reportVerbs = [usage, requests] as const
