// Rules for every known chat parameter on the way to Claude (mapped, ignored, silent); source of the docs.
// Must not translate parameters.
import type { ChatRequest, KnownParam } from "../../wire/openai/Chat.ts"
import { ignored, ignoredBy, mapped, silent } from "../shared/chat-request/paramReader.ts"
import type { ParamRule } from "../Translator.ts"

const noEquivalent = ignored("no equivalent upstream")
const bookkeeping = ignored("the provider's own bookkeeping, which Google does not keep")
const gemini = ignored("for Gemini only")

export const claudeParams = {
  model: mapped("the URL"),
  messages: mapped("messages, system; a model without prefill is asked to continue a last message of the assistant"),
  stream: mapped("stream, and the URL: streamRawPredict"),
  stream_options: silent("shapes our own answer"),
  max_tokens: mapped("max_tokens, unless max_completion_tokens differs; without either the model's usual length"),
  max_completion_tokens: mapped("max_tokens"),
  temperature: mapped("temperature, at most 1, a higher one is named; models before 4.7 that are not thinking"),
  top_p: mapped("top_p; models before 4.7, from 4.1 on not together with temperature"),
  top_k: mapped("top_k; models before 4.7 that are not thinking"),
  n: mapped("one answer is given; more are named"),
  stop: mapped("stop_sequences; texts of white space end the answer at the gateway"),
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
  response_format: mapped(
    "tools: one that has to be called, whose arguments are the answer; output_config.format on models that refuse a demanded call"
  ),
  tools: mapped("tools"),
  tool_choice: mapped("tool_choice; models that refuse a demanded call get auto"),
  parallel_tool_calls: mapped("tool_choice.disable_parallel_tool_use, when false"),
  functions: mapped("tools, unless tools is given"),
  function_call: mapped("tool_choice, unless tool_choice is given"),
  web_search_options: mapped("tools: web_search_20250305, with its user_location; models since 4"),
  reasoning_effort: mapped(
    "thinking, output_config.effort, unless thinking is given; models that think, at the nearest effort they have"
  ),
  thinking: mapped(
    "thinking, output_config.effort; models that think, and no forced call together with a budget; since 4.7 a budget selects an effort"
  ),
  modalities: mapped("refused without text; other kinds are left out and named"),
  audio: noEquivalent,
  image_config: noEquivalent,
  media_resolution: gemini,
  safety_settings: gemini,
  safetySettings: gemini,
  labels: gemini,
  cached_content: gemini,
  continuation_token: gemini,
  model_armor_config: gemini,
  anthropic_beta: mapped("the header anthropic-beta, next to the client's own and those that fields need"),
  extra_body: gemini,
  google: gemini
} satisfies Record<KnownParam, ParamRule>

/** Lists the request's parameters that change nothing upstream. */
export const ignoredClaudeParams: (request: ChatRequest, unused: ReadonlyArray<string>) => ReadonlyArray<string> =
  ignoredBy(claudeParams)
