// Compiles all gateway configs of the configuration by id, and checks the provider slugs they name.
// It must not know where the configs were written or how a config is used.
import * as Result from "effect/Result"
import { type Fault, faultAt, type FaultPath, hint, isNamed, quoteValue } from "../faults.ts"
import type { ConfigTarget, GatewayConfig, WrittenConfig } from "./GatewayConfig.ts"
import { parseModelRef } from "../ModelRef.ts"
import type { ProviderAccount } from "../ProviderAccount.ts"
import { compileConfig, type ConfigLimits } from "./readConfig.ts"

/** A header carries either an id or inline JSON, so an id cannot start with a brace. */
const idGrammar = /^[A-Za-z0-9][\w.-]{0,63}$/
const isConfigId = (text: string): boolean => idGrammar.test(text)

/** The slugs of a target: its provider's, and those in the models it sets. */
const slugsOf = ({ defaultModel, model, slug }: ConfigTarget): ReadonlyArray<string> =>
  [
    slug,
    ...[model, defaultModel].map((one) =>
      one === undefined ? undefined : Result.getOrUndefined(parseModelRef(one))?.slug
    )
  ].filter((one) => one !== undefined)

export const readConfigs = (
  written: Readonly<Record<string, WrittenConfig>>,
  accounts: ReadonlyArray<ProviderAccount>,
  limits: ConfigLimits
): { readonly configs: Readonly<Record<string, GatewayConfig>>; readonly faults: ReadonlyArray<Fault> } => {
  const known = accounts.map((account) => account.slug)
  const configs: Array<readonly [string, GatewayConfig]> = []
  const faults: Array<Fault> = []
  for (const [id, one] of Object.entries(written)) {
    const at: FaultPath = ["configs", id]
    if (!isConfigId(id)) faults.push(faultAt(at, 'is not an id: letters, digits, "_", "." and "-", at most 64'))
    const compiled = compileConfig(one, limits, at)
    configs.push([id, compiled.config])
    faults.push(...compiled.faults)
    for (const target of compiled.config.targets) {
      for (const slug of slugsOf(target)) {
        if (!isNamed(slug, known))
          faults.push(
            faultAt(
              [...at, ...target.at],
              `${quoteValue(slug)} is no provider of this configuration${hint(slug, known)}`
            )
          )
      }
    }
  }
  return { configs: Object.fromEntries(configs), faults }
}
