// Gateway configs: finds stored and declared ones by id, and compiles and caches inline ones.
// It must not know headers, keys or how a config is used.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { FairEntries } from "../domain/FairEntries.ts"
import { type Fault, faultAt } from "../domain/faults.ts"
import type { GatewayConfig } from "../domain/config/GatewayConfig.ts"
import { parseInnerJsonText } from "../domain/text/innerJson.ts"
import { Limits, type LimitValues } from "../domain/Limits.ts"
import { readConfig } from "../domain/config/readConfig.ts"
import { ConfigSnapshot } from "../store/ConfigSnapshot.ts"
import { newestIn } from "../store/readRecord.ts"
import { HeldConfigs } from "./heldConfigs.ts"

const views = new WeakMap<ConfigSnapshot["Service"], () => HeldConfigs>()

/** The configs as they change; all users of a snapshot share them. A changed provider reads them again. */
export const heldConfigsView: Effect.Effect<() => HeldConfigs, never, ConfigSnapshot> = Effect.gen(function* () {
  const snapshot = yield* ConfigSnapshot
  const limits = yield* Limits
  const known = views.get(snapshot)
  if (known !== undefined) return known
  const view = yield* snapshot.track({
    kind: "config",
    rebuiltBy: ["provider"],
    build: (state) => new HeldConfigs(state, limits),
    change: (held, { records }, ids) => {
      for (const id of ids) held.put(id, newestIn(records.config, id))
    }
  })
  views.set(snapshot, view)
  return view
})

export class Configs extends Context.Service<
  Configs,
  {
    readonly find: (id: string) => GatewayConfig | undefined
    /** Compiles a config from JSON text and caches it for the gateway key that sent it. */
    readonly read: (text: string, keyId: string) => Result.Result<GatewayConfig, Fault>
  }
>()("gateway/catalog/Configs") {
  /** The declared configs and those of the store; each lookup uses the current snapshot. */
  static readonly layer: Layer.Layer<Configs, never, ConfigSnapshot> = Layer.effect(
    Configs,
    Effect.gen(function* () {
      const limits = yield* Limits
      const view = yield* heldConfigsView
      return { find: (id) => view().find(id), read: textReader(limits) }
    })
  )

  /** A catalog of the given configs only. */
  static readonly layerMemory = (configs: Readonly<Record<string, GatewayConfig>>): Layer.Layer<Configs> =>
    Layer.effect(
      Configs,
      Effect.map(Limits, (limits) => {
        const known = new Map(Object.entries(configs))
        return { find: (id) => known.get(id), read: textReader(limits) }
      })
    )
}

/** Compiles and caches texts. A full cache evicts the oldest config of the key that holds the most. */
const textReader = (limits: LimitValues): Configs["Service"]["read"] => {
  const texts = new FairEntries<Result.Result<GatewayConfig, Fault>>(limits.configEntries, limits.configBytes)
  const parsed = (text: string): Result.Result<GatewayConfig, Fault> => {
    const value = parseInnerJsonText(text, limits)
    return Result.isFailure(value) ? Result.fail(faultAt([], "is not JSON")) : readConfig(value.success, limits)
  }
  return (text, keyId) => {
    const met = texts.get(text)
    if (met !== undefined) return met
    const config = parsed(text)
    // Each target contains everything it inherits, so the size grows with the number of targets.
    const bytes = text.length * Math.max(1, Result.isSuccess(config) ? config.success.targets.length : 1)
    if (bytes <= limits.configBytes) texts.set(keyId, text, config, bytes)
    return config
  }
}
