// /admin/v1/{providers,keys,configs,prompts}: lists, reads, creates, updates and removes entries; checks a config before it is saved; and the log of all changes.
// It must not depend on the meaning of an entry, or on where entries are kept.
import * as Effect from "effect/Effect"
import type { Key } from "../../api/AdminResources.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { compileKey, type GatewayKey } from "../../domain/GatewayKey.ts"
import { dollarsOf } from "../../domain/Usage.ts"
import { Admission } from "../../keys/Admission.ts"
import * as Result from "effect/Result"
import { Administration } from "../../admin/Administration.ts"
import { invalidRecord, type Managed } from "../../admin/Managed.ts"
import { ProviderTest } from "../../admin/ProviderTest.ts"
import {
  actorOf,
  adminRoute,
  createdAnswer,
  emptyAnswer,
  entryAnswer,
  expectedEntry,
  idInPath,
  listAnswer,
  type ShownEntry,
  valueAnswer,
  writtenObject
} from "./AdminRoute.ts"
import { pageQuery, rotateQuery } from "./adminQuery.ts"
import { together } from "../edge/Route.ts"
import { providerTestResult } from "./AdminRows.ts"
import * as Clock from "effect/Clock"
import { resourceReader } from "../../admin/resourceReader.ts"
import { type ConfigCheck, ConfigCheckBody } from "../../api/AdminReports.ts"
import { errorFacts } from "../../api/errorFacts.ts"
import type { GatewayConfig } from "../../domain/config/GatewayConfig.ts"
import { renderPath } from "../../domain/faults.ts"
import { Limits, type LimitValues } from "../../domain/Limits.ts"
import { type CatalogView, nothingCarried } from "../../domain/ProviderAccount.ts"
import { dayOf } from "../../domain/time.ts"
import { resolveTargets, simulateConfig, type SimulatedNode } from "../../router/configPlan.ts"
import { roundToMicros } from "../../domain/RequestRow.ts"

/** The key with what it has spent and when it was used last. */
const withSpending = (key: Key): Effect.Effect<Key, StoreUnavailable, Admission> =>
  Effect.gen(function* () {
    const { lastUsedMillis, spentMicros } = yield* (yield* Admission).spent(compileKey(key.id, key))
    return {
      ...key,
      spent_usd: dollarsOf(spentMicros),
      ...(lastUsedMillis === undefined ? {} : { last_used_at: new Date(lastUsedMillis).toISOString() })
    }
  })

/** The five routes of one kind of entries; `of` is its service, and `joined` what a read adds to an entry. */
const entries = <A extends ShownEntry, R = never>(
  path: `/admin/v1/${"providers" | "keys" | "configs" | "prompts"}`,
  of: (administration: Administration["Service"]) => Managed<A>,
  idIn: (entry: A) => string,
  joined: (entry: A) => Effect.Effect<A, StoreUnavailable, R> = Effect.succeed
) =>
  together(
    adminRoute("GET", path, function* ({ incoming }) {
      const { cursor, limit } = yield* Effect.fromResult(pageQuery(incoming.url))
      const { next, rows } = yield* of(yield* Administration).list(limit, cursor)
      return listAnswer(yield* Effect.forEach(rows, joined), incoming, next)
    }),
    adminRoute("POST", path, function* (call) {
      const written = yield* writtenObject(call)
      const entry = yield* of(yield* Administration).create(written, actorOf(call))
      return createdAnswer(entry, `${path}/${encodeURIComponent(idIn(entry))}`, call.incoming)
    }),
    adminRoute("GET", `${path}/:id`, function* (call) {
      const id = yield* idInPath(call)
      return entryAnswer(yield* joined(yield* of(yield* Administration).get(id)), call.incoming)
    }),
    adminRoute("PUT", `${path}/:id`, function* (call) {
      const id = yield* idInPath(call)
      const written = yield* writtenObject(call)
      const entry = yield* of(yield* Administration).update(id, written, actorOf(call), expectedEntry(call))
      return entryAnswer(entry, call.incoming)
    }),
    adminRoute("DELETE", `${path}/:id`, function* (call) {
      const id = yield* idInPath(call)
      yield* of(yield* Administration).remove(id, actorOf(call), expectedEntry(call))
      return emptyAnswer(call.incoming)
    })
  )

const rotateRoute = adminRoute("POST", "/admin/v1/keys/:id/rotate", function* (call) {
  const id = yield* idInPath(call)
  const grace = yield* Effect.fromResult(rotateQuery(call.incoming.url))
  const { keys } = yield* Administration
  return entryAnswer(yield* keys.rotate(id, actorOf(call), expectedEntry(call), grace), call.incoming)
})

const testRoute = adminRoute("POST", "/admin/v1/providers/:id/test", function* (call) {
  const slug = yield* idInPath(call)
  const tested = yield* (yield* ProviderTest).run(slug, call.incoming.requestId)
  return valueAnswer(providerTestResult(tested), call.incoming)
})

const auditRoute = adminRoute("GET", "/admin/v1/audit", function* ({ incoming }) {
  const { cursor, limit } = yield* Effect.fromResult(pageQuery(incoming.url))
  const { next, rows } = yield* (yield* Administration).audit(limit, cursor)
  return listAnswer(rows, incoming, next)
})

export const AdminEntries = together(
  entries(
    "/admin/v1/providers",
    ({ providers }) => providers,
    ({ slug }) => slug
  ),
  entries(
    "/admin/v1/keys",
    ({ keys }) => keys,
    ({ id }) => id,
    withSpending
  ),
  entries(
    "/admin/v1/configs",
    ({ configs }) => configs,
    ({ id }) => id
  ),
  entries(
    "/admin/v1/prompts",
    ({ prompts }) => prompts,
    ({ id }) => id
  ),
  rotateRoute,
  testRoute,
  auditRoute
)

// POST /admin/v1/check: the faults and notices of a config before it is saved, and where it would send a request.

type CheckBody = typeof ConfigCheckBody.Type
type Simulated = Pick<ConfigCheck, "plan" | "refused">

const readCheck = resourceReader(ConfigCheckBody)

/** A key without limits, for requests of no certain key. */
const anyKey: GatewayKey = { id: "check", name: "check", scopes: [] }

const shownNode = ({ at, mode, planned, reached, share, why }: SimulatedNode) => ({
  path: renderPath(["config", ...at]),
  ...(mode === undefined ? {} : { mode }),
  ...(planned === undefined ? {} : { provider: planned.account.slug, model: planned.modelId }),
  reached,
  share: roundToMicros(share),
  why
})

/** Where the config sends a chat completion of this key; no circuit counts as open. */
const simulated = (
  config: GatewayConfig,
  { id, request }: CheckBody,
  key: GatewayKey,
  catalog: CatalogView,
  { conditionSteps }: LimitValues
): Simulated => {
  if (request === undefined) return {}
  const { body, metadata, provider: header } = request
  const model = typeof body["model"] === "string" ? body["model"] : (config.model ?? "")
  const facts = () => ({
    metadata: {
      ...key.metadata,
      ...config.metadata,
      ...metadata,
      ...(key.metadata_locked === true ? key.metadata : {})
    },
    params: body,
    path: "/v1/chat/completions" as const
  })
  const plan = Result.flatMap(
    resolveTargets(config, { model, header, key, carried: nothingCarried, configId: id }, catalog),
    ({ fault, targets }) =>
      fault === undefined ? simulateConfig(config, targets, { facts, conditionSteps }) : Result.fail(fault)
  )
  if (Result.isSuccess(plan)) return { plan: plan.success.map(shownNode) }
  const { code, message } = errorFacts(plan.failure)
  return { refused: { code, message } }
}

export const AdminChecks = adminRoute("POST", "/admin/v1/check", function* (call) {
  const { configs, keys } = yield* Administration
  const written = yield* writtenObject(call)
  const body = yield* Effect.mapError(Effect.fromResult(readCheck(written)), invalidRecord)
  const keyId = body.request?.key
  const key = keyId === undefined ? anyKey : compileKey(keyId, yield* keys.get(keyId))
  const today = dayOf(yield* Clock.currentTimeMillis)
  const { config, faults, notices } = configs.check({ id: body.id ?? "draft", config: written["config"] }, today)
  const result: ConfigCheck = {
    object: "config_check",
    ok: faults.length === 0,
    faults: faults.map(({ message, path }) => ({ path, message })),
    notices: notices.map(({ at, kind, text }) => ({ path: at, kind, message: text })),
    ...(config === undefined ? {} : simulated(config, body, key, call.catalog, yield* Limits))
  }
  return valueAnswer(result, call.incoming)
})
