// Reports about refusals: whose mistake a message names, and what it advises.
// Must not depend on the service.
import type { Row } from "../row.ts"

const hello = (model = "@d/gemini-2.5-flash") => ({ model, messages: [{ role: "user", content: "Hi" }] })
const google = (status: number, word: string, message: string) => ({
  status,
  body: { error: { code: status, status: word, message } }
})
const openAi = (message: string, type: string, code: string, param: string | null = null) => ({
  error: { message, type, param, code }
})
const wrongKey = (form?: string) =>
  openAi(
    `The gateway key is not valid.${form === undefined ? "" : ` It looks like ${form}: the gateway takes keys of its own, and a provider's credential next to x-gateway-api-key.`}`,
    "authentication_error",
    "invalid_gateway_key"
  )
const noRetry = { "x-should-retry": "false" }

const keyRows = (
  [
    ["sk-ant-api03-x", "a key of Anthropic"],
    ["sk-proj-x", "a key of OpenAI"],
    ["AIzaSyx", "an API key of Google"],
    ["ya29.x", "an access token of Google"],
    ["pk-x", "a public key of another service"],
    ["mgk_wrong", undefined]
  ] as const
).map(([key, form], at): Row => ({
  id: `W11-${at + 1}`,
  kind: "W11",
  title: `a wrong key that looks like ${form ?? "none of others"} is refused with a hint and never repeated`,
  headers: { "x-gateway-api-key": key },
  body: hello(),
  expected: { status: 401, sent: [], headers: noRetry, answer: wrongKey(form) }
}))

const credentialRows: ReadonlyArray<Row> = [
  {
    id: "W11-11",
    kind: "W11",
    title: "a refused key of the operator does not read as the client's",
    body: hello(),
    upstream: [google(401, "UNAUTHENTICATED", "API key not valid.")],
    expected: {
      status: 502,
      headers: noRetry,
      answer: openAi(
        `The gateway's credential for "d" was refused by Google; ask its operator: API key not valid.`,
        "api_error",
        "upstream_credentials_rejected"
      )
    }
  },
  {
    id: "W11-12",
    kind: "W11",
    title: "a refused key that came with the request reads as the client's own",
    headers: { authorization: "Bearer AIza-own" },
    body: hello(),
    upstream: [google(401, "UNAUTHENTICATED", "API key not valid.")],
    expected: {
      status: 401,
      headers: noRetry,
      answer: openAi(
        `The credential for "d" that came with the request was refused by Google: API key not valid.`,
        "authentication_error",
        "provider_credentials_rejected"
      )
    }
  },
  {
    id: "W11-13",
    kind: "W11",
    title: "a missing permission of the operator does not read as the client's, in Anthropic's dialect either",
    path: "/v1/messages",
    headers: { "x-request-id": "r1" },
    body: { ...hello("@p/claude-sonnet-4-5"), max_tokens: 9 },
    upstream: [google(403, "PERMISSION_DENIED", "No.")],
    expected: {
      status: 403,
      headers: noRetry,
      answer: {
        type: "error",
        error: {
          type: "permission_error",
          message: `The gateway's credential for "p" may not do this at Google; ask its operator: No.`
        },
        request_id: "r1"
      }
    }
  },
  {
    id: "W11-14",
    kind: "W11",
    title: "an account that is not paid stops the retries of agents",
    body: hello(),
    upstream: [google(402, "RESOURCE_EXHAUSTED", "Not paid.")],
    expected: {
      status: 402,
      headers: noRetry,
      answer: openAi(
        `The quota of the gateway's account "d" is spent at Google; ask its operator: Not paid.`,
        "insufficient_quota",
        "insufficient_quota"
      )
    }
  }
]

const google400 = (field: string, description: string) => ({
  error: {
    code: 400,
    message: description,
    status: "INVALID_ARGUMENT",
    details: [
      {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        reason: "INVALID_VALUE",
        domain: "model-gateway",
        metadata: { requestId: "r1" }
      },
      { "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations: [{ field, description }] }
    ]
  }
})
const own = { authorization: "Bearer ya29.own", "x-request-id": "r1" }
const contents = [{ role: "user", parts: [{ text: "hi" }] }]
const placeRows: ReadonlyArray<Row> = [
  {
    id: "W11-51",
    kind: "W11",
    title: "a project that is none is a fault of the path that has it",
    path: "/v1/projects/BAD/locations/us-central1/publishers/google/models/gemini-2.5-flash:generateContent",
    headers: own,
    body: { contents },
    expected: {
      status: 400,
      sent: [],
      answer: google400(
        "project",
        'The path names the project "BAD", which is not a Google Cloud project id or number.'
      )
    }
  },
  {
    id: "W11-52",
    kind: "W11",
    title: "a location that is none is a fault of the path that has it",
    path: "/v1/projects/some-project/locations/us_central1/publishers/google/models/gemini-2.5-flash:countTokens",
    headers: own,
    body: { contents },
    expected: {
      status: 400,
      sent: [],
      answer: google400(
        "location",
        'The path names the location "us_central1", which is not a Vertex AI location such as us-central1, global, us or eu.'
      )
    }
  },
  {
    id: "W11-53",
    kind: "W11",
    title: "a project in the path of rawPredict is named too",
    path: "/v1/projects/BAD/locations/global/publishers/anthropic/models/claude-sonnet-4-6:rawPredict",
    headers: own,
    body: { anthropic_version: "vertex-2023-10-16", max_tokens: 9, messages: hello().messages },
    expected: {
      status: 400,
      sent: [],
      answer: {
        type: "error",
        error: {
          type: "invalid_request_error",
          message: 'The path names the project "BAD", which is not a Google Cloud project id or number.'
        },
        request_id: "r1"
      }
    }
  },
  {
    id: "W11-54",
    kind: "W11",
    title: "a project of a header stays a fault of the header",
    headers: { authorization: "Bearer ya29.own", "x-gateway-vertex-project-id": "BAD" },
    body: hello("@p/gemini-2.5-flash"),
    expected: {
      status: 400,
      sent: [],
      answer: openAi(
        "The project is not a Google Cloud project id or number.",
        "invalid_request_error",
        "invalid_header",
        "x-gateway-vertex-project-id"
      )
    }
  }
]

const settingRows = (
  [
    ["Claude Code", "claude-cli/2.1.3 (external, cli)", "ANTHROPIC_AUTH_TOKEN"],
    ["Codex", "codex_exec/0.169.0 (Linux; x86_64)", "the variable that env_key names in ~/.codex/config.toml"],
    ["gemini-cli", "GeminiCLI-tui/0.61.0/gemini-2.5-flash (linux; x64; terminal)", "GEMINI_API_KEY"]
  ] as const
).flatMap(([name, agent, setting], at): ReadonlyArray<Row> => [
  {
    id: `W11-${61 + 2 * at}`,
    kind: "W11",
    title: `a wrong key of ${name} names the setting that it comes from`,
    headers: { "user-agent": agent, "x-gateway-api-key": "mgk_wrong" },
    body: hello(),
    expected: {
      status: 401,
      answer: openAi(
        `The gateway key is not valid. ${name} takes its key from ${setting}.`,
        "authentication_error",
        "invalid_gateway_key"
      )
    }
  },
  {
    id: `W11-${62 + 2 * at}`,
    kind: "W11",
    title: `another error of ${name} has no word on its settings`,
    headers: { "user-agent": agent },
    body: { ...hello(), messages: "x" },
    expected: {
      status: 400,
      answer: openAi(
        "messages has the wrong type: expected array.",
        "invalid_request_error",
        "invalid_type",
        "messages"
      )
    }
  }
])
const modelSettingRow: Row = {
  id: "W11-71",
  kind: "W11",
  title: "an unknown model of Codex names the setting that it comes from",
  path: "/v1/responses",
  headers: { "user-agent": "codex_exec/0.169.0 (Linux; x86_64)" },
  body: { model: "@d/gemini-99", input: "hi" },
  upstream: [google(404, "NOT_FOUND", "models/gemini-99 is not found.")],
  expected: {
    status: 404,
    answer: openAi(
      'models/gemini-99 is not found. Codex takes the model from the setting "model" in ~/.codex/config.toml.',
      "not_found_error",
      "model_not_found",
      "model"
    )
  }
}

const modelRows: ReadonlyArray<Row> = [
  {
    id: "W11-21",
    kind: "W11",
    title: "an unknown model is refused with the near one",
    body: hello("@d/gemini-2.5-flsh"),
    upstream: [google(404, "NOT_FOUND", "models/gemini-2.5-flsh is not found.")],
    expected: {
      status: 404,
      headers: noRetry,
      answer: openAi(
        "models/gemini-2.5-flsh is not found. Did you mean gemini-2.5-flash?",
        "not_found_error",
        "model_not_found",
        "model"
      )
    }
  },
  {
    id: "W11-22",
    kind: "W11",
    title: "an unknown model of Claude is refused with the near one",
    path: "/v1/messages",
    headers: { "x-request-id": "r1" },
    body: { ...hello("@p/claude-sonet-4-5"), max_tokens: 9 },
    upstream: [google(404, "NOT_FOUND", "Publisher Model was not found.")],
    expected: {
      status: 404,
      answer: {
        type: "error",
        error: {
          type: "not_found_error",
          message: "Publisher Model was not found. Did you mean claude-sonnet-4-5?"
        },
        request_id: "r1"
      }
    }
  }
]

const lineRows: ReadonlyArray<Row> = [
  {
    id: "RB54",
    kind: "W11",
    title: "the lines of Claude Code and of Anthropic's SDK have a model that their route serves",
    path: "/v1/messages",
    body: { model: "@p/claude-sonnet-4-6", max_tokens: 1000, messages: [{ role: "user", content: "Hello" }] },
    expected: {
      called: [
        "/v1/projects/test-project/locations/us-central1/publishers/anthropic/models/claude-sonnet-4-6:rawPredict"
      ]
    }
  }
]

const event = (type: string) => `event: ${type}\ndata: {"type":"${type}"}\n\n`
const vertexRow = (n: number, client: string, isLeftOut: boolean): Row => ({
  id: `W11-${n}`,
  kind: "W11",
  title: `the event of Vertex AI's own is ${isLeftOut ? "left out of" : "kept in"} the stream of ${client}`,
  path: "/v1/projects/any/locations/global/publishers/anthropic/models/@p/claude-sonnet-4-6:streamRawPredict",
  headers: { "user-agent": client },
  body: { anthropic_version: "vertex-2023-10-16", max_tokens: 9, messages: hello().messages, stream: true },
  upstream: [
    {
      status: 200,
      body: [event("message_start"), event("vertex_event"), event("message_stop")],
      headers: { "content-type": "text/event-stream" }
    }
  ],
  expected: {
    answer: [{ type: "message_start" }, ...(isLeftOut ? [] : [{ type: "vertex_event" }]), { type: "message_stop" }]
  }
})
const vertexRows = [
  vertexRow(31, "ai/5.0.1 ai-sdk/google-vertex/4.0.1 runtime/node.js/24", true),
  vertexRow(32, "AnthropicVertex/JS 0.14.0", false)
]

const hate = { category: "HARM_CATEGORY_HATE_SPEECH", probability: "HIGH", blocked: true }
const filterRows: ReadonlyArray<Row> = [
  {
    id: "W11-41",
    kind: "W11",
    title: "a blocked prompt names the category in the refusal",
    headers: { "x-request-id": "r1" },
    body: hello(),
    upstream: [
      {
        status: 200,
        body: {
          promptFeedback: { blockReason: "SAFETY", blockReasonMessage: "No", safetyRatings: [hate] },
          usageMetadata: { promptTokenCount: 1, totalTokenCount: 1 },
          modelVersion: "m"
        }
      }
    ],
    expected: {
      answer: {
        id: "chatcmpl-ID",
        object: "chat.completion",
        created: 0,
        model: "m",
        choices: [
          {
            index: 0,
            message: { role: "assistant", content: "", refusal: "No: HARM_CATEGORY_HATE_SPEECH" },
            finish_reason: "content_filter",
            logprobs: null
          }
        ],
        usage: { prompt_tokens: 1, completion_tokens: 0, total_tokens: 1, prompt_tokens_details: { cached_tokens: 0 } }
      }
    }
  },
  {
    id: "W11-42",
    kind: "W11",
    title: "a picture that a filter withheld names the category in the error",
    path: "/v1/images/generations",
    body: { model: "@d/gemini-2.5-flash-image", prompt: "x" },
    upstream: [{ status: 200, body: { candidates: [{ finishReason: "IMAGE_SAFETY", safetyRatings: [hate] }] } }],
    expected: {
      status: 400,
      answer: openAi(
        "The provider's filter withheld this (IMAGE_SAFETY): HARM_CATEGORY_HATE_SPEECH",
        "invalid_request_error",
        "content_policy_violation",
        "prompt"
      )
    }
  }
]

export const refusals: ReadonlyArray<Row> = [
  ...filterRows,
  ...vertexRows,
  ...lineRows,
  ...keyRows,
  ...credentialRows,
  ...modelRows,
  ...placeRows,
  ...settingRows,
  modelSettingRow
]
