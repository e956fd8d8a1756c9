// Contract schemas of what clients send: chats, prompts, embeddings, images; and Anthropic's messages with their answers.
// It must not know how a body is read; the service reads the open schemas in src/wire.
import * as Schema from "effect/Schema"
import { ChatParameters } from "../wire/openai/Chat.ts"
import { ContentBlock, ContentPart, ExtraContent } from "../wire/openai/ChatReply.ts"
import { maybe } from "../wire/json.ts"
import { openFields, openObject, openStruct } from "./contractParts.ts"
import { EmbeddingsParameters } from "../wire/openai/Embeddings.ts"
import { ImagesRequest } from "../wire/openai/Images.ts"

/** Marks the end of the prefix that Claude may cache. */
const marked = { cache_control: maybe(openObject) }

const TextPart = openStruct({ type: Schema.Literal("text"), text: Schema.String, ...marked }).annotate({
  identifier: "TextPart"
})

const ImagePart = openStruct({
  type: Schema.Literal("image_url"),
  image_url: Schema.Union([
    Schema.String,
    openStruct({
      url: Schema.String.annotate({
        description: "data:, gs://, https://, a Files API URL, or a YouTube URL; any kind of media."
      }),
      detail: maybe(Schema.String),
      mime_type: maybe(Schema.String),
      format: maybe(Schema.String),
      video_metadata: maybe(openObject)
    })
  ]),
  ...marked
}).annotate({ identifier: "ImagePart" })

const AudioPart = openStruct({
  type: Schema.Literal("input_audio"),
  input_audio: openStruct({ data: Schema.String, format: Schema.String }),
  ...marked
}).annotate({ identifier: "AudioPart" })

const FilePart = openStruct({
  type: Schema.Literal("file"),
  file: openStruct({
    file_data: maybe(Schema.String),
    file_url: maybe(Schema.String),
    file_id: maybe(Schema.String),
    filename: maybe(Schema.String),
    mime_type: maybe(Schema.String)
  }),
  ...marked
}).annotate({ identifier: "FilePart" })

const RefusalPart = openStruct({ type: Schema.Literal("refusal"), refusal: Schema.String })

/** Text, or content parts of the given kinds. */
const content = <Parts extends ReadonlyArray<Schema.Constraint>>(parts: Parts) =>
  Schema.Union([Schema.String, Schema.Array(Schema.Union(parts))])

const SystemMessage = openStruct({
  role: Schema.Literals(["system", "developer"]),
  content: maybe(content([TextPart])),
  name: maybe(Schema.String)
}).annotate({ identifier: "SystemMessage" })

const UserMessage = openStruct({
  role: Schema.Literal("user"),
  content: content([TextPart, ImagePart, AudioPart, FilePart]),
  name: maybe(Schema.String)
}).annotate({ identifier: "UserMessage" })

const AskedCall = openStruct({
  id: maybe(Schema.String),
  type: maybe(Schema.Literal("function")),
  function: openStruct({
    name: Schema.String,
    arguments: Schema.String,
    thought_signature: maybe(Schema.String)
  }),
  extra_content: maybe(ExtraContent)
})

const AssistantMessage = openStruct({
  role: Schema.Literal("assistant"),
  content: maybe(content([TextPart, RefusalPart, ImagePart, ContentBlock, ContentPart])),
  name: maybe(Schema.String),
  refusal: maybe(Schema.String),
  tool_calls: maybe(Schema.Array(AskedCall)),
  function_call: maybe(openStruct({ name: Schema.String, arguments: Schema.String })),
  reasoning_content: maybe(Schema.String),
  content_blocks: maybe(Schema.Array(ContentBlock)),
  content_parts: maybe(Schema.Array(ContentPart))
}).annotate({ identifier: "AssistantMessage", description: "An earlier answer, sent back as it came." })

const ToolMessage = openStruct({
  role: Schema.Literal("tool"),
  tool_call_id: Schema.String,
  content: maybe(content([TextPart, ImagePart])),
  ...marked
}).annotate({ identifier: "ToolMessage" })

const FunctionMessage = openStruct({
  role: Schema.Literal("function"),
  name: Schema.String,
  content: maybe(Schema.String)
}).annotate({ identifier: "FunctionMessage", description: "The older form of a tool's result." })

export const ChatTurn = Schema.Union([SystemMessage, UserMessage, AssistantMessage, ToolMessage, FunctionMessage])
export type ChatTurn = typeof ChatTurn.Type

const declared = {
  name: Schema.String,
  description: maybe(Schema.String),
  parameters: maybe(openObject),
  strict: maybe(Schema.Boolean),
  response_schema: maybe(openObject)
}

const builtIn = [
  "code_execution",
  "web_search",
  "google_search",
  "googleSearch",
  "web_search_retrieval",
  "google_search_retrieval",
  "url_context",
  "google_maps",
  "enterprise_web_search",
  "file_search",
  "computer_use",
  "computerUse"
] as const

const FunctionTool = openStruct({
  type: maybe(Schema.Literal("function")),
  function: openStruct(declared),
  ...marked
}).annotate({
  identifier: "FunctionTool"
})
const BuiltInTool = openStruct({ type: Schema.Literals(builtIn) }).annotate({
  identifier: "BuiltInTool",
  description: "A tool the provider runs; its settings are in a field of the tool's own name."
})

const named = openStruct({
  type: Schema.Literal("function"),
  function: maybe(openStruct({ name: Schema.String })),
  name: maybe(Schema.String)
})
const ToolChoice = Schema.Union([
  Schema.Literals(["auto", "none", "required", "any"]),
  named,
  openStruct({
    type: Schema.Literal("allowed_tools"),
    allowed_tools: openStruct({ mode: maybe(Schema.Literals(["auto", "required"])), tools: Schema.Array(openObject) })
  })
])

const ResponseFormat = Schema.Union([
  openStruct({ type: Schema.Literals(["text", "json_object"]) }),
  openStruct({
    type: Schema.Literal("json_schema"),
    json_schema: openStruct({ name: maybe(Schema.String), schema: openObject, strict: maybe(Schema.Boolean) })
  })
])

const Safety = Schema.Array(openStruct({ category: Schema.String, threshold: Schema.String }))
const Texts = Schema.Array(Schema.String)

/** Every parameter of the open schema; here the parameters that other code checks have a type too. */
const parameters = {
  ...ChatParameters.fields,
  model: Schema.String.annotate({
    description: "@slug/model; without the slug the header x-gateway-provider or the only provider decides."
  }),
  messages: Schema.Array(ChatTurn),
  stream_options: maybe(openStruct({ include_usage: maybe(Schema.Boolean) })),
  stop: maybe(Schema.Union([Schema.String, Texts])),
  seed: maybe(Schema.Number),
  tools: maybe(Schema.Array(Schema.Union([FunctionTool, BuiltInTool]))),
  tool_choice: maybe(ToolChoice),
  functions: maybe(Schema.Array(openStruct(declared))),
  function_call: maybe(Schema.Union([Schema.Literals(["auto", "none"]), openStruct({ name: Schema.String })])),
  response_format: maybe(ResponseFormat),
  reasoning_effort: maybe(Schema.Literals(["none", "minimal", "low", "medium", "high", "xhigh", "max"])),
  thinking: maybe(
    openStruct({
      type: maybe(Schema.Literals(["enabled", "adaptive", "disabled"])),
      budget_tokens: maybe(
        Schema.Number.annotate({ description: "Tokens; 0 switches thinking off, -1 leaves it to the model." })
      )
    })
  ),
  modalities: maybe(Texts),
  safety_settings: maybe(Safety),
  safetySettings: maybe(Safety),
  labels: maybe(Schema.Record(Schema.String, Schema.String)),
  anthropic_beta: maybe(Schema.Union([Schema.String, Texts]))
}

export const ChatBody = Schema.StructWithRest(Schema.Struct(parameters), openFields).annotate({
  identifier: "ChatBody"
})
export interface ChatBody extends Schema.Schema.Type<typeof ChatBody> {}

const { messages, model, ...shared } = parameters

/** A chat whose model and messages may come from the prompt. */
export const PromptBody = Schema.StructWithRest(
  Schema.Struct({
    variables: maybe(Schema.Record(Schema.String, Schema.String)),
    model: maybe(model),
    messages: maybe(messages),
    ...shared
  }),
  openFields
).annotate({
  identifier: "PromptBody",
  description: "The prompt's variables, and chat parameters that replace its own."
})
export interface PromptBody extends Schema.Schema.Type<typeof PromptBody> {}

// Contract schemas of the embeddings and image generation request bodies.

export const EmbeddingsBody = Schema.StructWithRest(
  Schema.Struct({
    ...EmbeddingsParameters.fields,
    input: Schema.Union([Schema.String, Schema.Array(Schema.String), openObject, Schema.Array(openObject)]).annotate({
      description: "A text or several; objects of text, image and video for multimodal models."
    }),
    encoding_format: maybe(Schema.Literals(["float", "base64"])),
    labels: maybe(Schema.Record(Schema.String, Schema.String))
  }),
  openFields
).annotate({ identifier: "EmbeddingsBody" })
export interface EmbeddingsBody extends Schema.Schema.Type<typeof EmbeddingsBody> {}

export const ImagesBody = ImagesRequest.annotate({ identifier: "ImagesBody" })
export interface ImagesBody extends Schema.Schema.Type<typeof ImagesBody> {}

// Contract schemas of Anthropic's Messages API: request, answer, events and token count, with open objects.

const opt = Schema.optionalKey

/** Every kind of block in one schema; `type` decides which fields are present. */
const block = openStruct({
  type: Schema.String,
  text: opt(Schema.String),
  thinking: opt(Schema.String),
  signature: opt(Schema.String),
  id: opt(Schema.String),
  name: opt(Schema.String),
  input: opt(Schema.Unknown)
})

export const MessageBlock = block.annotate({ identifier: "MessageBlock" })
export type MessageBlock = typeof MessageBlock.Type

const messageContent = Schema.Union([Schema.String, Schema.Array(openObject)])

const counted = {
  model: Schema.String.annotate({ description: "@slug/anthropic.model" }),
  messages: Schema.Array(
    openStruct({ role: Schema.Literals(["user", "assistant", "system"]), content: messageContent })
  ),
  system: maybe(messageContent),
  tools: maybe(Schema.Array(openObject)),
  tool_choice: maybe(openObject),
  thinking: maybe(openObject)
}

export const MessagesBody = openStruct({
  ...counted,
  max_tokens: Schema.Number,
  stream: maybe(Schema.Boolean),
  temperature: maybe(Schema.Number),
  top_p: maybe(Schema.Number),
  top_k: maybe(Schema.Number),
  stop_sequences: maybe(Schema.Array(Schema.String)),
  metadata: maybe(openObject)
}).annotate({ identifier: "MessagesBody" })
export interface MessagesBody extends Schema.Schema.Type<typeof MessagesBody> {}

export const MessagesCountBody = openStruct(counted).annotate({ identifier: "MessagesCountBody" })
export interface MessagesCountBody extends Schema.Schema.Type<typeof MessagesCountBody> {}

const usage = openStruct({
  input_tokens: opt(Schema.NullOr(Schema.Number)),
  output_tokens: opt(Schema.NullOr(Schema.Number))
})

export const Message = openStruct({
  id: Schema.String,
  type: Schema.Literal("message"),
  role: Schema.Literal("assistant"),
  model: Schema.String,
  content: Schema.Array(MessageBlock),
  stop_reason: Schema.NullOr(Schema.String),
  stop_sequence: opt(Schema.NullOr(Schema.String)),
  usage
}).annotate({ identifier: "Message" })
export interface Message extends Schema.Schema.Type<typeof Message> {}

/** Every event in one schema; `type` decides which fields are present. */
export const MessageEvent = openStruct({
  type: Schema.String,
  index: opt(Schema.Number),
  message: opt(openObject),
  content_block: opt(block),
  delta: opt(
    openStruct({
      type: opt(Schema.String),
      text: opt(Schema.String),
      thinking: opt(Schema.String),
      signature: opt(Schema.String),
      partial_json: opt(Schema.String),
      stop_reason: opt(Schema.NullOr(Schema.String))
    })
  ),
  usage: opt(usage)
}).annotate({ identifier: "MessageEvent" })
export interface MessageEvent extends Schema.Schema.Type<typeof MessageEvent> {}

export const MessagesCount = openStruct({ input_tokens: Schema.Number }).annotate({ identifier: "MessagesCount" })
export interface MessagesCount extends Schema.Schema.Type<typeof MessagesCount> {}
