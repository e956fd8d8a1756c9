// Counts the JSON values in the texts of a chat that translators parse: arguments of calls, and results of tools.
// It must not know a provider, or what the values are for.
import { BodyInvalid } from "../../domain/GatewayError.ts"
import { isJsonObject } from "../../domain/text/json.ts"
import { countValues } from "../../domain/text/innerJson.ts"
import { defaultLimits } from "../../domain/Limits.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"

/** A shorter text has no values that matter. */
const shortText = 64

/** The texts of a chat that may be parsed, in any shape a client may send. */
const eachText = ({ messages }: ChatRequest, visit: (text: string, param: string, isResult: boolean) => void): void => {
  for (const [index, message] of messages.entries()) {
    const { content, function_call: legacy, role, tool_calls: calls } = message
    const take = (text: unknown, place: string, isResult = false): void => {
      if (typeof text === "string" && text.length >= shortText) visit(text, `messages[${index}].${place}`, isResult)
    }
    if (role === "tool" || role === "function") {
      if (Array.isArray(content)) {
        for (const part of content) if (isJsonObject(part)) take(part["text"], "content", true)
      } else take(content, "content", true)
    }
    if (Array.isArray(calls)) {
      for (const [at, call] of calls.entries()) {
        const called: unknown = isJsonObject(call) ? call["function"] : undefined
        if (isJsonObject(called)) take(called["arguments"], `tool_calls[${at}].function.arguments`)
      }
    }
    if (isJsonObject(legacy)) take(legacy["arguments"], "function_call.arguments")
  }
}

/** Any other text is not parsed to its end. */
const mayBeParsed = /^\s*[{[]/

/** The place where the values of a request exceed its limit, and those before it. */
interface InnerValues {
  readonly values: number
  readonly beyond: string | undefined
}

const unlimited = Number.MAX_SAFE_INTEGER
const limits = { jsonDepth: unlimited, jsonKeys: unlimited, jsonValues: defaultLimits.jsonValues }

/** The values that translators will make of texts. A result that is beyond the limit by itself stays text. */
const countInner = (chat: ChatRequest, most: number): InnerValues => {
  let values = 0
  let beyond: string | undefined
  eachText(chat, (text, param, isResult) => {
    if (beyond !== undefined || !mayBeParsed.test(text)) return
    const own = countValues(text, limits)
    values += own ?? 0
    if (values > most || (own === undefined && !isResult)) beyond = param
  })
  return { values, beyond }
}

/** The values in the texts of a chat that its check has passed. */
export const innerValues = (chat: ChatRequest): number => countInner(chat, unlimited).values

/** The first text beyond what the limit leaves. Texts of fewer characters than values are not counted. */
export const innerFault = (chat: ChatRequest, most: number): BodyInvalid | undefined => {
  let characters = 0
  eachText(chat, (text) => {
    characters += text.length
  })
  const param = characters <= most ? undefined : countInner(chat, most).beyond
  return param === undefined
    ? undefined
    : new BodyInvalid({
        code: "json_too_large",
        param,
        message: `${param} has JSON with which the request holds more values than limits.jsonValues allows in its body, its arguments and its tool results together; send large results as plain text, and fewer of them.`
      })
}
