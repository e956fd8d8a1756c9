// What every request must be before it is served: its model, its labels, and the messages of a chat.
// It must not depend on accounts, configs, or on how a call is made.
import * as Result from "effect/Result"
import { memoizeBounded } from "../domain/collections.ts"
import { refusedKeysOf } from "../domain/config/configured.ts"
import { BodyInvalid } from "../domain/GatewayError.ts"
import type { LimitValues } from "../domain/Limits.ts"
import { parseModelRef } from "../domain/ModelRef.ts"
import { isJsonObject } from "../domain/text/json.ts"
import { numberOf } from "../translate/shared/chat-request/paramReader.ts"
import { innerFault } from "../translate/shared/chat-request/toolCalls.ts"
import type { ChatRequest } from "../wire/openai/Chat.ts"

const invalid = (code: string, param: string, message: string) => Result.fail(new BodyInvalid({ code, param, message }))

const longestModel = 256
const unprintable = /[^\x20-\x7e]/

/** What `model` must be on every route. */
export const checkModel: (model: string) => Result.Result<unknown, BodyInvalid> = memoizeBounded((model) => {
  if (model.trim() === "")
    return invalid("invalid_model", "model", 'model is empty; name one, for example "@google/gemini-3.8-flash".')
  if (model.length > longestModel || unprintable.test(model)) {
    return invalid("invalid_model", "model", `model is at most ${longestModel} printable ASCII characters.`)
  }
  return parseModelRef(model)
})

/** What `labels` may not have, whatever provider reads them; their form is checked where they are read. */
const labelsFault = (labels: unknown): Result.Result<never, BodyInvalid> | undefined => {
  const [key] = isJsonObject(labels) ? refusedKeysOf(labels) : []
  return key === undefined ? undefined : invalid("invalid_key", `labels.${key}`, `labels may not use the key "${key}".`)
}

/** What a request for anything but a chat must be. */
export const checkLabelled = <Request extends { readonly model: string; readonly labels?: unknown }>(
  request: Request
): Result.Result<Request, BodyInvalid> =>
  labelsFault(request.labels) ?? Result.map(checkModel(request.model), () => request)

export const checkChat = (
  request: ChatRequest,
  { jsonValues, messages: most }: LimitValues
): Result.Result<ChatRequest, BodyInvalid> => {
  const { messages, seed } = request
  if (messages.length === 0) return invalid("empty_array", "messages", "messages is empty; send at least one message.")
  if (messages.length > most) {
    return invalid("array_too_long", "messages", `messages has more than ${most} entries.`)
  }
  if (seed !== undefined && seed !== null && numberOf(seed) === undefined)
    return invalid("invalid_type", "seed", "seed has the wrong type: expected number.")
  const inner = innerFault(request, jsonValues)
  return inner === undefined ? checkLabelled(request) : Result.fail(inner)
}
