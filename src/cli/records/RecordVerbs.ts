// `keys`, `providers`, `configs`, `prompts`: their verbs, flags and help.
// It must not know what a verb does: that is loaded when one is called.
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Json, JsonObject } from "../../domain/text/json.ts"
import type { Noun, Secrets } from "./RecordCommands.ts"

const optional = <A>(flag: Flag.Flag<A>, description: string) =>
  flag.pipe(Flag.withDescription(description), Flag.optional, Flag.map(Option.getOrUndefined))

/** A part of the written resource; empty when the flag is not given. */
type Part = JsonObject

const placed = (path: ReadonlyArray<string>, value: Json): Part =>
  path.toReversed().reduce<Json>((inner, name) => ({ [name]: inner }), value) as Part
const part = <A extends Json>(flag: Flag.Flag<A>, path: ReadonlyArray<string>, description: string) =>
  flag.pipe(
    Flag.withDescription(description),
    Flag.optional,
    Flag.map(Option.match({ onNone: (): Part => ({}), onSome: (value): Part => placed(path, value) }))
  )
const text = (name: string, description: string, ...path: ReadonlyArray<string>) =>
  part(Flag.String(name), path.length === 0 ? [name.replaceAll("-", "_")] : path, description)
const listed = (name: string, path: ReadonlyArray<string>, description: string) =>
  Flag.String(name).pipe(
    Flag.withDescription(`${description}; may be given several times`),
    Flag.atLeast(0),
    Flag.map((values): Part => (values.length === 0 ? {} : placed(path, values)))
  )
const texts = (name: string, field: string, description: string) => listed(name, [field], description)

const config = optional(
  Flag.String("config").pipe(Flag.withMetavar("gateway.yaml")),
  "Configuration file; it says where the store is"
)
const json = Flag.Boolean("json").pipe(Flag.withDescription("Print JSON"), Flag.withDefault(false))
const file = optional(
  Flag.String("file").pipe(Flag.withMetavar("x.yaml")),
  "YAML or JSON of the resource as the admin API has it; - reads stdin. Flags win over it"
)
const unset = Flag.String("unset").pipe(
  Flag.withDescription("Field to take away; may be given several times"),
  Flag.atLeast(0)
)
const common = { config, json }

const keyFlags = {
  name: text("name", "Name for people"),
  scopes: texts("scope", "scopes", "What it is for: inference (unless said) or admin"),
  providers: texts("provider", "providers", "Slug it may use; all unless said"),
  models: texts("model", "models", "Model id it may use, with a * at the end for any rest; all unless said"),
  configs: texts("allow-config", "configs", "Config it may name, whose targets it may then use; all unless said"),
  prompts: texts("allow-prompt", "prompts", "Prompt it may name, whose model it may then use; all unless said"),
  useConfig: text("use-config", "Config of requests that name none", "config"),
  expires: text("expires-at", "Moment from which it is refused, as 2027-01-31T12:00:00Z"),
  requests: part(Flag.Int("requests-per-minute"), ["rate_limit", "requests_per_minute"], "Most requests in a minute"),
  tokens: part(Flag.Int("tokens-per-minute"), ["rate_limit", "tokens_per_minute"], "Most tokens in a minute"),
  concurrency: part(
    Flag.Int("concurrency"),
    ["concurrency"],
    "Most requests that run at once, in each gateway process"
  ),
  dollars: part(Flag.Finite("budget-usd"), ["budget", "usd"], "US dollars it may spend"),
  period: part(Flag.Literals("budget-per", ["day", "month"]), ["budget", "per"], "Period of the budget"),
  metadata: Flag.KeyValuePair("metadata").pipe(
    Flag.withDescription("name=value that its requests carry"),
    Flag.optional,
    Flag.map(Option.match({ onNone: (): Part => ({}), onSome: (value): Part => ({ metadata: value }) }))
  ),
  metadataLocked: Flag.Boolean("metadata-locked").pipe(
    Flag.withDescription("Requests and configs cannot give that metadata other values"),
    Flag.withDefault(false),
    Flag.map((isGiven): Part => (isGiven ? { metadata_locked: true } : {}))
  )
}

const providerFlags = {
  provider: text("provider", "vertex-ai or google"),
  project: text("project-id", "Google Cloud project"),
  region: text("region", "Region, global, us or eu"),
  models: texts("model", "models", "Model id on offer, with a * at the end for any rest"),
  version: text("api-version", "v1 or v1beta1, for one"),
  quota: text("quota-project", "Project that is billed"),
  projects: texts("allow-project", "projects", "Further project that requests may name under its credential"),
  regions: texts("allow-region", "regions", "Further region that requests may name under its credential"),
  reads: listed(
    "gcs-read",
    ["gcs", "read"],
    "gs://bucket/path below which requests may read under its credential; any unless said"
  ),
  writes: listed(
    "gcs-write",
    ["gcs", "write"],
    "gs://bucket/path below which requests may store pictures under its credential; none unless said"
  ),
  base: text("base-url", "Replaces scheme and host of the provider"),
  token: text("token-url", "Replaces the token endpoint"),
  ambient: Flag.Boolean("application-default").pipe(
    Flag.withDescription("Use the credentials of this machine"),
    Flag.withDefault(false),
    Flag.map((isGiven): Part => (isGiven ? { credentials: { type: "application_default" } } : {}))
  )
}

/** A secret is never a word of the command line, where others on the machine could read it. */
const providerSecrets = {
  apiKeyFile: optional(Flag.String("api-key-file"), "File that holds the API key; - reads stdin"),
  apiKeyEnv: optional(Flag.String("api-key-env"), "Variable that holds the API key"),
  credentialsFile: optional(Flag.String("credentials-file"), "Key file of a service account; - reads stdin")
}

const configFlags = { name: text("name", "Name for people") }

const promptFlags = {
  name: text("name", "Title for people"),
  model: text("model", "Model of the chat; may carry @slug/"),
  text: text("text", "In place of messages: a partial that others put in by {{>id}}"),
  labels: Flag.KeyValuePair("label").pipe(
    Flag.withDescription("label=version, as production=3"),
    Flag.optional,
    Flag.map(
      Option.match({
        onNone: (): Part => ({}),
        onSome: (labels): Part => ({
          labels: Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, Number(value)]))
        })
      })
    )
  )
}

const loaded = Effect.promise(() => import("./RecordCommands.ts"))
const parts = (fields: Readonly<Record<string, Part>>): ReadonlyArray<Part> => Object.values(fields)
const noSecrets: Secrets = {}

const id = (noun: Noun) => Argument.String(noun === "providers" ? "slug" : "id")

const list = (noun: Noun) =>
  Command.make("list", common, (given) => Effect.flatMap(loaded, (verbs) => verbs.list(noun, given))).pipe(
    Command.withDescription(`All ${noun}: those of the store, and those the configuration declares`),
    Command.withAlias("ls")
  )

const get = (noun: Noun) =>
  Command.make("get", { ...common, id: id(noun) }, (given) =>
    Effect.flatMap(loaded, (verbs) => verbs.get(noun, given.id, given))
  ).pipe(Command.withDescription("One of them; secrets are never shown"))

const remove = (noun: Noun, verb: "delete" | "revoke") =>
  Command.make(verb, { config, id: id(noun) }, (given) =>
    Effect.flatMap(loaded, (verbs) => verbs.remove(noun, given.id, given))
  ).pipe(
    Command.withDescription(verb === "revoke" ? "Refuse the key from now on, for good" : "Remove it from the store")
  )

/** The name of what is made, where the operator chooses it. */
const named = (field: "slug" | "id") =>
  Argument.String(field).pipe(
    Argument.optional,
    Argument.map(Option.match({ onNone: (): Part => ({}), onSome: (value): Part => ({ [field]: value }) }))
  )

const keys = Command.make("keys").pipe(
  Command.withDescription("Gateway keys of the store"),
  Command.withSubcommands([
    list("keys"),
    get("keys"),
    Command.make("create", { ...common, file, fields: keyFlags }, ({ fields, ...given }) =>
      Effect.flatMap(loaded, (verbs) => verbs.create("keys", { ...given, parts: parts(fields), secrets: noSecrets }))
    ).pipe(
      Command.withDescription("Make a key. Its text goes to stdout, once"),
      Command.withExamples([
        {
          command: 'model-gateway keys create --name ci --provider google --model "gemini-*" --requests-per-minute 600'
        }
      ])
    ),
    Command.make("update", { ...common, file, unset, fields: keyFlags, id: id("keys") }, ({ fields, ...given }) =>
      Effect.flatMap(loaded, (verbs) =>
        verbs.update("keys", given.id, { ...given, parts: parts(fields), secrets: noSecrets })
      )
    ).pipe(Command.withDescription("Change what flags name; with --file, all")),
    Command.make("rotate", { ...common, id: id("keys") }, (given) =>
      Effect.flatMap(loaded, (verbs) => verbs.rotate(given.id, given))
    ).pipe(Command.withDescription("Give the key another text; the one it had is refused from now on")),
    remove("keys", "revoke"),
    Command.make("rotate-secret", { config }, (given) =>
      Effect.flatMap(
        Effect.promise(() => import("./StoreCommands.ts")),
        (verbs) => verbs.rotateStoreSecret({ config: given.config, flags: {} })
      )
    ).pipe(Command.withDescription("Encrypt the secrets of the store anew, while gateways use it"))
  ])
)

const providers = Command.make("providers").pipe(
  Command.withDescription("Accounts at providers, in the store"),
  Command.withSubcommands([
    list("providers"),
    get("providers"),
    Command.make(
      "create",
      { ...common, file, slug: named("slug"), fields: providerFlags, secrets: providerSecrets },
      ({ fields, slug, ...given }) =>
        Effect.flatMap(loaded, (verbs) => verbs.create("providers", { ...given, parts: [...parts(fields), slug] }))
    ).pipe(
      Command.withDescription("Add an account"),
      Command.withExamples([
        { command: "model-gateway providers create gemini --provider google --api-key-env GEMINI_API_KEY" },
        {
          command:
            "model-gateway providers create prod --provider vertex-ai --region us-central1 --credentials-file sa.json"
        }
      ])
    ),
    Command.make(
      "update",
      { ...common, file, unset, slug: id("providers"), fields: providerFlags, secrets: providerSecrets },
      ({ fields, ...given }) =>
        Effect.flatMap(loaded, (verbs) => verbs.update("providers", given.slug, { ...given, parts: parts(fields) }))
    ).pipe(Command.withDescription("Change what flags name; with --file, all. A credential that is not given stays")),
    remove("providers", "delete")
  ])
)

const configs = Command.make("configs").pipe(
  Command.withDescription("Gateway configs of the store"),
  Command.withSubcommands([
    list("configs"),
    get("configs"),
    Command.make("create", { ...common, file, id: named("id"), fields: configFlags }, ({ fields, id, ...given }) =>
      Effect.flatMap(loaded, (verbs) =>
        verbs.create("configs", { ...given, parts: [...parts(fields), id], secrets: noSecrets })
      )
    ).pipe(
      Command.withDescription("Add a config; --file holds it"),
      Command.withExamples([{ command: "model-gateway configs create fast --file fast.yaml" }])
    ),
    Command.make("update", { ...common, file, unset, id: id("configs"), fields: configFlags }, ({ fields, ...given }) =>
      Effect.flatMap(loaded, (verbs) =>
        verbs.update("configs", given.id, { ...given, parts: parts(fields), secrets: noSecrets })
      )
    ).pipe(Command.withDescription("Put --file in its place")),
    remove("configs", "delete")
  ])
)

const prompts = Command.make("prompts").pipe(
  Command.withDescription("Prompt templates of the store"),
  Command.withSubcommands([
    list("prompts"),
    get("prompts"),
    Command.make("create", { ...common, file, id: named("id"), fields: promptFlags }, ({ fields, id, ...given }) =>
      Effect.flatMap(loaded, (verbs) =>
        verbs.create("prompts", { ...given, parts: [...parts(fields), id], secrets: noSecrets })
      )
    ).pipe(
      Command.withDescription("Add a prompt or partial"),
      Command.withExamples([{ command: "model-gateway prompts create greeting --file greeting.yaml" }])
    ),
    Command.make("update", { ...common, file, unset, id: id("prompts"), fields: promptFlags }, ({ fields, ...given }) =>
      Effect.flatMap(loaded, (verbs) =>
        verbs.update("prompts", given.id, { ...given, parts: parts(fields), secrets: noSecrets })
      )
    ).pipe(Command.withDescription("Make a new version of it, or set its labels")),
    remove("prompts", "delete")
  ])
)

export const recordVerbs = [keys, providers, configs, prompts] as const
