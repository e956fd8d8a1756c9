// `check`: reads the whole configuration and prints its faults and warnings.
// Must not call a provider or open the store.
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Settings } from "../domain/settings/Settings.ts"
import { credentialName, describeAccount, describePrompt } from "./describeRecords.ts"
import { type Failure, printAnswer, renderJson, usageFailure } from "./Output.ts"
import { modelNotices, type PlacedNotice } from "../domain/models/modelLife.ts"
import { fitMemory } from "./settings/FittedLimits.ts"
import { type Loaded, readConfiguration } from "./settings/LoadSettings.ts"

export interface CheckOptions {
  readonly config: string | undefined
  readonly json: boolean
  /** `deprecated`: a model whose end is announced fails the check as well. */
  readonly failOn: "deprecated" | undefined
}

/** Settings that are valid and probably not intended. */
const collectWarnings = (
  { accounts, store }: Settings,
  models: ReadonlyArray<PlacedNotice>,
  fitted: ReadonlyArray<string>
): ReadonlyArray<string> => [
  ...accounts.flatMap(({ credentials, gcs, kind, slug }) =>
    kind === "vertex-ai" && credentials !== undefined && gcs?.read === undefined
      ? [
          `@${slug} has no gcs.read: requests may read every gs:// object that its credential can read; list the prefixes they need, or [] for none`
        ]
      : []
  ),
  ...(store?.location.kind === "postgres" && store.secretKeys === undefined
    ? [
        `store.url is a database that several gateways can share, and its master key is the file ${store.keyFile}: a gateway without this file opens neither the store nor reasoning that another sealed; set GATEWAY_SECRET_KEY to one key for all`
      ]
    : []),
  ...fitted,
  ...models.filter(({ kind }) => kind === "deprecated").map(noticeText)
]

const noticeText = ({ at, text }: PlacedNotice): string => `${at}: ${text}`

const isError = ({ kind }: PlacedNotice): boolean => kind === "shut_down" || kind === "not_offered"

/** What workers do not share. */
const workerLines = ({ server: { workers = 1 } }: Settings): ReadonlyArray<string> =>
  workers === 1
    ? []
    : [
        `    workers: ${workers === "auto" ? "one a processor" : workers}; slots, memory, connections and access tokens are of each, all else is shared`
      ]

const textLines = (
  { file, settings }: Loaded,
  models: ReadonlyArray<PlacedNotice>,
  warnings: ReadonlyArray<string>
): ReadonlyArray<string> => {
  const configs = Object.keys(settings.configs ?? {})
  return [
    `ok  ${file ?? "no configuration file; environment and defaults"}`,
    `    listens on ${settings.server.host}:${settings.server.port}`,
    ...workerLines(settings),
    ...settings.accounts.map((account) => `    ${describeAccount(account)}`),
    ...(settings.prompts ?? []).map((prompt) => `    ${describePrompt(prompt)}`),
    ...(configs.length > 0 ? [`    configs: ${configs.join(", ")}`] : []),
    settings.keys.length === 0
      ? "    no gateway key: serve makes one for its run; set GATEWAY_API_KEY or keys in the file to keep one"
      : `    gateway keys: ${settings.keys.map((key) => key.name).join(", ")}`,
    ...models.filter(isError).map((one) => `error ${noticeText(one)}`),
    ...warnings.map((text) => `warn  ${text}`),
    ...models.filter(({ kind }) => kind === "unknown").map((one) => `note  ${noticeText(one)}`)
  ]
}

/** The summary of a valid configuration for `--json`. Names only; it never contains a secret. */
const jsonSummary = (
  { file, settings }: Loaded,
  models: ReadonlyArray<PlacedNotice>,
  warnings: ReadonlyArray<string>
) => {
  const { accounts, configs = {}, keys, prompts = [], server } = settings
  return {
    ok: !models.some(isError),
    file: file ?? null,
    server: {
      host: server.host,
      port: server.port,
      ...(server.workers === undefined ? {} : { workers: server.workers })
    },
    providers: accounts.map(({ credentials, kind, project_id: projectId, region, slug }) => ({
      slug,
      provider: kind,
      credential: credentials === undefined ? null : credentialName(credentials),
      ...(projectId === undefined ? {} : { project_id: projectId }),
      ...(region === undefined ? {} : { region })
    })),
    keys: keys.map(({ name }) => name),
    configs: Object.keys(configs),
    prompts: prompts.map(({ id }) => id),
    warnings,
    models: models.map(({ at, kind, text }) => ({ at, kind, message: text }))
  }
}

export const check = Effect.fn("Cli.check")(function* ({
  config,
  failOn,
  json
}: CheckOptions): Effect.fn.Return<void, Failure> {
  const { outcome } = yield* readConfiguration({ config, flags: {} })
  // A service starts with a credential that cannot be used; its configuration is at fault all the same.
  const faults = Result.isFailure(outcome) ? outcome.failure : outcome.success.credentialFaults.join("\n")
  if (Result.isFailure(outcome) || faults !== "") {
    if (json) yield* Console.log(renderJson({ ok: false, faults: faults.split("\n") }))
    return yield* usageFailure(json ? "" : faults)
  }
  const { settings } = outcome.success
  const today = new Date(yield* Clock.currentTimeMillis).toISOString().slice(0, 10)
  const models = modelNotices(settings, today)
  const warnings = collectWarnings(settings, models, (yield* fitMemory(settings.limits)).warnings)
  yield* printAnswer(
    { json },
    jsonSummary(outcome.success, models, warnings),
    textLines(outcome.success, models, warnings)
  )
  const fails = models.some((one) => isError(one) || (failOn === "deprecated" && one.kind === "deprecated"))
  if (fails) return yield* usageFailure("")
})
