// Models on the admin API: those of a provider, the facts in force about one with their origins, and forgetting lessons.
// It must not depend on how facts are used.
import * as Effect from "effect/Effect"
import { together } from "../edge/Route.ts"
import { longestId } from "../../admin/noId.ts"
import { listedModels } from "../../catalog/models.ts"
import { RecordUnknown } from "../../domain/GatewayError.ts"
import { allows } from "../../domain/GatewayKey.ts"
import { modelIdOf, writtenModelId } from "../../domain/ModelRef.ts"
import { modelNotice } from "../../domain/models/modelLife.ts"
import { isServedAt } from "../../domain/models/modelPlaces.ts"
import type { ModelTable } from "../../domain/models/modelTable.ts"
import { dayOf } from "../../domain/text/days.ts"
import { explainModel } from "../../domain/models/modelOrigins.ts"
import { isBuiltIn, type ProviderAccount } from "../../domain/ProviderAccount.ts"
import { type HeldLesson, LearnedRemedies } from "../../state/LearnedRemedies.ts"
import { keyedRoute } from "../edge/GatewayAuth.ts"
import { json } from "../response/Reply.ts"
import { gone } from "./AdminAnswer.ts"
import { listOf } from "./adminRows.ts"
import { factsQuery } from "./adminQuery.ts"

/** A lesson with its scope: it holds for this key, at this account and place. */
const shownLesson = ({ config, keyId, kind, project, region, row, slug, value }: HeldLesson) => ({
  provider: kind,
  account: slug,
  key: keyId,
  ...(project === "" ? {} : { project }),
  ...(region === "" ? {} : { region }),
  ...(config === "" ? {} : { config }),
  ...(row === "move" ? { answers: value } : { row, value })
})

/** The models of an account: those that its list names or fits, else all of its kind. */
const modelsOf = ({ kind, models }: ProviderAccount, table: ModelTable): ReadonlyArray<string> => {
  const listed = isBuiltIn(kind) ? listedModels(kind, table).filter((id) => allows(models, id)) : []
  const named = (models ?? []).filter((id) => !id.includes("*") && !listed.includes(id))
  return [...listed, ...named]
}

const shownModel = (id: string, { kind, region }: ProviderAccount, table: ModelTable, today: string) => {
  const modelId = modelIdOf(id)
  const { record, source } = table.find(modelId)
  const notice = isBuiltIn(kind) && source !== "inherited" ? modelNotice(table, modelId, kind, today) : undefined
  const { locations } = record
  const isPlaced = kind === "vertex-ai" && source !== "inherited" && locations !== undefined
  return {
    object: "provider_model",
    id,
    ...(isPlaced ? { locations, is_served_here: region === undefined || isServedAt(record, region) } : {}),
    ...(notice === undefined ? {} : { notice: { kind: notice.kind, message: notice.text } })
  }
}

const models = keyedRoute(
  "GET",
  "/admin/v1/providers/:id/models",
  Effect.succeed(({ catalog, incoming }) =>
    Effect.clockWith((clock) => {
      const slug = decodeURIComponent(incoming.path.split("/")[4] ?? "")
      const account = catalog.resolve(slug)
      if (account === undefined)
        return Effect.fail(new RecordUnknown({ kind: "provider", id: slug.slice(0, longestId) }))
      const today = dayOf(clock.currentTimeMillisUnsafe())
      const rows = modelsOf(account, catalog.models).map((id) => shownModel(id, account, catalog.models, today))
      return json(listOf(rows, undefined), incoming)
    })
  ),
  "admin"
)

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
            const lessons = learned.held(shown.model, clock.currentTimeMillisUnsafe())
            return json({ ...shown, learned: lessons.map(shownLesson) }, incoming)
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

export const AdminModels = together(models, facts, forget)
