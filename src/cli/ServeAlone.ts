// `serve` in one process: the gateway, its first keys, and reloads of its configuration.
// Must not know the parts of the gateway.
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { Catalog } from "../catalog/Catalog.ts"
import { ConfigSnapshot } from "../store/ConfigSnapshot.ts"
import type { Failure } from "./Failure.ts"
import { declareWithKey, makeMissingKeys } from "./FirstKeys.ts"
import { followConfiguration } from "./Reload.ts"
import { runGateway, startLines } from "./RunGateway.ts"
import type { Loaded, LoadOptions } from "./settings/LoadSettings.ts"
import { withLogFormat } from "./Starting.ts"

export const serveAlone = (options: LoadOptions, loaded: Loaded): Effect.Effect<void, Failure> =>
  runGateway(
    withLogFormat(loaded.settings),
    Effect.fnUntraced(function* (origin) {
      const { settings } = loaded
      const keys = yield* makeMissingKeys(settings)
      const accounts = (yield* Catalog).list()
      const { declare } = yield* ConfigSnapshot
      yield* followConfiguration({
        load: options,
        started: settings,
        apply: (_, changed) => declare(declareWithKey(keys.inference)(changed))
      })
      yield* Console.error(startLines(origin, loaded, accounts, keys, 1))
    })
  )
