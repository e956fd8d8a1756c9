// What becomes of every known chat parameter on the way to Claude; the documentation is made from it.
// It must not know how a parameter is translated.
import type { ChatRequest, KnownParam } from "../../wire/openai/Chat.ts"
import { ignored, ignoredBy, mapped, silent } from "../shared/chat-request/paramRules.ts"
import type { ParamRule } from "../Translator.ts"

const noEquivalent = ignored("no equivalent upstream")
const bookkeeping = ignored("the provider's own bookkeeping, which Google does not keep")
const gemini = ignored("for Gemini only")

export const claudeParams = {
  model: mapped("the URL"),
  messages: mapped("messages, system"),
  stream: mapped("stream, and the URL: streamRawPredict"),
  stream_options: silent("shapes our own answer"),
  max_tokens: mapped("max_tokens, unless max_completion_tokens differs; without either the model's usual length"),
  max_completion_tokens: mapped("max_tokens"),
  temperature: mapped("temperature, at most 1; models before 4.7 that are not thinking"),
  top_p: mapped("top_p; models before 4.7, from 4.1 on not beside temperature"),
  top_k: mapped("top_k; models before 4.7 that are not thinking"),
  n: mapped("refused above 1"),
  stop: mapped("stop_sequences, but for words of white space"),
  seed: noEquivalent,
  presence_penalty: noEquivalent,
  frequency_penalty: noEquivalent,
  logprobs: noEquivalent,
  top_logprobs: noEquivalent,
  logit_bias: noEquivalent,
  user: mapped("metadata.user_id"),
  store: bookkeeping,
  metadata: bookkeeping,
  prediction: noEquivalent,
  verbosity: noEquivalent,
  moderation: noEquivalent,
  safety_identifier: noEquivalent,
  prompt_cache_key: noEquivalent,
  prompt_cache_options: noEquivalent,
  prompt_cache_retention: noEquivalent,
  service_tier: noEquivalent,
  response_format: mapped("tools: one that has to be called, whose arguments are the answer"),
  tools: mapped("tools"),
  tool_choice: mapped("tool_choice"),
  parallel_tool_calls: mapped("tool_choice.disable_parallel_tool_use, when false"),
  functions: mapped("tools, unless tools is given"),
  function_call: mapped("tool_choice, unless tool_choice is given"),
  web_search_options: noEquivalent,
  reasoning_effort: mapped("thinking, output_config.effort, unless thinking is given; models that think"),
  thinking: mapped("thinking, output_config.effort; models that think, and no forced call beside a budget"),
  modalities: mapped("refused without text; other kinds are left out and named"),
  audio: noEquivalent,
  image_config: noEquivalent,
  media_resolution: gemini,
  safety_settings: gemini,
  safetySettings: gemini,
  labels: gemini,
  cached_content: gemini,
  model_armor_config: gemini,
  anthropic_beta: mapped("the header anthropic-beta, beside the client's own"),
  extra_body: gemini,
  google: gemini
} satisfies Record<KnownParam, ParamRule>

/** The parameters of a request that change nothing upstream. */
export const ignoredParams: (request: ChatRequest, unused: ReadonlyArray<string>) => ReadonlyArray<string> =
  ignoredBy(claudeParams)
