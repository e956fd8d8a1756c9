// Translator pair: chat completions to OpenAI-compatible upstreams (Llama, self-deployed endpoints).
// Must not depend on URLs or credentials.
import * as Result from "effect/Result"
import type { Json } from "../../domain/text/json.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import { type ChatChunk, type ChatCompletion, UpstreamChat } from "../../wire/openai/ChatReply.ts"
import { failureFromOpenAi } from "../shared/reply/upstreamFailures.ts"
import { namesOf, withoutPrefix } from "../shared/chat-request/toolCalls.ts"
import { type Fold, isStreamFailed, type StreamFailed, type Translator } from "../Translator.ts"
import { chatToOpenAiRequest, type OpenAiRequest } from "./request.ts"
import { responseFromOpenAi } from "./response.ts"
import { type OpenAiStreamState, streamFromOpenAi } from "./stream.ts"

type Output = ChatChunk | StreamFailed

const named = <Call extends { readonly function: { readonly name?: string } }>(
  calls: ReadonlyArray<Call>,
  names: ReadonlySet<string>
): ReadonlyArray<Call> =>
  calls.map((call) => {
    const { name } = call.function
    const bareName = name === undefined ? undefined : withoutPrefix(name, (one) => names.has(one))
    return bareName === name ? call : { ...call, function: { ...call.function, name: bareName } }
  })

/** Calls have the names that the request has for their functions (W33). */
const withOwnNames = (full: ChatCompletion, names: ReadonlySet<string>): ChatCompletion =>
  full.choices.every(({ message }) => message.tool_calls === undefined)
    ? full
    : {
        ...full,
        choices: full.choices.map((choice) =>
          choice.message.tool_calls === undefined
            ? choice
            : { ...choice, message: { ...choice.message, tool_calls: named(choice.message.tool_calls, names) } }
        )
      }

const hasCalls = (output: Output): boolean =>
  !isStreamFailed(output) && output.choices.some(({ delta }) => delta.tool_calls !== undefined)

const chunkWithOwnNames = (output: Output, names: ReadonlySet<string>): Output =>
  isStreamFailed(output)
    ? output
    : {
        ...output,
        choices: output.choices.map((choice) =>
          choice.delta.tool_calls === undefined
            ? choice
            : { ...choice, delta: { ...choice.delta, tool_calls: named(choice.delta.tool_calls, names) } }
        )
      }

const streamWithOwnNames = (
  fold: Fold<OpenAiStreamState, Json, Output>,
  names: ReadonlySet<string>
): Fold<OpenAiStreamState, Json, Output> =>
  names.size === 0
    ? fold
    : {
        ...fold,
        step: (state, event) => {
          const [next, outputs] = fold.step(state, event)
          return outputs.some(hasCalls)
            ? [next, outputs.map((output) => chunkWithOwnNames(output, names))]
            : [next, outputs]
        }
      }

const noNames: ReadonlySet<string> = new Set()
const declaresTools = ({ functions, tools }: ChatRequest): boolean => (tools ?? functions ?? []).length > 0
const namesIn = (request: ChatRequest): ReadonlySet<string> => (declaresTools(request) ? namesOf(request) : noNames)

export const chatToOpenAi: Translator<
  ChatRequest,
  OpenAiRequest,
  UpstreamChat,
  UpstreamChat,
  ChatCompletion,
  ChatChunk,
  OpenAiStreamState
> = {
  name: "chat-to-openai",
  reply: UpstreamChat,
  event: UpstreamChat,
  request: chatToOpenAiRequest,
  response: (reply, context, request) =>
    Result.map(responseFromOpenAi(reply, context), (full) => withOwnNames(full, namesIn(request))),
  stream: (context, request) => streamWithOwnNames(streamFromOpenAi(context), namesIn(request)),
  failure: failureFromOpenAi
}
