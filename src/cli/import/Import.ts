// `import`: prints the configuration of another gateway as one of this gateway, and names what it left out.
// Must not write files.
import { readFile } from "node:fs/promises"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Json } from "../../domain/text/json.ts"
import { visibleLines } from "../../domain/text/printable.ts"
import { commandFailure, type Failure, renderJson, usageFailure } from "../Output.ts"
import { parseSettingsText } from "../settings/SettingsText.ts"
import type { Imported } from "./Imported.ts"
import { readLitellm } from "./readLitellm.ts"
import { readPortkey } from "./readPortkey.ts"

type Reader = (file: Json) => Result.Result<Imported, string>

const readers: Readonly<Record<"litellm" | "portkey", Reader>> = { litellm: readLitellm, portkey: readPortkey }

const readText = (file: string): Effect.Effect<Json, Failure> =>
  Effect.flatMap(
    Effect.tryPromise({ try: () => readFile(file, "utf8"), catch: () => commandFailure(`${file} cannot be read`) }),
    (text) =>
      Result.match(parseSettingsText(file, text), {
        onSuccess: ({ isBlank, value }) =>
          isBlank || value === null ? Effect.fail(usageFailure(`${file}  is empty`)) : Effect.succeed(value),
        onFailure: ({ line, message }) =>
          Effect.fail(usageFailure(`${file}${line === undefined ? "" : `:${line}`}  ${message}`))
      })
  )

export const importFile = Effect.fn("Cli.importFile")(function* (
  from: keyof typeof readers,
  file: string,
  options: { readonly json: boolean }
): Effect.fn.Return<void, Failure> {
  const { left, settings } = yield* Effect.mapError(Effect.fromResult(readers[from](yield* readText(file))), (why) =>
    usageFailure(`${file}  ${why}`)
  )
  yield* Console.log(options.json ? renderJson({ settings, left_out: left }) : JSON.stringify(settings, null, 2))
  if (left.length === 0 || options.json) return
  yield* Console.error(visibleLines(["left out:", ...left.map(({ path, why }) => `  ${path}  ${why}`)].join("\n")))
})
