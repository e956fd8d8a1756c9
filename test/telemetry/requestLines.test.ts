// Tests the exact log lines of requests; each is one line of JSON for any row.
// Must not depend on the log writer.
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { roundToMicros } from "../../src/domain/RequestRow.ts"
import { attemptLine, levelOf, prettyAttempt, prettyLine, requestLine } from "../../src/telemetry/requestLines.ts"
import { callOf, type CallFacts, type RowFacts, rowOf } from "../support/requestRows.ts"

const endedMillis = Date.parse("2027-01-31T12:00:00.007Z")
const failedFacts: CallFacts = {
  provider: "google",
  model: "gemini-2.5-flash",
  target: 0,
  startedMillis: 0,
  durationMillis: 12.5,
  firstChunkMillis: undefined,
  errorCode: "upstream_unavailable",
  errorMessage: 'The model is "busy".',
  upstreamStatus: 503
}
const facts: RowFacts = {
  endedMillis,
  requestId: "r-1",
  traceId: "0af7651916cd43dd8448eb211c80319c",
  route: "/v1/chat/completions",
  status: 200,
  provider: "vertex-ai",
  model: "gemini-2.5-pro",
  target: 1,
  attempts: [
    failedFacts,
    {
      ...failedFacts,
      provider: "vertex-ai",
      model: "gemini-2.5-pro",
      target: 1,
      startedMillis: 100,
      errorCode: undefined,
      errorMessage: undefined,
      upstreamStatus: undefined
    }
  ],
  stream: true,
  cache: "MISS",
  durationMillis: 12_340.1234567,
  ttftMillis: 120,
  overheadMillis: 0.35,
  usage: {
    input: 10,
    output: 20,
    cached: 1,
    cacheWritten: 0,
    reasoning: 5,
    audioInput: 0,
    audioOutput: 0,
    imageOutput: 0,
    images: 0
  },
  costMicros: 496,
  keyId: "ci",
  errorCode: undefined
}
const full = rowOf(facts)
const failed = callOf(failedFacts)
const bare = rowOf({
  ...facts,
  route: "unmatched",
  status: 404,
  provider: undefined,
  model: undefined,
  target: undefined,
  attempts: [],
  stream: false,
  cache: undefined,
  durationMillis: 0.5,
  ttftMillis: undefined,
  overheadMillis: 0.5,
  usage: undefined,
  costMicros: undefined,
  keyId: undefined,
  errorCode: "unknown_url",
  errorMessage: "No such URL.",
  errorParam: "model"
})

describe("the JSON log line", () => {
  it("JSON log line: of a request has every fact", () => {
    expect(requestLine(full, "info")).toBe(
      '{"ts":"2027-01-31T12:00:00.007Z","level":"info","msg":"request","request_id":"r-1","trace_id":"0af7651916cd43dd8448eb211c80319c",' +
        '"route":"/v1/chat/completions","status":200,"provider":"vertex-ai","model":"gemini-2.5-pro","target":1,"attempts":2,"stream":true,' +
        '"cache":"MISS","duration_ms":12340.123,"ttft_ms":120,"overhead_ms":0.35,"input_tokens":10,"output_tokens":20,"cost_usd":0.000496,' +
        '"key_id":"ci"}'
    )
  })

  it("JSON log line: of a request without a target leaves unknown facts out", () => {
    expect(requestLine(bare, "warn")).toBe(
      '{"ts":"2027-01-31T12:00:00.007Z","level":"warn","msg":"request","request_id":"r-1","trace_id":"0af7651916cd43dd8448eb211c80319c",' +
        '"route":"unmatched","status":404,"attempts":0,"stream":false,"duration_ms":0.5,"overhead_ms":0.5,"error_code":"unknown_url","error_message":"No such URL.","error_param":"model"}'
    )
  })

  it("JSON log line: of a failed call has its own time, its status and its error", () => {
    expect(attemptLine(full, failed, 0)).toBe(
      '{"ts":"2027-01-31T11:59:47.679Z","level":"warn","msg":"attempt","request_id":"r-1","trace_id":"0af7651916cd43dd8448eb211c80319c",' +
        '"provider":"google","model":"gemini-2.5-flash","target":0,"attempt":1,"upstream_status":503,"duration_ms":12.5,"error_code":"upstream_unavailable","error_message":"The model is \\"busy\\"."}'
    )
  })

  it("JSON log line: texts of clients and operators stay in their strings, and numbers in their digits (TH31)", () => {
    const millis = fc.double({ min: 0, max: 1e9, noNaN: true })
    const row = fc.record({
      endedMillis: fc.integer({ min: 0, max: 4e12 }),
      traceId: fc.string({ unit: "grapheme-ascii", minLength: 1 }),
      keyId: fc.string({ unit: "binary" }),
      errorCode: fc.string({ unit: "binary" }),
      durationMillis: millis,
      overheadMillis: millis,
      costMicros: fc.nat()
    })
    fc.assert(
      fc.property(row, (some) => {
        const line = requestLine(rowOf({ ...facts, ...some }), "info")
        expect(line.includes("\n")).toBe(false)
        expect(JSON.parse(line)).toMatchObject({
          ts: new Date(some.endedMillis).toISOString(),
          trace_id: some.traceId,
          key_id: some.keyId.toWellFormed() === some.keyId ? some.keyId : expect.any(String),
          duration_ms: roundToMicros(some.durationMillis),
          overhead_ms: roundToMicros(some.overheadMillis),
          cost_usd: some.costMicros / 1e6
        })
      })
    )
  })
})

it("terminal log line: shows the facts of requests and failed calls", () => {
  expect(prettyLine(full)).toBe(
    "12:00:00  200  /v1/chat/completions  @vertex-ai/gemini-2.5-pro  12.3 s  first 120 ms  10+20 tokens  $0.000496  2 calls  r-1"
  )
  expect(prettyLine(bare)).toBe("12:00:00  404  unmatched  1 ms  unknown_url  No such URL.  r-1")
  expect(prettyAttempt(full, failed, 0)).toBe(
    '11:59:47  call 1 failed  @google/gemini-2.5-flash  13 ms  503  upstream_unavailable  The model is "busy".  r-1'
  )
})

it("log level: is error for faults of gateway and upstream, and warn for those of the client", () => {
  const level = (status: number, errorCode?: string) => levelOf({ status, error_code: errorCode })
  expect([level(200), level(404, "a"), level(499, "b"), level(502, "c"), level(200, "upstream_truncated")]).toEqual([
    "info",
    "warn",
    "warn",
    "error",
    "warn"
  ])
})
