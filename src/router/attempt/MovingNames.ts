// Moving names such as gemini-flash-latest: which model answers under them is learned from its answers (M-111).
// It must not depend on where that is kept.
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { isMovingName, normaliseModelId } from "../../domain/models/modelName.ts"
import { type ModelTable, withMovedName } from "../../domain/models/modelTable.ts"
import type { ProviderKind } from "../../domain/ProviderAccount.ts"
import type { LearnedRemedies } from "../../state/LearnedRemedies.ts"
import type { Target } from "../../upstream/Prepared.ts"

/** The facts for a request: those of a moving name are those of the model that last answered under it. */
export const modelsNow = (
  learned: Pick<LearnedRemedies["Service"], "movedTo">,
  models: ModelTable,
  kind: ProviderKind,
  modelId: string,
  nowMillis: number
): ModelTable => {
  if (!isMovingName(modelId)) return models
  const name = normaliseModelId(modelId)
  const to = learned.movedTo({ kind, modelId: name }, nowMillis)
  return to === undefined ? models : withMovedName(models, name, to)
}

/** What an upstream may call its model. It becomes a name in the store of lessons, so that its length is bounded. */
const modelVersion = /^[\w.@-]{1,128}$/

const versionOf = (answer: object): string =>
  "model" in answer && typeof answer.model === "string" ? normaliseModelId(answer.model) : ""

/** Learns from an answer, or from a chunk of it, which model answered. Undefined for a name that does not move. */
export const learnsMove = (
  learned: Pick<LearnedRemedies["Service"], "learnMove" | "movedTo">,
  { kind, modelId, operation }: Target,
  nowMillis: number
): ((answer: object) => Effect.Effect<void>) | undefined => {
  if (operation !== "chat" || !isMovingName(modelId)) return undefined
  const name = { kind, modelId: normaliseModelId(modelId) }
  return (answer) => {
    const to = versionOf(answer)
    return to === name.modelId || !modelVersion.test(to) || learned.movedTo(name, nowMillis) === to
      ? Effect.void
      : learned.learnMove(name, to)
  }
}

/** The same chunks; the first one is learned from. */
export const learningFrom = <Chunk extends object, E>(
  chunks: Stream.Stream<Chunk, E>,
  learn: ((answer: object) => Effect.Effect<void>) | undefined
): Stream.Stream<Chunk, E> => {
  if (learn === undefined) return chunks
  let isLearned = false
  return Stream.mapArrayEffect(chunks, (some) => {
    if (isLearned) return Effect.succeed(some)
    isLearned = true
    return Effect.as(learn(some[0]), some)
  })
}
