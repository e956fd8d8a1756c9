// /admin/v1/{providers,keys,configs,prompts}: what operators keep, listed, read, made, changed and removed; and the log of all changes.
// It must not know what an entry means or where it is kept.
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { Administration } from "../../admin/Administration.ts"
import type { Managed } from "../../admin/Managed.ts"
import { ProviderTest } from "../../admin/ProviderTest.ts"
import { RouteUnknown, type StoreUnavailable } from "../../domain/GatewayError.ts"
import type { JsonObject } from "../../domain/text/json.ts"
import type { Actor } from "../../store/Records.ts"
import { created, gone, listed, shown, told } from "./AdminAnswer.ts"
import { pageQuery } from "./adminQuery.ts"
import { matching } from "./entityTag.ts"
import { type Call, keyedRoute } from "../edge/GatewayAuth.ts"
import { withSpending } from "./KeySpending.ts"
import { textReader } from "../request/ReadBody.ts"
import { shownTest } from "./shownTest.ts"

interface Entry {
  readonly version?: number
  readonly created_at?: string
}

const actorOf = ({ arrival, key }: Call): Actor => ({ id: key.id, requestId: arrival.requestId })

/** The id of a path, percent-decoded; Effect's parameter takes an empty segment as well. */
const idOf = ({ arrival, request }: Call): Result.Result<string, RouteUnknown> => {
  const id = decodeURIComponent(arrival.path.split("/")[4] ?? "")
  return id === ""
    ? Result.fail(new RouteUnknown({ method: request.method, path: arrival.path.slice(0, 256) }))
    : Result.succeed(id)
}

const expected = ({ arrival }: Call) => matching(arrival.headers["if-match"])

const reader = textReader<JsonObject>((body) => Result.succeed(body), "adminBodyBytes")

/** The five routes of one kind. */
const entries = <A extends Entry, R = never>(
  path: `/admin/v1/${string}`,
  of: (administration: Administration["Service"]) => Managed<A>,
  idIn: (entry: A) => string,
  /** What is read of an entry beyond what is kept of it. */
  joining: Effect.Effect<(entry: A) => Effect.Effect<A, StoreUnavailable>, never, R> = Effect.succeed(Effect.succeed)
) => {
  const managed = Effect.map(Administration, of)
  const list = keyedRoute(
    "GET",
    path,
    Effect.gen(function* () {
      const kind = yield* managed
      const joined = yield* joining
      return Effect.fnUntraced(function* ({ arrival, request }) {
        const { cursor, limit } = yield* Effect.fromResult(pageQuery(request.url))
        const { next, rows } = yield* kind.list(limit, cursor)
        return listed({ next, rows: yield* Effect.forEach(rows, joined) }, arrival)
      })
    }),
    "admin"
  )
  const create = keyedRoute(
    "POST",
    path,
    Effect.gen(function* () {
      const kind = yield* managed
      const read = yield* reader
      return (call) =>
        Effect.flatMap(read(call.request, call.arrival), (written) =>
          Effect.map(kind.create(written, actorOf(call)), (entry) =>
            created(entry, `${path}/${encodeURIComponent(idIn(entry))}`, call.arrival)
          )
        )
    }),
    "admin"
  )
  const get = keyedRoute(
    "GET",
    `${path}/:id`,
    Effect.gen(function* () {
      const kind = yield* managed
      const joined = yield* joining
      return Effect.fnUntraced(function* (call) {
        const id = yield* Effect.fromResult(idOf(call))
        return shown(yield* joined(yield* kind.get(id)), call.arrival)
      })
    }),
    "admin"
  )
  const update = keyedRoute(
    "PUT",
    `${path}/:id`,
    Effect.gen(function* () {
      const kind = yield* managed
      const read = yield* reader
      return Effect.fnUntraced(function* (call) {
        const id = yield* Effect.fromResult(idOf(call))
        const written = yield* read(call.request, call.arrival)
        return shown(yield* kind.update(id, written, actorOf(call), expected(call)), call.arrival)
      })
    }),
    "admin"
  )
  const remove = keyedRoute(
    "DELETE",
    `${path}/:id`,
    Effect.map(
      managed,
      (kind) => (call) =>
        Effect.flatMap(Effect.fromResult(idOf(call)), (id) =>
          Effect.as(kind.remove(id, actorOf(call), expected(call)), gone(call.arrival))
        )
    ),
    "admin"
  )
  return Layer.mergeAll(list, create, get, update, remove)
}

const rotate = keyedRoute(
  "POST",
  "/admin/v1/keys/:id/rotate",
  Effect.map(
    Administration,
    ({ keys }) =>
      (call) =>
        Effect.flatMap(Effect.fromResult(idOf(call)), (id) =>
          Effect.map(keys.rotate(id, actorOf(call), expected(call)), (key) => shown(key, call.arrival))
        )
  ),
  "admin"
)

const test = keyedRoute(
  "POST",
  "/admin/v1/providers/:id/test",
  Effect.map(
    ProviderTest,
    ({ run }) =>
      (call) =>
        Effect.flatMap(Effect.fromResult(idOf(call)), (slug) =>
          Effect.map(run(slug, call.arrival.requestId), (tested) => told(shownTest(tested), call.arrival))
        )
  ),
  "admin"
)

const audit = keyedRoute(
  "GET",
  "/admin/v1/audit",
  Effect.map(
    Administration,
    (administration) =>
      ({ arrival, request }) =>
        Effect.flatMap(Effect.fromResult(pageQuery(request.url)), ({ cursor, limit }) =>
          Effect.map(administration.audit(limit, cursor), (page) => listed(page, arrival))
        )
  ),
  "admin"
)

export const AdminEntries = Layer.mergeAll(
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
  rotate,
  test,
  audit
)
