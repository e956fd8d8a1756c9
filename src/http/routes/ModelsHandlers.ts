// GET /v1/models and /v1/models/{id}: what the caller's key may call.
// It must not know upstreams; nothing is asked of them.
import * as Effect from "effect/Effect"
import { Catalog } from "../../catalog/Catalog.ts"
import { RecordUnknown, RouteUnknown } from "../../domain/GatewayError.ts"
import { keyedRoute } from "../edge/GatewayAuth.ts"
import { modelList } from "./modelList.ts"
import { json } from "../response/Reply.ts"
import { allowedMethods } from "../edge/routes.ts"

const prefix = "/v1/models/"

/** The id of a path, percent-decoded; undefined when it cannot be. */
const idOf = (path: string): string | undefined => {
  try {
    return decodeURIComponent(path.slice(prefix.length))
  } catch {
    return undefined
  }
}

/** Effect's wildcard takes the path without its rest as well. */
export const ModelsHandlers = keyedRoute(
  "GET",
  "/v1/models/*",
  Effect.gen(function* () {
    const catalog = yield* Catalog
    return Effect.fnUntraced(function* ({ arrival, key }) {
      const data = modelList(catalog.list(), key)
      if (arrival.path === "/v1/models") return yield* json({ object: "list", data }, arrival)
      const id = idOf(arrival.path)
      if (id === undefined || allowedMethods(arrival.path).length === 0) {
        return yield* new RouteUnknown({ method: "GET", path: arrival.path.slice(0, 256) })
      }
      const found = data.find((model) => model.id === id)
      return found === undefined
        ? yield* new RecordUnknown({ kind: "model", id: id.slice(0, 256) })
        : yield* json(found, arrival)
    })
  })
)
