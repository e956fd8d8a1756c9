// GET /v1/models and /v1/models/{id}: the models that the caller's key may call, in OpenAI's form or Anthropic's.
// It must not depend on upstreams; it calls none.
import * as Effect from "effect/Effect"
import type { Model } from "../../api/answers.ts"
import { clientDialect } from "../../api/clients/clientDialect.ts"
import { Catalog } from "../../catalog/Catalog.ts"
import { RecordUnknown, RouteUnknown } from "../../domain/GatewayError.ts"
import { type AnthropicModel, anthropicModels, anthropicPage } from "../../translate/native/modelLists.ts"
import { keyedRoute } from "../edge/GatewayAuth.ts"
import { findModel, type ListedModel, modelList } from "./modelList.ts"
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

/** Anthropic's page by its own parameters; a limit that is no number counts as absent. */
const anthropicList = (models: ReadonlyArray<AnthropicModel>, url: string) => {
  const query = new URLSearchParams(url.split("?", 2)[1] ?? "")
  const limit = query.get("limit") ?? ""
  return anthropicPage(models, {
    limit: /^[1-9]\d{0,3}$/.test(limit) ? Number(limit) : undefined,
    afterId: query.get("after_id") ?? undefined,
    beforeId: query.get("before_id") ?? undefined
  })
}

/** Claude's models among them, in Anthropic's form. */
const ofClaude = (rows: ReadonlyArray<ListedModel>): ReadonlyArray<AnthropicModel> =>
  anthropicModels(rows.map(({ model, target }) => ({ id: model.id, created: model.created, target })))

/** Effect's wildcard takes the path without its rest as well. */
export const ModelsHandlers = keyedRoute(
  "GET",
  "/v1/models/*",
  Effect.gen(function* () {
    const catalog = yield* Catalog
    return Effect.fnUntraced(function* ({ incoming, key }) {
      const { strict } = incoming
      const isClaude = clientDialect(incoming.headers) === "anthropic"
      const written = (rows: ReadonlyArray<ListedModel>): ReadonlyArray<Model | AnthropicModel> =>
        isClaude ? ofClaude(rows) : rows.map(({ model }) => model)
      if (incoming.path === "/v1/models") {
        const rows = modelList(catalog.now(), key, strict)
        return yield* json(
          isClaude ? anthropicList(ofClaude(rows), incoming.url) : { object: "list", data: written(rows) },
          incoming
        )
      }
      const id = idOf(incoming.path)
      if (id === undefined || allowedMethods(incoming.path).length === 0) {
        return yield* new RouteUnknown({ method: "GET", path: incoming.path.slice(0, 256) })
      }
      const found = findModel(catalog.now(), key, strict, id)
      const [model] = found === undefined ? [] : written([found])
      return model === undefined
        ? yield* new RecordUnknown({ kind: "model", id: id.slice(0, 256) })
        : yield* json(model, incoming)
    })
  })
)
