// Tests the input refusals (B rows) of the HTTP layer in one table: exact status, type, param and code.
// Must not reach the upstream: a refused request makes no call.
import { afterAll, describe, expect, it } from "vitest"
import { face, hello, key, noUrl } from "./face.ts"

const gateway = face({ messages: 3, jsonKeys: 50, jsonValues: 200, bodyBytes: 4096 })
afterAll(() => gateway.dispose())

const IRE = "invalid_request_error"
const AUTH = "authentication_error"
const NF = "not_found_error"

interface Row {
  readonly id: string
  readonly body?: unknown
  readonly headers?: Record<string, string>
  readonly expected: readonly [status: number, type: string, param: string | null, code: string]
}
const bad = (id: string, body: unknown, code: string, param: string | null = null, status = 400): Row => ({
  id,
  body,
  expected: [status, IRE, param, code]
})
const badHeader = (
  id: string,
  headers: Record<string, string>,
  param: string,
  code = "invalid_header",
  status = 400,
  type = IRE
): Row => ({
  id,
  headers,
  expected: [status, type, param, code]
})
const model = (value: unknown) => ({ ...hello, model: value })
const messages = (value: unknown) => ({ ...hello, messages: value })
const bytes = (...values: ReadonlyArray<number>) => Uint8Array.from(values)

const rows: ReadonlyArray<Row> = [
  ...["", " ", "wrong", "mgk_wrong", "Bearer ", `${key},${key}`, "x".repeat(8192), "'; --", "\u00e9"].map(
    (value, index): Row => ({
      id: `B1, B2, TH2 key #${index}`,
      headers: { "x-gateway-api-key": value },
      expected: [401, AUTH, null, value.trim() === "" ? "missing_gateway_key" : "invalid_gateway_key"]
    })
  ),
  badHeader("B8 text", { "content-type": "text/plain" }, "", "unsupported_content_type", 415),
  badHeader("B8 form", { "content-type": "application/x-www-form-urlencoded" }, "", "unsupported_content_type", 415),
  badHeader("B9 utf-16", { "content-type": "application/json; charset=utf-16" }, "", "unsupported_charset", 415),
  badHeader("B9 latin1", { "content-type": 'application/json;charset="latin1"' }, "", "unsupported_charset", 415),
  badHeader("B10 gzip", { "content-encoding": "gzip" }, "", "unsupported_content_encoding", 415),
  badHeader("B10 br", { "content-encoding": "br" }, "", "unsupported_content_encoding", 415),
  bad("B11 empty", "", "empty_body"),
  ...["null", "[]", '"x"', "1", "true"].map((text) => bad(`B12 ${text}`, text, "body_not_object")),
  ...["{", '{"a":1,}', "{/**/}", "{'a':1}", '{"a":NaN}', "{} x", "{}{}", "}", "]]"].map((text) =>
    bad(`B13 ${text}`, text, "invalid_json")
  ),
  bad("B14 lone continuation", bytes(0x7b, 0x22, 0x80, 0x22, 0x7d), "invalid_utf8"),
  bad("B14 overlong", bytes(0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x7d), "invalid_utf8"),
  bad("B14 surrogate", bytes(0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x7d), "invalid_utf8"),
  bad("B17", "[".repeat(3000), "json_too_deep"),
  bad("B18 values", `{"a":[${"1,".repeat(300)}1]}`, "json_too_large"),
  bad("B18 keys", `{${Array.from({ length: 51 }, (_, i) => `"k${i}":1`).join(",")}}`, "json_too_large"),
  bad("B19", '{"model":"a","m\\u006fdel":"b"}', "duplicate_key", "model"),
  bad("B22 over the cap", { ...hello, user: "x".repeat(5000) }, "request_too_large", null, 413),
  bad("B31", { messages: hello.messages }, "missing_required_parameter", "model"),
  ...[null, 1, [], {}].map((value) => bad(`B32 ${JSON.stringify(value)}`, model(value), "invalid_type", "model")),
  ...["", " ", "x".repeat(257), "a\tb", "a\r\nb", "a\u2028b"].map((value, i) =>
    bad(`B33 #${i}`, model(value), "invalid_model", "model")
  ),
  ...["@", "@/x", "@slug/", "@slug"].map((value) => bad(`B34 ${value}`, model(value), "invalid_model", "model")),
  badHeader("B38 list", { "x-gateway-provider": "a, b" }, "x-gateway-provider"),
  badHeader("B38 @", { "x-gateway-provider": "@" }, "x-gateway-provider"),
  bad("B44 missing", { model: "m" }, "missing_required_parameter", "messages"),
  ...[null, {}, "x"].map((value) => bad(`B44 ${JSON.stringify(value)}`, messages(value), "invalid_type", "messages")),
  bad("B45", messages([]), "empty_array", "messages"),
  bad("B46", messages([{}, {}, {}, {}]), "array_too_long", "messages"),
  ...[null, "x", []].map((value) =>
    bad(`B47 ${JSON.stringify(value)}`, messages([value]), "invalid_type", "messages[0]")
  ),
  bad("B73 stream", { ...hello, stream: "true" }, "invalid_type", "stream"),
  bad("B74 max_tokens", { ...hello, max_tokens: "ten" }, "invalid_type", "max_tokens"),
  ...["yes", "", "true, true"].map((value) =>
    badHeader(`B90 ${value}`, { "x-gateway-strict-schema-compliance": value }, "x-gateway-strict-schema-compliance")
  ),
  ...["a b", "a,,b", "x".repeat(1025), Array.from({ length: 21 }, () => "a").join(",")].map((value, i) =>
    badHeader(`B91 #${i}`, { "anthropic-beta": value }, "anthropic-beta")
  ),
  badHeader("B92 Basic", { authorization: "Basic x" }, "authorization", "provider_credentials_invalid", 401, AUTH),
  badHeader(
    "B92 two",
    { authorization: "Bearer a, Bearer b" },
    "authorization",
    "provider_credentials_invalid",
    401,
    AUTH
  ),
  badHeader("B112 inline", { "x-gateway-config": '{"retry":{}}' }, "x-gateway-config", "invalid_config"),
  badHeader("B112 unknown id", { "x-gateway-config": "cfg" }, "x-gateway-config", "config_not_found", 404, NF),
  ...["x", "[]", '{"a":1}', `{"a":"${"x".repeat(9000)}"}`].map((value, i) =>
    badHeader(`B113 metadata #${i}`, { "x-gateway-metadata": value }, "x-gateway-metadata")
  ),
  badHeader("B20 metadata", { "x-gateway-metadata": '{"__proto__":"x"}' }, "x-gateway-metadata", "invalid_key"),
  ...["0", "-1", "5s", "1.5"].map((value) =>
    badHeader(`B113 timeout ${value}`, { "x-gateway-request-timeout": value }, "x-gateway-request-timeout")
  ),
  ...["", "x".repeat(129), "\u00e9"].map((value, i) =>
    badHeader(`B113 trace #${i}`, { "x-gateway-trace-id": value }, "x-gateway-trace-id")
  ),
  badHeader("B114 word", { "x-gateway-unsupported-params": "maybe" }, "x-gateway-unsupported-params"),
  badHeader("dry run", { "x-gateway-dry-run": "1" }, "x-gateway-dry-run")
]

const answerOf = async (answer: Response) => {
  const body: unknown = await answer.json()
  return {
    status: answer.status,
    body,
    type: answer.headers.get("content-type"),
    id: answer.headers.get("x-request-id")
  }
}

describe("refused requests", () => {
  it.each(rows)("bad input: refuses the request ($id)", async ({ body, expected, headers }) => {
    gateway.script.calls.length = 0
    const answer = await answerOf(await gateway.chat(body ?? hello, headers))
    const [status, type, param, code] = expected
    expect(answer).toStrictEqual({
      status,
      type: "application/json",
      id: "r1",
      body: { error: { message: expect.any(String), type, param: param === "" ? null : param, code } }
    })
    expect(JSON.stringify(answer.body).length).toBeLessThan(4096)
    expect(gateway.script.calls).toEqual([])
  })

  it("bad input: unknown, malformed and overlong keys get one identical answer (B2)", async () => {
    const texts = await Promise.all(
      ["wrong", "x".repeat(8192), "mgk_"].map(async (value) =>
        (await gateway.chat(hello, { "x-gateway-api-key": value })).text()
      )
    )
    expect(new Set(texts).size).toBe(1)
  })

  it("bad input: a request without a content type, or without a key, is refused (B1, B7)", async () => {
    const untyped = await gateway.send("/v1/chat/completions", {
      method: "POST",
      headers: { "x-api-key": key },
      body: bytes(0x7b, 0x7d)
    })
    expect([untyped.status, await untyped.json()]).toEqual([
      415,
      {
        error: {
          message: "Send the body as content-type: application/json.",
          type: IRE,
          param: null,
          code: "unsupported_content_type"
        }
      }
    ])
    const keyless = await gateway.send("/v1/chat/completions", { method: "POST", body: "{" })
    expect([keyless.status, await keyless.json()]).toEqual([
      401,
      {
        error: {
          message: "No gateway key: send it as x-gateway-api-key, or as the API key of your SDK.",
          type: AUTH,
          param: null,
          code: "missing_gateway_key"
        }
      }
    ])
  })

  it("bad input: the message names what was expected and repeats no value", async () => {
    const messages = await Promise.all(
      [{ ...hello, temperature: "hot" }, { ...hello, stream: "hot" }, { ...hello, tools: {} }, { messages: [] }].map(
        async (body) => ((await (await gateway.chat(body)).json()) as { error: { message: string } }).error.message
      )
    )
    expect(messages).toEqual([
      "temperature has the wrong type: expected number.",
      "stream has the wrong type: expected boolean.",
      "tools has the wrong type: expected array.",
      "model is missing."
    ])
  })

  it("bad input: the same bad request twice gives the same body (P9)", async () => {
    const [first, second] = [await gateway.chat("{"), await gateway.chat("{")]
    expect(await first.text()).toBe(await second.text())
  })
})

describe("refused paths and methods", () => {
  const unknown = {
    message: noUrl,
    type: NF,
    param: null,
    code: "unknown_url"
  }
  it.each([
    "/v1",
    "/v1/",
    "/v1//chat/completions",
    "/v1%2Fchat/completions",
    "/v1/chat%2Fcompletions",
    "/v1/%zz",
    "/V1/chat/completions",
    "/v1/v1/nothing",
    "/v1/models//x",
    "/v1/models/%zz",
    "/v1/prompts",
    "/v1/prompts/a",
    "/v1/prompts/a/",
    "/v1/prompts//render",
    "/v1/prompts/a/b/render"
  ])("bad input: the path %s is unknown (B4, B6)", async (path) => {
    const answer = await gateway.send(path, { headers: { "x-gateway-api-key": key } })
    expect([answer.status, await answer.json()]).toEqual([404, { error: unknown }])
  })

  it.each([
    ["GET", "/v1/chat/completions", "POST"],
    ["PUT", "/v1/v1/chat/completions", "POST"],
    ["DELETE", "/v1/models", "GET"],
    ["POST", "/v1/models/@gemini/x", "GET"],
    ["GET", "/v1/prompts/a@3/completions", "POST"],
    ["PUT", "/v1/v1/prompts/a%20b/render", "POST"],
    ["OPTIONS", "/health", "GET"],
    ["PROPFIND", "/v1/models", "GET"]
  ])("bad input: %s %s is a 405 with the allowed method (B5)", async (method, path, allow) => {
    const answer = await gateway.send(path, { method })
    expect([answer.status, answer.headers.get("allow"), await answer.json()]).toEqual([
      405,
      allow,
      {
        error: { message: `This URL takes ${allow} only.`, type: IRE, param: null, code: "method_not_allowed" }
      }
    ])
  })

  it("bad input: an unknown path below messages answers in Anthropic's envelope", async () => {
    const answer = await gateway.send("/v1/messages/batches", { method: "POST", headers: { "x-request-id": "r1" } })
    expect([answer.status, await answer.json()]).toEqual([
      404,
      {
        type: "error",
        error: {
          type: "not_found_error",
          message: "There is no such URL here: message batches are not offered; send the messages one by one."
        },
        request_id: "r1"
      }
    ])
  })

  it("bad input: every route but health needs a key (TH2)", async () => {
    for (const [method, path] of [
      ["POST", "/v1/chat/completions"],
      ["POST", "/v1/prompts/a/completions"],
      ["POST", "/v1/prompts/a/render"],
      ["GET", "/v1/models"],
      ["GET", "/v1/models/@a/b"]
    ] as const) {
      expect((await gateway.send(path, { method })).status).toBe(401)
    }
    for (const path of ["/health/live", "/livez", "/healthz"]) {
      expect(await (await gateway.send(path)).json()).toEqual({ status: "ok" })
    }
    for (const path of ["/health/ready", "/readyz", "/health"]) {
      expect(await (await gateway.send(path)).json()).toEqual({
        status: "ok",
        checks: { config: "ok" },
        version: "0.1.0"
      })
    }
  })

  it("bad input: a request over the in-flight limit is a 503 with a delay (B103)", async () => {
    const full = face({ inFlight: 0 })
    const answer = await full.chat(hello)
    expect([
      answer.status,
      answer.headers.get("retry-after"),
      answer.headers.get("retry-after-ms"),
      await answer.json()
    ]).toEqual([
      503,
      "1",
      "1000",
      {
        error: {
          message: "The gateway is at its limit of requests; try again shortly.",
          type: "api_error",
          param: null,
          code: "overloaded"
        }
      }
    ])
    await full.dispose()
  })

  it("bad input: a place is free again once its answer is complete, streams and failures too (B103)", async () => {
    const narrow = face({ inFlight: 1 })
    for (const body of [hello, { ...hello, stream: true }, "{", hello]) {
      const answer = await narrow.chat(body)
      expect(answer.status).toBe(body === "{" ? 400 : 200)
      await answer.text()
    }
    await narrow.dispose()
  })
})
