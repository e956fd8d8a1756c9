// The command line: verbs, flags, help texts and exit codes.
// Must not import the implementation of a verb; each verb is loaded when it is called.
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Argument from "effect/cli/Argument"
import * as CliConfig from "effect/cli/CliConfig"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { visibleLines } from "../domain/text/printable.ts"
import { version } from "../domain/version.ts"
import { Failure, FaultLog } from "./Output.ts"
import { recordVerbs } from "./records/RecordVerbs.ts"
import { reportVerbs } from "./records/ReportVerbs.ts"

const config = Flag.String("config").pipe(
  Flag.withMetavar("gateway.yaml"),
  Flag.withDescription(
    "Configuration file; otherwise GATEWAY_CONFIG, ./gateway.yaml, .yml or .json, or the one of your user"
  ),
  Flag.optional,
  Flag.map(Option.getOrUndefined)
)
const host = Flag.String("host").pipe(
  Flag.withDescription("Address to listen on (default 127.0.0.1)"),
  Flag.optional,
  Flag.map(Option.getOrUndefined)
)
const port = Flag.Int("port").pipe(
  Flag.withDescription("Port to listen on (default 8787, 0 for any free one)"),
  Flag.optional,
  Flag.map(Option.getOrUndefined)
)

const workers = Flag.String("workers").pipe(
  Flag.withMetavar("N|auto"),
  Flag.withDescription("Processes that serve together on the port (default 1, auto for one a processor)"),
  Flag.optional,
  Flag.map(Option.getOrUndefined)
)
const hasConsole = Flag.Boolean("console").pipe(
  Flag.withDescription("Serve the web console (--no-console: leave it out)"),
  Flag.optional,
  Flag.map(Option.getOrUndefined)
)

const logFormat = Flag.Literals("log-format", ["json", "pretty", "off"]).pipe(
  Flag.withDescription("Form of the lines on stdout, one a request (default pretty on a terminal, else json)"),
  Flag.optional,
  Flag.map(Option.getOrUndefined)
)
const logLevel = Flag.Literals("log-level", ["info", "warn", "error"]).pipe(
  Flag.withDescription("The least that is written (default info)"),
  Flag.optional,
  Flag.map(Option.getOrUndefined)
)

const listenFlags = (given: { readonly host: string | undefined; readonly port: number | undefined }) => ({
  ...(given.host === undefined ? {} : { host: given.host }),
  ...(given.port === undefined ? {} : { port: given.port })
})

const folder = (name: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar("folder"),
    Flag.withDescription(description),
    Flag.optional,
    Flag.map(Option.getOrUndefined)
  )
const record = folder("record", "Record every exchange with a provider in this folder, without credentials")
const replay = folder("replay", "Play the recordings of this folder back, made by serve --record")

const serve = Command.make(
  "serve",
  { config, host, port, workers, console: hasConsole, logFormat, logLevel, record },
  (given) =>
    Effect.flatMap(
      Effect.promise(() => import("./Serve.ts")),
      (verb) =>
        verb.serve({
          config: given.config,
          record: given.record,
          flags: {
            ...listenFlags(given),
            ...(given.workers === undefined ? {} : { workers: given.workers }),
            ...(given.console === false ? { console: given.console } : {}),
            ...(given.logFormat === undefined ? {} : { logFormat: given.logFormat }),
            ...(given.logLevel === undefined ? {} : { logLevel: given.logLevel })
          }
        })
    )
).pipe(
  Command.withDescription("Run the service. SIGHUP, or a change of the file, takes a new configuration over"),
  Command.withExamples([
    { command: "GEMINI_API_KEY=... model-gateway serve", description: "Without a file" },
    { command: "model-gateway serve --config gateway.yaml --host 0.0.0.0" },
    { command: "model-gateway serve --workers auto", description: "On all processors" }
  ])
)

const worker = Command.make("worker", {}, () =>
  Effect.flatMap(
    Effect.promise(() => import("./workers/Worker.ts")),
    (verb) => verb.work
  )
).pipe(Command.withDescription("One process of serve --workers, which starts it"), Command.unlisted)

const demo = Command.make(
  "demo",
  {
    host,
    port,
    snippets: Flag.Boolean("snippets").pipe(
      Flag.withDescription("Print client snippets for the demo and end"),
      Flag.withDefault(false)
    ),
    data: Flag.String("data").pipe(
      Flag.withDescription("Folder of a store, so that what is changed is kept"),
      Flag.optional,
      Flag.map(Option.getOrUndefined)
    ),
    replay
  },
  (given) =>
    Effect.flatMap(
      Effect.promise(() => import("./DemoCommand.ts")),
      (verb) => verb.demo({ ...listenFlags(given), snippets: given.snippets, data: given.data, replay: given.replay })
    )
).pipe(
  Command.withDescription("Run the service with simulated Google services: no credential, no internet"),
  Command.withExamples([
    { command: "model-gateway demo" },
    { command: "model-gateway demo --snippets", description: "Clients to copy" }
  ])
)

const json = Flag.Boolean("json").pipe(Flag.withDescription("Print JSON"), Flag.withDefault(false))

const failOn = Flag.Literals("fail-on", ["deprecated"]).pipe(
  Flag.withDescription("Fail on models whose end is announced as well"),
  Flag.optional,
  Flag.map(Option.getOrUndefined)
)

const check = Command.make("check", { config, failOn, json }, (given) =>
  Effect.flatMap(
    Effect.promise(() => import("./Check.ts")),
    (verb) => verb.check(given)
  )
).pipe(
  Command.withDescription("Read the configuration and report every fault with its line"),
  Command.withExamples([{ command: "model-gateway check --config gateway.yaml" }])
)

const migrate = Command.make("migrate", { config, json }, (given) =>
  Effect.flatMap(
    Effect.promise(() => import("./records/StoreCommands.ts")),
    (verb) => verb.migrateStore(given)
  )
).pipe(Command.withDescription("Bring the store to the tables of this version"))

const backupFile = Argument.String("file")

const backup = Command.make("backup", { config, json, file: backupFile }, (given) =>
  Effect.flatMap(
    Effect.promise(() => import("./records/StoreCommands.ts")),
    (verb) => verb.backupStore(given, given.file)
  )
).pipe(
  Command.withDescription("Copy a SQLite store to a new file while gateways use it"),
  Command.withExamples([{ command: "model-gateway backup gateway-2026-11-23.db" }])
)

const restore = Command.make("restore", { config, json, file: backupFile }, (given) =>
  Effect.flatMap(
    Effect.promise(() => import("./records/StoreCommands.ts")),
    (verb) => verb.restoreStore(given, given.file)
  )
).pipe(
  Command.withDescription("Put a backup in the place of a SQLite store that no gateway has open"),
  Command.withExamples([{ command: "model-gateway restore gateway-2026-11-23.db" }])
)

const importFrom = (from: "litellm" | "portkey", description: string, example: string) =>
  Command.make(from, { file: Argument.String("file"), json }, ({ file, json }) =>
    Effect.flatMap(
      Effect.promise(() => import("./import/Import.ts")),
      (verb) => verb.importFile(from, file, { json })
    )
  ).pipe(Command.withDescription(description), Command.withExamples([{ command: example }]))

const imports = Command.make("import").pipe(
  Command.withDescription("Print the configuration of another gateway as one of this gateway"),
  Command.withSubcommands([
    importFrom(
      "litellm",
      "Read a configuration of LiteLLM's proxy: models, fallbacks, retries, the master key",
      "model-gateway import litellm config.yaml > gateway.json"
    ),
    importFrom(
      "portkey",
      "Read configs of Portkey: one, or an exported list",
      "model-gateway import portkey configs.json > gateway.json"
    )
  ])
)

const online = Flag.Boolean("online").pipe(
  Flag.withDescription("Compare the models of the configuration with those of each provider"),
  Flag.withDefault(false)
)

const doctor = Command.make("doctor", { config, json, online }, (given) =>
  Effect.flatMap(
    Effect.promise(() => import("./doctor/Doctor.ts")),
    (verb) => verb.doctor(given)
  )
).pipe(
  Command.withDescription("Check this machine, the configuration, every provider and credential, and print what to do"),
  Command.withExamples([
    { command: "model-gateway doctor --config gateway.yaml" },
    { command: "model-gateway doctor --json", description: "The same rows as JSON" }
  ])
)

const explain = Command.make(
  "explain",
  {
    config,
    provider: Flag.String("provider").pipe(
      Flag.withDescription("Slug for a model that names none"),
      Flag.optional,
      Flag.map(Option.getOrUndefined)
    ),
    model: Flag.String("model").pipe(
      Flag.withDescription("Print the facts in force about this model, and read no request"),
      Flag.optional,
      Flag.map(Option.getOrUndefined)
    )
  },
  (given) =>
    Effect.flatMap(
      Effect.promise(() => import("./Explain.ts")),
      (verb) => verb.explain(given)
    )
).pipe(
  Command.withDescription("Read a chat request on stdin, print the upstream request it becomes, send nothing"),
  Command.withExamples([
    { command: "model-gateway explain --provider google < request.json" },
    { command: "model-gateway explain --model gemini-3.8-flash", description: "What is known of a model" }
  ])
)

const health = Command.make(
  "health",
  {
    config,
    url: Flag.String("url").pipe(
      Flag.withDescription("Where the gateway listens (default: the host and port of its configuration)"),
      Flag.optional,
      Flag.map(Option.getOrUndefined)
    ),
    json
  },
  (given) =>
    Effect.flatMap(
      Effect.promise(() => import("./Health.ts")),
      (verb) => verb.health(given)
    )
).pipe(
  Command.withDescription("Exit 0 when a running gateway is ready, 1 when not"),
  Command.withExamples([
    { command: "model-gateway health --config gateway.yaml" },
    { command: "model-gateway health --url http://127.0.0.1:8787" },
    { command: "model-gateway health --url https://example.com/llm/" }
  ])
)

const gateway = Command.make("model-gateway").pipe(
  Command.withDescription("An OpenAI-compatible gateway in front of Google's model platforms"),
  Command.withSubcommands([
    serve,
    worker,
    demo,
    check,
    doctor,
    explain,
    health,
    ...recordVerbs,
    ...reportVerbs,
    migrate,
    backup,
    restore,
    imports
  ])
)

/** Prints to stderr. A wrong call gets its fault and the help command, without the whole help text. */
const presenter: CliOutput.Presenter = {
  present: (event) =>
    event._tag !== "InvalidInvocation"
      ? CliOutput.defaultPresenter.present(event)
      : Console.error(
          [...event.errors.map((error) => error.message), `Help: ${event.commandPath.join(" ")} --help`].join("\n")
        )
}

const runGateway = Command.runWith(gateway, { version })

const isHelp = (word: string): boolean => word === "--help" || word === "-h"

/** True where the first word without a dash is no verb of the command, or a verb's is none of the verb. */
const namesUnknownVerb = ({ subcommands }: Command.Command.Any, words: ReadonlyArray<string>): boolean => {
  const [word, ...rest] = words.filter((one) => !one.startsWith("-"))
  const verbs = subcommands.flatMap(({ commands }) => commands)
  if (word === undefined || verbs.length === 0) return false
  const verb = verbs.find(({ alias, name }) => name === word || alias === word)
  return verb === undefined || namesUnknownVerb(verb, rest)
}

/** Help on an unknown verb is a fault of the call, which the parser reports where no help is asked for. */
const withoutVainHelp = (words: ReadonlyArray<string>): ReadonlyArray<string> =>
  namesUnknownVerb(gateway, words) ? words.filter((word) => !isHelp(word)) : words

/** Runs one call with these arguments. Fails with a `Failure` whose message is already printed. */
export const runCli = (words: ReadonlyArray<string>): Effect.Effect<void, Failure> =>
  runGateway(withoutVainHelp(words)).pipe(
    Effect.provideService(CliOutput.Presenter, presenter),
    // `--wizard` is left out: no verb asks questions.
    Effect.provideService(CliConfig.CliConfig, {
      builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions]
    }),
    Effect.provide([NodeServices.layer, FaultLog.layer(false)]),
    Effect.catch((error) =>
      error._tag === "Failure"
        ? Effect.andThen(
            error.message === "" ? Effect.void : Console.error(visibleLines(error.message)),
            Effect.fail(error)
          )
        : error._tag === "ShowHelp" && error.errors.length === 0
          ? Effect.void
          : Effect.fail(new Failure({ code: 2, message: "" }))
    )
  )
