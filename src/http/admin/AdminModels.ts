// Models on the admin API: the facts in force about one, with the origin of each, and forgetting what was learned.
// It must not depend on how facts are used.
import * as Effect from "effect/Effect"
import { together } from "../edge/Route.ts"
import { writtenModelId } from "../../domain/ModelRef.ts"
import { explainModel } from "../../domain/models/modelOrigins.ts"
import type { CatalogView } from "../../domain/ProviderAccount.ts"
import { LearnedRemedies } from "../../state/LearnedRemedies.ts"
import { keyedRoute } from "../edge/GatewayAuth.ts"
import { json } from "../response/Reply.ts"
import { gone } from "./AdminAnswer.ts"
import { factsQuery } from "./adminQuery.ts"

/** What requests to the model have taught, by kind of provider. */
const lessonsOf = (
  { movedTo, recall }: LearnedRemedies["Service"],
  catalog: CatalogView,
  modelId: string,
  nowMillis: number
) =>
  [...new Set(catalog.list().map(({ kind }) => kind))].flatMap((provider) => {
    const model = { kind: provider, modelId }
    const answers = movedTo(model, nowMillis)
    return [
      ...(answers === undefined ? [] : [{ provider, answers }]),
      ...recall(model, nowMillis).map(({ row, value }) => ({ provider, row, value }))
    ]
  })

const facts = keyedRoute(
  "GET",
  "/admin/v1/models/facts",
  Effect.map(
    LearnedRemedies,
    (learned) =>
      ({ catalog, incoming }) =>
        Effect.flatMap(Effect.fromResult(factsQuery(incoming.url)), ({ model }) =>
          Effect.clockWith((clock) => {
            const shown = explainModel(catalog.models, writtenModelId(model))
            const lessons = lessonsOf(learned, catalog, shown.model, clock.currentTimeMillisUnsafe())
            return json({ ...shown, learned: lessons }, incoming)
          })
        )
  ),
  "admin"
)

const forget = keyedRoute(
  "DELETE",
  "/admin/v1/models/learned",
  Effect.map(
    LearnedRemedies,
    ({ clear }) =>
      ({ incoming }) =>
        Effect.as(clear, gone(incoming))
  ),
  "admin"
)

export const AdminModels = together(facts, forget)
