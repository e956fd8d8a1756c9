// /admin/v1/{providers,keys,configs,prompts}: lists, reads, creates, updates and removes entries; and the log of all changes.
// It must not depend on the meaning of an entry, or on where entries are kept.
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { Administration } from "../../admin/Administration.ts"
import type { Managed } from "../../admin/Managed.ts"
import { ProviderTest } from "../../admin/ProviderTest.ts"
import { RouteUnknown, type StoreUnavailable } from "../../domain/GatewayError.ts"
import type { JsonObject } from "../../domain/text/json.ts"
import type { Actor } from "../../store/StoredRecord.ts"
import { created, gone, listed, shown, answered } from "./AdminAnswer.ts"
import { pageQuery, rotateQuery } from "./adminQuery.ts"
import { matching } from "./entityTag.ts"
import { type Call, keyedRoute } from "../edge/GatewayAuth.ts"
import { together } from "../edge/Route.ts"
import { withSpending } from "./KeySpending.ts"
import { textReader } from "../request/ReadBody.ts"
import { providerTestResult } from "./providerTestResult.ts"

interface Entry {
  readonly version?: number
  readonly created_at?: string
}

const actorOf = ({ incoming, key }: Call): Actor => ({ id: key.id, requestId: incoming.requestId })

/** The id of a path, percent-decoded; Effect's parameter takes an empty segment as well. */
const idOf = ({ incoming }: Call): Result.Result<string, RouteUnknown> => {
  const id = decodeURIComponent(incoming.path.split("/")[4] ?? "")
  return id === ""
    ? Result.fail(new RouteUnknown({ method: incoming.method, path: incoming.path.slice(0, 256) }))
    : Result.succeed(id)
}

const expected = ({ incoming }: Call) => matching(incoming.headers["if-match"])

const reader = textReader<JsonObject>((body) => Result.succeed(body), "adminBodyBytes")

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
        return listed({ next, rows: yield* Effect.forEach(rows, joined) }, incoming)
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
      const read = yield* reader
      return (call) =>
        Effect.flatMap(read(call.incoming), (written) =>
          Effect.map(kind.create(written, actorOf(call)), (entry) =>
            created(entry, `${path}/${encodeURIComponent(idIn(entry))}`, call.incoming)
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
        const id = yield* Effect.fromResult(idOf(call))
        return shown(yield* joined(yield* kind.get(id)), call.incoming)
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
      const read = yield* reader
      return Effect.fnUntraced(function* (call) {
        const id = yield* Effect.fromResult(idOf(call))
        const written = yield* read(call.incoming)
        return shown(yield* kind.update(id, written, actorOf(call), expected(call)), call.incoming)
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
        Effect.flatMap(Effect.fromResult(idOf(call)), (id) =>
          Effect.as(kind.remove(id, actorOf(call), expected(call)), gone(call.incoming))
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

const rotate = keyedRoute(
  "POST",
  "/admin/v1/keys/:id/rotate",
  Effect.map(
    Administration,
    ({ keys }) =>
      (call) =>
        Effect.flatMap(Effect.fromResult(Result.all([idOf(call), rotateQuery(call.incoming.url)])), ([id, grace]) =>
          Effect.map(keys.rotate(id, actorOf(call), expected(call), grace), (key) => shown(key, call.incoming))
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
          Effect.map(run(slug, call.incoming.requestId), (tested) =>
            answered(providerTestResult(tested), call.incoming)
          )
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
      ({ incoming }) =>
        Effect.flatMap(Effect.fromResult(pageQuery(incoming.url)), ({ cursor, limit }) =>
          Effect.map(administration.audit(limit, cursor), (page) => listed(page, incoming))
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
  rotate,
  test,
  audit
)
