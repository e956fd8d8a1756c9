// Tests error responses of Claude on Vertex AI: section 23, table 14, T618, T107.
// Must not open sockets or read clocks.
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Json } from "../../../src/domain/text/json.ts"
import { failureFromClaude, claudeFailureInside } from "../../../src/translate/chat-to-claude/response.ts"

const told = (type: string, message: string): Json => ({ type: "error", error: { type, message }, request_id: "req_1" })
const google = (code: number, status: string, message: string): Json => ({ error: { code, status, message } })
const of = (status: number, body: Json | string) => failureFromClaude(status, {}, body, "caller")
const tagOf = (status: number, type: string) => {
  const { _tag, ...rest } = of(status, told(type, "m"))
  return [_tag, "code" in rest ? rest.code : "status" in rest ? rest.status : undefined]
}

describe("Claude error statuses (table 14)", () => {
  it.each([
    [400, "invalid_request_error", "InvalidRequest", undefined],
    [401, "authentication_error", "CredentialsRejected", undefined],
    [402, "billing_error", "QuotaExhausted", undefined],
    [403, "permission_error", "PermissionDenied", undefined],
    [404, "not_found_error", "ModelNotFound", undefined],
    [413, "request_too_large", "PayloadTooLarge", undefined],
    [429, "rate_limit_error", "RateLimited", undefined],
    [500, "api_error", "Internal", 500],
    [503, "api_error", "Overloaded", "upstream_unavailable"],
    [504, "timeout_error", "Timeout", undefined],
    [529, "overloaded_error", "Overloaded", "upstream_overloaded"]
  ] as const)("Claude status %i with type %s maps to its reason", (status, type, tag, code) => {
    expect(tagOf(status, type)).toStrictEqual([tag, code])
  })
  it("an error inside a 200 gets the status of its type", () => {
    expect(claudeFailureInside({ type: "overloaded_error", message: "m" })).toStrictEqual({
      _tag: "Overloaded",
      code: "upstream_overloaded",
      message: "m"
    })
    expect(
      claudeFailureInside({ type: "invalid_request_error", message: "prompt is too long: 9 tokens" })
    ).toStrictEqual({
      _tag: "ContextTooLong",
      message: "prompt is too long: 9 tokens"
    })
    expect(claudeFailureInside({})).toStrictEqual({ _tag: "Internal", status: 500, message: "upstream returned 500" })
  })
  it("Google's own status words apply to Claude routes", () => {
    expect(of(403, google(403, "PERMISSION_DENIED", "Permission 'aiplatform.endpoints.predict' denied"))).toStrictEqual(
      {
        _tag: "PermissionDenied",
        permission: "aiplatform.endpoints.predict",
        message:
          "Permission 'aiplatform.endpoints.predict' denied Grant it to the service account, for example by the role Vertex AI User; a credential of project id and region alone may lack it."
      }
    )
    expect(
      of(
        404,
        google(
          404,
          "NOT_FOUND",
          "Publisher Model `projects/p/locations/us-east5/publishers/anthropic/models/x` was not found."
        )
      )
    ).toStrictEqual({
      _tag: "ModelNotFound",
      message:
        "Publisher Model `projects/[redacted]/locations/us-east5/publishers/anthropic/models/x` was not found. It may be not available in location us-east5; newest models are served in global or multi-regions only."
    })
  })
})

describe("Claude error texts", () => {
  it("missing data retention is a matter of permission (M-831)", () => {
    const message = "Your organization must have data retention enabled to use this model."
    expect(of(400, told("invalid_request_error", message))).toStrictEqual({
      _tag: "PermissionDenied",
      code: "model_not_permitted",
      message: `${message} Enable 30 days of data retention for the organisation, or use another model.`
    })
  })
  const hint =
    "Send back content_blocks, or function.thought_signature of the calls, as they came, or start a new turn."
  it.each([
    "messages.1.content.0: Invalid `signature` in `thinking` block",
    "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.",
    "messages.5.content.3: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified."
  ])("a thinking text maps to a signature hint: %s (T618)", (text) => {
    expect(of(400, told("invalid_request_error", text))).toStrictEqual({
      _tag: "SignatureRejected",
      message: `${text} ${hint}`
    })
  })
  it.each([
    "prompt is too long: 210000 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000"
  ])("a context text maps to a context length error: %s (T2306)", (text) => {
    expect(of(400, told("invalid_request_error", text))).toStrictEqual({ _tag: "ContextTooLong", message: text })
  })
  it("the prefill error of a model explains how to correct the request (T1808, T107)", () => {
    const text = "This model does not support assistant message prefill. The conversation must end with a user message."
    expect(of(400, told("invalid_request_error", text))).toStrictEqual({
      _tag: "InvalidRequest",
      message: `${text} This model takes no assistant prefill.`
    })
  })
  it("the error of an unknown beta flag keeps its text (T1832)", () => {
    const text = "Unexpected value(s) `x-1` for the `anthropic-beta` header."
    expect(of(400, told("invalid_request_error", text))).toStrictEqual({ _tag: "InvalidRequest", message: text })
  })
  it("a 413 error has no hint of URLs, which Claude cannot read", () => {
    expect(of(413, told("request_too_large", "Request exceeds the maximum size"))).toStrictEqual({
      _tag: "PayloadTooLarge",
      message: "Request exceeds the maximum size Send fewer or smaller media."
    })
  })
})

it("every status and every body maps to a reason (L24)", () => {
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 599 }), fc.oneof(fc.string(), fc.json()), (status, body) => {
      expect(of(status, body)._tag).toMatch(/^[A-Z]/)
    })
  )
})
