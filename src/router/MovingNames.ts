// Moving names such as gemini-flash-latest: an account's answers teach which model answers under them (M-111).
// It must not depend on where that is kept.
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { isMovingName, normaliseModelId } from "../domain/models/modelName.ts"
import { type ModelTable, withMovedName } from "../domain/models/modelTable.ts"
import { operationRules } from "../operations/operationRules.ts"
import type { LearnedRemedies, LessonScope } from "../state/LearnedRemedies.ts"
import type { Target } from "../upstream/Prepared.ts"

/** The facts for a request: those of a moving name are those of the model that last answered under it. */
export const modelsNow = (
  learned: Pick<LearnedRemedies["Service"], "movedTo">,
  models: ModelTable,
  scopeOf: (modelId: string) => LessonScope | undefined,
  modelId: string,
  nowMillis: number
): ModelTable => {
  if (!isMovingName(modelId)) return models
  const scope = scopeOf(modelId)
  const to = scope === undefined ? undefined : learned.movedTo(scope, nowMillis)
  return to === undefined ? models : withMovedName(models, normaliseModelId(modelId), to)
}

/** What an upstream may call its model. It becomes a name in the store of lessons, so that its length is bounded. */
const modelVersion = /^[\w.@-]{1,128}$/

const versionOf = (answer: object): string =>
  "model" in answer && typeof answer.model === "string" ? normaliseModelId(answer.model) : ""

/**
 * Learns from an answer, or from a chunk of it, which model answered. Undefined for a name that does not move, for an
 * operation whose answers name no model, and with a credential of the request.
 */
export const learnsMove = (
  learned: Pick<LearnedRemedies["Service"], "learnMove" | "movedTo">,
  scope: LessonScope | undefined,
  { modelId, operation }: Target,
  nowMillis: number
): ((answer: object) => Effect.Effect<void>) | undefined => {
  if (scope === undefined || !isMovingName(modelId) || operationRules[operation].namesModel !== true) return undefined
  return (answer) => {
    const to = versionOf(answer)
    return to === scope.modelId || !modelVersion.test(to) || learned.movedTo(scope, nowMillis) === to
      ? Effect.void
      : learned.learnMove(scope, to)
  }
}

/** The same chunks; the first one is learned from. */
export const learningFrom = <Chunk extends object, E>(
  chunks: Stream.Stream<Chunk, E>,
  learn: ((answer: object) => Effect.Effect<void>) | undefined
): Stream.Stream<Chunk, E> => {
  if (learn === undefined) return chunks
  let isLearned = false
  return Stream.mapArrayEffect(chunks, (read) => {
    if (isLearned) return Effect.succeed(read)
    isLearned = true
    return Effect.as(learn(read[0]), read)
  })
}
