// Rules for every known chat parameter on the way to a prompt endpoint (predict); source of the docs.
// Must not translate parameters.
import type { KnownParam } from "../../wire/openai/Chat.ts"
import { ignored, ignoredBy, mapped, silent } from "../shared/chat-request/paramReader.ts"

const named = mapped("the same name in the instance and in parameters")
const refused = mapped("nothing: the request is refused, as a prompt has no place for it")
const noEquivalent = ignored("no equivalent upstream")

export const predictChatParams = {
  model: mapped("the URL"),
  messages: mapped("instances[0].prompt: one line per message"),
  stream: silent("the whole answer comes as one chunk"),
  stream_options: silent("shapes our own answer"),
  max_tokens: mapped("max_tokens, unless max_completion_tokens differs"),
  max_completion_tokens: mapped("max_tokens"),
  temperature: named,
  top_p: named,
  top_k: named,
  n: mapped("one answer is given; more are named"),
  stop: named,
  seed: named,
  presence_penalty: noEquivalent,
  frequency_penalty: noEquivalent,
  logprobs: noEquivalent,
  top_logprobs: noEquivalent,
  logit_bias: noEquivalent,
  user: noEquivalent,
  store: noEquivalent,
  metadata: noEquivalent,
  prediction: noEquivalent,
  verbosity: noEquivalent,
  moderation: noEquivalent,
  safety_identifier: noEquivalent,
  prompt_cache_key: noEquivalent,
  prompt_cache_options: noEquivalent,
  prompt_cache_retention: noEquivalent,
  service_tier: noEquivalent,
  response_format: mapped("words of the prompt"),
  tools: refused,
  tool_choice: noEquivalent,
  parallel_tool_calls: noEquivalent,
  functions: refused,
  function_call: noEquivalent,
  web_search_options: noEquivalent,
  reasoning_effort: noEquivalent,
  thinking: noEquivalent,
  modalities: noEquivalent,
  audio: noEquivalent,
  image_config: noEquivalent,
  media_resolution: noEquivalent,
  safety_settings: noEquivalent,
  safetySettings: noEquivalent,
  labels: noEquivalent,
  cached_content: noEquivalent,
  continuation_token: noEquivalent,
  model_armor_config: noEquivalent,
  anthropic_beta: noEquivalent,
  extra_body: noEquivalent,
  google: noEquivalent
} satisfies Record<KnownParam, ReturnType<typeof mapped>>

/** Lists the request's parameters that change nothing upstream. */
export const ignoredPredictChatParams = ignoredBy(predictChatParams)
