// Reports about bodies, tools and messages in the spellings of other dialects.
// Must not depend on the service.
import type { Row } from "../row.ts"

const gemini = "@d/gemini-3.8-flash"
const claude = "@p/claude-sonnet-4-5"
const llama = "@p/meta/llama-4-maverick-17b-128e-instruct-maas"
const hi = [{ role: "user", content: "hi" }]
const hiGemini = { role: "user", parts: [{ text: "hi" }] }
const hiClaude = { role: "user", content: [{ type: "text", text: "hi" }] }
const claudeHead = { anthropic_version: "vertex-2023-10-16", max_tokens: 32_000 }

const schema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] }
const declared = (name = "read_file") => ({ name, description: "r", parametersJsonSchema: schema })
const bare = { name: "read_file", description: "r", input_schema: schema }
const nested = { type: "function", function: { name: "read_file", description: "r", parameters: schema } }
const flat = { type: "function", name: "read_file", description: "r", parameters: schema, strict: null }
const validated = { functionCallingConfig: { mode: "VALIDATED" }, includeServerSideToolInvocations: true }

const toolRow = (
  id: string,
  title: string,
  tools: ReadonlyArray<unknown>,
  sent: ReadonlyArray<unknown>,
  toolConfig?: unknown
): Row => ({
  id,
  kind: "W21",
  title,
  body: { model: gemini, messages: hi, tools },
  expected: {
    sent: [{ contents: [hiGemini], tools: sent, ...(toolConfig === undefined ? {} : { toolConfig }) }]
  }
})

const spelledTools: ReadonlyArray<Row> = [
  toolRow("W21-1", "a flat function tool is a function", [flat], [{ functionDeclarations: [declared()] }]),
  toolRow(
    "W21-2",
    "a bare tool with parameters is a function",
    [{ ...flat, type: null }],
    [{ functionDeclarations: [declared()] }]
  ),
  toolRow("W21-3", "{googleSearch:{}} is Google's search", [{ googleSearch: {} }], [{ googleSearch: {} }]),
  toolRow("W21-4", "{google_search:{}} is Google's search", [{ google_search: {} }], [{ googleSearch: {} }]),
  toolRow(
    "W21-5",
    "{urlContext:{}} and {codeExecution:{}} are Google's tools",
    [{ urlContext: {} }, { codeExecution: {} }],
    [{ urlContext: {} }, { codeExecution: {} }]
  ),
  toolRow(
    "W21-6",
    "one object may hold several of Google's tools",
    [{ googleSearch: {}, url_context: {} }],
    [{ googleSearch: {} }, { urlContext: {} }]
  ),
  toolRow(
    "W21-7",
    "Google's functionDeclarations are functions, types in capitals included",
    [
      {
        functionDeclarations: [
          {
            name: "read_file",
            description: "r",
            parameters: { type: "OBJECT", properties: { path: { type: "STRING" } }, required: ["path"] }
          }
        ]
      }
    ],
    [{ functionDeclarations: [declared()] }]
  ),
  toolRow(
    "W21-8",
    "tools of every spelling stand together",
    [{ ...bare, name: "a" }, { ...flat, name: "b" }, nested, { type: "web_search_20250305", name: "web_search" }],
    [{ functionDeclarations: [declared("a"), declared("b"), declared()] }, { googleSearch: {} }],
    validated
  ),
  toolRow(
    "W21-9",
    "OpenAI's dated search is a search",
    [{ type: "web_search_preview_2025_03_11" }],
    [{ googleSearch: {} }]
  )
]

const stand = {
  name: "patch",
  description: 'Edit.\n\nPut the whole input as text into "input".',
  parametersJsonSchema: {
    type: "object",
    properties: { input: { type: "string" } },
    required: ["input"],
    additionalProperties: false
  }
}
const custom = { type: "custom", custom: { name: "patch", description: "Edit." } }
const calledPatch = {
  candidates: [
    {
      content: { role: "model", parts: [{ functionCall: { name: "patch", args: { input: "*** a" } } }] },
      finishReason: "STOP"
    }
  ],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
}
const usage = {
  prompt_tokens: 1,
  completion_tokens: 1,
  total_tokens: 2,
  prompt_tokens_details: { cached_tokens: 0 }
}
const chunk = (choice: object) => ({
  id: "chatcmpl-ID",
  object: "chat.completion.chunk",
  created: 0,
  model: "gemini-3.8-flash",
  choices: [{ index: 0, finish_reason: null, ...choice }]
})

const customRows: ReadonlyArray<Row> = [
  {
    id: "W21-20",
    kind: "W21",
    title: "a custom tool is called as its stand-in, and its call comes back as a custom call",
    body: { model: gemini, messages: hi, tools: [custom], tool_choice: { type: "custom", custom: { name: "patch" } } },
    upstream: [{ status: 200, body: calledPatch }],
    expected: {
      sent: [
        {
          contents: [hiGemini],
          tools: [{ functionDeclarations: [stand] }],
          toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["patch"] } }
        }
      ],
      answer: {
        id: "chatcmpl-ID",
        object: "chat.completion",
        created: 0,
        model: "gemini-3.8-flash",
        choices: [
          {
            index: 0,
            finish_reason: "tool_calls",
            logprobs: null,
            message: {
              role: "assistant",
              content: null,
              refusal: null,
              tool_calls: [{ id: "call-ID", type: "custom", custom: { name: "patch", input: "*** a" } }]
            }
          }
        ],
        usage
      }
    }
  },
  {
    id: "W21-21",
    kind: "W21",
    title: "a streamed custom call has its input in one piece",
    body: {
      model: gemini,
      messages: hi,
      tools: [{ type: "custom", name: "patch", description: "Edit." }],
      stream: true
    },
    upstream: [{ status: 200, body: [`data: ${JSON.stringify(calledPatch)}\r\n\r\n`] }],
    expected: {
      answer: [
        chunk({ delta: { role: "assistant", content: "" } }),
        chunk({
          delta: { tool_calls: [{ index: 0, id: "call-ID", type: "custom", custom: { name: "patch", input: "" } }] }
        }),
        chunk({ finish_reason: "tool_calls", delta: { tool_calls: [{ index: 0, custom: { input: "*** a" } }] } }),
        "[DONE]"
      ]
    }
  },
  {
    id: "W21-22",
    kind: "W21",
    title: "a custom call of the history is a call of the stand-in",
    body: {
      model: claude,
      messages: [
        ...hi,
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c1", type: "custom", custom: { name: "patch", input: "*** a" } }]
        },
        { role: "tool", tool_call_id: "c1", content: "done" }
      ],
      tools: [custom]
    },
    expected: {
      sent: [
        {
          ...claudeHead,
          tools: [{ name: "patch", description: stand.description, input_schema: stand.parametersJsonSchema }],
          messages: [
            hiClaude,
            { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "patch", input: { input: "*** a" } }] },
            { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "done" }] }
          ]
        }
      ]
    }
  }
]

const spoken = [
  { role: "user", content: "hi" },
  {
    role: "assistant",
    content: [
      { type: "thinking", thinking: "hm", signature: "c2ln" },
      { type: "text", text: "I look." },
      { type: "tool_use", id: "t1", name: "read_file", input: { path: "a" } }
    ]
  },
  {
    role: "user",
    content: [
      { type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "no file" }], is_error: true },
      { type: "text", text: "go on" }
    ]
  }
]

const anthropicRows: ReadonlyArray<Row> = [
  {
    id: "RB55",
    kind: "W39",
    title: "Anthropic's bare tools on the chat path are functions",
    body: { model: claude, messages: hi, tools: [bare] },
    expected: { sent: [{ ...claudeHead, tools: [bare], messages: [hiClaude] }] }
  },
  {
    id: "RB57",
    kind: "W39",
    title: "Anthropic's tool_choice names a function",
    body: { model: claude, messages: hi, tools: [nested], tool_choice: { type: "tool", name: "read_file" } },
    expected: {
      sent: [{ ...claudeHead, tools: [bare], tool_choice: { type: "tool", name: "read_file" }, messages: [hiClaude] }]
    }
  },
  {
    id: "W39-1",
    kind: "W39",
    title: "Anthropic's choice of any tool, one at a time, holds for Claude",
    body: {
      model: claude,
      messages: hi,
      tools: [bare],
      tool_choice: { type: "auto", disable_parallel_tool_use: true }
    },
    expected: {
      sent: [
        {
          ...claudeHead,
          tools: [bare],
          tool_choice: { type: "auto", disable_parallel_tool_use: true },
          messages: [hiClaude]
        }
      ]
    }
  },
  {
    id: "W39-2",
    kind: "W39",
    title: "Anthropic's messages, system text and stop sequences on the chat path reach Claude",
    body: {
      model: claude,
      system: [{ type: "text", text: "S", cache_control: { type: "ephemeral" } }],
      messages: spoken,
      tools: [bare],
      stop_sequences: ["END"],
      max_tokens: 10
    },
    expected: {
      headers: { "x-gateway-ignored-params": null },
      sent: [
        {
          anthropic_version: "vertex-2023-10-16",
          max_tokens: 10,
          tools: [bare],
          system: [{ type: "text", text: "S", cache_control: { type: "ephemeral" } }],
          messages: [
            hiClaude,
            {
              role: "assistant",
              content: [
                { type: "thinking", thinking: "hm", signature: "c2ln" },
                { type: "text", text: "I look." },
                { type: "tool_use", id: "t1", name: "read_file", input: { path: "a" } }
              ]
            },
            {
              role: "user",
              content: [
                { type: "tool_result", tool_use_id: "t1", content: '{"error":"no file"}', is_error: true },
                { type: "text", text: "go on" }
              ]
            }
          ],
          stop_sequences: ["END"]
        }
      ]
    }
  },
  {
    id: "W39-3",
    kind: "W39",
    title: "Anthropic's messages on the chat path reach Gemini",
    body: { model: gemini, system: "S", messages: spoken, tools: [bare], tool_choice: { type: "any" } },
    expected: {
      sent: [
        {
          contents: [
            hiGemini,
            {
              role: "model",
              parts: [
                { text: "I look." },
                {
                  functionCall: { name: "read_file", args: { path: "a" }, id: "t1" },
                  thoughtSignature: "skip_thought_signature_validator"
                }
              ]
            },
            {
              role: "user",
              parts: [{ functionResponse: { name: "read_file", response: { error: "no file" }, id: "t1" } }]
            },
            { role: "user", parts: [{ text: "go on" }] }
          ],
          systemInstruction: { parts: [{ text: "S" }] },
          tools: [{ functionDeclarations: [declared()] }],
          toolConfig: { functionCallingConfig: { mode: "ANY" } }
        }
      ]
    }
  },
  {
    id: "W39-4",
    kind: "W39",
    title: "Anthropic's messages on the chat path reach an open model",
    body: { model: llama, messages: spoken, tools: [bare], tool_choice: { type: "none" } },
    expected: {
      sent: [
        {
          model: "meta/llama-4-maverick-17b-128e-instruct-maas",
          messages: [
            { role: "user", content: "hi" },
            {
              role: "assistant",
              tool_calls: [{ id: "t1", type: "function", function: { name: "read_file", arguments: '{"path":"a"}' } }],
              content: [{ type: "text", text: "I look." }]
            },
            { role: "tool", tool_call_id: "t1", content: '{"error":"no file"}' },
            { role: "user", content: [{ type: "text", text: "go on" }] }
          ],
          tools: [nested],
          tool_choice: "none"
        }
      ]
    }
  },
  {
    id: "W39-5",
    kind: "W39",
    title: "a fault names the message as the client has it",
    body: {
      model: gemini,
      messages: [...spoken, { role: "user", content: [{ type: "text", text: 7 }] }]
    },
    expected: {
      status: 400,
      answer: {
        error: {
          message: "text must be a string.",
          type: "invalid_request_error",
          param: "messages[3].content[0].text",
          code: "invalid_type"
        }
      }
    }
  }
]

const responsesShaped = {
  model: gemini,
  instructions: "S",
  input: [
    { role: "user", content: [{ type: "input_text", text: "hi" }] },
    { type: "function_call", call_id: "c1", name: "read_file", arguments: '{"path":"a"}' },
    { type: "function_call_output", call_id: "c1", output: "x" }
  ],
  tools: [flat],
  tool_choice: "auto",
  reasoning: { effort: "high", summary: "auto" },
  max_output_tokens: 50,
  text: { format: { type: "json_object" } },
  stream: false
}

const bodyRows: ReadonlyArray<Row> = [
  {
    id: "RB01",
    kind: "W20",
    title: "a body of the Responses API on the chat path is a chat",
    body: responsesShaped,
    expected: {
      headers: { "x-gateway-ignored-params": null },
      sent: [
        {
          contents: [
            hiGemini,
            {
              role: "model",
              parts: [
                {
                  functionCall: { name: "read_file", args: { path: "a" }, id: "c1" },
                  thoughtSignature: "skip_thought_signature_validator"
                }
              ]
            },
            { role: "user", parts: [{ functionResponse: { name: "read_file", response: { output: "x" }, id: "c1" } }] }
          ],
          systemInstruction: { parts: [{ text: "S" }] },
          tools: [{ functionDeclarations: [declared()] }],
          toolConfig: { functionCallingConfig: { mode: "AUTO" } },
          generationConfig: {
            maxOutputTokens: 50,
            responseMimeType: "application/json",
            thinkingConfig: { includeThoughts: true, thinkingLevel: "HIGH" }
          }
        }
      ],
      answer: {
        id: "chatcmpl-ID",
        object: "chat.completion",
        created: 0,
        model: "gemini-3.8-flash",
        choices: [
          {
            index: 0,
            finish_reason: "stop",
            logprobs: null,
            message: { role: "assistant", content: "Hi", refusal: null }
          }
        ],
        usage
      }
    }
  },
  {
    id: "W20-2",
    kind: "W20",
    title: "messages win over input, which is named as ignored",
    body: { model: gemini, messages: hi, input: "no" },
    expected: { headers: { "x-gateway-ignored-params": "input" }, sent: [{ contents: [hiGemini] }] }
  },
  {
    id: "W20-3",
    kind: "W20",
    title: "input next to messages does not reach an open model",
    body: { model: llama, messages: hi, input: "no" },
    expected: {
      headers: { "x-gateway-ignored-params": "input" },
      sent: [{ model: "meta/llama-4-maverick-17b-128e-instruct-maas", messages: hi }]
    }
  },
  {
    id: "W20-4",
    kind: "W20",
    title: "a stored response cannot be continued by a chat",
    body: { model: gemini, input: "hi", previous_response_id: "resp_1" },
    expected: {
      status: 400,
      answer: {
        error: {
          message: "A chat continues no stored response; send the request to /v1/responses.",
          type: "invalid_request_error",
          param: "previous_response_id",
          code: "unsupported_parameter"
        }
      }
    }
  },
  {
    id: "W20-5",
    kind: "W20",
    title: "a fault names the item as the client has it",
    body: { model: gemini, input: [{ role: "user", content: [{ type: "input_image", image_url: "ftp://x" }] }] },
    expected: {
      status: 400,
      answer: {
        error: {
          message:
            "Media is a data URI, an https URL with a file extension, a gs:// URI, a Files API URL or a YouTube link.",
          type: "invalid_request_error",
          param: "input[0].content[0].image_url",
          code: "invalid_media_url"
        }
      }
    }
  },
  {
    id: "RB69",
    kind: "W46",
    title: "OpenRouter's reasoning object sets the effort",
    body: { model: gemini, messages: hi, reasoning: { effort: "high" } },
    expected: {
      headers: { "x-gateway-ignored-params": null },
      sent: [
        { contents: [hiGemini], generationConfig: { thinkingConfig: { includeThoughts: true, thinkingLevel: "HIGH" } } }
      ]
    }
  },
  {
    id: "W46-1",
    kind: "W46",
    title: "reasoning may have a budget, which wins over an effort",
    body: { model: gemini, messages: hi, reasoning: { max_tokens: 100 }, reasoning_effort: "low" },
    expected: {
      sent: [
        {
          contents: [hiGemini],
          generationConfig: { thinkingConfig: { includeThoughts: true, thinkingBudget: 100 } }
        }
      ]
    }
  }
]

const mark = { type: "ephemeral", ttl: "1h" }
const marked = (text: string) => ({ type: "text", text, cache_control: mark })

/** Served from the beginning. */
const served: ReadonlyArray<Row> = [
  {
    id: "RB19",
    kind: "W4",
    title: "a function called tool_search is one, and its call without arguments has none",
    path: "/v1/responses",
    body: {
      model: gemini,
      input: [
        { role: "user", content: "x" },
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
            { role: "user", parts: [{ text: "x" }] },
            {
              role: "model",
              parts: [
                {
                  functionCall: { name: "tool_search", args: {}, id: "c1" },
                  thoughtSignature: "skip_thought_signature_validator"
                }
              ]
            },
            {
              role: "user",
              parts: [{ functionResponse: { name: "tool_search", response: { output: "found" }, id: "c1" } }]
            }
          ],
          tools: [{ functionDeclarations: [{ name: "tool_search", description: "d" }] }]
        }
      ]
    }
  },
  {
    id: "RB47",
    kind: "W4",
    title: "cache_control keeps its ttl on the chat route",
    body: {
      model: claude,
      messages: [
        { role: "system", content: [marked("s")] },
        { role: "user", content: [marked("u")] }
      ]
    },
    expected: {
      sent: [{ ...claudeHead, system: [marked("s")], messages: [{ role: "user", content: [marked("u")] }] }]
    }
  },
  {
    id: "RB94",
    kind: "W4",
    title: "at most four cache marks reach Claude",
    body: { model: claude, messages: [{ role: "user", content: ["a", "b", "c", "d", "e", "f"].map(marked) }] },
    expected: {
      sent: [
        {
          ...claudeHead,
          messages: [
            {
              role: "user",
              content: [...["a", "b", "c", "d"].map(marked), { type: "text", text: "e" }, { type: "text", text: "f" }]
            }
          ]
        }
      ]
    }
  },
  {
    id: "RB105",
    kind: "W4",
    title: "a thought signature of extra_content goes back to Gemini",
    body: {
      model: gemini,
      messages: [
        ...hi,
        {
          role: "assistant",
          content: null,
          tool_calls: [
            {
              id: "c1",
              type: "function",
              function: { name: "f", arguments: "{}" },
              extra_content: { google: { thought_signature: "c2lnbmF0dXJl" } }
            }
          ]
        },
        { role: "tool", tool_call_id: "c1", content: "x" }
      ]
    },
    expected: {
      sent: [
        {
          contents: [
            hiGemini,
            {
              role: "model",
              parts: [{ functionCall: { name: "f", args: {}, id: "c1" }, thoughtSignature: "c2lnbmF0dXJl" }]
            },
            { role: "user", parts: [{ functionResponse: { name: "f", response: { output: "x" }, id: "c1" } }] }
          ]
        }
      ]
    }
  }
]

export const shapes: ReadonlyArray<Row> = [...served, ...spelledTools, ...customRows, ...anthropicRows, ...bodyRows]
