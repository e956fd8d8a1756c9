// Gateway configs: those the operator keeps under an id, and those that come with a request.
// It must not know headers, keys or how a config is used.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { FairEntries } from "../domain/FairEntries.ts"
import { type Fault, faultAt } from "../domain/faults.ts"
import type { GatewayConfig } from "../domain/config/GatewayConfig.ts"
import { parseInnerJsonText } from "../domain/text/json.ts"
import { Limits, type LimitValues } from "../domain/Limits.ts"
import { readConfig } from "../domain/config/readConfig.ts"
import { Holdings } from "../store/Holdings.ts"
import { heldConfigs } from "./heldConfigs.ts"

export class Configs extends Context.Service<
  Configs,
  {
    readonly find: (id: string) => GatewayConfig | undefined
    /** A config of JSON text, for the gateway key that sends it; the same text is read once. */
    readonly read: (text: string, keyId: string) => Result.Result<GatewayConfig, Fault>
  }
>()("gateway/catalog/Configs") {
  /** The declared configs and those of the store, as they are at the moment of asking. */
  static readonly layer: Layer.Layer<Configs, never, Holdings> = Layer.effect(
    Configs,
    Effect.gen(function* () {
      const limits = yield* Limits
      const view = yield* (yield* Holdings).view((held) => {
        const { configs, faults } = heldConfigs(held, limits)
        return { view: new Map(Object.entries(configs)), faults }
      })
      return { find: (id) => view().get(id), read: textReader(limits) }
    })
  )

  /** Configs by their ids, and none besides. */
  static readonly layerMemory = (configs: Readonly<Record<string, GatewayConfig>>): Layer.Layer<Configs> =>
    Layer.effect(
      Configs,
      Effect.map(Limits, (limits) => {
        const known = new Map(Object.entries(configs))
        return { find: (id) => known.get(id), read: textReader(limits) }
      })
    )
}

/** Reads texts, and remembers them until they are too many or too large; then the oldest of the key with the most is forgotten. */
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
    // Every target holds what stands above it.
    const bytes = text.length * Math.max(1, Result.isSuccess(config) ? config.success.targets.length : 1)
    if (bytes <= limits.configBytes) texts.set(keyId, text, config, bytes)
    return config
  }
}
