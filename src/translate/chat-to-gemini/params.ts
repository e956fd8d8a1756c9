// Rules for every known chat parameter on the way to Gemini (mapped, ignored, silent); source of the docs.
// Must not translate parameters.
import type { ChatRequest, KnownParam } from "../../wire/openai/Chat.ts"
import { ignored, ignoredBy, mapped, silent } from "../shared/chat-request/paramReader.ts"
import type { ParamRule } from "../Translator.ts"

const noEquivalent = ignored("no equivalent upstream")
const bookkeeping = ignored("the provider's own bookkeeping, which Google does not keep")

export const geminiParams = {
  model: mapped("the URL"),
  messages: mapped("contents, systemInstruction"),
  stream: mapped("the URL: streamGenerateContent"),
  stream_options: silent("shapes our own answer"),
  max_tokens: mapped("generationConfig.maxOutputTokens, unless max_completion_tokens differs"),
  max_completion_tokens: mapped("generationConfig.maxOutputTokens"),
  temperature: mapped("generationConfig.temperature"),
  top_p: mapped("generationConfig.topP"),
  top_k: mapped("generationConfig.topK"),
  n: mapped("generationConfig.candidateCount"),
  stop: mapped("generationConfig.stopSequences, the first five; the others end the answer at the gateway"),
  seed: mapped("generationConfig.seed, its lowest 32 bits"),
  presence_penalty: mapped("generationConfig.presencePenalty"),
  frequency_penalty: mapped("generationConfig.frequencyPenalty"),
  logprobs: mapped("generationConfig.responseLogprobs"),
  top_logprobs: mapped("generationConfig.logprobs"),
  logit_bias: noEquivalent,
  user: noEquivalent,
  store: bookkeeping,
  metadata: bookkeeping,
  prediction: noEquivalent,
  verbosity: noEquivalent,
  moderation: noEquivalent,
  safety_identifier: noEquivalent,
  prompt_cache_key: noEquivalent,
  prompt_cache_options: noEquivalent,
  prompt_cache_retention: noEquivalent,
  service_tier: mapped(
    "serviceTier (Gemini API), X-Vertex-AI-LLM-Shared-Request-Type (Vertex AI); flex and priority only"
  ),
  response_format: mapped("generationConfig.responseMimeType, responseJsonSchema or responseSchema"),
  tools: mapped("tools"),
  tool_choice: mapped("toolConfig.functionCallingConfig"),
  parallel_tool_calls: silent("calls may always be parallel; false cannot be had and is named as ignored"),
  functions: mapped("tools, unless tools is given"),
  function_call: mapped("toolConfig.functionCallingConfig, unless tool_choice is given"),
  web_search_options: mapped("tools: googleSearch"),
  reasoning_effort: mapped("generationConfig.thinkingConfig, unless thinking is given; models that think"),
  thinking: mapped("generationConfig.thinkingConfig; models that think"),
  modalities: mapped("generationConfig.responseModalities"),
  audio: mapped("generationConfig.speechConfig, with the modality audio"),
  image_config: mapped("generationConfig.imageConfig"),
  media_resolution: mapped("generationConfig.mediaResolution"),
  safety_settings: mapped("safetySettings"),
  safetySettings: mapped("safetySettings, unless safety_settings is given"),
  labels: mapped("labels (Vertex AI only)"),
  cached_content: mapped("cachedContent, on models with explicit caches"),
  continuation_token: mapped("continuationToken, on models whose long answers come in several requests"),
  model_armor_config: mapped("modelArmorConfig (Vertex AI only)"),
  anthropic_beta: ignored("for Claude only"),
  extra_body: mapped("its google.thinking_config, cached_content, continuation_token and safety_settings"),
  google: mapped("its thinking_config, cached_content, continuation_token and safety_settings")
} satisfies Record<KnownParam, ParamRule>

/** Lists the request's parameters that change nothing upstream. */
export const ignoredGeminiParams: (request: ChatRequest, unused: ReadonlyArray<string>) => ReadonlyArray<string> =
  ignoredBy(geminiParams)
