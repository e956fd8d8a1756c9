// `serve` in one process: the gateway, its first keys, and reloads of its configuration.
// Must not know the parts of the gateway.
import { resolve } from "node:path"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { Catalog } from "../catalog/Catalog.ts"
import { Limits } from "../domain/Limits.ts"
import { ConfigSnapshot } from "../store/ConfigSnapshot.ts"
import { Transport } from "../upstream/Transport.ts"
import { withLink } from "./ConsoleLink.ts"
import type { Failure } from "./Failure.ts"
import { declareWithKey, makeMissingKeys } from "./FirstKeys.ts"
import { followConfiguration } from "./Reload.ts"
import { runGateway, startLines } from "./RunGateway.ts"
import { type Loaded, type LoadOptions, warnOfCredentials } from "./settings/LoadSettings.ts"
import { shownSettings } from "./settings/ShownSettings.ts"
import { withLogFormat } from "./Starting.ts"

/** `record` is the folder in which every exchange with a provider is recorded. */
export const serveAlone = (
  options: LoadOptions,
  loaded: Loaded,
  record: string | undefined
): Effect.Effect<void, Failure> => {
  const linked = withLink(loaded.settings)
  const shown = shownSettings(loaded)
  return runGateway(
    withLogFormat(linked.settings),
    Effect.fnUntraced(function* (origin, warnings) {
      const { settings } = loaded
      const keys = yield* makeMissingKeys(settings)
      const accounts = (yield* Catalog).list()
      const { declare } = yield* ConfigSnapshot
      yield* followConfiguration({
        load: options,
        started: loaded,
        apply: (reading, changed) => {
          if (Result.isSuccess(reading.outcome)) shown.reload(reading.outcome.success)
          return declare(declareWithKey(keys.inference)(changed))
        }
      })
      yield* Console.error(startLines(origin, loaded, accounts, keys, { workers: 1, record, console: linked.lines }))
      yield* warnOfCredentials(loaded)
      for (const warning of warnings) yield* Effect.logWarning(warning)
    }),
    {},
    Layer.merge(
      shown.layer,
      record === undefined
        ? Layer.empty
        : Layer.provide(Transport.layerRecord(resolve(record)), Layer.succeed(Limits, loaded.settings.limits))
    )
  )
}
