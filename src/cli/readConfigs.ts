// From the configs section of a configuration to gateway configs made ready, or to every fault in it.
// It must not know how a config is used.
import * as Result from "effect/Result"
import { type Fault, faultAt, type FaultPath, shown } from "../domain/faults.ts"
import type { ConfigTarget, GatewayConfig } from "../domain/GatewayConfig.ts"
import { parseModelRef } from "../domain/ModelRef.ts"
import { hint } from "../domain/nearest.ts"
import type { ProviderAccount } from "../domain/ProviderAccount.ts"
import { compileConfig, type ConfigLimits } from "../domain/readConfig.ts"
import type { SettingsFile } from "../domain/Settings.ts"

/** An id is written into a header where inline JSON may stand instead. */
const idGrammar = /^[A-Za-z0-9][\w.-]{0,63}$/

/** Slugs a target names: of its provider, and of a model it sets. */
const slugsOf = ({ defaultModel, model, slug }: ConfigTarget): ReadonlyArray<string> =>
  [slug, ...[model, defaultModel].map((one) => one === undefined ? undefined : Result.getOrUndefined(parseModelRef(one))?.slug)]
    .filter((one) => one !== undefined)

export const readConfigs = (
  file: SettingsFile,
  accounts: ReadonlyArray<ProviderAccount>,
  limits: ConfigLimits
): { readonly configs: Readonly<Record<string, GatewayConfig>>; readonly faults: ReadonlyArray<Fault> } => {
  const known = accounts.map((account) => account.slug)
  const configs: Array<readonly [string, GatewayConfig]> = []
  const faults: Array<Fault> = []
  for (const [id, written] of Object.entries(file.configs ?? {})) {
    const at: FaultPath = ["configs", id]
    if (!idGrammar.test(id)) faults.push(faultAt(at, "is not an id: letters, digits, \"_\", \".\" and \"-\", at most 64"))
    const compiled = compileConfig(written, limits, at)
    configs.push([id, compiled.config])
    faults.push(...compiled.faults)
    for (const target of compiled.config.targets) {
      for (const slug of slugsOf(target)) {
        if (!known.includes(slug)) faults.push(faultAt([...at, ...target.at], `${shown(slug)} is no provider of this configuration${hint(slug, known)}`))
      }
    }
  }
  return { configs: Object.fromEntries(configs), faults }
}
