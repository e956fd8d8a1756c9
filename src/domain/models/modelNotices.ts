// Every model id that a configuration names, with what the operator should know of it (M-720).
// It must not know the clock or the store.
import * as Result from "effect/Result"
import type { ConfigTarget } from "../config/GatewayConfig.ts"
import { parseFamily, parseModelRef } from "../ModelRef.ts"
import { type ModelNotice, modelNotice } from "./modelLife.ts"
import { builtInModels, modelTable } from "./modelTable.ts"
import { isBuiltIn, type ProviderAccount } from "../ProviderAccount.ts"
import { resolveModelName } from "../serve/modelNames.ts"
import type { Settings } from "../settings/Settings.ts"

export interface PlacedNotice extends ModelNotice {
  /** Where the configuration names the model. */
  readonly at: string
}

interface Named {
  readonly at: string
  readonly model: string
  readonly slug: string | undefined
}

const ofTarget = (config: string, { defaultModel, index, model, slug }: ConfigTarget): ReadonlyArray<Named> =>
  [model, defaultModel].flatMap((one) =>
    one === undefined ? [] : [{ at: `configs.${config} target ${index}`, model: one, slug }]
  )

/** The parts of a configuration that name models. */
export type NamingParts = Pick<Settings, "accounts" | "aliases" | "configs" | "models" | "prompts"> & {
  readonly keys: ReadonlyArray<{ readonly name: string; readonly models?: ReadonlyArray<string> | undefined }>
}

const named = ({ accounts, aliases = {}, configs = {}, keys, prompts = [] }: NamingParts): ReadonlyArray<Named> => [
  ...accounts.flatMap(({ models = [], slug }) => models.map((model) => ({ at: `@${slug}`, model, slug }))),
  ...Object.entries(configs).flatMap(([id, { targets }]) => targets.flatMap((target) => ofTarget(id, target))),
  ...prompts.flatMap(({ id, versions }) =>
    [...versions.values()].flatMap((version) =>
      version._tag === "Chat" ? [{ at: `prompt ${id}`, model: version.model, slug: undefined }] : []
    )
  ),
  ...Object.entries(aliases).map(([name, written]) => {
    const { model } = resolveModelName(written, {})
    return { at: `alias ${name}`, model, slug: undefined }
  }),
  ...keys.flatMap(({ models = [], name }) => models.map((model) => ({ at: `key ${name}`, model, slug: undefined })))
]

/** A model of the configuration, with the account that serves it; undefined where any account may. */
export interface PlacedModel {
  readonly at: string
  readonly modelId: string
  readonly account: ProviderAccount | undefined
}

/** Every model that a part of the configuration names; neither patterns nor self-deployed endpoints. */
export const placedModels = (parts: NamingParts): ReadonlyArray<PlacedModel> =>
  named(parts).flatMap(({ at, model, slug }) => {
    const ref = Result.getOrUndefined(parseModelRef(model))
    const family =
      ref === undefined || ref.rest.includes("*") ? undefined : Result.getOrUndefined(parseFamily(ref.rest))
    return ref === undefined || family === undefined || family.family === "endpoint"
      ? []
      : [{ at, modelId: family.modelId, account: parts.accounts.find((one) => one.slug === (ref.slug ?? slug)) }]
  })

/** A bare id of no certain account is looked at as on the first provider of the accounts that has it. */
export const modelNotices = (parts: NamingParts, today: string): ReadonlyArray<PlacedNotice> => {
  const table = parts.models === undefined ? builtInModels : modelTable(parts.models)
  return placedModels(parts).flatMap(({ account, at, modelId }) => {
    const kinds = (account === undefined ? parts.accounts : [account]).map(({ kind }) => kind).filter(isBuiltIn)
    const { providers } = table.find(modelId).record
    const kind = kinds.find((one) => providers?.includes(one)) ?? kinds[0]
    const notice = kind === undefined ? undefined : modelNotice(table, modelId, kind, today)
    return notice === undefined ? [] : [{ ...notice, at }]
  })
}
