// Tests the texts of the console: formats, lines, streams, exports and the body of a key.
// Must not need a browser.
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { AdminRequest } from "../../src/api/AdminResources.ts"
import { change, count, dollars, duration, percent } from "../../src/console/format.ts"
import { keyBody } from "../../src/console/pages/keys/keyBody.ts"
import { addEvent, noAnswer } from "../../src/console/pages/playground/chatStream.ts"
import { lineOfPath } from "../../src/console/readJson.ts"
import { csvOf, ndjsonOf } from "../../src/console/pages/requests/requestList.ts"

type Row = typeof AdminRequest.Type

const row = (more: Partial<Row> = {}): Row => ({
  object: "request",
  id: "id-1",
  request_id: "r1",
  trace_id: "t1",
  ts: "2027-01-31T12:00:00.000Z",
  route: "/v1/chat/completions",
  status: 200,
  provider: "google",
  model: "m",
  stream: false,
  duration_ms: 10,
  overhead_ms: 1,
  attempts: [],
  ...more
})

describe("console texts", () => {
  it("console texts: numbers have units", () => {
    expect([count(9999), count(12_345), percent(0.0614)]).toEqual(["9,999", "12.3K", "6.1 %"])
    expect([duration(undefined), duration(1.25), duration(250), duration(2500), duration(90_000)]).toEqual([
      "–",
      "1.3 ms",
      "250 ms",
      "2.50 s",
      "1.5 min"
    ])
    expect([dollars(undefined), dollars(0), dollars(0.000283), dollars(0.5), dollars(12)]).toEqual([
      "–",
      "$0",
      "$0.00028",
      "$0.500",
      "$12.00"
    ])
    expect([change(0, 5), change(4, 5), change(5, 4)]).toEqual([undefined, "+25 %", "−20 %"])
  })

  it("console texts: CSV quotes cells, and no cell is a formula", () => {
    const [, line] = csvOf([row({ model: '=1+1,"x"', key_id: "-k", cost_usd: -1 })]).split("\r\n")
    expect(line).toBe(
      `2027-01-31T12:00:00.000Z,id-1,r1,/v1/chat/completions,200,google,"'=1+1,""x""",'-k,false,10,,,,-1,`
    )
  })

  it("console texts: NDJSON has a request a line", () => {
    const rows = [row(), row({ id: "id-2" })]
    expect(
      ndjsonOf(rows)
        .trimEnd()
        .split("\n")
        .map((line): unknown => JSON.parse(line))
    ).toEqual(rows)
  })

  it("console texts: the body of a key leaves empty fields out", () => {
    const body = (fields: Readonly<Record<string, string>>) => keyBody((name) => fields[name] ?? "")
    expect(body({ name: " a " })).toEqual({ name: "a", scopes: ["inference"] })
    expect(
      body({
        name: "a",
        scope: "admin",
        providers: "google, ,x",
        models: "m*",
        requests_per_minute: "60",
        budget: "0.5"
      })
    ).toEqual({
      name: "a",
      scopes: ["admin"],
      providers: ["google", "x"],
      models: ["m*"],
      rate_limit: { requests_per_minute: 60 },
      budget: { usd: 0.5, per: "month" }
    })
  })
})

describe("console lines", () => {
  const text = '{\n  "a": [1, { "b": "},[" }],\n  "c": {\n    "d": null\n  },\n  "e": "x"\n}'
  it.each([
    ["a", 2],
    ["a[1].b", 2],
    ["c", 3],
    ["c.d", 4],
    ["e", 6],
    ["a[2]", undefined],
    ["f", undefined],
    ["", undefined]
  ])("console lines: the value at %s begins at line %s", (path, line) => {
    expect(lineOfPath(text, path)).toBe(line)
  })

  it("console lines: every field of an object has its own line", () => {
    const object = fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.jsonValue(), {
      minKeys: 1,
      noNullPrototype: true
    })
    fc.assert(
      fc.property(object, (value) => {
        const lines = Object.entries(value).map(([name, inner]) => `"${name}": ${JSON.stringify(inner)}`)
        const written = `{\n${lines.join(",\n")}\n}`
        expect(Object.keys(value).map((name) => lineOfPath(written, name))).toEqual(lines.map((_, index) => index + 2))
      })
    )
  })
})

describe("console streams", () => {
  it("console streams: events become texts, thoughts, counts and faults", () => {
    const lines = [
      'data: {"choices":[{"delta":{"role":"assistant","content":""}}]}',
      'data: {"choices":[{"delta":{"reasoning_content":"hm"}}]}',
      "",
      ": ping",
      'data: {"choices":[{"delta":{"content":"He"}}]}',
      'data: {"choices":[{"delta":{"content":"llo"}}],"usage":null}',
      'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}',
      'data: {"error":{"message":"cut"}}',
      "data: [DONE]"
    ]
    expect(lines.reduce(addEvent, noAnswer)).toEqual({
      text: "Hello",
      thoughts: "hm",
      calls: [],
      pictures: [],
      input: 1,
      output: 2,
      fault: "cut"
    })
  })
})
