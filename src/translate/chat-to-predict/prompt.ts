// Renders a chat as one prompt text, for models without messages.
// Must not depend on parameters or the text's position in the body.
import * as Result from "effect/Result"
import { type RequestFault, UnsupportedParameter } from "../../domain/GatewayError.ts"
import { defaultLimits } from "../../domain/Limits.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import { repairHistory } from "../shared/chat-request/repairHistory.ts"
import { readMessages, type TurnCall } from "../shared/chat-request/readMessages.ts"
import type { TurnPart } from "../shared/chat-request/readParts.ts"

/** Refuses content that a prompt cannot express, at its path. */
export const refuseInPrompt = (param: string, what: string): Result.Result<never, UnsupportedParameter> =>
  Result.fail(new UnsupportedParameter({ param, message: `This endpoint takes a prompt: ${what}.` }))

const roles = { System: "system", User: "user", Assistant: "assistant" } as const

/**
 * Writes lines of `role: text`, system messages first, `last` the last of them; the last line is an open assistant line for the model to
 * continue.
 */
export const renderPrompt = (request: ChatRequest, last?: string): Result.Result<string, RequestFault> => {
  const read = readMessages(repairHistory(request.messages), defaultLimits)
  if (Result.isFailure(read)) return Result.fail(read.failure)
  const system: Array<string> = []
  const talk: Array<string> = []
  for (const turn of read.success) {
    const media = turn._tag === "Assistant" ? undefined : turn.parts.find((part) => part._tag === "Media")
    if (media?._tag === "Media") return refuseInPrompt(media.source.path, "it sees text only")
    const text = textOf(turn.parts)
    if (text !== "") (turn._tag === "System" ? system : talk).push(`${roles[turn._tag]}: ${text}`)
    if (turn._tag === "Assistant") talk.push(...turn.calls.flatMap(callLines))
  }
  if (last !== undefined) system.push(`system: ${last}`)
  const end = read.success.at(-1)
  const isPrefilled = end?._tag === "Assistant" && end.calls.length === 0
  return Result.succeed([...system, ...talk, ...(isPrefilled ? [] : ["assistant:"])].join("\n"))
}

/** What an earlier model called, and what came of it. */
const callLines = ({ args, name, result }: TurnCall): ReadonlyArray<string> => [
  `assistant: ${name}(${JSON.stringify(args)})`,
  ...(result === undefined ? [] : [`${name}: ${textOf(result.parts)}`])
]

const textOf = (parts: ReadonlyArray<TurnPart>): string =>
  parts.flatMap((part) => (part._tag === "Text" ? [part.text] : [])).join("\n")
