// `providers test`: calls the provider of an account once, as the admin API does.
// Must not judge an answer; the provider test does.
import * as Effect from "effect/Effect"
import { ProviderTest } from "../../admin/ProviderTest.ts"
import { Gateway } from "../../Gateway.ts"
import { providerTestResult } from "../../http/admin/AdminRows.ts"
import { Limits } from "../../domain/Limits.ts"
import { withoutAbsentStore } from "../doctor/LocalChecks.ts"
import {
  commandFailure,
  failFinding,
  type Failure,
  findingLines,
  okFinding,
  printAnswer,
  storeFailure,
  usageFailure
} from "../Output.ts"
import { loadForCommand, warnOfCredentials } from "../settings/LoadSettings.ts"
import type { PrintOptions } from "./RecordCommands.ts"

export const testProvider = Effect.fn("Cli.testProvider")(function* (
  slug: string,
  options: PrintOptions
): Effect.fn.Return<void, Failure> {
  const loaded = yield* loadForCommand({ config: options.config, flags: {} })
  yield* warnOfCredentials(loaded)
  // The test needs no state of other gateways, and is no request to count.
  const { redis: _, ...settings } = withoutAbsentStore(loaded.settings)
  const result = yield* Effect.flatMap(ProviderTest, ({ run }) => run(slug, "cli")).pipe(
    Effect.provide(Gateway.layerServices({ ...settings, accounting: false })),
    Effect.provideService(Limits, settings.limits),
    Effect.catchTags({
      RecordUnknown: () =>
        Effect.fail(commandFailure("There is no such provider; providers list shows them with their slugs.")),
      StoreUnusable: (error) => Effect.fail(storeFailure(error)),
      PackageMissing: (error) => Effect.fail(usageFailure(error.message))
    })
  )
  const shown = providerTestResult(result)
  const check = `@${slug}`
  const detail = `${shown.message} (${shown.model}, ${shown.duration_ms} ms)`
  yield* printAnswer(options, shown, findingLines([shown.ok ? okFinding(check, detail) : failFinding(check, detail)]))
  if (!shown.ok) return yield* commandFailure("")
})
