// What the Gemini API reports of its model's life, as a field of the gateway's answers, and the end it means (M-703).
// Must not depend on the facts about models.
import type { ModelEnding } from "../../../domain/models/modelLife.ts"
import type { JsonObject } from "../../../domain/text/json.ts"
import type { GenerateContentReply } from "../../../wire/google/GenerateContent.ts"
import type { ModelStatus } from "../../../wire/openai/ChatReply.ts"

type GeminiStatus = NonNullable<GenerateContentReply["modelStatus"]>

export const modelStatusOf = ({ message, modelStage, retirementTime }: GeminiStatus): ModelStatus => ({
  ...(modelStage ? { stage: modelStage } : {}),
  ...(retirementTime ? { retirement_time: retirementTime } : {}),
  ...(message ? { message } : {})
})

/** The same of a native answer, whose members may have any type. */
export const readModelStatus = (status: JsonObject | undefined): ModelStatus | undefined => {
  if (status === undefined) return undefined
  const { modelStage: stage, retirementTime: time } = status
  return {
    ...(typeof stage === "string" ? { stage } : {}),
    ...(typeof time === "string" ? { retirement_time: time } : {})
  }
}

/** The field for an answer; no field where the provider reports nothing. */
export const modelStatusField = (
  status: GenerateContentReply["modelStatus"]
): { readonly model_status?: ModelStatus } => (status ? { model_status: modelStatusOf(status) } : {})

/** Undefined for a model that the provider does not end. */
export const endingOf = (status: ModelStatus | undefined): ModelEnding | undefined => {
  const { retirement_time: time, stage } = status ?? {}
  return stage === "DEPRECATED" || stage === "RETIRED"
    ? {
        stage: stage === "RETIRED" ? "shut_down" : "deprecated",
        shutdown: time !== undefined && /^\d{4}-\d{2}-\d{2}/.test(time) ? time.slice(0, 10) : undefined,
        successor: undefined
      }
    : undefined
}
