// Tests the page of promises and the judge of ends of `npm run reliability`.
// Must not start a gateway or measure anything.
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import type { Heard } from "./kit/ask.ts"
import { endOf } from "./kit/ends.ts"
import { faults, tokenFaults } from "./kit/faults.ts"
import { grownKinds } from "../bench/heap.ts"
import { promises } from "./promises/all.ts"
import { atLeast, atMost, none, shown } from "./proof.ts"
import { corpusMarkdown, pageWith, type Result, resultMarkdown, whyNotKept } from "./table.ts"

const page = readFileSync(fileURLToPath(new URL("../../docs/reliability.md", import.meta.url)), "utf8")

const heard = (body: string, more: Partial<Heard> = {}): Heard => ({
  status: 200,
  headers: { "x-request-id": "r1" },
  body,
  isComplete: true,
  millis: 1,
  at: 1,
  ...more
})
const chunk = (finish: string | null) =>
  `data: {"choices":[{"delta":{},"finish_reason":${JSON.stringify(finish)}}]}\n\n`
const failure = '{"error":{"message":"m","type":"api_error","param":null,"code":"upstream_error"}}'
const chatPath = "/v1/chat/completions"

describe("page of promises", () => {
  it("reliability page: names every promise with its sentence", () => {
    const rows = [...page.matchAll(/^\| (\w+) \| (Every|Usage|No|Budgets|Memory|A|Reports)\b(.*) \|$/gm)]
    expect(rows.map(([, id]) => id)).toEqual(promises.map(({ id }) => id))
    expect(promises.filter(({ sentence }) => !page.includes(sentence))).toEqual([])
  })

  it("reliability page: has the fault corpus as it is", () => {
    expect(pageWith(page, "corpus", corpusMarkdown(faults, tokenFaults))).toBe(page)
    expect(new Set(faults.map(({ word }) => word)).size).toBe(faults.length)
  })

  it("reliability page: a result replaces what is between its marks, and a part of one is not kept", () => {
    const result: Result = {
      machine: "a machine",
      commit: "0123456789",
      date: "2027-01-31",
      seed: 7,
      isFull: false,
      proved: [
        {
          id: "ends",
          sentence: "Ends.",
          seconds: 1,
          figures: [
            shown("requests", 1_618),
            none("lost", 1),
            atMost("slowest", 1.23456, 2, "ms"),
            atLeast("kept", 1, 2)
          ]
        }
      ]
    }
    expect(pageWith("<!-- result -->\nold\n<!-- /result -->", "result", resultMarkdown(result))).toBe(
      [
        "<!-- result -->",
        "",
        "Measured by `npm run reliability -- --keep --seed=7` at commit 0123456789 on 2027-01-31: a machine.",
        "",
        "| promise | figure | goal | measured | result |",
        "| --- | --- | --- | --- | --- |",
        "| ends | requests |  | 1,618 |  |",
        "| ends | lost | 0 | 1 | broken |",
        "| ends | slowest | at most 2 ms | 1.235 ms | kept |",
        "| ends | kept | at least 2 | 1 | broken |",
        "",
        "<!-- /result -->"
      ].join("\n")
    )
    expect([whyNotKept(result, false), whyNotKept(result, true), whyNotKept({ commit: "0+" }, false)]).toEqual([
      undefined,
      "only some of the promises were proved",
      "the sources differ from the commit"
    ])
  })
})

describe("judge of ends", () => {
  it("ends: a stream is whole with one finish and [DONE], and failed with one error that is last", () => {
    const judged = (body: string) => endOf("chatStream", chatPath, heard(body))
    expect(judged(`${chunk(null)}${chunk("stop")}data: [DONE]\n\n`)).toEqual({ is: "whole" })
    expect(judged(`${chunk(null)}data: ${failure}\n\n`)).toEqual({ is: "failed" })
    expect(judged(`${chunk("stop")}`)).toEqual({ is: "wrong", why: "no [DONE]" })
    expect(judged(`data: ${failure}\n\ndata: [DONE]\n\n`)).toEqual({ is: "wrong", why: "[DONE] after an error" })
    expect(judged(`data: ${failure}\n\n${chunk("stop")}`)).toEqual({ is: "wrong", why: "events after the error" })
    expect(judged(`${chunk(null)}data: [DONE]\n\n`)).toEqual({ is: "wrong", why: "0 ends and no error" })
    expect(judged('data: {"choices"')).toEqual({ is: "wrong", why: "an event without an end" })
  })

  it("ends: an answer that is cut off, has half of its members or no answer at all is wrong", () => {
    const judged = (body: string, more: Partial<Heard> = {}) => endOf("chat", chatPath, heard(body, more))
    const whole = '{"choices":[{"message":{},"finish_reason":"stop"}]}'
    expect(judged(whole)).toEqual({ is: "whole" })
    expect(judged(failure, { status: 502 })).toEqual({ is: "failed" })
    expect(judged(whole, { isComplete: false })).toEqual({ is: "wrong", why: "the answer of 200 was cut off" })
    expect(judged("{}")).toEqual({ is: "wrong", why: "200 with a body that is not whole" })
    expect(judged("ECONNRESET", { status: 0 })).toEqual({ is: "wrong", why: "no answer: ECONNRESET" })
  })
})

describe("heap snapshots", () => {
  it("heap snapshots: the kinds that grew come by their bytes, and others are left out", () => {
    const before = new Map([
      ["object Map", { bytes: 1_024, count: 1 }],
      ["string", { bytes: 5_120, count: 9 }]
    ])
    const after = new Map([
      ["object Map", { bytes: 2_048, count: 3 }],
      ["string", { bytes: 1_024, count: 2 }],
      ["object Set", { bytes: 4_096, count: 4 }]
    ])
    expect(grownKinds(before, after)).toEqual([
      "object Set: 4 KiB more in 4 more objects",
      "object Map: 1 KiB more in 2 more objects"
    ])
  })
})
