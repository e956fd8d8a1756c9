// The operations of a chat: completions, and the count of its tokens.
// It must not depend on providers, accounts, or where answers and signatures are kept.
import * as Result from "effect/Result"
import type { BodyInvalid } from "../domain/GatewayError.ts"
import { isClaudeName } from "../domain/models/modelName.ts"
import type { JsonObject } from "../domain/text/json.ts"
import { chatBody } from "../translate/chatBody.ts"
import { historyCalls, signaturesOf, type SignedCall } from "../translate/shared/chat-request/signatures.ts"
import { ChatRequest } from "../wire/openai/Chat.ts"
import type { ChatChunk, ChatCompletion } from "../wire/openai/ChatReply.ts"
import { checkChat } from "./checks.ts"
import { decodedBody, recordedJson } from "./decoded.ts"
import { answersOf, billedOf, hasModality, isDrawn, outputOf, pictureOf, readMembers } from "./estimates.ts"
import type { OperationRules, Verdict } from "./rules.ts"

/** A config may spell parameters as a client may. */
const inChatsWords = (edited: JsonObject): Result.Result<JsonObject, BodyInvalid> =>
  Result.map(chatBody(edited), ({ body }) => body)

const body = decodedBody(ChatRequest, checkChat, inChatsWords)

const completionVerdict = ({ choices }: ChatCompletion): Verdict => {
  if (choices.some(({ finish_reason: finish }) => finish === "content_filter")) return "refusal"
  const isEmpty = choices.every(
    ({ message }) =>
      (message.content ?? "") === "" &&
      (message.tool_calls ?? []).length === 0 &&
      message.function_call === undefined &&
      (message.content_blocks ?? []).length === 0 &&
      (message.audio ?? undefined) === undefined
  )
  return isEmpty ? "empty" : "content"
}

/** The end of the stream gives its reason in a chunk with choices. */
const chunkVerdict = ({ choices }: ChatChunk): Verdict => {
  for (const { delta, finish_reason: finish } of choices) {
    const { role: _role, content, refusal: _refusal, ...others } = delta
    if ((content ?? "") !== "" || Object.values(others).some((value) => value !== undefined && value !== null))
      return "content"
    if (finish !== null) return finish === "content_filter" ? "refusal" : "empty"
  }
  return undefined
}

export const chat: OperationRules<"chat"> = {
  body,
  estimate: {
    prompt: readMembers,
    usage: (asked, { modelId, models, read, usualOutput }) => {
      const answers = answersOf(asked)
      const imageOutput = isDrawn(asked, modelId, models) ? answers * pictureOf(asked) : 0
      const spoken = answers * outputOf(asked, usualOutput, isClaudeName(modelId))
      return {
        ...read,
        ...billedOf(asked),
        output: spoken + imageOutput,
        audioOutput: hasModality(asked, "audio") ? spoken : 0,
        imageOutput
      }
    }
  },
  // A token asks the provider for the rest of the answer, and is of no use to another request (M-607).
  recorded: {
    ...recordedJson(),
    isPart: ({ choices }) => choices.some(({ continuation_token: token }) => token !== undefined)
  },
  judges: { whole: completionVerdict, chunk: chunkVerdict },
  signatures: {
    history: historyCalls,
    reply: ({ choices }) => choices.flatMap(({ message }) => signaturesOf(message)),
    chunks: (chunks) => {
      const signed: Array<SignedCall> = []
      for (const { choices } of chunks) {
        for (const { delta } of choices)
          if (delta.tool_calls !== undefined) for (const call of signaturesOf(delta)) signed.push(call)
      }
      return signed
    }
  },
  healed: "translated",
  namesModel: true
}

export const countTokens: OperationRules<"countTokens"> = {
  body,
  estimate: undefined,
  recorded: recordedJson(),
  signatures: { history: historyCalls },
  healed: "translated"
}
