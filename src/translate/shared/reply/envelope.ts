// The envelopes of completions and chunks, and which provider they name.
// It must not know any upstream dialect.
import type { ChatChunk, ChatCompletion, Choice, ChunkChoice, Usage } from "../../../wire/openai/ChatReply.ts"
import type { TranslateContext } from "../../Translator.ts"

/** A completion in full form. `model` is what the upstream says it served. */
export const completionOf = (
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

/** A chunk with one choice; id, created and model are the same on every chunk of a stream. */
export const chunkOf = (context: TranslateContext, model: string, choice: ChunkChoice): ChatChunk => ({
  id: context.id,
  object: "chat.completion.chunk",
  created: context.createdSeconds,
  model,
  choices: [choice],
  provider: context.target.kind
})

/** The last chunk of every stream that did not fail: no choice, only usage. */
export const usageChunkOf = (context: TranslateContext, model: string, usage: Usage): ChatChunk => ({
  id: context.id,
  object: "chat.completion.chunk",
  created: context.createdSeconds,
  model,
  choices: [],
  usage,
  provider: context.target.kind
})
