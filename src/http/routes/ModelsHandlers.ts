// The models that the caller's key may call: GET /v1/models and /v1/models/{id} in OpenAI's form or Anthropic's, and the lists of Google's two products.
// It must not depend on upstreams; it calls none. Rules of Google's lists: N701-N704.
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Model } from "../../api/contractParts.ts"
import { clientDialect } from "../../api/clientRequests.ts"
import { RecordUnknown } from "../../domain/GatewayError.ts"
import {
  type AnthropicModel,
  anthropicModels,
  anthropicPage,
  googleModels,
  pageOf,
  publisherModels
} from "../../translate/native/modelLists.ts"
import { readNativeQuery } from "../../domain/native/nativeQuery.ts"
import { type Call, type KeyedHandler, scopedRoute } from "../edge/GatewayAuth.ts"
import { json } from "../response/Reply.ts"
import { pathUnknown } from "../request/IncomingRequest.ts"
import { findModel, type ListedModel, modelList } from "./modelList.ts"

const modelsPrefix = "/v1/models/"

/** A model id may hold slashes. */
const modelPath = /^\/v1\/models(\/[^/]+)+$/

/** The id of a path, percent-decoded; undefined when it cannot be. */
const modelIdIn = (path: string): string | undefined => {
  try {
    return decodeURIComponent(path.slice(modelsPrefix.length))
  } catch {
    return undefined
  }
}

/** Anthropic's page by its own parameters; a limit that is no number counts as absent. */
const anthropicList = (models: ReadonlyArray<AnthropicModel>, text: string) => {
  const query = new URLSearchParams(text)
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
export const ModelsHandlers = scopedRoute("inference", "GET", "/v1/models/*", function* ({ catalog, incoming, key }) {
  const { headers, path, query, strict } = incoming
  const isClaude = clientDialect(headers) === "anthropic"
  if (path === "/v1/models") {
    const rows = modelList(catalog, key, strict)
    return yield* json(
      isClaude ? anthropicList(ofClaude(rows), query) : { object: "list", data: rows.map(({ model }) => model) },
      incoming
    )
  }
  const id = modelIdIn(path)
  if (id === undefined || !modelPath.test(path)) return yield* pathUnknown(incoming)
  const listed = findModel(catalog, key, strict, id)
  const model: Model | AnthropicModel | undefined =
    listed === undefined ? undefined : isClaude ? ofClaude([listed])[0] : listed.model
  if (model === undefined) return yield* new RecordUnknown({ kind: "model", id: id.slice(0, 256) })
  return yield* json(model, incoming)
})

// Lists of models in the shapes of Google's two products: what the key may call, and one entry of it.

const nativeList = ({ catalog, incoming, key }: Call) => {
  const { native } = incoming
  if (native?._tag !== "Models") return undefined
  const rows = modelList(catalog, key, true).map(({ model, target }) => ({ id: model.id, target }))
  const isGoogle = native.form === "google"
  return {
    form: native.form,
    model: native.model,
    member: isGoogle ? "models" : "publisherModels",
    entries: isGoogle ? googleModels(rows) : publisherModels(rows, native.publisher)
  }
}

/** An entry by its name without the collection, or by its id alone. */
const isNamed = (name: string, model: string): boolean => {
  const id = name.replace(/^(publishers\/[a-z]+\/)?models\//, "")
  return id === model || id.replace(/^@[^/]*\//, "") === model
}

/** Every list is made of what the gateway knows; nothing is asked of Google. */
export const listNatively: KeyedHandler = (call) => {
  const { incoming } = call
  const list = nativeList(call)
  if (list === undefined) return Effect.fail(pathUnknown(incoming))
  const { entries, form, member, model } = list
  const asked = readNativeQuery(incoming.query, { form })
  if (Result.isFailure(asked)) return Effect.fail(asked.failure)
  if (model !== undefined) {
    const entry = entries.find(({ name }) => isNamed(name, model))
    return entry === undefined
      ? Effect.fail(new RecordUnknown({ kind: "model", id: model.slice(0, 256) }))
      : json(entry, incoming)
  }
  const { items, nextPageToken } = pageOf<(typeof entries)[number]>(
    entries,
    asked.success.pageSize,
    asked.success.pageToken
  )
  return json({ [member]: items, ...(nextPageToken === undefined ? {} : { nextPageToken }) }, incoming)
}
