// Tests the parts of the pages that steer the gateway: burn-down, differences, trees, JSON faults, texts of prompts.
// Must not need a browser.
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { lineDiff, nearChanges } from "../../src/console/parts/lineDiff.ts"
import { configTree } from "../../src/console/pages/configs/configTree.ts"
import { burnDown, periodAt } from "../../src/console/usageSums.ts"
import { changedKey, keyBody } from "../../src/console/pages/keys/keyBody.ts"
import { promptBody, snippetOf, variablesIn } from "../../src/console/pages/prompts/promptBody.ts"
import { jsonFaultLine } from "../../src/console/readJson.ts"

/** A power of two, so that rates are exact. */
const part = 1024
const start = Date.parse("2027-02-01T00:00:00Z")

describe("burn-down", () => {
  it("burn-down: a period is the day or the month of UTC, in hours or days", () => {
    const at = Date.parse("2027-02-03T10:30:00Z")
    const day = periodAt("day", at)
    expect([day.from, day.to, day.starts.length]).toEqual([
      Date.parse("2027-02-03T00:00:00Z"),
      Date.parse("2027-02-04T00:00:00Z"),
      24
    ])
    const month = periodAt("month", at)
    expect([month.from, month.to, month.starts.length, month.starts[1]]).toEqual([
      start,
      Date.parse("2027-03-01T00:00:00Z"),
      28,
      Date.parse("2027-02-02T00:00:00Z")
    ])
  })

  it("burn-down: what is left falls by the spending, and goes on at the rate so far", () => {
    const period = { from: 0, to: 4 * part, starts: [0, part, 2 * part, 3 * part] }
    expect(burnDown(10, period, [1, 3, 0, 0], 2 * part)).toEqual({
      left: [10, 9, 6, 6, null],
      ahead: [null, null, null, 4, 2],
      total: 8,
      emptyAt: undefined
    })
    expect(burnDown(5, period, [1, 3, 0, 0], 2 * part)).toEqual({
      left: [5, 4, 1, 1, null],
      ahead: [null, null, null, 0, 0],
      total: 8,
      emptyAt: 2.5 * part
    })
  })

  it("burn-down: without spending nothing falls, and a spent budget is empty now", () => {
    const period = { from: 0, to: 2 * part, starts: [0, part] }
    expect(burnDown(5, period, [0, 0], part)).toEqual({
      left: [5, 5, 5],
      ahead: [null, null, 5],
      total: 0,
      emptyAt: undefined
    })
    const spent = burnDown(5, period, [7, 0], part / 2)
    expect([spent.left, spent.emptyAt]).toEqual([[5, 0, null], part / 2])
  })
})

describe("difference of texts", () => {
  it("difference: lines that leave and come are in the order of the texts", () => {
    expect(lineDiff("a\nb\nc", "a\nx\nc\nd")).toEqual([
      { kind: "same", text: "a" },
      { kind: "gone", text: "b" },
      { kind: "new", text: "x" },
      { kind: "same", text: "c" },
      { kind: "new", text: "d" }
    ])
  })

  it("difference: both texts can be made of it again", () => {
    const texts = fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1 }).map((lines) => lines.join("\n"))
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        const lines = lineDiff(before, after)
        const without = (left: string) => lines.filter(({ kind }) => kind !== left).map(({ text }) => text)
        expect([without("new").join("\n"), without("gone").join("\n")]).toEqual([before, after])
      })
    )
  })

  it("difference: lines far from a change become one line of dots", () => {
    const same = ["1", "2", "3", "4", "5", "6"].join("\n")
    expect(nearChanges(lineDiff(`${same}\nold`, `${same}\nnew`)).map(({ text }) => text)).toEqual([
      "…",
      "4",
      "5",
      "6",
      "old",
      "new"
    ])
    expect(nearChanges(lineDiff("a\nb", "a\nb"))).toEqual([{ kind: "same", text: "…" }])
  })

  it("difference: very long texts are compared as a whole", () => {
    const long = "a\n".repeat(2000)
    expect(lineDiff(long, `${long}b`)).toHaveLength(4002)
  })
})

describe("tree of a config", () => {
  const shown = (config: Parameters<typeof configTree>[0]) =>
    configTree(config).map(({ column, note, parent, path, row, title }) => [
      path,
      title,
      note,
      column,
      row,
      parent?.path
    ])

  it("config tree: a config without targets is one box", () => {
    expect(shown({ provider: "@google", override_params: { model: "m" } })).toEqual([
      ["config", "@google", "m", 0, 0, undefined]
    ])
    expect(shown({})).toEqual([["config", "as the request names", "", 0, 0, undefined]])
  })

  it("config tree: groups are in the middle of their targets, which state how they are chosen", () => {
    const config = {
      strategy: { mode: "conditional" as const },
      targets: [
        { name: "long", strategy: { mode: "fallback" as const }, targets: [{ provider: "a" }, { virtual_key: "b" }] },
        { name: "even", strategy: { mode: "loadbalance" as const }, targets: [{ provider: "c", weight: 3 }] }
      ]
    }
    expect(shown(config)).toEqual([
      ["config", "conditional", "", 0, 1, undefined],
      ["config.targets[0]", "fallback", "long", 1, 0.5, "config"],
      ["config.targets[0].targets[0]", "a", "1.", 2, 0, "config.targets[0]"],
      ["config.targets[0].targets[1]", "b", "2.", 2, 1, "config.targets[0]"],
      ["config.targets[1]", "loadbalance", "even", 1, 2, "config"],
      ["config.targets[1].targets[0]", "c", "weight 3", 2, 2, "config.targets[1]"]
    ])
  })
})

describe("faults of JSON", () => {
  it.each([
    ['{\n  "provider": \n}', 3],
    ['{\n  "a": 1,\n}', 3],
    ['{ "a": 1\n"b": 2 }', 2],
    ['{\n"a" 1 }', 2],
    ["[1,\n2", 2],
    ["{}\n{}", 2],
    ['{ "a": tru }', 1],
    ['{\n"a: 1 }', 2],
    ["{a: 1}", 1],
    ["[1}", 1],
    ["", 1]
  ])("JSON faults: %j breaks at line %i", (text, line) => {
    expect(jsonFaultLine(text)).toBe(line)
  })

  it("JSON faults: a text has a line exactly where it is no JSON", () => {
    const tokens = fc.constantFrom("{", "}", "[", "]", ":", ",", '"a"', "1", "true", "-", "\n", " ", '"')
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json(),
          fc.array(tokens).map((parts) => parts.join(""))
        ),
        (text) => {
          let isJson = true
          try {
            JSON.parse(text)
          } catch {
            isJson = false
          }
          expect(jsonFaultLine(text) === undefined).toBe(isJson)
        }
      )
    )
  })
})

describe("texts of a prompt", () => {
  it("prompt texts: variables are found once, partials and escaped braces are not", () => {
    const messages = [
      { role: "system", content: "{{>tone}} You talk to {{ name }}." },
      { role: "user", content: [{ type: "text", text: "{{message}} by {{name}}, \\{{text}}" }] }
    ]
    expect(variablesIn([messages, { user: "{{user.id}}" }])).toEqual(["name", "message", "user.id"])
    expect(variablesIn(undefined)).toEqual([])
  })

  it("prompt texts: the command quotes what a shell would read", () => {
    expect(snippetOf("http://127.0.0.1:8787", "greeting@2", { name: "O'Neil" })).toBe(
      [
        "curl -s 'http://127.0.0.1:8787/v1/prompts/greeting@2/completions' -H 'content-type: application/json' \\",
        '  -H "x-gateway-api-key: $GATEWAY_KEY" \\',
        `  -d '{"variables":{"name":"O'\\''Neil"}}'`
      ].join("\n")
    )
  })
})

describe("body of a prompt", () => {
  const field = (fields: Readonly<Record<string, string>>) => (name: string) => fields[name] ?? ""
  const messages = [{ role: "user", content: "Hi" }]

  it("prompt body: the labels in the form go to the version that is saved, and others stay", () => {
    const form = field({ name: "Title", model: "m", parameters: '{ "seed": 1 }', labels: "production, , new" })
    expect(
      promptBody({ field: form, isPartial: false, messages, labels: { production: 1, old: 1 }, version: 2 })
    ).toEqual({
      name: "Title",
      labels: { production: 2, old: 1, new: 2 },
      model: "m",
      messages,
      parameters: { seed: 1 }
    })
    const partial = field({ text: "You are brief." })
    expect(promptBody({ field: partial, isPartial: true, messages, labels: undefined, version: 1 })).toEqual({
      text: "You are brief."
    })
  })

  it("prompt body: parameters that are no JSON are refused with their line", () => {
    const form = field({ parameters: '{\n  "seed": \n}' })
    expect(() => promptBody({ field: form, isPartial: false, messages, labels: undefined, version: 1 })).toThrow(
      new Error("The parameters are not JSON from their line 3 on.")
    )
  })
})

describe("body of a key", () => {
  const fields = {
    name: "team",
    scope: "inference",
    requests_per_minute: "600",
    requests_burst: "20",
    tokens_burst: " ",
    concurrency: "3",
    budget: "5",
    per: "day",
    expires_at: "2027-01-31T12:00",
    config: "fast",
    log_content: "errors"
  }
  const field = (name: string): string => new Map(Object.entries(fields)).get(name) ?? ""

  it("key body: limits, budget, expiry and content are taken over, and empty fields are left out", () => {
    expect(keyBody(field)).toEqual({
      name: "team",
      scopes: ["inference"],
      config: "fast",
      rate_limit: { requests_per_minute: 600, requests_burst: 20 },
      concurrency: 3,
      budget: { usd: 5, per: "day" },
      expires_at: new Date("2027-01-31T12:00").toISOString(),
      log_content: "errors"
    })
    expect(keyBody(() => "")).toEqual({ name: "", scopes: ["inference"] })
  })

  it("key body: a change keeps what the form does not have", () => {
    const row = {
      object: "key",
      id: "k",
      name: "old",
      source: "store",
      scopes: ["inference", "admin"],
      configs: ["a"],
      metadata: { team: "x" },
      metadata_locked: true,
      models: ["m"]
    } as const
    expect(changedKey(row, { name: "new", scopes: ["inference"] })).toEqual({
      name: "new",
      scopes: ["inference", "admin"],
      configs: ["a"],
      metadata: { team: "x" },
      metadata_locked: true
    })
  })
})
