// Rules for every known chat parameter on the way to OpenAI-compatible upstreams; source of the docs.
// Must not translate parameters.
import type { KnownParam } from "../../wire/openai/Chat.ts"
import { ignored, mapped } from "../shared/chat-request/paramReader.ts"

const same = mapped("the same field")
const geminiOnly = ignored("for Gemini only")

/** Unknown parameters are passed through: the upstream may support them. */
export const openAiParams = {
  model: mapped("model: `publisher/model`, or the name under which an endpoint serves its model"),
  messages: mapped("messages, without fields of the gateway's own; developer becomes system"),
  stream: same,
  stream_options: mapped("the same field; on streams with include_usage: true"),
  max_tokens: same,
  max_completion_tokens: mapped("max_tokens, unless that is given too"),
  temperature: same,
  top_p: same,
  top_k: same,
  n: same,
  stop: same,
  seed: same,
  presence_penalty: same,
  frequency_penalty: same,
  logprobs: same,
  top_logprobs: same,
  logit_bias: same,
  user: same,
  store: same,
  metadata: same,
  prediction: same,
  verbosity: same,
  moderation: same,
  safety_identifier: same,
  prompt_cache_key: same,
  prompt_cache_options: same,
  prompt_cache_retention: same,
  service_tier: same,
  response_format: same,
  tools: same,
  tool_choice: same,
  parallel_tool_calls: same,
  functions: same,
  function_call: same,
  web_search_options: same,
  reasoning_effort: mapped("the same field; xhigh and max become high"),
  thinking: ignored("for Gemini and Claude; reasoning_effort goes up"),
  modalities: mapped("the same field, unless it asks for images"),
  audio: same,
  image_config: geminiOnly,
  media_resolution: geminiOnly,
  safety_settings: geminiOnly,
  safetySettings: geminiOnly,
  labels: geminiOnly,
  cached_content: geminiOnly,
  continuation_token: geminiOnly,
  model_armor_config: geminiOnly,
  anthropic_beta: ignored("for Claude only"),
  extra_body: geminiOnly,
  google: geminiOnly
} satisfies Record<KnownParam, ReturnType<typeof mapped>>

/** Names that are never sent: ignored parameters, the gateway's name for embeddings, and `input` next to messages. */
export const heldBack: ReadonlySet<string> = new Set([
  ...Object.entries(openAiParams).flatMap(([name, rule]) => (rule.kind === "ignored" ? [name] : [])),
  "task_type",
  "input"
])
