// The verbs `keys`, `providers`, `configs` and `prompts`: their subcommands, flags and help texts.
// Must not import the implementation of a verb; it is loaded when one is called.
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Json, JsonObject } from "../../domain/text/json.ts"
import type { RecordKind } from "./RecordCommands.ts"
import { otherModelsRules } from "../../domain/serving.ts"

export const optional = <A>(flag: Flag.Flag<A>, description: string) =>
  flag.pipe(Flag.withDescription(description), Flag.optional, Flag.map(Option.getOrUndefined))

/** A part of the written resource. Empty when the flag is absent. */
type Part = JsonObject

/** The value below the path. The cast holds as every path has a part. */
const nestAt = (path: ReadonlyArray<string>, value: Json): Part =>
  path.toReversed().reduce<Json>((inner, name) => ({ [name]: inner }), value) as Part
const partFlag = <A extends Json>(flag: Flag.Flag<A>, path: ReadonlyArray<string>, description: string) =>
  flag.pipe(
    Flag.withDescription(description),
    Flag.optional,
    Flag.map(Option.match({ onNone: (): Part => ({}), onSome: (value): Part => nestAt(path, value) }))
  )
const textFlag = (name: string, description: string, ...path: ReadonlyArray<string>) =>
  partFlag(Flag.String(name), path.length === 0 ? [name.replaceAll("-", "_")] : path, description)
const listFlag = (name: string, path: ReadonlyArray<string>, description: string) =>
  Flag.String(name).pipe(
    Flag.withDescription(`${description}; may be given several times`),
    Flag.atLeast(0),
    Flag.map((values): Part => (values.length === 0 ? {} : nestAt(path, values)))
  )
const textListFlag = (name: string, field: string, description: string) => listFlag(name, [field], description)

const config = optional(
  Flag.String("config").pipe(Flag.withMetavar("gateway.yaml")),
  "Configuration file; it has the location of the store"
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
export const commonFlags = { config, json }

const graceSeconds = optional(
  Flag.Int("grace-seconds"),
  "How long the old text is taken as well: 1 to 2592000 (30 days); not at all unless set"
)

const keyFlags = {
  name: textFlag("name", "Name for people"),
  scopes: textListFlag("scope", "scopes", "What it is for: inference (the default) or admin"),
  providers: textListFlag("provider", "providers", "Slug it may use; all by default"),
  models: textListFlag("model", "models", "Model id it may use, with a * at the end for any rest; all by default"),
  configs: textListFlag("allow-config", "configs", "Config it may name, whose targets it may then use; all by default"),
  prompts: textListFlag("allow-prompt", "prompts", "Prompt it may name, whose model it may then use; all by default"),
  useConfig: textFlag("use-config", "Config of requests that name none", "config"),
  expires: textFlag("expires-at", "Moment from which it is refused, as 2027-01-31T12:00:00Z"),
  requests: partFlag(
    Flag.Int("requests-per-minute"),
    ["rate_limit", "requests_per_minute"],
    "Most requests in a minute"
  ),
  tokens: partFlag(Flag.Int("tokens-per-minute"), ["rate_limit", "tokens_per_minute"], "Most tokens in a minute"),
  requestsBurst: partFlag(
    Flag.Int("requests-burst"),
    ["rate_limit", "requests_burst"],
    "Most requests together after a pause; a tenth of the limit by default"
  ),
  tokensBurst: partFlag(
    Flag.Int("tokens-burst"),
    ["rate_limit", "tokens_burst"],
    "Most tokens together after a pause; a tenth of the limit by default"
  ),
  concurrency: partFlag(Flag.Int("concurrency"), ["concurrency"], "Most concurrent requests, in each gateway"),
  dollars: partFlag(Flag.Finite("budget-usd"), ["budget", "usd"], "US dollars it may spend"),
  period: partFlag(Flag.Literals("budget-per", ["day", "month"]), ["budget", "per"], "Period of the budget"),
  metadata: Flag.KeyValuePair("metadata").pipe(
    Flag.withDescription("name=value that its requests carry"),
    Flag.optional,
    Flag.map(Option.match({ onNone: (): Part => ({}), onSome: (value): Part => ({ metadata: value }) }))
  ),
  metadataLocked: Flag.Boolean("metadata-locked").pipe(
    Flag.withDescription("Requests and configs cannot give that metadata other values"),
    Flag.withDefault(false),
    Flag.map((isGiven): Part => (isGiven ? { metadata_locked: true } : {}))
  ),
  otherModels: partFlag(
    Flag.Literals("other-models", otherModelsRules),
    ["other_models", "messages"],
    "Whether POST /v1/messages serves models that are not Claude"
  )
}

const providerFlags = {
  provider: textFlag("provider", "vertex-ai or google"),
  project: textFlag("project-id", "Google Cloud project"),
  region: textFlag("region", "Region, global, us or eu"),
  models: textListFlag("model", "models", "Model id on offer, with a * at the end for any rest"),
  version: textFlag("api-version", "v1 or v1beta1, for one"),
  quota: textFlag("quota-project", "Project that is billed"),
  projects: textListFlag("allow-project", "projects", "Further project that requests may name under its credential"),
  regions: textListFlag("allow-region", "regions", "Further region that requests may name under its credential"),
  reads: listFlag(
    "gcs-read",
    ["gcs", "read"],
    "gs://bucket/path below which requests may read under its credential; any by default"
  ),
  writes: listFlag(
    "gcs-write",
    ["gcs", "write"],
    "gs://bucket/path below which requests may store pictures under its credential; none by default"
  ),
  base: textFlag("base-url", "Replaces scheme and host of the provider"),
  token: textFlag("token-url", "Replaces the token endpoint"),
  ambient: Flag.Boolean("application-default").pipe(
    Flag.withDescription("Use the credentials of this machine"),
    Flag.withDefault(false),
    Flag.map((isGiven): Part => (isGiven ? { credentials: { type: "application_default" } } : {}))
  )
}

/** Secrets are never arguments: other users of the machine can read a command line. */
const providerSecrets = {
  apiKeyFile: optional(Flag.String("api-key-file"), "File that holds the API key; - reads stdin"),
  apiKeyEnv: optional(Flag.String("api-key-env"), "Variable that holds the API key"),
  credentialsFile: optional(Flag.String("credentials-file"), "Key file of a service account; - reads stdin")
}

const promptFlags = {
  name: textFlag("name", "Title for people"),
  model: textFlag("model", "Model of the chat; may carry @slug/"),
  text: textFlag("text", "In place of messages: a partial that others put in by {{>id}}"),
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

const loadCommands = Effect.promise(() => import("./RecordCommands.ts"))

const id = (noun: RecordKind) => Argument.String(noun === "providers" ? "slug" : "id")

const listVerb = (noun: RecordKind) =>
  Command.make("list", commonFlags, (given) =>
    Effect.flatMap(loadCommands, (verbs) => verbs.listRecords(noun, given))
  ).pipe(
    Command.withDescription(`All ${noun}: those of the store, and those the configuration declares`),
    Command.withAlias("ls")
  )

const getVerb = (noun: RecordKind) =>
  Command.make("get", { ...commonFlags, id: id(noun) }, (given) =>
    Effect.flatMap(loadCommands, (verbs) => verbs.getRecord(noun, given.id, given))
  ).pipe(Command.withDescription("One of them; secrets are never shown"))

const removeVerb = (noun: RecordKind, verb: "delete" | "revoke") =>
  Command.make(verb, { ...commonFlags, id: id(noun) }, (given) =>
    Effect.flatMap(loadCommands, (verbs) => verbs.removeRecord(noun, given.id, given))
  ).pipe(
    Command.withDescription(verb === "revoke" ? "Refuse the key from now on, for good" : "Remove it from the store")
  )

/** The argument that names a new resource; the gateway names keys itself. */
const nameArguments = (noun: RecordKind): Readonly<Record<string, Argument.Argument<Part>>> => {
  const field = noun === "providers" ? "slug" : "id"
  const name = Argument.String(field).pipe(
    Argument.optional,
    Argument.map(Option.match({ onNone: (): Part => ({}), onSome: (value): Part => ({ [field]: value }) }))
  )
  return noun === "keys" ? {} : { name }
}

type Flags<A> = Readonly<Record<string, Flag.Flag<A>>>

/** What the writing verbs of a kind have of their own. */
interface Written {
  readonly noun: RecordKind
  readonly fields: Flags<Part>
  readonly secrets?: Flags<string | undefined>
}

const createVerb = ({ fields, noun, secrets = {} }: Written, description: string, ...commands: ReadonlyArray<string>) =>
  Command.make(
    "create",
    { ...commonFlags, file, names: nameArguments(noun), fields, secrets },
    ({ fields, names, ...given }) =>
      Effect.flatMap(loadCommands, (verbs) =>
        verbs.createRecord(noun, { ...given, parts: [...Object.values(fields), ...Object.values(names)] })
      )
  ).pipe(
    Command.withDescription(description),
    Command.withExamples(commands.map((command) => ({ command: `model-gateway ${noun} create ${command}` })))
  )

const updateVerb = ({ fields, noun, secrets = {} }: Written, description: string) =>
  Command.make("update", { ...commonFlags, file, unset, id: id(noun), fields, secrets }, ({ fields, id, ...given }) =>
    Effect.flatMap(loadCommands, (verbs) => verbs.updateRecord(noun, id, { ...given, parts: Object.values(fields) }))
  ).pipe(Command.withDescription(description))

const writtenKeys: Written = { noun: "keys", fields: keyFlags }
const keys = Command.make("keys").pipe(
  Command.withDescription("Gateway keys of the store"),
  Command.withSubcommands([
    listVerb("keys"),
    getVerb("keys"),
    createVerb(
      writtenKeys,
      "Make a key. Its text goes to stdout, once",
      '--name ci --provider google --model "gemini-*" --requests-per-minute 600'
    ),
    updateVerb(writtenKeys, "Change what flags name; with --file, all"),
    Command.make("rotate", { ...commonFlags, graceSeconds, id: id("keys") }, (given) =>
      Effect.flatMap(loadCommands, (verbs) => verbs.rotateKey(given.id, given))
    ).pipe(
      Command.withDescription(
        "Give the key another text; the one it had is refused from now on, or after --grace-seconds"
      ),
      Command.withExamples([
        {
          command: "model-gateway keys rotate key_0mkr1x2p3a1b2c3d4e5f6 --grace-seconds 86400",
          description: "Both texts are taken for a day"
        }
      ])
    ),
    removeVerb("keys", "revoke"),
    Command.make("rotate-secret", commonFlags, (given) =>
      Effect.flatMap(
        Effect.promise(() => import("./StoreCommands.ts")),
        (verbs) => verbs.rotateStoreSecret(given)
      )
    ).pipe(Command.withDescription("Encrypt the secrets of the store again, while gateways use it"))
  ])
)

const writtenProviders: Written = { noun: "providers", fields: providerFlags, secrets: providerSecrets }
const providers = Command.make("providers").pipe(
  Command.withDescription("Accounts at providers, in the store"),
  Command.withSubcommands([
    listVerb("providers"),
    getVerb("providers"),
    createVerb(
      writtenProviders,
      "Add an account",
      "gemini --provider google --api-key-env GEMINI_API_KEY",
      "prod --provider vertex-ai --region us-central1 --credentials-file sa.json"
    ),
    updateVerb(writtenProviders, "Change what flags name; with --file, all. A credential that is not given stays"),
    Command.make("test", { ...commonFlags, slug: id("providers") }, ({ slug, ...given }) =>
      Effect.flatMap(
        Effect.promise(() => import("./TestProvider.ts")),
        (verb) => verb.testProvider(slug, given)
      )
    ).pipe(
      Command.withDescription(
        "Call the provider once with the account's credential, which is free; exit 1 when it fails"
      ),
      Command.withExamples([{ command: "model-gateway providers test vertex-ai" }])
    ),
    removeVerb("providers", "delete")
  ])
)

const writtenConfigs: Written = { noun: "configs", fields: { name: textFlag("name", "Name for people") } }
const configs = Command.make("configs").pipe(
  Command.withDescription("Gateway configs of the store"),
  Command.withSubcommands([
    listVerb("configs"),
    getVerb("configs"),
    createVerb(writtenConfigs, "Add a config; --file holds it", "fast --file fast.yaml"),
    updateVerb(writtenConfigs, "Put --file in its place"),
    removeVerb("configs", "delete")
  ])
)

const writtenPrompts: Written = { noun: "prompts", fields: promptFlags }
const prompts = Command.make("prompts").pipe(
  Command.withDescription("Prompt templates of the store"),
  Command.withSubcommands([
    listVerb("prompts"),
    getVerb("prompts"),
    createVerb(writtenPrompts, "Add a prompt or partial", "greeting --file greeting.yaml"),
    updateVerb(writtenPrompts, "Make a new version of it, or set its labels"),
    removeVerb("prompts", "delete")
  ])
)

export const recordVerbs = [keys, providers, configs, prompts] as const
