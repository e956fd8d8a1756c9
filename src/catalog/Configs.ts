// Gateway configs: those the operator keeps under an id, and those that come with a request.
// It must not know headers, keys or how a config is used.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { type Fault, faultAt } from "../domain/faults.ts"
import type { GatewayConfig } from "../domain/GatewayConfig.ts"
import { parseInnerJsonText } from "../domain/json.ts"
import { Limits } from "../domain/Limits.ts"
import { readConfig } from "../domain/readConfig.ts"

export class Configs extends Context.Service<Configs, {
  readonly find: (id: string) => GatewayConfig | undefined
  /** A config of JSON text; the same text is read once. */
  readonly read: (text: string) => Result.Result<GatewayConfig, Fault>
}>()("gateway/catalog/Configs") {
  /** Configs by their ids; texts are remembered until their number is too large, then the oldest is forgotten. */
  static readonly layerMemory = (configs: Readonly<Record<string, GatewayConfig>>): Layer.Layer<Configs> =>
    Layer.effect(
      Configs,
      Effect.gen(function*() {
        const limits = yield* Limits
        const known = new Map(Object.entries(configs))
        const texts = new Map<string, Result.Result<GatewayConfig, Fault>>()
        const parsed = (text: string): Result.Result<GatewayConfig, Fault> => {
          const value = parseInnerJsonText(text, limits)
          return Result.isFailure(value) ? Result.fail(faultAt([], "is not JSON")) : readConfig(value.success, limits)
        }
        return {
          find: (id) => known.get(id),
          read: (text) => {
            const met = texts.get(text)
            if (met !== undefined) return met
            const config = parsed(text)
            for (const oldest of texts.keys()) {
              if (texts.size < limits.configEntries) break
              texts.delete(oldest)
            }
            texts.set(text, config)
            return config
          }
        }
      })
    )
}
