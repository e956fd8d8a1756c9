// Reports about tools: their number, their schemas, hosted ones, names of calls.
// Must not depend on the service.
import type { Row } from "../row.ts"

const messages = [{ role: "user", content: "hi" }]
const contents = [{ role: "user", parts: [{ text: "hi" }] }]
const flash = "@d/gemini-3.8-flash"
const sonnet = "@p/claude-sonnet-4-5"
const llama = "@p/meta/llama-4-maverick-17b-128e-instruct-maas"
const text = { type: "string" }

const functionTool = (name: string, parameters: object = { type: "object", properties: { a: text } }) => ({
  type: "function",
  function: { name, description: "d", parameters }
})
const claudeBody = (fields: object) => ({
  anthropic_version: "vertex-2023-10-16",
  max_tokens: 32_000,
  messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
  ...fields
})
const many = Array.from({ length: 205 }, (_, index) => functionTool(`tool_${index}`))
const declared = (name: string) => ({
  name,
  description: "d",
  parametersJsonSchema: { type: "object", properties: { a: text } }
})
const choices = (...schemas: ReadonlyArray<object>) => ({
  type: "object",
  properties: { a: text, b: text },
  anyOf: schemas
})
const weather = functionTool("get_weather")
const weatherOfClaude = {
  name: "get_weather",
  description: "d",
  input_schema: { type: "object", properties: { a: text } }
}

const geminiCall = (name: string) => [
  {
    status: 200,
    body: {
      candidates: [
        { content: { role: "model", parts: [{ functionCall: { name, args: { a: "x" } } }] }, finishReason: "STOP" }
      ],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
    }
  }
]
const called = (model: string, name: string, args: string, id = "call-ID") => ({
  id: "chatcmpl-ID",
  object: "chat.completion",
  created: 0,
  model,
  choices: [
    {
      index: 0,
      message: {
        role: "assistant",
        content: null,
        refusal: null,
        tool_calls: [{ id, type: "function", function: { name, arguments: args } }]
      },
      logprobs: null,
      finish_reason: "tool_calls"
    }
  ],
  usage: {
    prompt_tokens: 1,
    completion_tokens: 1,
    total_tokens: 2,
    prompt_tokens_details: { cached_tokens: 0 }
  }
})

const path = { type: "object", properties: { a: text } }
const mixed = [
  functionTool("nested"),
  { type: "function", name: "flat", description: "d", parameters: path },
  { name: "bare", description: "d", input_schema: path },
  {
    functionDeclarations: [
      { name: "declared", description: "d", parameters: { type: "OBJECT", properties: { a: { type: "STRING" } } } }
    ]
  },
  { googleSearch: {} },
  { urlContext: {} },
  { codeExecution: {} },
  { type: "computer_20250124", name: "computer" },
  { type: "some_new_tool" },
  { brandNew: {} }
]
const names = ["nested", "flat", "bare", "declared"]
const mixedRows = (
  [
    [
      flash,
      [{ functionDeclarations: names.map(declared) }, { googleSearch: {} }, { urlContext: {} }, { codeExecution: {} }],
      "tools[7],tools[8],tools[9]"
    ],
    [
      "@p/claude-sonnet-4-5",
      names.map((name) => ({ ...weatherOfClaude, name })),
      "tools[7],tools[8],tools[9],tools[4],tools[5],tools[6]"
    ],
    [llama, names.map((name) => functionTool(name)), "tools[7],tools[8],tools[9],tools[4],tools[5],tools[6]"]
  ] as const
).map(([model, tools, ignored], at): Row => ({
  id: `W21-${40 + at}`,
  kind: "W21",
  title: `tools in five spellings on the Responses route reach ${model}, and the rest is left out and named`,
  path: "/v1/responses",
  body: { model, input: "hi", store: false, tools: mixed },
  expected: {
    headers: { "x-gateway-ignored-params": ignored },
    sent: [
      model === llama
        ? { model: "meta/llama-4-maverick-17b-128e-instruct-maas", messages, tools }
        : model === flash
          ? {
              contents,
              tools,
              toolConfig: { functionCallingConfig: { mode: "VALIDATED" }, includeServerSideToolInvocations: true }
            }
          : claudeBody({ tools })
    ]
  }
}))
const choiceRows = (
  [
    ["Anthropic's name", { type: "tool", name: "bare" }, { mode: "ANY", allowedFunctionNames: ["bare"] }],
    [
      "a chat's name",
      { type: "function", function: { name: "nested" } },
      { mode: "ANY", allowedFunctionNames: ["nested"] }
    ],
    ["Anthropic's any", { type: "any" }, { mode: "ANY" }]
  ] as const
).map(([title, tool_choice, functionCallingConfig], at): Row => ({
  id: `W21-${50 + at}`,
  kind: "W21",
  title: `a choice as ${title} is read on the Responses route`,
  path: "/v1/responses",
  body: { model: flash, input: "hi", store: false, tools: [mixed[0], mixed[2]], tool_choice },
  expected: {
    sent: [
      {
        contents,
        tools: [{ functionDeclarations: ["nested", "bare"].map(declared) }],
        toolConfig: { functionCallingConfig }
      }
    ]
  }
}))
const unrunnable = [
  ["@p/claude-sonnet-4-5", { type: "url_context" }],
  [llama, { type: "code_interpreter" }],
  [flash, { type: "some_new_tool" }],
  [flash, { enterpriseWebSearch: {} }]
] as const
const leftRows = unrunnable.map(([model, tool], at): Row => ({
  id: `W5-${10 + at}`,
  kind: "W5",
  title: `a chat with ${JSON.stringify(tool)} is served by ${model} without it`,
  body: { model, messages, tools: [weather, tool] },
  expected: { headers: { "x-gateway-ignored-params": "tools[1]" } }
}))
const neededRows = ([flash, "@p/claude-sonnet-4-5", llama] as const).flatMap((model, at) =>
  (["mcp", "file_search"] as const).map((type, n): Row => ({
    id: `W31-${10 + 2 * at + n}`,
    kind: "W31",
    title: `a chat with a tool of the type ${type} is refused for ${model}`,
    body: { model, messages, tools: [weather, { type }] },
    expected: { status: 400, sent: [] }
  }))
)

export const tools: ReadonlyArray<Row> = [
  ...mixedRows,
  ...choiceRows,
  ...leftRows,
  ...neededRows,
  {
    id: "RB05",
    kind: "W23",
    title: "205 tools reach Gemini",
    body: { model: flash, messages, tools: many },
    expected: {
      sent: [{ contents, tools: [{ functionDeclarations: many.map((tool) => declared(tool.function.name)) }] }]
    }
  },
  {
    id: "W23-1",
    kind: "W23",
    title: "205 tools of the Responses API reach an open model",
    path: "/v1/responses",
    body: {
      model: llama,
      input: "hi",
      store: false,
      tools: many.map((tool) => ({ type: "function", ...tool.function }))
    },
    expected: { sent: [{ model: "meta/llama-4-maverick-17b-128e-instruct-maas", messages, tools: many }] }
  },
  {
    id: "RB12",
    kind: "W30",
    title: "alternatives at the root of a schema become words for Claude",
    body: { model: sonnet, messages, tools: [functionTool("find", choices({ required: ["a"] }, { required: ["b"] }))] },
    expected: {
      sent: [
        claudeBody({
          tools: [
            {
              name: "find",
              description: 'd\n\nThe arguments match at least one of: {"required":["a"]} or {"required":["b"]}.',
              input_schema: { type: "object", properties: { a: text, b: text } }
            }
          ]
        })
      ]
    }
  },
  {
    id: "W30-1",
    kind: "W30",
    title: "arguments come back under the client's own names of properties",
    body: {
      model: sonnet,
      messages,
      tools: [functionTool("find", { type: "object", properties: { "$filter by": text }, required: ["$filter by"] })]
    },
    upstream: [
      {
        status: 200,
        body: {
          type: "message",
          role: "assistant",
          content: [{ type: "tool_use", id: "toolu_1", name: "find", input: { _filter_by_47306452: "x" } }],
          stop_reason: "tool_use",
          usage: { input_tokens: 1, output_tokens: 1 }
        }
      }
    ],
    expected: {
      sent: [
        claudeBody({
          tools: [
            {
              name: "find",
              description: "d",
              input_schema: {
                type: "object",
                properties: { _filter_by_47306452: { ...text, description: 'The property "$filter by".' } },
                required: ["_filter_by_47306452"]
              }
            }
          ]
        })
      ],
      answer: called("claude-sonnet-4-5", "find", '{"$filter by":"x"}')
    }
  },
  {
    id: "RB17",
    kind: "W31",
    title: "an image tool that an agent adds unasked is left out of a text model",
    path: "/v1/responses",
    body: {
      model: flash,
      input: "hi",
      store: false,
      tools: [
        { type: "function", ...weather.function },
        { type: "image_generation", output_format: "png" },
        { type: "local_shell" },
        { type: "tool_search" }
      ]
    },
    expected: {
      sent: [{ contents, tools: [{ functionDeclarations: [declared("get_weather")] }] }],
      headers: { "x-gateway-ignored-params": "tools[1],tools[2],tools[3]" }
    }
  },
  {
    id: "W31-1",
    kind: "W31",
    title: "tools that come with an item of the input are declared",
    path: "/v1/responses",
    body: {
      model: sonnet,
      store: false,
      input: [
        { type: "additional_tools", tools: [{ type: "function", ...weather.function }] },
        { role: "user", content: "hi" }
      ]
    },
    expected: { sent: [claudeBody({ tools: [weatherOfClaude] })] }
  },
  {
    id: "W5-1",
    kind: "W5",
    title: "a tool that the gateway cannot run is refused where the choice demands it",
    path: "/v1/responses",
    body: { model: flash, input: "hi", tools: [{ type: "local_shell" }], tool_choice: { type: "local_shell" } },
    expected: {
      status: 400,
      answer: {
        error: {
          message:
            "The tool local_shell is not served here. Use function, custom, namespace, web_search, code_interpreter or image_generation.",
          type: "invalid_request_error",
          param: "tool_choice.type",
          code: "unsupported_tool"
        }
      }
    }
  },
  {
    id: "W33-1",
    kind: "W33",
    title: "words that a model puts before a name of a call are taken off",
    body: { model: "@d/gemini-2.5-flash", messages, tools: [weather] },
    upstream: geminiCall("default_api:get_weather"),
    expected: { answer: called("gemini-2.5-flash", "get_weather", '{"a":"x"}') }
  },
  {
    id: "W33-2",
    kind: "W33",
    title: "a name with a colon that is declared stays",
    body: { model: "@d/gemini-2.5-flash", messages, tools: [functionTool("default_api:get_weather"), weather] },
    upstream: geminiCall("default_api:get_weather"),
    expected: { answer: called("gemini-2.5-flash", "default_api:get_weather", '{"a":"x"}') }
  },
  {
    id: "W33-3",
    kind: "W33",
    title: "an open model's prefix of a call is taken off",
    body: { model: llama, messages, tools: [weather] },
    upstream: [
      {
        status: 200,
        body: {
          id: "1",
          object: "chat.completion",
          created: 1,
          model: "open",
          choices: [
            {
              index: 0,
              message: {
                role: "assistant",
                content: null,
                tool_calls: [
                  {
                    id: "call-1",
                    type: "function",
                    function: { name: "functions.get_weather", arguments: '{"a":"x"}' }
                  }
                ]
              },
              finish_reason: "tool_calls"
            }
          ],
          usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
        }
      }
    ],
    expected: {
      answer: {
        ...called("open", "get_weather", '{"a":"x"}'),
        id: "1",
        choices: called("open", "get_weather", '{"a":"x"}', "call-1").choices
      }
    }
  },
  {
    id: "RB53",
    kind: "W1",
    title: "a field that only LiteLLM knows does not reach Claude",
    body: {
      model: sonnet,
      messages,
      cache_control_injection_points: [{ location: "message", role: "system" }]
    },
    expected: {
      sent: [claudeBody({})],
      headers: { "x-gateway-ignored-params": "cache_control_injection_points" }
    }
  },
  {
    id: "RB19",
    kind: "W1",
    title: "a function called tool_search, its call sent back without arguments",
    path: "/v1/responses",
    body: {
      model: "@d/gemini-2.5-flash",
      store: false,
      input: [
        { role: "user", content: "hi" },
        { type: "function_call", call_id: "c1", name: "tool_search" },
        { type: "function_call_output", call_id: "c1", output: "found" }
      ],
      tools: [
        { type: "function", name: "tool_search", description: "d", parameters: { type: "object", properties: {} } }
      ]
    },
    expected: {
      sent: [
        {
          contents: [
            ...contents,
            { role: "model", parts: [{ functionCall: { name: "tool_search", args: {} } }] },
            { role: "user", parts: [{ functionResponse: { name: "tool_search", response: { output: "found" } } }] }
          ],
          tools: [{ functionDeclarations: [{ name: "tool_search", description: "d" }] }]
        }
      ]
    }
  }
]
