// Declares chat completions and embeddings requests in OpenAI's dialect; unknown fields are accepted.
// It must not depend on hosts, models or meaning.
// Source: OpenAI's published description of its API.

import {
  anyObject,
  bool,
  byMember,
  closedRecord,
  either,
  integer,
  list,
  mapOf,
  nothing,
  nullable,
  number,
  record,
  text,
  textUpTo,
  word
} from "./open.ts"
import type { Check } from "./open.ts"

const cached = { prompt_cache_breakpoint: record({ "mode!": word("explicit") }) }
const textPart = record({ "text!": text, ...cached })

const systemContent = either(text, list(byMember("type", { text: textPart }), 1))

const userPart = byMember("type", {
  text: textPart,
  image_url: record({ "image_url!": record({ "url!": text, detail: word("auto", "low", "high") }), ...cached }),
  input_audio: record({ "input_audio!": record({ "data!": text, "format!": word("wav", "mp3") }), ...cached }),
  file: record({ "file!": record({ filename: text, file_data: text, file_id: text }), ...cached })
})

const assistantPart = byMember("type", { text: textPart, refusal: record({ "refusal!": text }) })

const toolCall = byMember("type", {
  function: record({ "id!": text, "function!": record({ "name!": text, "arguments!": text }) }),
  custom: record({ "id!": text, "custom!": record({ "name!": text, "input!": text }) })
})

const system = record({ "content!": systemContent, name: text })

const message = byMember("role", {
  developer: system,
  system,
  user: record({ "content!": either(text, list(userPart, 1)), name: text }),
  assistant: record({
    // Compatible services accept an empty list (recorded).
    content: nullable(either(text, list(assistantPart))),
    refusal: nullable(text),
    name: text,
    audio: nullable(record({ "id!": text })),
    tool_calls: list(toolCall),
    function_call: nullable(record({ "arguments!": text, "name!": text }))
  }),
  tool: record({ "content!": systemContent, "tool_call_id!": text }),
  function: record({ "content!": nullable(text), "name!": text })
})

const functionObject = { description: text, "name!": text, parameters: anyObject }

const grammar = record({ "definition!": text, "syntax!": word("lark", "regex") })

const customFormat = byMember("type", {
  text: closedRecord({ type: text }),
  grammar: closedRecord({ type: text, "grammar!": grammar })
})

const tool = byMember("type", {
  function: record({ "function!": record({ ...functionObject, strict: nullable(bool) }) }),
  custom: record({
    "custom!": record({ "name!": text, description: text, format: customFormat })
  })
})

const named = record({ "name!": text })

const toolChoice = either(
  word("none", "auto", "required"),
  byMember("type", {
    allowed_tools: record({
      "allowed_tools!": record({ "mode!": word("auto", "required"), "tools!": list(anyObject) })
    }),
    function: record({ "function!": named }),
    custom: record({ "custom!": named })
  })
)

const responseFormat = byMember("type", {
  text: anyObject,
  json_object: anyObject,
  json_schema: record({
    "json_schema!": record({ description: text, "name!": text, schema: anyObject, strict: nullable(bool) })
  })
})

const webSearch = record({
  user_location: nullable(
    record({
      "type!": word("approximate"),
      "approximate!": record({ country: text, region: text, city: text, timezone: text })
    })
  ),
  search_context_size: word("low", "medium", "high")
})

const audioFormats = word("wav", "aac", "mp3", "flac", "opus", "pcm16")

const sampling = {
  temperature: nullable(number(0, 2)),
  top_p: nullable(number(0, 1)),
  frequency_penalty: nullable(number(-2, 2)),
  presence_penalty: nullable(number(-2, 2)),
  max_tokens: nullable(integer()),
  max_completion_tokens: nullable(integer()),
  n: nullable(integer(1, 128)),
  seed: nullable(integer()),
  stop: nullable(either(text, list(text, 1, 4))),
  logprobs: nullable(bool),
  top_logprobs: integer(0, 20),
  logit_bias: nullable(mapOf(integer())),
  reasoning_effort: nullable(word("none", "minimal", "low", "medium", "high", "xhigh", "max")),
  verbosity: nullable(word("low", "medium", "high"))
}

/** The body of chat completions, without the fields that only OpenAI reads (moderation, prompt cache options). */
export const chatRequest: Check = record({
  "model!": text,
  "messages!": list(message, 1),
  ...sampling,
  stream: nullable(bool),
  stream_options: nullable(record({ include_usage: bool, include_obfuscation: bool })),
  tools: list(tool),
  tool_choice: toolChoice,
  parallel_tool_calls: bool,
  response_format: responseFormat,
  functions: list(record(functionObject), 1, 128),
  function_call: either(word("none", "auto"), named),
  modalities: nullable(list(word("text", "audio"))),
  audio: nullable(record({ "voice!": either(text, closedRecord({ "id!": text })), "format!": audioFormats })),
  prediction: nullable(byMember("type", { content: record({ "content!": systemContent }) })),
  web_search_options: webSearch,
  metadata: nullable(mapOf(text)),
  service_tier: nullable(word("auto", "default", "flex", "scale", "priority", "fast")),
  store: nullable(bool),
  user: text,
  safety_identifier: nullable(textUpTo(64)),
  prompt_cache_key: nullable(text),
  prompt_cache_retention: nullable(word("in_memory", "24h"))
})

const most = 2048

/** The body of embeddings. */
export const embeddingsRequest: Check = record({
  "model!": text,
  "input!": either(text, list(text, 1, most), list(integer(), 1, most), list(list(integer(), 1), 1, most)),
  encoding_format: either(word("float", "base64"), nothing),
  dimensions: nullable(integer(1, Number.MAX_SAFE_INTEGER)),
  user: nullable(text)
})
