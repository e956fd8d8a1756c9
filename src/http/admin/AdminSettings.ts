// GET /admin/v1/settings: every setting with its origin, and the state of what the service runs on.
// It must not show a secret; addresses come here without passwords.
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { momentOf } from "../../admin/readBody.ts"
import type { AdminSettings as Shown } from "../../api/admin/AdminSettings.ts"
import { publicPricesVersion } from "../../catalog/PublicPrices.ts"
import { Limits, type LimitValues } from "../../domain/Limits.ts"
import { modelFactsDay } from "../../domain/models/modelTable.ts"
import type { SettingOrigin } from "../../domain/settings/SettingOrigin.ts"
import type { ExportSetting } from "../../domain/settings/Settings.ts"
import { version } from "../../domain/version.ts"
import { keyedRoute } from "../edge/GatewayAuth.ts"
import { Readiness } from "../edge/Readiness.ts"
import { answered } from "./AdminAnswer.ts"

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
const stateOf = (read: Readiness[string] | undefined): string => {
  const state = read?.() ?? true
  if (typeof state === "boolean") return state ? "ok" : "down"
  return typeof state === "string" ? state : state.state
}

export const AdminSettings = keyedRoute(
  "GET",
  "/admin/v1/settings",
  Effect.gen(function* () {
    const limits = yield* Limits
    const read = yield* ReadSettings
    const surroundings = yield* Surroundings
    const readiness = yield* Readiness
    const startedAt = momentOf(yield* Clock.currentTimeMillis)
    const { export: exported } = surroundings
    return ({ incoming }) =>
      Effect.sync(() => {
        const { file, origins } = read()
        const shown: Shown = {
          object: "settings",
          version,
          node: process.versions.node,
          started_at: startedAt,
          file: file ?? null,
          store: { place: surroundings.store ?? "in memory", state: stateOf(readiness["store"]) },
          redis: surroundings.hasRedis ? { state: stateOf(readiness["redis"]) } : null,
          exporter:
            exported === undefined ? null : { traces: exported.traces, metrics: exported.metrics !== undefined },
          prices: { list: `@pydantic/genai-prices ${publicPricesVersion}`, models_as_of: modelFactsDay },
          settings: origins.map((origin) => shownSetting(origin, limits))
        }
        return answered(shown, incoming)
      })
  }),
  "admin"
)
