// Contract schema of the chat request body and of the prompt request body, for the OpenAPI document.
// It must not know how a body is read; the service reads the open schemas in wire/openai.
import * as Schema from "effect/Schema"
import { ChatParameters } from "../wire/openai/Chat.ts"
import { ContentBlock, ContentPart, ExtraContent } from "../wire/openai/Extensions.ts"
import { maybe } from "../wire/json.ts"
import { openObject, openStruct, openFields } from "./shapes.ts"

/** Marks the end of the prefix that Claude may cache. */
const marked = { cache_control: maybe(openObject) }

export const TextPart = openStruct({ type: Schema.Literal("text"), text: Schema.String, ...marked }).annotate({
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
