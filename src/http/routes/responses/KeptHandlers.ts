// Kept responses by their id: one, its input, its deletion; and what this gateway does to none of them.
// It must not depend on how a response was made. Rules: R111, R112, R223, R412, R706.
import * as Effect from "effect/Effect"
import { BodyInvalid, type GatewayError, RecordUnknown } from "../../../domain/GatewayError.ts"
import { Carriers } from "../../../store/Carriers.ts"
import { ResponseStore } from "../../../store/ResponseStore.ts"
import { isResponseId } from "../../../translate/responses-to-chat/ids.ts"
import { inputItems, readKept, shownAgain } from "../../../translate/responses-to-chat/kept.ts"
import { type Call, keyedRoute } from "../../edge/GatewayAuth.ts"
import { together } from "../../edge/Route.ts"
import { json } from "../../response/Reply.ts"
import { itemsQuery, shownQuery } from "./keptQuery.ts"

const idOf = (path: string): string => path.split("/")[3] ?? ""

const unknown = (id: string): RecordUnknown => new RecordUnknown({ kind: "response", id: id.slice(0, 64) })

type Kept = NonNullable<ReturnType<typeof readKept>>

/** A response of the caller's key; of any other one nothing is to be seen. Built once per route. */
const finding: Effect.Effect<(call: Call) => Effect.Effect<Kept, GatewayError>, never, ResponseStore> = Effect.map(
  ResponseStore,
  (store) =>
    Effect.fnUntraced(function* ({ incoming, key }) {
      const id = idOf(incoming.path)
      const found = isResponseId(id) ? yield* store.get(key.id, id, incoming.hold) : undefined
      const kept = found === undefined ? undefined : readKept(found.content)
      return kept ?? (yield* unknown(id))
    })
)

const retrieve = keyedRoute(
  "GET",
  "/v1/responses/:id",
  Effect.gen(function* () {
    const find = yield* finding
    const carriers = yield* Carriers
    return Effect.fnUntraced(function* (call) {
      const shown = yield* Effect.fromResult(shownQuery(call.incoming.url))
      const kept = yield* find(call)
      const { seal } = yield* carriers.forKey(call.key.id)
      return yield* json(shownAgain(kept, shown, seal), call.incoming)
    })
  })
)

const remove = keyedRoute(
  "DELETE",
  "/v1/responses/:id",
  Effect.gen(function* () {
    const store = yield* ResponseStore
    return Effect.fnUntraced(function* ({ incoming, key }) {
      const id = idOf(incoming.path)
      const isGone = isResponseId(id) && (yield* store.remove(key.id, id))
      return isGone ? yield* json({ id, object: "response", deleted: true }, incoming) : yield* unknown(id)
    })
  })
)

const listInput = keyedRoute(
  "GET",
  "/v1/responses/:id/input_items",
  Effect.gen(function* () {
    const find = yield* finding
    return Effect.fnUntraced(function* (call) {
      const asked = yield* Effect.fromResult(itemsQuery(call.incoming.url))
      return yield* json(inputItems(yield* find(call), asked), call.incoming)
    })
  })
)

const cancel = keyedRoute(
  "POST",
  "/v1/responses/:id/cancel",
  Effect.map(finding, (find) =>
    Effect.fnUntraced(function* (call) {
      yield* find(call)
      return yield* new BodyInvalid({
        code: "response_not_cancellable",
        param: null,
        message: "Only responses made in the background can be cancelled, and there are none here."
      })
    })
  )
)

const compact = keyedRoute(
  "POST",
  "/v1/responses/compact",
  Effect.succeed(() =>
    Effect.fail(
      new BodyInvalid({
        code: "unsupported_operation",
        param: null,
        message: "Conversations are not compacted here; the client shortens its own input."
      })
    )
  )
)

export const KeptHandlers = together(retrieve, remove, listInput, cancel, compact)
