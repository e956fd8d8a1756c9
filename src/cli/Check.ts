// `check`: reads the whole configuration and says what is wrong with it.
// It must not know providers' services; nothing is sent.
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { describeAccount } from "./describeAccount.ts"
import { describePrompt } from "./describePrompt.ts"
import type { Failure } from "./Failure.ts"
import { loadSettings } from "./LoadSettings.ts"

export const check = Effect.fn("Cli.check")(function*(options: { readonly config: string | undefined }): Effect.fn.Return<void, Failure> {
  const { file, settings } = yield* loadSettings({ config: options.config, flags: {} })
  yield* Console.log(`ok  ${file ?? "no configuration file; environment and defaults"}`)
  yield* Console.log(`    listens on ${settings.server.host}:${settings.server.port}`)
  for (const account of settings.accounts) yield* Console.log(`    ${describeAccount(account)}`)
  for (const prompt of settings.prompts ?? []) yield* Console.log(`    ${describePrompt(prompt)}`)
  const configs = Object.keys(settings.configs ?? {})
  if (configs.length > 0) yield* Console.log(`    configs: ${configs.join(", ")}`)
  yield* Console.log(settings.keys.length === 0
    ? "    no gateway key: serve makes one for its run; set GATEWAY_API_KEY or keys in the file to keep one"
    : `    gateway keys: ${settings.keys.map((key) => key.name).join(", ")}`)
})
