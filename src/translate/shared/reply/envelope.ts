// Builds the envelopes of chat completions and chunks, including the provider name.
// Must not depend on an upstream dialect.
import type { ChatChunk, ChatCompletion, Choice, ChunkChoice, Usage } from "../../../wire/openai/ChatReply.ts"
import type { TranslateContext } from "../../Translator.ts"

/** Builds a completion in full form. `model` is the model the upstream reports. */
export const buildCompletion = (
  context: TranslateContext,
  model: string,
  choices: ReadonlyArray<Choice>,
  usage: Usage
): ChatCompletion => ({
  id: context.id,
  object: "chat.completion",
  created: context.createdSeconds,
  model,
  choices,
  usage,
  provider: context.target.kind
})

/** Builds a chunk with one choice; id, created and model are equal on every chunk of a stream. */
export const buildChunk = (context: TranslateContext, model: string, choice: ChunkChoice): ChatChunk => ({
  id: context.id,
  object: "chat.completion.chunk",
  created: context.createdSeconds,
  model,
  choices: [choice],
  provider: context.target.kind
})

/** Builds the last chunk of every successful stream: usage without choices. */
export const buildUsageChunk = (context: TranslateContext, model: string, usage: Usage): ChatChunk => ({
  id: context.id,
  object: "chat.completion.chunk",
  created: context.createdSeconds,
  model,
  choices: [],
  usage,
  provider: context.target.kind
})
