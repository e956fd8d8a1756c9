// Lists of models in the shapes of Google's two products: what the key may call, and one entry of it.
// It must not depend on upstreams; it calls none. Rules: N701-N704.
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { RecordUnknown, RouteUnknown } from "../../domain/GatewayError.ts"
import { readNativeQuery } from "../../domain/native/nativeQuery.ts"
import { googleModels, pageOf, publisherModels } from "../../translate/native/modelLists.ts"
import type { Call, KeyedHandler } from "../edge/GatewayAuth.ts"
import { json } from "../response/Reply.ts"
import { modelList } from "./modelList.ts"

const listed = ({ catalog, incoming, key }: Call) => {
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
  const own = name.replace(/^(publishers\/[a-z]+\/)?models\//, "")
  return own === model || own.replace(/^@[^/]*\//, "") === model
}

/** Every list is made of what the gateway knows; nothing is asked of Google. */
export const listNatively: KeyedHandler = (call) => {
  const { incoming } = call
  const found = listed(call)
  if (found === undefined)
    return Effect.fail(new RouteUnknown({ method: incoming.method, path: incoming.path.slice(0, 256) }))
  const { entries, form, member, model } = found
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
