// Reports about the names of what was changed: those of the client's own body.
// Must not depend on the service.
import type { Row } from "../row.ts"

const claude = "@p/claude-sonnet-4-5"
const hi = [{ role: "user", content: "hi" }]
const reject = { "x-gateway-unsupported-params": "reject" }
const thinking = { type: "enabled", budget_tokens: 24576 }
const named = (adjusted: string | null, ignored: string | null) => ({
  "x-gateway-adjusted-params": adjusted,
  "x-gateway-ignored-params": ignored
})
const refused = (param: string, message: string) => ({
  error: { message, type: "invalid_request_error", param, code: "unsupported_parameter" }
})

export const words: ReadonlyArray<Row> = [
  {
    id: "W1-1",
    kind: "W1",
    title: "a response names what was changed and ignored in its own words",
    path: "/v1/responses",
    body: { model: claude, input: "hi", reasoning: { effort: "xhigh" }, text: { verbosity: "low" } },
    expected: { headers: named("reasoning.effort=xhigh>high", "text.verbosity") }
  },
  {
    id: "W1-2",
    kind: "W1",
    title: "a streamed response names what was changed and ignored in its own words",
    path: "/v1/responses",
    body: {
      model: "@d/gemini-3.8-flash",
      input: "hi",
      stream: true,
      reasoning: { effort: "xhigh" },
      text: { verbosity: "low" }
    },
    upstream: [
      {
        status: 200,
        headers: { "content-type": "text/event-stream" },
        body: [`data: {"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}]}\n\n`]
      }
    ],
    expected: { headers: named("reasoning.effort=xhigh>high", "text.verbosity") }
  },
  {
    id: "W1-3",
    kind: "W1",
    title: "a dry run of a response shows the client's words",
    path: "/v1/responses",
    headers: { "x-gateway-dry-run": "true" },
    body: { model: claude, input: "hi", reasoning: { effort: "xhigh" }, text: { verbosity: "low" } },
    expected: {
      answer: {
        object: "dry_run",
        provider: "p",
        target_index: 0,
        method: "POST",
        url: "https://us-central1-aiplatform.googleapis.com/v1/projects/test-project/locations/us-central1/publishers/anthropic/models/claude-sonnet-4-5:rawPredict",
        headers: { "content-type": "application/json", authorization: "Bearer <redacted>" },
        body: {
          anthropic_version: "vertex-2023-10-16",
          max_tokens: 32000,
          messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
          thinking
        },
        ignored_params: ["text.verbosity"],
        adjusted_params: ["reasoning.effort=xhigh>high"]
      }
    }
  },
  {
    id: "W1-4",
    kind: "W1",
    title: "a refusal of a changed effort has the client's word in its message too",
    path: "/v1/responses",
    headers: reject,
    body: { model: claude, input: "hi", reasoning: { effort: "xhigh" } },
    expected: {
      status: 400,
      sent: [],
      answer: refused(
        "reasoning.effort",
        '"reasoning.effort" is one of none, minimal, low, medium, high at this model, and the request asked for refusal of other values.'
      )
    }
  },
  {
    id: "W1-5",
    kind: "W1",
    title: "a chat with parameters of the Responses API names them as it wrote them",
    body: { model: claude, messages: hi, reasoning: { effort: "xhigh" }, text: { verbosity: "low" } },
    expected: { headers: named("reasoning.effort=xhigh>high", "text.verbosity") }
  },
  {
    id: "W1-6",
    kind: "W1",
    title: "a chat with Anthropic's effort names it as it wrote it",
    body: { model: claude, messages: hi, output_config: { effort: "max" } },
    expected: { headers: named("output_config.effort=max>high", null) }
  },
  {
    id: "W1-7",
    kind: "W1",
    title: "a message names an effort that its model refuses as it wrote it",
    path: "/v1/messages",
    body: {
      model: "@p/claude-opus-4-8",
      max_tokens: 9,
      messages: hi,
      thinking: { type: "disabled" },
      output_config: { effort: "max" }
    },
    upstream: [
      {
        status: 400,
        body: {
          type: "error",
          error: {
            type: "invalid_request_error",
            message:
              "output_config.effort 'max' is not supported when thinking is disabled on this model. Use effort 'high' or below, or enable thinking."
          }
        }
      },
      {
        status: 200,
        body: {
          id: "msg_1",
          type: "message",
          role: "assistant",
          model: "claude",
          content: [{ type: "text", text: "Hi" }],
          stop_reason: "end_turn",
          stop_sequence: null,
          usage: { input_tokens: 1, output_tokens: 1 }
        }
      }
    ],
    expected: { headers: named("output_config.effort=max>high", null) }
  }
]
