// Reads the usage from the response of each operation, in the one convention of the service.
// Must not know upstreams, streams or prices.
import type { Tier, Usage } from "../domain/Usage.ts"
import type { Usage as ChatUsage } from "../wire/openai/ChatReply.ts"
import type { EmbeddingList } from "../wire/openai/Embeddings.ts"
import type { ImageList } from "../wire/openai/Images.ts"

/** The tiers that change a price, as providers name them. */
const tierWords: Readonly<Record<string, Tier>> = {
  flex: "flex",
  priority: "priority",
  batch: "batch",
  provisioned_throughput: "provisioned"
}

export const chatUsage = (usage: ChatUsage | undefined): Usage | undefined => {
  if (usage === undefined) return undefined
  const { prompt_tokens_details: input, completion_tokens_details: output } = usage
  const word = usage.service_tier?.toLowerCase() ?? ""
  const tier = Object.hasOwn(tierWords, word) ? tierWords[word] : undefined
  return {
    input: usage.prompt_tokens,
    output: usage.completion_tokens,
    cached: input?.cached_tokens ?? 0,
    cacheWritten: input?.cache_write_tokens ?? 0,
    reasoning: output?.reasoning_tokens ?? 0,
    audioInput: input?.audio_tokens ?? 0,
    audioOutput: output?.audio_tokens ?? 0,
    imageOutput: output?.image_tokens ?? 0,
    images: 0,
    ...(input?.cached_audio_tokens === undefined ? {} : { cachedAudio: input.cached_audio_tokens }),
    ...(input?.cache_write_1h_tokens === undefined ? {} : { cacheWrittenHour: input.cache_write_1h_tokens }),
    ...(usage.searches === undefined ? {} : { searches: usage.searches }),
    ...(tier === undefined ? {} : { tier })
  }
}

export const noUsage: Usage = {
  input: 0,
  output: 0,
  cached: 0,
  cacheWritten: 0,
  reasoning: 0,
  audioInput: 0,
  audioOutput: 0,
  imageOutput: 0,
  images: 0
}

export const embeddingsUsage = ({ usage }: EmbeddingList): Usage => ({ ...noUsage, input: usage.prompt_tokens })

/** Some models count tokens, the others are billed per image. */
export const imagesUsage = ({ data, usage }: ImageList): Usage => ({
  ...noUsage,
  input: usage?.input_tokens ?? 0,
  output: usage?.output_tokens ?? 0,
  imageOutput: usage?.output_tokens_details.image_tokens ?? 0,
  images: data.length
})
