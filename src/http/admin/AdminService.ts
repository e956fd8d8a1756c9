// The service itself on the admin API: its settings and state, its metrics, the models it knows and what it learned of them, and the lines that connect clients.
// It must not show a secret; addresses come here without passwords. It must not depend on which metrics or clients there are.
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { longestId, momentOf } from "../../admin/resourceReader.ts"
import type { AdminSettings as Shown } from "../../api/AdminReports.ts"
import { publicPricesVersion } from "../../catalog/Prices.ts"
import { Limits, type LimitValues } from "../../domain/Limits.ts"
import { explainModel, isServedAt, modelFactsDay, type ModelTable } from "../../domain/models/modelTable.ts"
import type { ExportSetting, SettingOrigin } from "../../domain/settings/Settings.ts"
import { version } from "../../domain/version.ts"
import { type SeriesValue, seriesValues, SharedRegistry } from "../../telemetry/Series.ts"
import { prometheusName } from "../../telemetry/metrics.ts"
import { listedModels } from "../../catalog/models.ts"
import { RecordUnknown } from "../../domain/GatewayError.ts"
import { allows } from "../../domain/GatewayKey.ts"
import { modelIdOf, writtenModelId } from "../../domain/ModelRef.ts"
import { modelNotice } from "../../domain/models/modelLife.ts"
import { dayOf } from "../../domain/time.ts"
import { isBuiltIn, type ProviderAccount } from "../../domain/ProviderAccount.ts"
import { type LearnedLesson, LearnedRemedies } from "../../state/LearnedRemedies.ts"
import { clientLines } from "../../api/clientSettings.ts"
import { Readiness, checkOf } from "../edge/Readiness.ts"
import { together } from "../edge/Route.ts"
import { Traffic } from "../node/Traffic.ts"
import { adminRoute, emptyAnswer, listAnswer, valueAnswer } from "./AdminRoute.ts"
import { factsQuery, metricsQuery } from "./adminQuery.ts"

/** What was read when the service started, or at its last reload. */
export interface ReadSettings {
  /** The configuration file; undefined where there is none. */
  readonly file: string | undefined
  readonly origins: ReadonlyArray<SettingOrigin>
}

/** The settings with their origins. An application that embeds the gateway sets values in its code, so it has none. */
export const ReadSettings: Context.Reference<() => ReadSettings> = Context.Reference<() => ReadSettings>(
  "gateway/http/ReadSettings",
  { defaultValue: () => () => ({ file: undefined, origins: [] }) }
)

/** What the service runs on, by its settings. */
export interface Surroundings {
  /** The place of the store, without secrets; undefined for a store in memory. */
  readonly store: string | undefined
  readonly hasRedis: boolean
  readonly export: ExportSetting | undefined
}

export const Surroundings: Context.Reference<Surroundings> = Context.Reference<Surroundings>(
  "gateway/http/Surroundings",
  { defaultValue: () => ({ store: undefined, hasRedis: false, export: undefined }) }
)

const limitOf = (name: string, limits: LimitValues): number | undefined =>
  Object.entries(limits).find(([limit]) => name === `limits.${limit}`)?.[1]

/** `effective` is there where the process lowered a limit, as to the files that it may open. */
const shownSetting = ({ description, from, name, source, value }: SettingOrigin, limits: LimitValues) => {
  const effective = limitOf(name, limits)
  return {
    name,
    source,
    ...(value === undefined ? {} : { value }),
    ...(from === undefined ? {} : { from }),
    ...(effective === undefined || effective === value ? {} : { effective }),
    ...(description === undefined ? {} : { description })
  }
}

/** `ok`, or what is wrong in one word. */
const stateOf = (read: Readiness[string] | undefined): string => checkOf(read?.() ?? true).state

export const AdminSettings = adminRoute("GET", "/admin/v1/settings", function* ({ incoming }) {
  const limits = yield* Limits
  const readiness = yield* Readiness
  const { export: exported, hasRedis, store } = yield* Surroundings
  const { file, origins } = (yield* ReadSettings)()
  const shown: Shown = {
    object: "settings",
    version,
    node: process.versions.node,
    started_at: momentOf((yield* Traffic).startedMillis),
    file: file ?? null,
    store: { place: store ?? "in memory", state: stateOf(readiness["store"]) },
    redis: hasRedis ? { state: stateOf(readiness["redis"]) } : null,
    exporter: exported === undefined ? null : { traces: exported.traces, metrics: exported.metrics !== undefined },
    prices: { list: `@pydantic/genai-prices ${publicPricesVersion}`, models_as_of: modelFactsDay },
    settings: origins.map((origin) => shownSetting(origin, limits))
  }
  return valueAnswer(shown, incoming)
})

// GET /admin/v1/metrics: the counters and gauges of the service as JSON, of all its processes together.

const shownSeries = ({ attributes = {}, id, value }: SeriesValue) => {
  const { unit: _unit, ...labels } = attributes
  return { object: "metric", name: prometheusName(id), labels, value }
}

/** Histograms are left out: the usage has what they measure, over time. */
const isNumber = ({ value }: SeriesValue): boolean => typeof value === "number"

/** The registry is the one the service was built with, or a shared one. */
const metricsRoute = adminRoute("GET", "/admin/v1/metrics", function* ({ incoming }) {
  const names = yield* Effect.fromResult(metricsQuery(incoming.url))
  const series = seriesValues(yield* (yield* SharedRegistry) ?? Effect.context<never>())
    .filter(isNumber)
    .map(shownSeries)
  return listAnswer(names === undefined ? series : series.filter(({ name }) => names.has(name)), incoming)
})

// Models on the admin API: those of a provider, the facts in force about one with their origins, and forgetting lessons.

/** A lesson with its scope: it holds for this key, at this account and place. */
const shownLesson = ({ config, keyId, kind, project, region, row, slug, value }: LearnedLesson) => ({
  provider: kind,
  account: slug,
  key: keyId,
  ...(project === "" ? {} : { project }),
  ...(region === "" ? {} : { region }),
  ...(config === "" ? {} : { config }),
  ...(row === "move" ? { answers: value } : { row, value })
})

/** The models of an account: those that its list names or fits, else all of its kind. */
const modelsOf = ({ kind, models }: ProviderAccount, table: ModelTable): ReadonlyArray<string> => {
  const listed = isBuiltIn(kind) ? listedModels(kind, table).filter((id) => allows(models, id)) : []
  const named = (models ?? []).filter((id) => !id.includes("*") && !listed.includes(id))
  return [...listed, ...named]
}

const shownModel = (id: string, { kind, region }: ProviderAccount, table: ModelTable, today: string) => {
  const modelId = modelIdOf(id)
  const { record, source } = table.find(modelId)
  const notice = isBuiltIn(kind) && source !== "inherited" ? modelNotice(table, modelId, kind, today) : undefined
  const { locations } = record
  const isPlaced = kind === "vertex-ai" && source !== "inherited" && locations !== undefined
  return {
    object: "provider_model",
    id,
    ...(isPlaced ? { locations, is_served_here: region === undefined || isServedAt(record, region) } : {}),
    ...(notice === undefined ? {} : { notice: { kind: notice.kind, message: notice.text } })
  }
}

const modelsRoute = adminRoute("GET", "/admin/v1/providers/:id/models", function* ({ catalog, incoming }) {
  const slug = decodeURIComponent(incoming.path.split("/")[4] ?? "")
  const account = catalog.resolve(slug)
  if (account === undefined) return yield* new RecordUnknown({ kind: "provider", id: slug.slice(0, longestId) })
  const today = dayOf(yield* Clock.currentTimeMillis)
  const { models } = catalog
  return listAnswer(
    modelsOf(account, models).map((id) => shownModel(id, account, models, today)),
    incoming
  )
})

const factsRoute = adminRoute("GET", "/admin/v1/models/facts", function* ({ catalog, incoming }) {
  const { model } = yield* Effect.fromResult(factsQuery(incoming.url))
  const shown = explainModel(catalog.models, writtenModelId(model))
  const lessons = (yield* LearnedRemedies).lessonsOf(shown.model, yield* Clock.currentTimeMillis)
  return valueAnswer({ ...shown, learned: lessons.map(shownLesson) }, incoming)
})

const forgetRoute = adminRoute("DELETE", "/admin/v1/models/learned", function* ({ incoming }) {
  yield* (yield* LearnedRemedies).clear
  return emptyAnswer(incoming)
})

/** The lines that connect each client, with places for address, key and model. */
const clientsRoute = adminRoute("GET", "/admin/v1/clients", function* ({ incoming }) {
  return listAnswer(
    clientLines.map((client) => ({ object: "client", ...client })),
    incoming
  )
})

export const AdminService = together(metricsRoute, modelsRoute, factsRoute, forgetRoute, clientsRoute)
