// Tests error responses of Google: table 14, the special texts of section 23, and law L24.
// Must not open sockets or read clocks.
import * as fc from "fast-check"
import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"
import type { Json } from "../../../src/domain/text/json.ts"
import { Reason } from "../../../src/domain/ProviderError.ts"
import { failureFromGoogle, googleFailureInside } from "../../../src/translate/shared/reply/upstreamFailures.ts"
import { runs } from "../../support/release.ts"

const fail = (
  status: number,
  body: Json | string = { error: { message: "m" } },
  headers: Record<string, string> = {},
  origin: "caller" | "stored" = "caller"
) => failureFromGoogle(status, headers, body, origin)
const google = (message: string, details: ReadonlyArray<Json> = [], status = "X") => ({
  error: { code: 0, message, status, details }
})
const info = (reason: string) => ({ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason })

describe("Google error statuses (table 14)", () => {
  const message = "m"
  const rows: ReadonlyArray<readonly [number, object]> = [
    [100, { _tag: "BadReply", kind: "unreadable", message }],
    [200, { _tag: "BadReply", kind: "unreadable", message }],
    [301, { _tag: "BadReply", kind: "redirect", message }],
    [400, { _tag: "InvalidRequest", message }],
    [401, { _tag: "CredentialsRejected", origin: "caller", message }],
    [402, { _tag: "QuotaExhausted", isBilling: true, message }],
    [403, { _tag: "PermissionDenied", message }],
    [404, { _tag: "ModelNotFound", message }],
    [405, { _tag: "InvalidRequest", code: "unsupported_operation", message }],
    [408, { _tag: "Timeout", phase: "upstream", message }],
    [409, { _tag: "Internal", status: 409, message }],
    [413, { _tag: "PayloadTooLarge", message: "m Use gs:// or the Files API for large media." }],
    [418, { _tag: "InvalidRequest", message }],
    [422, { _tag: "InvalidRequest", message }],
    [429, { _tag: "RateLimited", message }],
    [499, { _tag: "Internal", status: 499, message }],
    [500, { _tag: "Internal", status: 500, message }],
    [501, { _tag: "InvalidRequest", code: "unsupported_operation", message }],
    [502, { _tag: "Internal", status: 502, message }],
    [503, { _tag: "Overloaded", code: "upstream_unavailable", message }],
    [504, { _tag: "Timeout", phase: "upstream", message }],
    [529, { _tag: "Overloaded", code: "upstream_overloaded", message }],
    [599, { _tag: "Internal", status: 599, message }]
  ]
  for (const [status, reason] of rows) it(`${status}`, () => expect(fail(status)).toStrictEqual(reason))
  it("a 400 FAILED_PRECONDITION maps to its reason", () => {
    expect(fail(400, google("m", [], "FAILED_PRECONDITION"))).toStrictEqual({
      _tag: "InvalidRequest",
      code: "upstream_failed_precondition",
      message
    })
  })
  it("a 403 names the missing permission (T2014)", () => {
    const text =
      "Permission 'aiplatform.endpoints.predict' denied on resource '//aiplatform.googleapis.com/projects/p-1/locations/us/x' (or it may not exist)."
    expect(fail(403, google(text))).toStrictEqual({
      _tag: "PermissionDenied",
      permission: "aiplatform.endpoints.predict",
      message:
        "Permission 'aiplatform.endpoints.predict' denied on resource '//[upstream]' (or it may not exist). Grant it to the service account, for example by the role Vertex AI User; a credential of project id and region alone may lack it."
    })
  })
  it("a refused stored credential blames no caller", () =>
    expect(fail(401, google("m"), {}, "stored")).toStrictEqual({
      _tag: "CredentialsRejected",
      origin: "stored",
      message
    }))
})

describe("Google error bodies (T2301)", () => {
  const forms: ReadonlyArray<readonly [string, Json | string, string]> = [
    ["object", google("why"), "why"],
    ["array of one", [google("why")], "why"],
    ["Anthropic", { type: "error", error: { type: "api_error", message: "why" } }, "why"],
    ["OpenAI", { error: { message: "why", type: "x", param: null, code: 7 } }, "why"],
    ["message alone", { message: "why" }, "why"],
    ["detail alone", { detail: "why" }, "why"],
    ["a list of details", { detail: [{ type: "missing", loc: ["body", "messages"], msg: "why" }] }, "why"],
    ["error in words", { error: "why" }, "why"],
    ["JSON as text", JSON.stringify(google("why"), null, 2), "why"],
    ["T1307 inside an event stream", `data: ${JSON.stringify(google("why"))}\r\n\r\n`, "why"],
    ["HTML", "<html><h1>Bad Gateway</h1></html>", "upstream returned 502 (text/html)"],
    ["empty", "", "upstream returned 502 (text/html)"],
    ["null", null, "upstream returned 502 (text/html)"],
    ["empty message", google(""), "upstream returned 502 (text/html)"]
  ]
  for (const [name, body, message] of forms) {
    it(`an error body is read: ${name}`, () =>
      expect(fail(502, body, { "content-type": "text/html; charset=UTF-8" })).toStrictEqual({
        _tag: "Internal",
        status: 502,
        message
      }))
  }
  it("an error without a content type is mapped by its status", () =>
    expect(fail(500, "x").message).toBe("upstream returned 500"))
  it("a textual code is kept, other text is not a code", () => {
    expect(fail(500, { error: { message: "m", code: "boom" } })).toStrictEqual({
      _tag: "Internal",
      status: 500,
      message: "m",
      upstreamCode: "boom"
    })
    expect(fail(500, { error: { message: "m", code: "ya29.a b" } })).toStrictEqual({
      _tag: "Internal",
      status: 500,
      message: "m"
    })
  })
  it("the param at fault is kept, cleaned for output (T2008)", () => {
    expect(fail(400, { error: { message: "m", param: "messages[0].role" } })).toStrictEqual({
      _tag: "InvalidRequest",
      message: "m",
      param: "messages[0].role"
    })
    expect(fail(400, { error: { message: "m", param: "https://a.example/x" } })).toStrictEqual({
      _tag: "InvalidRequest",
      message: "m",
      param: "[link]"
    })
    expect(fail(400, { error: { message: "m", param: null } })).toStrictEqual({ _tag: "InvalidRequest", message: "m" })
  })
  it("inside a 200 the error's code decides the status, else its word (T1209, T1318)", () => {
    expect(googleFailureInside({ code: 429, message: "m" })._tag).toBe("RateLimited")
    expect(googleFailureInside({ status: "UNAVAILABLE", message: "m" })._tag).toBe("Overloaded")
    expect(googleFailureInside({ type: "overloaded_error", message: "m" })).toStrictEqual({
      _tag: "Overloaded",
      code: "upstream_overloaded",
      message: "m"
    })
    expect(googleFailureInside({ code: 401, message: "m" })).toStrictEqual({
      _tag: "CredentialsRejected",
      origin: "stored",
      message: "m"
    })
    expect(googleFailureInside("odd")).toStrictEqual({ _tag: "Internal", status: 500, message: "odd" })
    expect(googleFailureInside({ code: "tool_use_failed", status_code: 422, message: "m" })).toStrictEqual({
      _tag: "InvalidRequest",
      message: "m",
      upstreamCode: "tool_use_failed"
    })
    expect(googleFailureInside({ code: 200 })).toStrictEqual({
      _tag: "Internal",
      status: 500,
      message: "upstream returned 500"
    })
  })
})

describe("retry delays (T2303, T2304)", () => {
  const delay = (retryDelay: string) =>
    google("m", [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay }])
  const millis = (body: Json, headers: Record<string, string> = {}) => {
    const reason = fail(429, body, headers)
    return reason._tag === "RateLimited" ? reason.retryAfterMillis : reason._tag
  }
  it("retryDelay is read in seconds with fractions", () => {
    expect([millis(delay("36s")), millis(delay("34.4s")), millis(delay("0.000000001s"))]).toEqual([36_000, 34_400, 1])
  })
  it("headers take precedence over retryDelay", () => {
    expect(millis(delay("36s"), { "retry-after": "7" })).toBe(7_000)
    expect(millis(delay("36s"), { "retry-after": "7", "retry-after-ms": "6500.5" })).toBe(6_501)
    expect(
      millis(delay("36s"), { "retry-after": "Sat, 21 Nov 2026 14:00:30 GMT", date: "Sat, 21 Nov 2026 14:00:00 GMT" })
    ).toBe(30_000)
  })
  it("missing or malformed delays give none", () => {
    for (const text of ["", "-1s", "soon", "1e9s", "NaN"]) expect(millis(delay(text))).toBe(undefined)
    expect(millis(google("m"), { "retry-after": "Sat, 21 Nov 2026 14:00:30 GMT" })).toBe(undefined)
    expect(millis(delay("999999999s"))).toBe(86_400_000)
  })
  it("a 503 carries its delay", () => {
    expect(fail(503, google("m"), { "retry-after": "2" })).toStrictEqual({
      _tag: "Overloaded",
      code: "upstream_unavailable",
      message: "m",
      retryAfterMillis: 2_000
    })
  })
  const quota = (violation: { readonly [key: string]: string }) =>
    google("m", [
      { "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [violation] },
      { retryDelay: "3s" }
    ])
  it("a daily quota or a limit of zero is not a rate limit", () => {
    const quotaId = "GenerateRequestsPerDayPerProjectPerModel-FreeTier"
    expect(fail(429, quota({ quotaId }))).toStrictEqual({
      _tag: "QuotaExhausted",
      message: "m",
      quotaId,
      retryAfterMillis: 3_000
    })
    expect(fail(429, quota({ quotaId: "PerMinute", quotaValue: "0" }))._tag).toBe("QuotaExhausted")
    expect(fail(429, google("m", [{ metadata: { quota_limit_value: "0", quota_limit: "PerMinute" } }]))._tag).toBe(
      "QuotaExhausted"
    )
    expect(fail(429, quota({ quotaId: "GenerateRequestsPerMinute", quotaValue: "10" }))._tag).toBe("RateLimited")
  })
})

describe("Google error texts", () => {
  it("endpoint errors of every dialect: dedicated host, not ready (T2010, T2015)", () => {
    expect(
      fail(
        400,
        google(
          "Dedicated Endpoint cannot be accessed through the shared Vertex AI domain x.",
          [],
          "FAILED_PRECONDITION"
        )
      )
    ).toStrictEqual({
      _tag: "InvalidRequest",
      code: "upstream_failed_precondition",
      message:
        "Dedicated Endpoint cannot be accessed through the shared Vertex AI domain x. Set the endpoint's host in the provider's endpoints to its dedicated host name."
    })
    expect(fail(429, google("Model is not yet ready for inference.", [{ retryDelay: "2s" }]))).toStrictEqual({
      _tag: "Overloaded",
      code: "upstream_unavailable",
      message: "Model is not yet ready for inference.",
      retryAfterMillis: 2_000
    })
  })
  it("the field of the first violation becomes param (T2305)", () => {
    const body = google("m", [
      {
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        fieldViolations: [{ field: "contents[0].parts", description: "x" }]
      }
    ])
    expect(fail(400, body)).toStrictEqual({ _tag: "InvalidRequest", message: "m", param: "contents[0].parts" })
  })
  it("a context text maps to a context length error (T2306)", () => {
    for (const text of [
      "The input token count (1250074) exceeds the maximum number of tokens allowed (1048576).",
      "prompt is too long: 210000 tokens > 200000 maximum"
    ]) {
      expect(fail(400, google(text))).toStrictEqual({ _tag: "ContextTooLong", message: text })
    }
  })
  it("a bad API key is a 400 of Google and an authentication error here (T2307)", () => {
    expect(fail(400, google("no", [info("API_KEY_INVALID")]), {}, "stored")).toStrictEqual({
      _tag: "CredentialsRejected",
      origin: "stored",
      message: "no"
    })
    expect(fail(400, google("API key not valid. Please pass a valid API key."))._tag).toBe("CredentialsRejected")
  })
  it("an API key in place of a token maps to a hint (T2308)", () => {
    for (const reason of ["ACCESS_TOKEN_TYPE_UNSUPPORTED", "CREDENTIALS_MISSING"]) {
      expect(fail(401, google("no", [info(reason)])).message).toBe(
        "no vertex-ai takes an OAuth access token; API keys work in express mode only."
      )
    }
  })
  it("mixed tool errors map to a hint (T2309)", () => {
    const texts = [
      "Multiple tools are supported only when they are all search tools.",
      "tools[0].tool_type: one_of 'tool_type' has more than one initialized field: a, b",
      "Please use only one tool.",
      "at most one tool is supported"
    ]
    for (const text of texts) {
      expect(fail(400, google(text))).toStrictEqual({
        _tag: "ToolMixRejected",
        message: `${text} Send grounding tools and functions in separate requests.`
      })
    }
  })
  it("signature errors map to a hint (T618)", () => {
    const texts = [
      "Function call is missing a thought_signature in functionCall parts.",
      "Corrupted thought signature.",
      "Invalid signature in thinking block"
    ]
    for (const text of texts) {
      expect(fail(400, google(text))).toStrictEqual({
        _tag: "SignatureRejected",
        message: `${text} Send back function.thought_signature as it came, or start a new turn.`
      })
    }
  })
  it("prefill and size errors map to hints (T107, T224, T226)", () => {
    expect(fail(400, google("Please ensure that single turn requests end with a user role.")).message).toBe(
      "Please ensure that single turn requests end with a user role. This model takes no assistant prefill."
    )
    expect(fail(400, google("Request payload size exceeds the limit: 20971520 bytes."))).toStrictEqual({
      _tag: "PayloadTooLarge",
      message: "Request payload size exceeds the limit: 20971520 bytes. Use gs:// or the Files API for large media."
    })
  })
  it("a model missing in the location maps to a hint (T2109)", () => {
    expect(
      fail(
        404,
        google("Publisher Model `projects/my-project/locations/europe-west1/publishers/google/models/g` was not found.")
      ).message
    ).toBe(
      "Publisher Model `projects/[redacted]/locations/europe-west1/publishers/google/models/g` was not found. It may be not available in location europe-west1; newest models are served in global or multi-regions only."
    )
    expect(fail(404, google("x/locations/global/y")).message).toBe("x/locations/global/y")
  })
})

describe("error mapping is total (L24)", () => {
  const isReason = Schema.is(Reason)
  it("any status, body and headers map to a reason", () => {
    const error = fc.record({
      error: fc.record(
        { code: fc.anything(), message: fc.anything(), status: fc.anything(), details: fc.anything() },
        { requiredKeys: [] }
      )
    })
    fc.assert(
      fc.property(
        fc.integer({ min: 100, max: 599 }),
        fc.oneof(fc.string({ unit: "binary" }), fc.jsonValue(), error),
        fc.dictionary(fc.constantFrom("retry-after", "retry-after-ms", "date", "content-type"), fc.string()),
        fc.constantFrom("caller" as const, "stored" as const),
        (status, body, headers, origin) => {
          const reason = failureFromGoogle(status, headers, body as Json, origin)
          expect(isReason(reason)).toBe(true)
          expect(reason.message.length > 0).toBe(true)
        }
      ),
      { numRuns: runs(1_000) }
    )
  })
})
