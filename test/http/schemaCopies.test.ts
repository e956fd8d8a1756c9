// Tests JSON schemas whose references multiply a request, through the whole service: copies allowed, copies refused.
// Must not reach the network: upstreams are scripted.
import { describe, expect, it } from "vitest"
import { defaultLimits } from "../../src/domain/Limits.ts"
import { googleAccount, vertexAccount } from "../support/account.ts"
import { fallback, inline } from "../support/config.ts"
import { reply } from "../support/gemini.ts"
import { gatewaysOver, replying } from "../support/scripted.ts"
import { settingsFor } from "../support/TestGateway.ts"

const over = gatewaysOver()
const answered = replying(reply([{ text: "hi" }], { finishReason: "STOP" }))
const path = "/v1/chat/completions"

/** These models take the OpenAPI subset, in which references are written out. */
const google = { model: "@google/gemini-2.0-flash", messages: [{ role: "user", content: "hi" }] }
const vertex = { ...google, model: "@vertex-ai/gemini-2.0-flash" }

const functionOf = (name: string, parameters: object) => ({ type: "function", function: { name, parameters } })
const named = <A>(count: number, value: A): Record<string, A> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, value]))
/** Refers to a definition of some characters so many times. */
const referring = (times: number, size: number) => ({
  type: "object",
  properties: named(times, { $ref: "#/$defs/D" }),
  $defs: { D: { type: "string", description: "x".repeat(size) } }
})
const formatOf = (schema: object) => ({ type: "json_schema", json_schema: { name: "answer", schema } })

const grown = (place: string) => ({
  error: {
    message:
      `${place}: the schemas of the request grow by more than four times its size, and by more than limits.schemaCopyBytes, ` +
      "when references and choices are written out; refer to smaller definitions, or to fewer of them.",
    type: "invalid_request_error",
    param: place,
    code: "invalid_schema"
  }
})
const first = "tools[0].function.parameters"
const format = "response_format.json_schema.schema"

describe("schemas that multiply a request (TH14)", () => {
  it.each<readonly [name: string, place: string, body: object]>([
    [
      "ten tools of a hundred references",
      "tools[4].function.parameters",
      { ...google, tools: Array.from({ length: 10 }, (_, index) => functionOf(`f${index}`, referring(100, 2_500))) }
    ],
    [
      "six hundred references to one large definition",
      first,
      { ...google, tools: [functionOf("f", referring(600, 900_000))] }
    ],
    ["references in a response format", format, { ...google, response_format: formatOf(referring(400, 900_000)) }],
    [
      "a list of references to lists of words",
      first,
      {
        ...google,
        tools: [
          functionOf("f", {
            type: "object",
            properties: named(2_000, { $ref: "#/$defs/D" }),
            $defs: { D: { enum: Array.from({ length: 20_000 }, (_, index) => `e${index}`) } }
          })
        ]
      }
    ],
    [
      "several types of one long description",
      first,
      {
        ...vertex,
        tools: [
          functionOf("f", {
            type: "object",
            properties: {
              a: {
                type: ["string", "number", "integer", "boolean", "array", "object"],
                description: "x".repeat(1_000_000)
              }
            }
          })
        ]
      }
    ],
    [
      "choices under one long description",
      first,
      {
        ...vertex,
        tools: [
          functionOf("f", {
            type: "object",
            properties: {
              a: { description: "x".repeat(500_000), anyOf: Array.from({ length: 500 }, () => ({ type: "string" })) }
            }
          })
        ]
      }
    ],
    [
      "references inside allOf, where others are sent as they are",
      first,
      {
        ...google,
        model: "@google/gemini-2.5-flash",
        tools: [
          functionOf("f", { ...referring(0, 500_000), properties: named(600, { allOf: [{ $ref: "#/$defs/D" }] }) })
        ]
      }
    ],
    [
      "tuples in tuples",
      first,
      {
        ...google,
        tools: [
          functionOf(
            "f",
            Array.from({ length: 50 }).reduce<object>(
              (inner) => ({ type: "array", items: [inner, { type: "string" }] }),
              { type: "string", description: "x".repeat(500_000) }
            )
          )
        ]
      }
    ]
  ])("schema copies: %s are refused before anything is sent (TH14)", async (_name, place, body) => {
    const { post, seen } = over(() => answered)
    const answer = await post(path, body)
    expect([answer.status, await answer.json(), seen]).toEqual([400, grown(place), []])
  })

  it("schema copies: tools and response format share one count (TH14)", async () => {
    const { post } = over(() => answered)
    const tools = [functionOf("f", referring(70, 10_000))]
    const response_format = formatOf(referring(70, 10_000))
    expect([
      (await post(path, { ...google, tools })).status,
      (await post(path, { ...google, response_format })).status
    ]).toEqual([200, 200])
    const both = await post(path, { ...google, tools, response_format })
    expect([both.status, await both.json()]).toEqual([400, grown(first)])
  })

  it("schema copies: the sent body is at most the request, its copies and the allowance for them (TH14)", async () => {
    const { post, seen } = over(() => answered)
    const sizes = []
    for (const times of [10, 50, 90, 100, 110, 200]) {
      const body = { ...google, tools: [functionOf("f", referring(times, 10_000))] }
      const { status } = await post(path, body)
      const sent = seen.pop()
      sizes.push([
        times,
        status,
        sent === undefined ||
          JSON.stringify(sent.body).length <= JSON.stringify(body).length + defaultLimits.schemaCopyBytes
      ])
    }
    expect(sizes).toEqual([
      [10, 200, true],
      [50, 200, true],
      [90, 200, true],
      [100, 200, true],
      [110, 400, true],
      [200, 400, true]
    ])
  })

  it("schema copies: a large request may copy four times its size (TH14)", async () => {
    const { post } = over(() => answered)
    const of = async (times: number) =>
      (await post(path, { ...google, tools: [functionOf("f", referring(times, 600_000))] })).status
    expect([await of(3), await of(5)]).toEqual([200, 400])
  })

  it("schema copies: schemas without references, and references sent unchanged, are unlimited (TH14)", async () => {
    const { post, seen } = over(() => answered)
    const plain = { type: "object", properties: named(300, { type: "string", description: "x".repeat(10_000) }) }
    expect((await post(path, { ...google, tools: [functionOf("f", plain)] })).status).toBe(200)
    seen.length = 0
    const body = { ...google, model: "@google/gemini-2.5-flash", tools: [functionOf("f", referring(400, 100_000))] }
    expect((await post(path, body)).status).toBe(200)
    expect(JSON.stringify(seen[0]?.body).length).toBeLessThan(JSON.stringify(body).length)
  })

  it("schema parts: 30,000 of a request are converted, and more are refused (TH14)", async () => {
    const { post } = over(() => answered)
    const tools = (count: number) =>
      Array.from({ length: 30 }, (_, index) =>
        functionOf(`f${index}`, { type: "object", properties: named(count, { type: "string" }) })
      )
    const gemini3 = { ...google, model: "@google/gemini-3.8-flash" }
    expect((await post(path, { ...gemini3, tools: tools(999) })).status).toBe(200)
    const refused = await post(path, { ...gemini3, tools: tools(1_000) })
    expect([refused.status, await refused.json()]).toEqual([
      400,
      {
        error: {
          message:
            "tools[29].function.parameters: the schemas of the request have more than 30000 parts together; send fewer or smaller ones.",
          type: "invalid_request_error",
          param: "tools[29].function.parameters",
          code: "invalid_schema"
        }
      }
    ])
  })

  it("schema types: two lists of 80,000 words are joined in one pass each (TH14)", async () => {
    const { post, seen } = over(() => answered)
    const words = (more: string) => ({ type: [...Array.from({ length: 80_000 }, (_, at) => `${more}${at}`), "string"] })
    const tools = [functionOf("f", { type: "object", properties: { a: { allOf: [words("a"), words("b")] } } })]
    expect((await post(path, { ...google, model: "@google/gemini-3.8-flash", tools })).status).toBe(200)
    expect(JSON.stringify(seen[0]?.body)).toContain(
      '"parametersJsonSchema":{"type":"object","properties":{"a":{"type":"string"}}}'
    )
  })

  it("schema copies: recursive schemas are unrolled less where the allowance is small (TH14)", async () => {
    const { post, seen } = over(() => answered)
    const tools = Array.from({ length: 100 }, (_, index) =>
      functionOf(`f${index}`, { type: "object", properties: named(8, { $ref: "#" }) })
    )
    expect((await post(path, { ...google, tools })).status).toBe(200)
    const size = JSON.stringify(seen[0]?.body).length
    expect([size > JSON.stringify({ ...google, tools }).length, size < 2 * defaultLimits.schemaCopyBytes]).toEqual([
      true,
      true
    ])
  })

  it("schema copies: the operator sets the allowance, and every fallback target has all of it (TH14)", async () => {
    const { limits } = settingsFor("http://unused.invalid", { accounts: [googleAccount, vertexAccount] })
    const narrow = over(() => answered, { settings: { limits: { ...limits, schemaCopyBytes: 1_000 } } })
    const small = { ...google, tools: [functionOf("f", referring(30, 1_000))] }
    expect([(await narrow.post(path, small)).status, (await over(() => answered).post(path, small)).status]).toEqual([
      400, 200
    ])
    const { post, seen } = over(({ url }) =>
      url.includes("aiplatform") ? answered : { status: 503, headers: {}, chunks: ["{}"] }
    )
    const body = { ...google, model: "gemini-2.0-flash", tools: [functionOf("f", referring(70, 10_000))] }
    expect(
      (
        await post(
          path,
          body,
          inline(fallback({ provider: "google", retry: { attempts: 0 } }, { provider: "vertex-ai" }))
        )
      ).status
    ).toBe(200)
    expect(seen.length).toBe(2)
  })
})
