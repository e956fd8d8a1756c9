// Tests GET /admin/v1/requests and /admin/v1/usage through the whole service, and the keys that may call them.
// Must not depend on how requests are stored.
import * as Layer from "effect/Layer"
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest"
import { clientLines } from "../../../src/api/clientSettings.ts"
import { CountedMetadata } from "../../../src/http/admin/AdminReports.ts"
import { type AccountedGateway, accountedGateway, adminKey } from "../../support/accounted.ts"
import { until } from "../../support/eventually.ts"
import { replying } from "../../support/scripted.ts"
import { gatewayKey } from "../../support/TestGateway.ts"

const reply = {
  candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: 1000, candidatesTokenCount: 100, totalTokenCount: 1100 }
}
const overloaded = { status: 503, chunks: ['{"error":{"code":503,"message":"m","status":"UNAVAILABLE"}}'] }
const messages = [{ role: "user", content: "Hello" }]

let gateway: AccountedGateway
beforeAll(async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2027-01-31T12:00:00Z") })
  let calls = 0
  gateway = accountedGateway(() => (++calls % 2 === 0 ? overloaded : replying(reply)))
  for (const id of ["a", "b", "c"]) {
    await (
      await gateway.post(
        "/v1/chat/completions",
        { model: "@google/gemini-2.5-flash", messages },
        { "x-request-id": id, "user-agent": "test/1.0" }
      )
    ).text()
    // The first request waits for the price list, and the others for their order.
    await until(
      async () =>
        ((await gateway.admin("/admin/v1/requests")) as { data: ReadonlyArray<{ request_id: string }> }).data[0]
          ?.request_id === id
    )
  }
})
afterAll(async () => {
  await gateway.dispose()
  vi.useRealTimers()
})
beforeEach(() => vi.setSystemTime(Date.parse("2027-01-31T12:00:10Z")))

const common = {
  object: "request",
  id: "01a1feb1-fd44-7fb5-884a-aa19e8c22cad",
  trace_id: "01a1feb1fd447fb5884aaa19e8c22cad",
  ts: expect.stringMatching(/^2027-01-31T12:00:00\.\d{3}Z$/),
  route: "/v1/chat/completions",
  provider: "google",
  model: "gemini-2.5-flash",
  model_warning: "shut_down; shutdown=2026-12-01; successor=gemini-3.5-flash-lite",
  target: 0,
  stream: false,
  duration_ms: 3,
  overhead_ms: 2,
  key_id: "test",
  client: "test"
}
const attempt = { provider: "google", model: "gemini-2.5-flash", target: 0, started_ms: 1, duration_ms: 1 }
const answered = (request_id: string) => ({
  ...common,
  request_id,
  status: 200,
  cache: "DISABLED",
  usage: {
    input_tokens: 1000,
    output_tokens: 100,
    cached_tokens: 0,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
    images: 0
  },
  cost_usd: 0.00055,
  attempts: [attempt]
})
const failed = {
  ...common,
  request_id: "b",
  status: 503,
  error_code: "upstream_unavailable",
  error_message: "m",
  attempts: [{ ...attempt, upstream_status: 503, error_code: "upstream_unavailable", error_message: "m" }]
}

describe("list of requests", () => {
  it("admin requests: are listed newest first and in full, without requests to other APIs", async () => {
    expect(await gateway.admin("/admin/v1/requests")).toEqual({
      object: "list",
      data: [answered("c"), failed, answered("a")],
      next_cursor: null
    })
  })

  it("admin requests: are filtered and paged", async () => {
    expect(await gateway.admin("/admin/v1/requests?status=503")).toEqual({
      object: "list",
      data: [failed],
      next_cursor: null
    })
    expect(await gateway.admin("/admin/v1/requests?limit=1&provider=google&model=gemini-2.5-flash&key=test")).toEqual({
      object: "list",
      data: [answered("c")],
      next_cursor: "2"
    })
    expect(await gateway.admin("/admin/v1/requests?limit=1&cursor=2")).toEqual({
      object: "list",
      data: [failed],
      next_cursor: "1"
    })
    expect(await gateway.admin("/admin/v1/requests?since=2027-01-31T12:00:05Z")).toEqual({
      object: "list",
      data: [],
      next_cursor: null
    })
  })

  it.each([
    ["status=503", ["b"]],
    ["provider=google", ["c", "b", "a"]],
    ["provider=openai", []],
    ["model=gemini-2.5-flash&key=test", ["c", "b", "a"]],
    ["key=other", []],
    ["route=/v1/chat/completions", ["c", "b", "a"]],
    ["route=/v1/messages", []],
    ["client=test", ["c", "b", "a"]],
    ["client=curl", []],
    ["config=inline", []],
    ["cache=DISABLED", ["c", "a"]],
    ["error=upstream_unavailable", ["b"]],
    ["request_id=a", ["a"]],
    ["trace_id=01a1feb1fd447fb5884aaa19e8c22cad", ["c", "b", "a"]],
    ["trace_id=1", []],
    ["min_duration_ms=3", ["c", "b", "a"]],
    ["min_duration_ms=4", []],
    ["min_cost_usd=0.00055", ["c", "a"]],
    ["min_cost_usd=0.000551", []],
    ["since=2027-01-31T12:00:00Z&until=2027-01-31T12:00:05Z", ["c", "b", "a"]],
    ["until=2027-01-31T12:00:00Z", []]
  ])("admin requests: the filter %s takes %j", async (query, ids) => {
    const list = (await gateway.admin(`/admin/v1/requests?${query}`)) as { data: ReadonlyArray<{ request_id: string }> }
    expect(list.data.map(({ request_id: id }) => id)).toEqual(ids)
  })

  it("admin requests: one request is found by its id", async () => {
    expect(await gateway.admin("/admin/v1/requests/b")).toEqual(failed)
  })
})

it("admin usage: sums requests by the asked grouping", async () => {
  const sums = { requests: 3, errors: 1, input_tokens: 2000, output_tokens: 200, cached_tokens: 0, cost_usd: 0.0011 }
  expect(await gateway.admin("/admin/v1/usage")).toEqual({
    object: "list",
    data: [{ day: "2027-01-31", ...sums }],
    next_cursor: null
  })
  expect(await gateway.admin("/admin/v1/usage?group_by=key,provider,model&from=2027-01-31&to=2027-01-31")).toEqual({
    object: "list",
    data: [{ key: "test", key_name: "test", provider: "google", model: "gemini-2.5-flash", ...sums }],
    next_cursor: null
  })
  expect(await gateway.admin("/admin/v1/usage?group_by=model&limit=1&cursor=WyJhIl0")).toEqual({
    object: "list",
    data: [{ model: "gemini-2.5-flash", ...sums }],
    next_cursor: null
  })
  expect(await gateway.admin("/admin/v1/usage?to=2027-01-30")).toEqual({ object: "list", data: [], next_cursor: null })
})

it("admin usage: is CSV where the client asks for it, with a link to the next page", async () => {
  const csv = async (path: string) => {
    const answer = await gateway.send(path, { headers: { "x-gateway-api-key": adminKey, accept: "text/csv" } })
    return [answer.status, answer.headers.get("content-type"), answer.headers.get("link"), await answer.text()]
  }
  const head = "requests,errors,input_tokens,output_tokens,cached_tokens,cost_usd"
  expect(await csv("/admin/v1/usage?group_by=day,key&key=test")).toEqual([
    200,
    "text/csv; charset=utf-8",
    null,
    `day,key,key_name,${head}\r\n2027-01-31,test,test,3,1,2000,200,0,0.0011\r\n`
  ])
  expect(await csv("/admin/v1/usage?bucket=hour&group_by=status&limit=1")).toEqual([
    200,
    "text/csv; charset=utf-8",
    '</admin/v1/usage?bucket=hour&group_by=status&limit=1&cursor=WyIxODAxMzk2ODAwMDAwIiwiMnh4Il0>; rel="next"',
    `start,status,${head},duration_ms\r\n2027-01-31T12:00:00.000Z,2xx,2,0,2000,200,0,0.0011,6\r\n`
  ])
  expect(await csv("/admin/v1/usage?key=nobody")).toEqual([200, "text/csv; charset=utf-8", null, `day,${head}\r\n`])
})

it("admin usage: sums requests by config, client and the metadata that the operator names", async () => {
  const named = accountedGateway(() => replying(reply), {
    settings: { usageMetadata: ["team"] },
    references: Layer.succeed(CountedMetadata, ["team"])
  })
  const ask = async (id: string, headers: Record<string, string>) => {
    const body = { model: "@google/gemini-2.5-flash", messages }
    await (await named.post("/v1/chat/completions", body, { "x-request-id": id, ...headers })).text()
    await until(async () => JSON.stringify(await named.admin("/admin/v1/requests")).includes(`"request_id":"${id}"`))
  }
  await ask("a", { "user-agent": "OpenAI/Python 1.40.0", "x-gateway-metadata": '{"team":"red","user":"u1"}' })
  await ask("b", { "user-agent": "curl/8.5.0", "x-gateway-config": '{"retry":{"attempts":1}}' })
  const sums = { requests: 1, errors: 0, input_tokens: 1000, output_tokens: 100, cached_tokens: 0, cost_usd: 0.00055 }
  expect(await named.admin("/admin/v1/usage?group_by=config,client,metadata.team")).toEqual({
    object: "list",
    data: [
      { config: "", client: "OpenAI/Python", "metadata.team": "red", ...sums },
      { config: "inline", client: "curl", "metadata.team": "", ...sums }
    ],
    next_cursor: null
  })
  expect(await named.admin("/admin/v1/usage?group_by=client&metadata.team=red")).toEqual({
    object: "list",
    data: [{ client: "OpenAI/Python", ...sums }],
    next_cursor: null
  })
  expect(await named.admin("/admin/v1/usage?group_by=metadata.user")).toMatchObject({
    detail: "group_by is any of day, key, provider, model, config, client, metadata.team, joined by commas."
  })
  expect(await named.admin("/admin/v1/requests")).toMatchObject({
    data: [
      { config: "inline", client: "curl" },
      { client: "OpenAI/Python", metadata: { team: "red" } }
    ]
  })
  await named.dispose()
})

it("admin usage: sums requests over time, of all or by a dimension", async () => {
  const range = "from=2027-01-31T12:00:00Z&to=2027-01-31T13:00:00Z"
  const one = { requests: 1, errors: 1, input_tokens: 0, output_tokens: 0, cached_tokens: 0, cost_usd: 0 }
  const two = { requests: 2, errors: 0, input_tokens: 2000, output_tokens: 200, cached_tokens: 0, cost_usd: 0.0011 }
  const start = "2027-01-31T12:00:00.000Z"
  const none = Array.from({ length: 13 }, () => 0)
  const times = (requests: number) => ({
    cache_hits: 0,
    duration_ms: 3 * requests,
    overhead_ms: 2 * requests,
    duration_bands: [requests, ...none],
    ttft_bands: [0, ...none]
  })
  expect(await gateway.admin(`/admin/v1/usage?bucket=minute&${range}`)).toEqual({
    object: "list",
    data: [{ start, ...two, requests: 3, errors: 1, ...times(3) }],
    next_cursor: null
  })
  const byStatus = `/admin/v1/usage?bucket=hour&group_by=status&limit=1&${range}`
  const first = {
    object: "list",
    data: [{ start, status: "2xx", ...two, ...times(2) }],
    next_cursor: "WyIxODAxMzk2ODAwMDAwIiwiMnh4Il0"
  }
  expect(await gateway.admin(byStatus)).toEqual(first)
  expect(await gateway.admin(`${byStatus}&cursor=${first.next_cursor}`)).toEqual({
    object: "list",
    data: [{ start, status: "5xx", ...one, ...times(1) }],
    next_cursor: null
  })
  expect(await gateway.admin(`/admin/v1/usage?bucket=hour&group_by=error&top=requests&limit=1&${range}`)).toEqual({
    object: "list",
    data: [{ error: "", ...two, ...times(2) }],
    next_cursor: null
  })
  expect(await gateway.admin("/admin/v1/usage?bucket=day&from=2027-02-01T00:00:00Z")).toEqual({
    object: "list",
    data: [],
    next_cursor: null
  })
})

it("admin clients: lists the lines of each client", async () => {
  expect(await gateway.admin("/admin/v1/clients")).toEqual({
    object: "list",
    data: clientLines.map((client) => ({ object: "client", ...client })),
    next_cursor: null
  })
})

it("admin metrics: lists counters and gauges by name, with their labels", async () => {
  const names = "gateway_upstream_attempts_total,gateway_circuit_state,gateway_overhead_seconds"
  const attempts = { object: "metric", name: "gateway_upstream_attempts_total" }
  expect(await gateway.admin(`/admin/v1/metrics?name=${names}`)).toEqual({
    object: "list",
    data: [
      { ...attempts, labels: { provider: "google", outcome: "ok" }, value: 2 },
      { ...attempts, labels: { provider: "google", outcome: "upstream_unavailable" }, value: 1 }
    ],
    next_cursor: null
  })
})

describe("refusals of the admin API", () => {
  const problem = (status: number, code: string, detail: string) => ({
    type: `urn:model-gateway:error:${code}`,
    title: code.replaceAll("_", " "),
    status,
    detail,
    instance: expect.any(String)
  })
  it.each([
    [
      "an unknown filter",
      "/admin/v1/requests?stat=200",
      problem(
        400,
        "invalid_value",
        "stat is not known here; there are status, provider, model, key, user, route, client, config, cache, error, request_id, trace_id, min_duration_ms, min_cost_usd, since, until, limit, cursor."
      )
    ],
    [
      "an invalid status",
      "/admin/v1/requests?status=4xx",
      problem(400, "invalid_value", "status is a whole number from 1 to 599.")
    ],
    [
      "an invalid cost",
      "/admin/v1/requests?min_cost_usd=-1",
      problem(400, "invalid_value", "min_cost_usd is an amount in US dollars, such as 0.05.")
    ],
    [
      "metadata by which nothing is counted",
      "/admin/v1/requests?metadata.team=red",
      problem(
        400,
        "invalid_value",
        "metadata.team is not known here; there are status, provider, model, key, user, route, client, config, cache, error, request_id, trace_id, min_duration_ms, min_cost_usd, since, until, limit, cursor."
      )
    ],
    [
      "a page that is too large",
      "/admin/v1/requests?limit=1001",
      problem(400, "invalid_value", "limit is a whole number from 1 to 1000.")
    ],
    [
      "a name that no store can look up",
      "/admin/v1/requests?model=a%00b",
      problem(400, "invalid_value", "model is a name of at most 256 characters, without control characters.")
    ],
    [
      "an invalid moment",
      "/admin/v1/requests?since=yesterday",
      problem(400, "invalid_value", "since is a moment as RFC 3339 has it, such as 2027-01-31T12:00:00Z.")
    ],
    [
      "a moment without a time zone",
      "/admin/v1/requests?since=2027-01-31T12:00:00",
      problem(400, "invalid_value", "since is a moment as RFC 3339 has it, such as 2027-01-31T12:00:00Z.")
    ],
    [
      "an unknown grouping",
      "/admin/v1/usage?group_by=day,week",
      problem(
        400,
        "invalid_value",
        "group_by is any of day, key, provider, model, config, client, joined by commas; telemetry.usage_metadata adds names of metadata."
      )
    ],
    [
      "an invalid day",
      "/admin/v1/usage?from=2027",
      problem(400, "invalid_value", "from is a day, such as 2027-01-31.")
    ],
    [
      "a day that no month has",
      "/admin/v1/usage?to=2027-02-31",
      problem(400, "invalid_value", "to is a day, such as 2027-01-31.")
    ],
    [
      "an unknown bucket",
      "/admin/v1/usage?bucket=week",
      problem(400, "invalid_value", "bucket is one of minute, hour, day.")
    ],
    [
      "several groupings of a bucket",
      "/admin/v1/usage?bucket=hour&group_by=key,model",
      problem(400, "invalid_value", "group_by is with a bucket one of key, provider, model, status, error.")
    ],
    [
      "a day as the moment of a bucket",
      "/admin/v1/usage?bucket=hour&to=2027-01-31",
      problem(400, "invalid_value", "to is a moment as RFC 3339 has it, such as 2027-01-31T12:00:00Z.")
    ],
    [
      "a top of days",
      "/admin/v1/usage?top=cost",
      problem(400, "invalid_value", "top needs a bucket: minute, hour or day.")
    ],
    [
      "an unknown top",
      "/admin/v1/usage?bucket=hour&group_by=key&top=names",
      problem(400, "invalid_value", "top is one of requests, errors, tokens, cost.")
    ],
    [
      "a top in pages",
      "/admin/v1/usage?bucket=hour&group_by=key&top=cost&cursor=WyIwIiwiIl0",
      problem(400, "invalid_value", "cursor has no meaning with top, which is one page.")
    ],
    [
      "a cursor of sums for a bucket",
      "/admin/v1/usage?bucket=hour&cursor=WyJhIiwiYiJd",
      problem(400, "invalid_value", "cursor is the next_cursor of the page before, of the same query.")
    ],
    ...["W10", "WyJhIiwiYiJd", "WzFd", "WyJcdTAwMDAiXQ", "%00"].map(
      (cursor): [string, string, ReturnType<typeof problem>] => [
        `the cursor ${cursor}, which is of another query or none`,
        `/admin/v1/usage?group_by=model&cursor=${cursor}`,
        problem(400, "invalid_value", "cursor is the next_cursor of the page before, of the same query.")
      ]
    ),
    ["an unknown request", "/admin/v1/requests/nobody", problem(404, "request_not_found", "There is no such request.")]
  ])("admin reports: refuses the query with a problem document: %s", async (_, path, expected) => {
    const answer = await gateway.send(path, { headers: { "x-gateway-api-key": adminKey } })
    expect([answer.status, answer.headers.get("content-type"), await answer.json()]).toEqual([
      expected.status,
      "application/problem+json",
      expected
    ])
  })

  it("admin reports: refuses a path below a request with a problem document", async () => {
    // An unknown path is in the list of requests, which other tests count.
    const another = accountedGateway(() => replying(reply))
    const answer = await another.send("/admin/v1/requests/a/b", { headers: { "x-gateway-api-key": adminKey } })
    expect([answer.status, answer.headers.get("content-type"), await answer.json()]).toEqual([
      404,
      "application/problem+json",
      problem(404, "unknown_url", "There is no such URL here: the admin API lives under /admin/v1.")
    ])
    await another.dispose()
  })

  it.each([
    ["no key", {}, 401, "missing_gateway_key"],
    ["a wrong key", { authorization: "Bearer mgk_wrong" }, 401, "invalid_gateway_key"],
    ["a key for models (TH23)", { authorization: `Bearer ${gatewayKey}` }, 401, "invalid_gateway_key"]
  ])("admin reports: refuses the caller with a problem document: %s", async (_, headers, status, code) => {
    for (const path of ["/admin/v1/requests", "/admin/v1/requests/a", "/admin/v1/usage"]) {
      const answer = await gateway.send(path, { headers })
      expect([answer.status, await answer.json()]).toEqual([
        status,
        expect.objectContaining({ type: `urn:model-gateway:error:${code}` })
      ])
    }
  })

  it("admin reports: an admin key cannot call models", async () => {
    const another = accountedGateway(() => replying(reply))
    const answer = await another.post(
      "/v1/chat/completions",
      { model: "@google/gemini-2.5-flash", messages },
      { "x-gateway-api-key": adminKey }
    )
    expect([answer.status, await answer.json()]).toEqual([
      403,
      {
        error: {
          message: 'The gateway key lacks the scope "inference"; an operator gives it one under "scopes" of the key.',
          type: "permission_error",
          param: null,
          code: "key_scope_missing"
        }
      }
    ])
    await another.dispose()
  })
})
