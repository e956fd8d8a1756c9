// Refused calls of Claude on Vertex AI: section 23, table 14, T618, T107.
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Json } from "../../../src/domain/text/json.ts"
import { failureFromClaude, failureInside } from "../../../src/translate/chat-to-claude/failure.ts"

const told = (type: string, message: string): Json => ({ type: "error", error: { type, message }, request_id: "req_1" })
const google = (code: number, status: string, message: string): Json => ({ error: { code, status, message } })
const of = (status: number, body: Json | string) => failureFromClaude(status, {}, body, "caller")
const tagOf = (status: number, type: string) => {
  const { _tag, ...rest } = of(status, told(type, "m"))
  return [_tag, "code" in rest ? rest.code : "status" in rest ? rest.status : undefined]
}

describe("table 14", () => {
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
  ] as const)("%i %s", (status, type, tag, code) => {
    expect(tagOf(status, type)).toStrictEqual([tag, code])
  })
  it("errors inside a 200 have the status of their word", () => {
    expect(failureInside({ type: "overloaded_error", message: "m" })).toStrictEqual({
      _tag: "Overloaded",
      code: "upstream_overloaded",
      message: "m"
    })
    expect(failureInside({ type: "invalid_request_error", message: "prompt is too long: 9 tokens" })).toStrictEqual({
      _tag: "ContextTooLong",
      message: "prompt is too long: 9 tokens"
    })
    expect(failureInside({})).toStrictEqual({ _tag: "Internal", status: 500, message: "upstream returned 500" })
  })
  it("Google's own words count on this route, too", () => {
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

describe("special texts", () => {
  const hint =
    "Send back content_blocks, or function.thought_signature of the calls, as they came, or start a new turn."
  it.each([
    "messages.1.content.0: Invalid `signature` in `thinking` block",
    "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.",
    "messages.5.content.3: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified."
  ])("T618 %s", (text) => {
    expect(of(400, told("invalid_request_error", text))).toStrictEqual({
      _tag: "SignatureRejected",
      message: `${text} ${hint}`
    })
  })
  it.each([
    "prompt is too long: 210000 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000"
  ])("T2306 %s", (text) => {
    expect(of(400, told("invalid_request_error", text))).toStrictEqual({ _tag: "ContextTooLong", message: text })
  })
  it("T1808 T107 a model without prefill says how to mend it", () => {
    const text = "This model does not support assistant message prefill. The conversation must end with a user message."
    expect(of(400, told("invalid_request_error", text))).toStrictEqual({
      _tag: "InvalidRequest",
      message: `${text} This model takes no assistant prefill.`
    })
  })
  it("T1832 an unknown flag of the beta header comes back with its text", () => {
    const text = "Unexpected value(s) `x-1` for the `anthropic-beta` header."
    expect(of(400, told("invalid_request_error", text))).toStrictEqual({ _tag: "InvalidRequest", message: text })
  })
  it("413 has no hint of addresses Claude cannot read", () => {
    expect(of(413, told("request_too_large", "Request exceeds the maximum size"))).toStrictEqual({
      _tag: "PayloadTooLarge",
      message: "Request exceeds the maximum size Send fewer or smaller media."
    })
  })
})

it("L24 every status and every body has a reason", () => {
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 599 }), fc.oneof(fc.string(), fc.json()), (status, body) => {
      expect(of(status, body)._tag).toMatch(/^[A-Z]/)
    })
  )
})
