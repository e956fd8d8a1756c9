// Reports about the way of a request: which target serves it, and when the next one does.
// Must not depend on the service.
import type { Reply, Row } from "../row.ts"

const hi = { messages: [{ role: "user", content: "hi" }] }
const fallback = (targets: ReadonlyArray<unknown>, more: object = {}): Record<string, string> => ({
  "x-gateway-config": JSON.stringify({ strategy: { mode: "fallback", ...more }, targets })
})
const both = [{ provider: "d" }, { provider: "p" }]
const onGoogle = "/v1beta/models/gemini-3.8-flash:generateContent"
const onVertex =
  "/v1/projects/test-project/locations/us-central1/publishers/google/models/gemini-3.8-flash:generateContent"
const refused = (code: number, status: string, message: string): Reply => ({
  status: code,
  body: { error: { code, status, message } }
})
const fine: Reply = {
  status: 200,
  body: {
    candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP" }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
  }
}

const next = (id: string, title: string, refusal: Reply): Row => ({
  id,
  kind: "W37",
  title,
  headers: fallback(both),
  body: { model: "gemini-3.8-flash", ...hi },
  upstream: [refusal, fine],
  expected: { called: [onGoogle, onVertex], headers: { "x-gateway-last-used-option-index": "1" } }
})

const message = (stop_reason: string, content: ReadonlyArray<unknown>) => ({
  id: "m",
  type: "message",
  role: "assistant",
  model: "c",
  content,
  stop_reason,
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 }
})
const text = [{ type: "text", text: "Hi" }]
const claudes = [
  { provider: "p", override_params: { model: "claude-opus-5-5" } },
  { provider: "p", override_params: { model: "claude-haiku-4-5" } }
]
const claudeAt = (model: string, verb = "rawPredict") =>
  `/v1/projects/test-project/locations/us-central1/publishers/anthropic/models/${model}:${verb}`
const toBoth = [claudeAt("claude-opus-5-5"), claudeAt("claude-haiku-4-5")]
const onFaults = { on: { refusal: "next", empty: "next" } }

const event = (name: string, data: object) => `event: ${name}\ndata: ${JSON.stringify({ type: name, ...data })}\n\n`
const streamed = (events: ReadonlyArray<string>): Reply => ({
  status: 200,
  headers: { "content-type": "text/event-stream" },
  body: events
})
const begun = event("message_start", { message: message("", []) })
const refusedStream = [
  begun,
  event("message_delta", { delta: { stop_reason: "refusal", stop_sequence: null }, usage: { output_tokens: 1 } }),
  event("message_stop", {})
]
const fineStream = [
  begun,
  event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
  event("content_block_delta", { index: 0, delta: { type: "text_delta", text: "Hi" } }),
  event("content_block_stop", { index: 0 }),
  event("message_delta", { delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 1 } }),
  event("message_stop", {})
]
const eventsOf = (frames: ReadonlyArray<string>) =>
  frames.map((frame): unknown => JSON.parse(frame.slice(frame.indexOf("data: ") + 6)))

export const routing: ReadonlyArray<Row> = [
  next(
    "RB37",
    "a location that the Gemini API does not serve is served by Vertex AI",
    refused(400, "FAILED_PRECONDITION", "User location is not supported for the API use.")
  ),
  next("W37-1", "a project without the permission", refused(403, "PERMISSION_DENIED", "Permission denied.")),
  next("W37-2", "a model that one place lacks", refused(404, "NOT_FOUND", "models/x is not found.")),
  next("W37-3", "a 400 of an unknown model", refused(400, "INVALID_ARGUMENT", "The model `x` does not exist.")),
  next(
    "W37-4",
    "a 400 of a policy",
    refused(400, "INVALID_ARGUMENT", "Organization Policy constraint constraints/x violated.")
  ),
  next("W37-5", "a stored credential that is refused", refused(401, "UNAUTHENTICATED", "Invalid credential.")),
  {
    id: "W37-6",
    kind: "W37",
    title: "a body that no target takes is refused once",
    headers: fallback(both),
    body: { model: "gemini-3.8-flash", ...hi },
    upstream: [refused(400, "INVALID_ARGUMENT", "Invalid value at 'contents'.")],
    expected: { status: 400, called: [onGoogle] }
  },
  {
    id: "RB61",
    kind: "W41",
    title: "a refusal of Claude goes to the next target where the config asks for it",
    path: "/v1/messages",
    headers: fallback(claudes, onFaults),
    body: { model: "x", max_tokens: 10, ...hi },
    upstream: [
      { status: 200, body: message("refusal", []) },
      { status: 200, body: message("end_turn", text) }
    ],
    expected: { called: toBoth, answer: message("end_turn", text) }
  },
  {
    id: "RB61",
    kind: "W41",
    title: "a refusal stays where the config asks for nothing",
    path: "/v1/messages",
    headers: fallback(claudes),
    body: { model: "x", max_tokens: 10, ...hi },
    upstream: [{ status: 200, body: message("refusal", []) }],
    expected: { called: toBoth.slice(0, 1), answer: message("refusal", []) }
  },
  {
    id: "W41-1",
    kind: "W41",
    title: "the refusal of the last target is the answer",
    path: "/v1/messages",
    headers: fallback(claudes, onFaults),
    body: { model: "x", max_tokens: 10, ...hi },
    upstream: [{ status: 200, body: message("refusal", []) }],
    expected: { called: toBoth, answer: message("refusal", []) }
  },
  {
    id: "W41-2",
    kind: "W41",
    title: "an empty answer stays where only refusals go on",
    path: "/v1/messages",
    headers: fallback(claudes, { on: { refusal: "next" } }),
    body: { model: "x", max_tokens: 10, ...hi },
    upstream: [{ status: 200, body: message("end_turn", []) }],
    expected: { called: toBoth.slice(0, 1), answer: message("end_turn", []) }
  },
  {
    id: "W41-3",
    kind: "W41",
    title: "a stream that refuses before its first content",
    path: "/v1/messages",
    headers: fallback(claudes, onFaults),
    body: { model: "x", max_tokens: 10, stream: true, ...hi },
    upstream: [streamed(refusedStream), streamed(fineStream)],
    expected: {
      called: [claudeAt("claude-opus-5-5", "streamRawPredict"), claudeAt("claude-haiku-4-5", "streamRawPredict")],
      answer: eventsOf(fineStream)
    }
  },
  {
    id: "W41-4",
    kind: "W41",
    title: "a stream that refuses after content stays",
    path: "/v1/messages",
    headers: fallback(claudes, onFaults),
    body: { model: "x", max_tokens: 10, stream: true, ...hi },
    upstream: [streamed([...fineStream.slice(0, 4), ...refusedStream.slice(1)])],
    expected: {
      called: [claudeAt("claude-opus-5-5", "streamRawPredict")],
      answer: eventsOf([...fineStream.slice(0, 4), ...refusedStream.slice(1)])
    }
  },
  {
    id: "W41-5",
    kind: "W41",
    title: "a prompt that Gemini blocks, on chat",
    headers: fallback(both, onFaults),
    body: { model: "gemini-3.8-flash", ...hi },
    upstream: [{ status: 200, body: { promptFeedback: { blockReason: "SAFETY" } } }, fine],
    expected: { called: [onGoogle, onVertex] }
  },
  {
    id: "W41-6",
    kind: "W41",
    title: "an empty answer of Gemini, on its own path",
    path: onGoogle,
    headers: fallback(both, onFaults),
    body: { contents: [{ role: "user", parts: [{ text: "hi" }] }] },
    upstream: [
      { status: 200, body: { candidates: [{ content: { role: "model", parts: [] }, finishReason: "STOP" }] } },
      fine
    ],
    expected: { called: [onGoogle, onVertex], answer: fine.body }
  }
]
