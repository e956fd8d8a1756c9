// Tests error responses of OpenAI-compatible upstreams: T2008, T2010, T2014, T2015, and law L24.
// Must not open sockets or read clocks.
import * as fc from "fast-check"
import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"
import type { Json } from "../../../src/domain/text/json.ts"
import { Reason } from "../../../src/domain/ProviderError.ts"
import { failureFromOpenAi, openAiFailureInside } from "../../../src/translate/shared/reply/upstreamFailures.ts"
import { runs } from "../../support/release.ts"

const fail = (
  status: number,
  body: Json | string,
  headers: Record<string, string> = {},
  origin: "caller" | "stored" = "caller"
) => failureFromOpenAi(status, headers, body, origin)
const google = (code: number, message: string, status: string) => ({ error: { code, message, status, details: [] } })
const openAi = (message: string, rest: object = {}) =>
  ({ error: { message, type: "invalid_request_error", param: null, code: null, ...rest } }) as Json

describe("OpenAI-compatible error bodies (T2008)", () => {
  it.each<readonly [string, Json | string]>([
    ["OpenAI", openAi("why")],
    ["Google", google(400, "why", "INVALID_ARGUMENT")],
    ["Google, an array", [google(400, "why", "INVALID_ARGUMENT")]],
    ["message", { object: "error", message: "why", type: "BadRequestError", param: null, code: 400 }],
    ["detail", { detail: "why" }],
    ["details", { detail: [{ loc: ["body"], msg: "why", type: "x" }] }],
    ["text that is JSON", JSON.stringify(openAi("why"))]
  ])("an error body is read: %s", (_name, body) =>
    expect(fail(400, body)).toStrictEqual({ _tag: "InvalidRequest", message: "why" })
  )
  it("a plain text is kept out of the message", () =>
    expect(fail(400, "Bad Request", { "content-type": "text/plain" }).message).toBe(
      "upstream returned 400 (text/plain)"
    ))
  it("the upstream's textual code and param are kept", () => {
    expect(fail(400, openAi("why", { code: "tool_use_failed", param: "tools" }))).toStrictEqual({
      _tag: "InvalidRequest",
      message: "why",
      upstreamCode: "tool_use_failed",
      param: "tools"
    })
  })
  it("other statuses follow table 14", () => {
    const tags = [401, 402, 403, 404, 405, 408, 409, 422, 429, 500, 502, 503, 504, 529].map(
      (status) => fail(status, openAi("m"))._tag
    )
    expect(tags).toStrictEqual([
      "CredentialsRejected",
      "QuotaExhausted",
      "PermissionDenied",
      "ModelNotFound",
      "InvalidRequest",
      "Timeout",
      "Internal",
      "InvalidRequest",
      "RateLimited",
      "Internal",
      "Internal",
      "Overloaded",
      "Timeout",
      "Overloaded"
    ])
  })
  it("a request that is too large gets no hint for Gemini", () => {
    expect(fail(413, openAi("big"))).toStrictEqual({ _tag: "PayloadTooLarge", message: "big" })
  })
})

describe("endpoint errors", () => {
  it("a dedicated endpoint called at the shared host maps to a hint (T2010)", () => {
    const text =
      "Dedicated Endpoint cannot be accessed through the shared Vertex AI domain aiplatform.googleapis.com. Please access the endpoint using its dedicated dns name '12.us-central1-34.prediction.vertexai.goog'."
    expect(fail(400, google(400, text, "FAILED_PRECONDITION"))).toStrictEqual({
      _tag: "InvalidRequest",
      code: "upstream_failed_precondition",
      message:
        "Dedicated Endpoint cannot be accessed through the shared Vertex AI domain [upstream]. Please access the endpoint using its dedicated dns name '[upstream]'. Set the endpoint's host in the provider's endpoints to its dedicated host name."
    })
  })
  it("a missing permission is named with the role to grant (T2014)", () => {
    expect(
      fail(
        403,
        google(403, "Permission 'aiplatform.endpoints.predict' denied on resource.", "PERMISSION_DENIED"),
        {},
        "stored"
      )
    ).toStrictEqual({
      _tag: "PermissionDenied",
      permission: "aiplatform.endpoints.predict",
      message:
        "Permission 'aiplatform.endpoints.predict' denied on resource. Grant it to the service account, for example by the role Vertex AI User; a credential of project id and region alone may lack it."
    })
  })
  it("an endpoint that is not ready or scaled to zero is unavailable, with the upstream's delay (T2015)", () => {
    for (const text of [
      "Model is not yet ready for inference. Please wait for minutes.",
      "The model server is not ready.",
      "The endpoint is scaled to zero."
    ]) {
      expect(fail(429, google(429, text, "RESOURCE_EXHAUSTED"), { "retry-after": "20" })).toStrictEqual({
        _tag: "Overloaded",
        code: "upstream_unavailable",
        message: text,
        retryAfterMillis: 20_000
      })
    }
    expect(fail(503, openAi("not ready"), { "retry-after": "20" })).toStrictEqual({
      _tag: "Overloaded",
      code: "upstream_unavailable",
      message: "not ready",
      retryAfterMillis: 20_000
    })
    expect(fail(429, google(429, "Quota exceeded.", "RESOURCE_EXHAUSTED"))._tag).toBe("RateLimited")
  })
  it("a model name unknown to the server maps to a hint (T2012)", () => {
    expect(
      fail(404, {
        object: "error",
        message: "The model `123` does not exist.",
        type: "NotFoundError",
        param: null,
        code: 404
      })
    ).toStrictEqual({
      _tag: "ModelNotFound",
      message:
        "The model `123` does not exist. Set the endpoint's model in the provider's endpoints to the name under which it serves the model."
    })
  })
  it("a publisher model missing in the location maps to a hint (T2109)", () => {
    expect(
      fail(
        404,
        google(
          404,
          "Publisher Model `projects/p-1/locations/us-central1/publishers/meta/models/x` was not found.",
          "NOT_FOUND"
        )
      ).message
    ).toBe(
      "Publisher Model `projects/[redacted]/locations/us-central1/publishers/meta/models/x` was not found. It may be not available in location us-central1; newest models are served in global or multi-regions only."
    )
  })
})

describe("OpenAI-compatible context length errors (T2306)", () => {
  it.each([
    openAi("This model's maximum context length is 8192 tokens. However, you requested 9000 tokens."),
    openAi("The decoder prompt (length 9000) is longer than the maximum model length of 8192."),
    openAi("no", { code: "context_length_exceeded" }),
    google(400, "The input token count (9000) exceeds the maximum number of tokens allowed (8192).", "INVALID_ARGUMENT")
  ])("a context text maps to a context length error: case %#", (body) =>
    expect(fail(400, body)._tag).toBe("ContextTooLong")
  )
})

it("inside a stream the error's number or word decides the status (T1317)", () => {
  expect(
    openAiFailureInside({
      error: { message: "m", type: "invalid_request_error", code: "tool_use_failed", status_code: 400 }
    })
  ).toStrictEqual({ _tag: "InvalidRequest", message: "m", upstreamCode: "tool_use_failed" })
  expect(openAiFailureInside({ error: { message: "m", code: "rate_limit_exceeded" } })).toStrictEqual({
    _tag: "RateLimited",
    message: "m",
    upstreamCode: "rate_limit_exceeded"
  })
  expect(openAiFailureInside({ error: "m" })).toStrictEqual({ _tag: "Internal", status: 500, message: "m" })
  expect([
    openAiFailureInside({}),
    openAiFailureInside({ error: null }),
    openAiFailureInside({ error: false })
  ]).toStrictEqual([undefined, undefined, undefined])
})

it("any status, body and headers map to a reason (L24)", () => {
  const isReason = Schema.is(Reason)
  const words = fc.constantFrom(
    "dedicated endpoint",
    "not ready",
    "maximum context length",
    "model x does not exist",
    "aiplatform.endpoints.predict",
    "scaled to zero"
  )
  const told = fc.record(
    {
      message: fc.oneof(words, fc.string()),
      code: fc.anything(),
      type: fc.anything(),
      param: fc.anything(),
      detail: fc.anything()
    },
    { requiredKeys: [] }
  )
  fc.assert(
    fc.property(
      fc.integer({ min: 100, max: 599 }),
      fc.oneof(fc.string({ unit: "binary" }), fc.jsonValue(), told, fc.record({ error: told })),
      fc.dictionary(fc.constantFrom("retry-after", "retry-after-ms", "content-type"), fc.string()),
      fc.constantFrom("caller" as const, "stored" as const),
      (status, body, headers, origin) => {
        const reason = failureFromOpenAi(status, headers, body as Json, origin)
        expect([isReason(reason), reason.message.length > 0]).toStrictEqual([true, true])
      }
    ),
    { numRuns: runs(1_000) }
  )
})
