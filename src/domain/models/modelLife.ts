// What operators and callers should know of a model in use: that it ends, has ended, is unknown, or is not offered there.
// It must not know the store or the clock; the day comes from the caller (M-720, M-730).
import { dayMillis } from "../time.ts"
import type { ModelRecord } from "./ModelRecord.ts"
import { builtInModels, isServedAt, modelFactsDay, type ModelTable, modelTable } from "./modelTable.ts"
import * as Result from "effect/Result"
import type { ConfigTarget } from "../config/GatewayConfig.ts"
import { parseFamily, parseModelRef } from "../ModelRef.ts"
import { isBuiltIn, type ProviderAccount } from "../ProviderAccount.ts"
import { resolveModelName } from "../serving.ts"
import type { Settings } from "../settings/Settings.ts"

interface ModelNotice {
  readonly kind: "shut_down" | "deprecated" | "unknown" | "not_offered"
  readonly text: string
}

/** The announced or past end of a model. */
export interface ModelEnding {
  readonly stage: "deprecated" | "shut_down"
  readonly shutdown: string | undefined
  readonly successor: string | undefined
}

/** Imagen on Vertex AI: shut down by the facts, and still served to those whose project has it. */
export const listedImagen: ReadonlySet<string> = new Set([
  "imagen-3.0-generate-001",
  "imagen-3.0-fast-generate-001",
  "imagegeneration@006",
  "imagegeneration@005",
  "imagegeneration@002"
])

/** Days before its end from which a model is named. */
const noticeDays = 60

const within = (end: string, today: string): boolean => Date.parse(end) - Date.parse(today) <= noticeDays * dayMillis

/** A day before that of the facts has passed without an end where the stage denies the end. */
const isOver = ({ stage }: ModelRecord, stated: string | undefined, today: string): boolean =>
  stage === "shut_down" || (stated !== undefined && stated <= today && stated > modelFactsDay)

/** Undefined for a model without an end in sight; `today` as 2026-12-01. */
export const modelEnding = (record: ModelRecord, provider: string, today: string): ModelEnding | undefined => {
  const { id, shutdown, stage, successor } = record
  if (shutdown === undefined && (stage === undefined || stage === "ga" || stage === "preview")) return undefined
  // Google keeps a calendar of its own for Claude, whose days are not all known.
  const end = shutdown?.[provider] ?? shutdown?.["claude-api"]
  const ending = { shutdown: end, successor }
  if (isOver(record, shutdown?.[provider], today))
    return { ...ending, stage: listedImagen.has(id) ? "deprecated" : "shut_down" }
  return stage === "deprecated" || (end !== undefined && within(end, today))
    ? { ...ending, stage: "deprecated" }
    : undefined
}

/** `deprecated; shutdown=2026-12-01; successor=gemini-3.8-flash`, as the header has it (M-730). */
export const endingText = ({ shutdown, stage, successor }: ModelEnding): string =>
  [
    stage,
    ...(shutdown === undefined ? [] : [`shutdown=${shutdown}`]),
    ...(successor === undefined ? [] : [`successor=${successor}`])
  ].join("; ")

const successorText = (successor: string | undefined): string =>
  successor === undefined ? "" : `; its successor is ${successor}`

const deprecatedText = (id: string, { shutdown: end, successor }: ModelEnding, today: string): string => {
  if (listedImagen.has(id)) return `${id} is shut down for new projects${successorText(successor)}`
  const day =
    end === undefined ? "" : end <= today ? `; its end was announced for ${end}` : ` and will be shut down on ${end}`
  return `${id} is deprecated${day}${successorText(successor)}`
}

const shutDownText = (id: string, { shutdown: end, successor }: ModelEnding): string =>
  `${id} is shut down${end === undefined ? "" : ` since ${end}`}${successorText(successor)}`

/** Undefined: nothing to report. `id` is spelled without slug and prefix, `today` as 2026-12-01. */
export const modelNotice = (
  models: ModelTable,
  id: string,
  provider: string,
  today: string
): ModelNotice | undefined => {
  const { from, record, source } = models.find(id)
  if (source === "inherited")
    return { kind: "unknown", text: `${id} is not a known model; it has the facts of ${from}` }
  const { providers } = record
  if (providers !== undefined && !providers.includes(provider))
    return { kind: "not_offered", text: `${id} is not offered on ${provider}; it is on ${providers.join(", ")}` }
  const ending = modelEnding(record, provider, today)
  if (ending === undefined) return undefined
  return ending.stage === "shut_down"
    ? { kind: "shut_down", text: shutDownText(id, ending) }
    : { kind: "deprecated", text: deprecatedText(id, ending, today) }
}

/** A sentence for the refusal of a model that a provider or a location does not have; undefined where the facts are silent. */
export const absenceText = (
  record: ModelRecord,
  provider: string,
  location: string | undefined,
  today: string
): string | undefined => {
  const { id, locations } = record
  const ending = modelEnding(record, provider, today)
  if (ending?.stage === "shut_down") return `${shutDownText(id, ending)}.`
  return location === undefined || locations === undefined || isServedAt(record, location)
    ? undefined
    : `${id} is served in ${locations.join(", ").replace("regions", "single regions")}.`
}

// Every model id that a configuration names, with what the operator should know of it (M-720).

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
    [...versions.values()].flatMap(({ model }) =>
      model === undefined ? [] : [{ at: `prompt ${id}`, model, slug: undefined }]
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
