// `check`: reads the whole configuration and says what is wrong with it.
// It must not know providers' services; nothing is sent.
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Settings } from "../domain/settings/Settings.ts"
import { visibleLines } from "../domain/text/printable.ts"
import { credentialName, describeAccount } from "./describeAccount.ts"
import { describePrompt } from "./describePrompt.ts"
import { type Failure, usage } from "./Failure.ts"
import { type Loaded, readConfiguration } from "./settings/LoadSettings.ts"

export interface CheckOptions {
  readonly config: string | undefined
  readonly json: boolean
}

/** What is sound, and perhaps not meant. */
const warnings = ({ accounts }: Settings): ReadonlyArray<string> =>
  accounts.flatMap(({ credentials, gcs, kind, slug }) =>
    kind === "vertex-ai" && credentials !== undefined && gcs?.read === undefined
      ? [
          `@${slug} has no gcs.read: requests may read every gs:// object that its credential can read; list the prefixes they need, or [] for none`
        ]
      : []
  )

const words = ({ file, settings }: Loaded): ReadonlyArray<string> => {
  const configs = Object.keys(settings.configs ?? {})
  return [
    `ok  ${file ?? "no configuration file; environment and defaults"}`,
    `    listens on ${settings.server.host}:${settings.server.port}`,
    ...settings.accounts.map((account) => `    ${describeAccount(account)}`),
    ...(settings.prompts ?? []).map((prompt) => `    ${describePrompt(prompt)}`),
    ...(configs.length > 0 ? [`    configs: ${configs.join(", ")}`] : []),
    settings.keys.length === 0
      ? "    no gateway key: serve makes one for its run; set GATEWAY_API_KEY or keys in the file to keep one"
      : `    gateway keys: ${settings.keys.map((key) => key.name).join(", ")}`,
    ...warnings(settings).map((text) => `warn  ${text}`)
  ]
}

/** What a sound configuration holds; names only, no secret. */
const shape = (file: string | undefined, settings: Settings) => {
  const { accounts, configs = {}, keys, prompts = [], server } = settings
  return {
    ok: true,
    file: file ?? null,
    server: { host: server.host, port: server.port },
    providers: accounts.map(({ credentials, kind, projectId, region, slug }) => ({
      slug,
      provider: kind,
      credential: credentials === undefined ? null : credentialName(credentials),
      ...(projectId === undefined ? {} : { project_id: projectId }),
      ...(region === undefined ? {} : { region })
    })),
    keys: keys.map(({ name }) => name),
    configs: Object.keys(configs),
    prompts: prompts.map(({ id }) => id),
    warnings: warnings(settings)
  }
}

export const check = Effect.fn("Cli.check")(function* ({
  config,
  json
}: CheckOptions): Effect.fn.Return<void, Failure> {
  const { outcome } = yield* readConfiguration({ config, flags: {} })
  if (Result.isFailure(outcome)) {
    if (json)
      yield* Console.log(visibleLines(JSON.stringify({ ok: false, faults: outcome.failure.split("\n") }, null, 2)))
    return yield* usage(json ? "" : outcome.failure)
  }
  const { file, settings } = outcome.success
  yield* Console.log(
    visibleLines(json ? JSON.stringify(shape(file, settings), null, 2) : words(outcome.success).join("\n"))
  )
})
