// /admin/v1/{providers,keys,configs,prompts}: lists, reads, creates, updates and removes entries; checks a config before it is saved; and the log of all changes.
// It must not depend on the meaning of an entry, or on where entries are kept.
import * as Effect from "effect/Effect"
import type { Key } from "../../api/AdminResources.ts"
import { RouteUnknown, type StoreUnavailable } from "../../domain/GatewayError.ts"
import { compileKey, type GatewayKey } from "../../domain/GatewayKey.ts"
import { dollarsOf } from "../../domain/Usage.ts"
import { Admission } from "../../keys/Admission.ts"
import * as Result from "effect/Result"
import { Administration } from "../../admin/Administration.ts"
import { invalidRecord, type Managed } from "../../admin/Managed.ts"
import { ProviderTest } from "../../admin/ProviderTest.ts"
import type { JsonObject } from "../../domain/text/json.ts"
import type { Actor } from "../../store/StoredRecord.ts"
import { createdAnswer, emptyAnswer, entryAnswer, listAnswer, matchingTag, valueAnswer } from "./AdminAnswer.ts"
import { pageQuery, rotateQuery } from "./adminQuery.ts"
import { type Call, keyedRoute } from "../edge/GatewayAuth.ts"
import { together } from "../edge/Route.ts"
import { textReader } from "../request/ReadBody.ts"
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
import { resolveTargets } from "../../router/plan/plan.ts"
import { simulateConfig, type SimulatedNode } from "../../router/plan/simulate.ts"
import { roundToMicros } from "../../telemetry/requestLines.ts"

const withSpending: Effect.Effect<(key: Key) => Effect.Effect<Key, StoreUnavailable>, never, Admission> = Effect.map(
  Admission,
  ({ spent }) =>
    (key) => {
      const record = compileKey(key.id, key)
      return Effect.map(spent(record), ({ lastUsedMillis, spentMicros }) => ({
        ...key,
        spent_usd: dollarsOf(spentMicros),
        ...(lastUsedMillis === undefined ? {} : { last_used_at: new Date(lastUsedMillis).toISOString() })
      }))
    }
)

// /admin/v1/{providers,keys,configs,prompts}: lists, reads, creates, updates and removes entries; and the log of all changes.

interface Entry {
  readonly version?: number
  readonly created_at?: string
}

const actorOf = ({ incoming, key }: Call): Actor => ({ id: key.id, requestId: incoming.requestId })

/** The id of a path, percent-decoded; Effect's parameter takes an empty segment as well. */
const entryIdOf = ({ incoming }: Call): Result.Result<string, RouteUnknown> => {
  const id = decodeURIComponent(incoming.path.split("/")[4] ?? "")
  return id === ""
    ? Result.fail(new RouteUnknown({ method: incoming.method, path: incoming.path.slice(0, 256) }))
    : Result.succeed(id)
}

const expectedTag = ({ incoming }: Call) => matchingTag(incoming.headers["if-match"])

const entryReader = textReader<JsonObject>((body) => Result.succeed(body), "adminBodyBytes")

/** One kind of entries: its path, its service, the id of an entry, and what a read adds to an entry. */
interface Kind<A extends Entry, R> {
  readonly path: `/admin/v1/${string}`
  readonly of: (administration: Administration["Service"]) => Managed<A>
  readonly idIn: (entry: A) => string
  readonly joining: Effect.Effect<(entry: A) => Effect.Effect<A, StoreUnavailable>, never, R>
}

const listRoute = <A extends Entry, R>({ joining, of, path }: Kind<A, R>) =>
  keyedRoute(
    "GET",
    path,
    Effect.gen(function* () {
      const kind = of(yield* Administration)
      const joined = yield* joining
      return Effect.fnUntraced(function* ({ incoming }) {
        const { cursor, limit } = yield* Effect.fromResult(pageQuery(incoming.url))
        const { next, rows } = yield* kind.list(limit, cursor)
        return listAnswer({ next, rows: yield* Effect.forEach(rows, joined) }, incoming)
      })
    }),
    "admin"
  )

const createRoute = <A extends Entry, R>({ idIn, of, path }: Kind<A, R>) =>
  keyedRoute(
    "POST",
    path,
    Effect.gen(function* () {
      const kind = of(yield* Administration)
      const read = yield* entryReader
      return (call) =>
        Effect.flatMap(read(call.incoming), (written) =>
          Effect.map(kind.create(written, actorOf(call)), (entry) =>
            createdAnswer(entry, `${path}/${encodeURIComponent(idIn(entry))}`, call.incoming)
          )
        )
    }),
    "admin"
  )

const getRoute = <A extends Entry, R>({ joining, of, path }: Kind<A, R>) =>
  keyedRoute(
    "GET",
    `${path}/:id`,
    Effect.gen(function* () {
      const kind = of(yield* Administration)
      const joined = yield* joining
      return Effect.fnUntraced(function* (call) {
        const id = yield* Effect.fromResult(entryIdOf(call))
        return entryAnswer(yield* joined(yield* kind.get(id)), call.incoming)
      })
    }),
    "admin"
  )

const updateRoute = <A extends Entry, R>({ of, path }: Kind<A, R>) =>
  keyedRoute(
    "PUT",
    `${path}/:id`,
    Effect.gen(function* () {
      const kind = of(yield* Administration)
      const read = yield* entryReader
      return Effect.fnUntraced(function* (call) {
        const id = yield* Effect.fromResult(entryIdOf(call))
        const written = yield* read(call.incoming)
        return entryAnswer(yield* kind.update(id, written, actorOf(call), expectedTag(call)), call.incoming)
      })
    }),
    "admin"
  )

const removeRoute = <A extends Entry, R>({ of, path }: Kind<A, R>) =>
  keyedRoute(
    "DELETE",
    `${path}/:id`,
    Effect.map(Administration, (administration) => {
      const kind = of(administration)
      return (call) =>
        Effect.flatMap(Effect.fromResult(entryIdOf(call)), (id) =>
          Effect.as(kind.remove(id, actorOf(call), expectedTag(call)), emptyAnswer(call.incoming))
        )
    }),
    "admin"
  )

/** The five routes of one kind. */
const entries = <A extends Entry, R = never>(
  path: Kind<A, R>["path"],
  of: Kind<A, R>["of"],
  idIn: Kind<A, R>["idIn"],
  joining: Kind<A, R>["joining"] = Effect.succeed(Effect.succeed)
) => {
  const kind = { path, of, idIn, joining }
  return together(listRoute(kind), createRoute(kind), getRoute(kind), updateRoute(kind), removeRoute(kind))
}

const rotateRoute = keyedRoute(
  "POST",
  "/admin/v1/keys/:id/rotate",
  Effect.map(
    Administration,
    ({ keys }) =>
      (call) =>
        Effect.flatMap(
          Effect.fromResult(Result.all([entryIdOf(call), rotateQuery(call.incoming.url)])),
          ([id, grace]) =>
            Effect.map(keys.rotate(id, actorOf(call), expectedTag(call), grace), (key) =>
              entryAnswer(key, call.incoming)
            )
        )
  ),
  "admin"
)

const testRoute = keyedRoute(
  "POST",
  "/admin/v1/providers/:id/test",
  Effect.map(
    ProviderTest,
    ({ run }) =>
      (call) =>
        Effect.flatMap(Effect.fromResult(entryIdOf(call)), (slug) =>
          Effect.map(run(slug, call.incoming.requestId), (tested) =>
            valueAnswer(providerTestResult(tested), call.incoming)
          )
        )
  ),
  "admin"
)

const auditRoute = keyedRoute(
  "GET",
  "/admin/v1/audit",
  Effect.map(
    Administration,
    (administration) =>
      ({ incoming }) =>
        Effect.flatMap(Effect.fromResult(pageQuery(incoming.url)), ({ cursor, limit }) =>
          Effect.map(administration.audit(limit, cursor), (page) => listAnswer(page, incoming))
        )
  ),
  "admin"
)

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

export const AdminChecks = keyedRoute(
  "POST",
  "/admin/v1/check",
  Effect.gen(function* () {
    const { configs, keys } = yield* Administration
    const limits = yield* Limits
    const read = yield* textReader<JsonObject>((body) => Result.succeed(body), "adminBodyBytes")
    return Effect.fnUntraced(function* ({ catalog, incoming }) {
      const written = yield* read(incoming)
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
        ...(config === undefined ? {} : simulated(config, body, key, catalog, limits))
      }
      return valueAnswer(result, incoming)
    })
  }),
  "admin"
)
