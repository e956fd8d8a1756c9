// What a chat request must be beyond its schema, whoever serves it: a readable model, some messages.
// It must not know families or what a provider takes.
import * as Result from "effect/Result"
import { BodyInvalid } from "../domain/GatewayError.ts"
import { isLongInteger } from "../domain/json.ts"
import type { LimitValues } from "../domain/Limits.ts"
import { parseModelRef } from "../domain/ModelRef.ts"
import { remembered } from "../domain/remembered.ts"
import type { ChatRequest } from "../wire/openai/Chat.ts"

const invalid = (code: string, param: string, message: string) =>
  Result.fail(new BodyInvalid({ code, param, message }))

const longestModel = 256
const unprintable = /[^\x20-\x7e]/

/** What `model` must be on every route. */
export const checkModel: (model: string) => Result.Result<unknown, BodyInvalid> = remembered((model) => {
  if (model.trim() === "") return invalid("invalid_model", "model", "model is empty; name one, for example \"@google/gemini-2.5-flash\".")
  if (model.length > longestModel || unprintable.test(model)) {
    return invalid("invalid_model", "model", `model is at most ${longestModel} printable ASCII characters.`)
  }
  return parseModelRef(model)
})

export const checkChat = (request: ChatRequest, { messages: most }: LimitValues): Result.Result<ChatRequest, BodyInvalid> => {
  const { messages, model, seed } = request
  if (messages.length === 0) return invalid("empty_array", "messages", "messages is empty; send at least one message.")
  if (messages.length > most) {
    return invalid("array_too_long", "messages", `messages has more than ${most} entries.`)
  }
  if (!(seed === undefined || seed === null || Number.isFinite(seed) || isLongInteger(seed))) {
    return typeof seed === "number"
      ? invalid("invalid_value", "seed", "seed must be a finite number.")
      : invalid("invalid_type", "seed", "seed has the wrong type: expected number.")
  }
  return Result.map(checkModel(model), () => request)
}
