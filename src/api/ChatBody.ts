// The body of a chat as the contract declares it: the parameters the gateway reads, with the shapes it takes them in.
// It must not know how they are read; the service reads the open form in wire/openai and names faults by their place.
import * as Schema from "effect/Schema"
import { ChatParameters } from "../wire/openai/Chat.ts"
import { ContentBlock, ContentPart, ExtraContent } from "../wire/openai/Extensions.ts"
import { anyObject, maybe, open, rest } from "./shapes.ts"

/** Marks the end of what Claude may cache. */
const marked = { cache_control: maybe(anyObject) }

export const TextPart = open({ type: Schema.Literal("text"), text: Schema.String, ...marked }).annotate({
  identifier: "TextPart"
})

const ImagePart = open({
  type: Schema.Literal("image_url"),
  image_url: Schema.Union([
    Schema.String,
    open({
      url: Schema.String.annotate({
        description: "data:, gs://, https://, a Files API URL, or a YouTube URL; any kind of media."
      }),
      detail: maybe(Schema.String),
      mime_type: maybe(Schema.String),
      format: maybe(Schema.String),
      video_metadata: maybe(anyObject)
    })
  ]),
  ...marked
}).annotate({ identifier: "ImagePart" })

const AudioPart = open({
  type: Schema.Literal("input_audio"),
  input_audio: open({ data: Schema.String, format: Schema.String }),
  ...marked
}).annotate({ identifier: "AudioPart" })

const FilePart = open({
  type: Schema.Literal("file"),
  file: open({
    file_data: maybe(Schema.String),
    file_url: maybe(Schema.String),
    file_id: maybe(Schema.String),
    filename: maybe(Schema.String),
    mime_type: maybe(Schema.String)
  }),
  ...marked
}).annotate({ identifier: "FilePart" })

const RefusalPart = open({ type: Schema.Literal("refusal"), refusal: Schema.String })

/** Text, or parts of these kinds. */
const content = <Parts extends ReadonlyArray<Schema.Constraint>>(parts: Parts) =>
  Schema.Union([Schema.String, Schema.Array(Schema.Union(parts))])

const SystemMessage = open({
  role: Schema.Literals(["system", "developer"]),
  content: maybe(content([TextPart])),
  name: maybe(Schema.String)
}).annotate({ identifier: "SystemMessage" })

const UserMessage = open({
  role: Schema.Literal("user"),
  content: content([TextPart, ImagePart, AudioPart, FilePart]),
  name: maybe(Schema.String)
}).annotate({ identifier: "UserMessage" })

const AskedCall = open({
  id: maybe(Schema.String),
  type: maybe(Schema.Literal("function")),
  function: open({
    name: Schema.String,
    arguments: Schema.String,
    thought_signature: maybe(Schema.String)
  }),
  extra_content: maybe(ExtraContent)
})

const AssistantMessage = open({
  role: Schema.Literal("assistant"),
  content: maybe(content([TextPart, RefusalPart, ImagePart, ContentBlock, ContentPart])),
  name: maybe(Schema.String),
  refusal: maybe(Schema.String),
  tool_calls: maybe(Schema.Array(AskedCall)),
  function_call: maybe(open({ name: Schema.String, arguments: Schema.String })),
  reasoning_content: maybe(Schema.String),
  content_blocks: maybe(Schema.Array(ContentBlock)),
  content_parts: maybe(Schema.Array(ContentPart))
}).annotate({ identifier: "AssistantMessage", description: "An earlier answer, sent back as it came." })

const ToolMessage = open({
  role: Schema.Literal("tool"),
  tool_call_id: Schema.String,
  content: maybe(content([TextPart, ImagePart])),
  ...marked
}).annotate({ identifier: "ToolMessage" })

const FunctionMessage = open({
  role: Schema.Literal("function"),
  name: Schema.String,
  content: maybe(Schema.String)
}).annotate({ identifier: "FunctionMessage", description: "The older form of a tool's result." })

export const ChatTurn = Schema.Union([SystemMessage, UserMessage, AssistantMessage, ToolMessage, FunctionMessage])
export type ChatTurn = typeof ChatTurn.Type

const declared = {
  name: Schema.String,
  description: maybe(Schema.String),
  parameters: maybe(anyObject),
  strict: maybe(Schema.Boolean),
  response_schema: maybe(anyObject)
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

const FunctionTool = open({ type: maybe(Schema.Literal("function")), function: open(declared), ...marked }).annotate({
  identifier: "FunctionTool"
})
const BuiltInTool = open({ type: Schema.Literals(builtIn) }).annotate({
  identifier: "BuiltInTool",
  description: "A tool the provider runs; its settings stand in a field of the tool's own name."
})

const named = open({
  type: Schema.Literal("function"),
  function: maybe(open({ name: Schema.String })),
  name: maybe(Schema.String)
})
const ToolChoice = Schema.Union([
  Schema.Literals(["auto", "none", "required", "any"]),
  named,
  open({
    type: Schema.Literal("allowed_tools"),
    allowed_tools: open({ mode: maybe(Schema.Literals(["auto", "required"])), tools: Schema.Array(anyObject) })
  })
])

const ResponseFormat = Schema.Union([
  open({ type: Schema.Literals(["text", "json_object"]) }),
  open({
    type: Schema.Literal("json_schema"),
    json_schema: open({ name: maybe(Schema.String), schema: anyObject, strict: maybe(Schema.Boolean) })
  })
])

const Safety = Schema.Array(open({ category: Schema.String, threshold: Schema.String }))
const Texts = Schema.Array(Schema.String)

/** Every parameter of the open form is here too; those it leaves to its readers have their shape. */
const parameters = {
  ...ChatParameters.fields,
  model: Schema.String.annotate({
    description: "@slug/model; without the slug the header x-gateway-provider or the only provider decides."
  }),
  messages: Schema.Array(ChatTurn),
  stream_options: maybe(open({ include_usage: maybe(Schema.Boolean) })),
  stop: maybe(Schema.Union([Schema.String, Texts])),
  seed: maybe(Schema.Number),
  tools: maybe(Schema.Array(Schema.Union([FunctionTool, BuiltInTool]))),
  tool_choice: maybe(ToolChoice),
  functions: maybe(Schema.Array(open(declared))),
  function_call: maybe(Schema.Union([Schema.Literals(["auto", "none"]), open({ name: Schema.String })])),
  response_format: maybe(ResponseFormat),
  reasoning_effort: maybe(Schema.Literals(["none", "minimal", "low", "medium", "high", "xhigh", "max"])),
  thinking: maybe(
    open({
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

export const ChatBody = Schema.StructWithRest(Schema.Struct(parameters), rest).annotate({ identifier: "ChatBody" })
export type ChatBody = typeof ChatBody.Type

const { messages, model, ...shared } = parameters

/** A chat whose model and messages the prompt may give. */
export const PromptBody = Schema.StructWithRest(
  Schema.Struct({
    variables: maybe(Schema.Record(Schema.String, Schema.String)),
    model: maybe(model),
    messages: maybe(messages),
    ...shared
  }),
  rest
).annotate({
  identifier: "PromptBody",
  description: "The prompt's variables, and chat parameters that stand in the place of its own."
})
export type PromptBody = typeof PromptBody.Type
