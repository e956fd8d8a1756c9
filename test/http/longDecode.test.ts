// Long answers of Gemini 4 over the whole service: hops asked for one after the other, joined, counted and cut short.
// It must not know how the hops are followed.
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { describe, expect, it } from "vitest"
import type { Json, JsonObject } from "../../src/domain/text/json.ts"
import type { ScriptedResponse } from "../../src/upstream/Transport.ts"
import type { TransportFault } from "../../src/upstream/HttpExchange.ts"
import { until } from "../support/eventually.ts"
import { accountedGateway } from "../support/accounted.ts"
import { gatewayKey } from "../support/TestGateway.ts"
import { type ScriptedOptions, gatewaysOver, type SeenCall } from "../support/scripted.ts"

const gatewayOver = gatewaysOver()
const path = "/v1/chat/completions"
const loose = { "x-gateway-strict-schema-compliance": "false" }
const messages = [{ role: "user", content: "Write." }]
const contents = [{ role: "user", parts: [{ text: "Write." }] }]
const long = { model: "@google/gemini-4-neon", messages, max_tokens: 100_000 }
const sentBody = { contents, generationConfig: { maxOutputTokens: 100_000 } }

interface Said {
  readonly parts?: ReadonlyArray<Json>
  readonly finishReason?: string
  readonly token?: string
  readonly counts?: JsonObject
}

const event = ({ counts, finishReason, parts = [], token }: Said): Json => ({
  candidates: [
    {
      content: { role: "model", parts },
      ...(finishReason === undefined ? {} : { finishReason }),
      ...(token === undefined ? {} : { continuationToken: token })
    }
  ],
  modelVersion: "gemini-4-neon",
  ...(counts === undefined ? {} : { usageMetadata: counts })
})

const counts = (promptTokenCount: number, candidatesTokenCount: number): JsonObject => ({
  promptTokenCount,
  candidatesTokenCount,
  totalTokenCount: promptTokenCount + candidatesTokenCount
})

/** Three hops; a call starts in the second and ends in the third. */
const hops: ReadonlyArray<Said> = [
  { parts: [{ text: "One " }], finishReason: "CONTINUATION", token: "dG9rZW4x", counts: counts(5, 10) },
  {
    parts: [
      { text: "two." },
      { functionCall: { name: "note", partialArgs: [{ jsonPath: "$.a", stringValue: "x" }], willContinue: true } }
    ],
    finishReason: "CONTINUATION",
    token: "dG9rZW4y",
    counts: counts(15, 20)
  },
  {
    parts: [{ functionCall: { partialArgs: [{ jsonPath: "$.b", stringValue: "y" }] } }],
    finishReason: "STOP",
    counts: counts(35, 3)
  }
]
const usage = {
  prompt_tokens: 55,
  completion_tokens: 33,
  total_tokens: 88,
  prompt_tokens_details: { cached_tokens: 0 },
  upstream: { promptTokenCount: 55, candidatesTokenCount: 33, totalTokenCount: 88, initialPromptTokenCount: 5 },
  cost: 0.00066
}

const tools = [{ type: "function", function: { name: "note", parameters: { type: "object" } } }]
const sentTools = [{ functionDeclarations: [{ name: "note", description: "" }] }]

const whole = (said: Said): ScriptedResponse => ({
  status: 200,
  headers: { "content-type": "application/json" },
  chunks: [JSON.stringify(event(said))]
})
const streamed = (said: Said): ScriptedResponse => ({
  status: 200,
  headers: { "content-type": "text/event-stream" },
  chunks: [`data: ${JSON.stringify(event(said))}\n\n`]
})
const short: Said = { parts: [{ text: "Done." }], finishReason: "STOP" }
const refusal = (status: number, word = "INVALID_ARGUMENT"): ScriptedResponse => ({
  status,
  headers: { "content-type": "application/json" },
  chunks: [JSON.stringify({ error: { code: status, message: "No.", status: word } })]
})

type Step = ScriptedResponse | Effect.Effect<ScriptedResponse, TransportFault>

/** Answers the calls in this order. */
const over = (steps: ReadonlyArray<Step>, options: ScriptedOptions = {}) => {
  let at = 0
  return gatewayOver(() => {
    const step = steps[at++]
    if (step === undefined) throw new Error("the upstream was called more often than the test expects")
    return step
  }, options)
}

const bodies = (seen: ReadonlyArray<SeenCall>) => seen.map(({ body }) => body)
const framesOf = (text: string): ReadonlyArray<Json> =>
  text
    .split("\n\n")
    .filter((frame) => frame.startsWith("data: {"))
    .map((frame): Json => JSON.parse(frame.slice(6)))

const id = expect.stringMatching(/^chatcmpl-/)
const created = expect.any(Number)
const call = {
  index: 0,
  id: expect.stringMatching(/^call-/),
  type: "function",
  function: { name: "note", arguments: '{"a":"x","b":"y"}' }
}

describe("long decode: a complete answer", () => {
  it("long decode: three hops are one answer with the sum of their counts (M-601, M-603, M-1004)", async () => {
    const gateway = over(hops.map(whole))
    const answer = await gateway.post(path, { ...long, tools }, loose)
    const { index: _index, ...unaryCall } = call
    expect([answer.status, await answer.json()]).toEqual([
      200,
      {
        id,
        object: "chat.completion",
        created,
        model: "gemini-4-neon",
        provider: "google",
        choices: [
          {
            index: 0,
            message: {
              role: "assistant",
              content: "One two.",
              refusal: null,
              content_blocks: [{ type: "text", text: "One two." }],
              tool_calls: [unaryCall]
            },
            logprobs: null,
            finish_reason: "tool_calls",
            native_finish_reason: "STOP"
          }
        ],
        usage
      }
    ])
    const body = { ...sentBody, tools: sentTools }
    expect(bodies(gateway.seen)).toStrictEqual([
      body,
      { ...body, continuationToken: "dG9rZW4x" },
      { ...body, continuationToken: "dG9rZW4y" }
    ])
    expect(new Set(gateway.seen.map(({ url }) => url))).toStrictEqual(
      new Set(["https://generativelanguage.googleapis.com/v1beta/models/gemini-4-neon:generateContent"])
    )
  })
  it("long decode: a failed hop leaves what there is, its length and its token (M-604, M-605)", async () => {
    const [first = {}] = hops
    const gateway = over([whole(first), refusal(400)])
    const answer = await gateway.post(path, long, loose)
    expect([answer.status, answer.headers.get("x-gateway-continuation"), await answer.json()]).toEqual([
      200,
      "interrupted",
      {
        id,
        object: "chat.completion",
        created,
        model: "gemini-4-neon",
        provider: "google",
        continuation: "interrupted",
        choices: [
          {
            index: 0,
            message: {
              role: "assistant",
              content: "One ",
              refusal: null,
              content_blocks: [{ type: "text", text: "One " }]
            },
            logprobs: null,
            finish_reason: "length",
            native_finish_reason: "CONTINUATION",
            continuation_token: "dG9rZW4x"
          }
        ],
        usage: {
          prompt_tokens: 5,
          completion_tokens: 10,
          total_tokens: 15,
          prompt_tokens_details: { cached_tokens: 0 },
          upstream: counts(5, 10),
          cost: 0.000165
        }
      }
    ])
  })
  it("long decode: a hop is retried as a first request is (M-604)", async () => {
    const [first = {}] = hops
    const gateway = over([whole(first), refusal(503, "UNAVAILABLE"), whole(short)], {
      draw: () => 0,
      limits: { retries: 1 }
    })
    const answer = await gateway.post(path, long)
    expect([answer.status, answer.headers.get("x-gateway-continuation"), gateway.seen.length]).toStrictEqual([
      200,
      null,
      3
    ])
    expect(bodies(gateway.seen).slice(1)).toStrictEqual([
      { ...sentBody, continuationToken: "dG9rZW4x" },
      { ...sentBody, continuationToken: "dG9rZW4x" }
    ])
  })
  it("long decode: the calls of one answer are bounded (M-601)", async () => {
    const [first = {}] = hops
    const gateway = over([whole(first), whole(first)], { limits: { longDecodeCalls: 2 } })
    const answer = await gateway.post(path, long, loose)
    const { choices } = await answer.json()
    expect([choices[0].finish_reason, choices[0].continuation_token, choices[0].message.content]).toStrictEqual([
      "length",
      "dG9rZW4x",
      "One One "
    ])
    expect(answer.headers.get("x-gateway-continuation")).toBe(null)
  })
  it.each([
    ["is off", long, { limits: { longDecodeCalls: 1 } }],
    ["is not needed for a short answer", { ...long, max_tokens: 65_536 }, {}],
    ["is not asked for", { model: long.model, messages }, {}]
  ])("long decode: an answer stays at its length where following %s (M-600, M-601)", async (_name, body, options) => {
    const [first = {}] = hops
    const gateway = over([whole(first)], options)
    const strict = await (await gateway.post(path, body)).json()
    expect([gateway.seen.length, strict.choices]).toStrictEqual([
      1,
      [
        {
          index: 0,
          finish_reason: "length",
          logprobs: null,
          message: { role: "assistant", content: "One ", refusal: null }
        }
      ]
    ])
  })
  it("long decode: a token that is sent back goes up, and elsewhere is ignored (M-605)", async () => {
    const gateway = over([whole(short), whole(short), whole(short)])
    const google = { continuation_token: "dG9rZW4x" }
    await gateway.post(path, { ...long, max_tokens: 10, ...google })
    await gateway.post(path, { ...long, max_tokens: 10, extra_body: { google } })
    const older = await gateway.post(path, { model: "@google/gemini-3.8-flash", messages, ...google })
    const continued = { contents, generationConfig: { maxOutputTokens: 10 }, continuationToken: "dG9rZW4x" }
    expect(bodies(gateway.seen)).toStrictEqual([continued, continued, { contents }])
    expect(older.headers.get("x-gateway-ignored-params")).toBe("continuation_token")
  })
  it("long decode: Vertex AI gets such requests in v1beta1, and others in v1 (M-602)", async () => {
    const gateway = over(hops.map(whole))
    const model = "@vertex-ai/gemini-4-neon"
    const prefix = "https://us-central1-aiplatform.googleapis.com"
    const place = "projects/test-project/locations/us-central1/publishers/google/models/gemini-4-neon:generateContent"
    const asked = await Promise.all(
      [
        { ...long, model },
        { ...long, model, max_tokens: 10, continuation_token: "dG9rZW4x" },
        { ...long, model, max_tokens: 10 }
      ].map(async (body) => (await gateway.post(path, body, { "x-gateway-dry-run": "true" })).json())
    )
    expect(asked.map(({ url }) => url)).toStrictEqual([
      `${prefix}/v1beta1/${place}`,
      `${prefix}/v1beta1/${place}`,
      `${prefix}/v1/${place}`
    ])
  })
})

describe("long decode: limits of the key, cache and times", () => {
  const budgeted = (micros: number, steps: ReadonlyArray<ScriptedResponse>) => {
    let at = 0
    return accountedGateway(() => Effect.succeed(steps[at++] ?? { status: 500 }), {
      settings: {
        keys: [{ name: "ci", key: Redacted.make(gatewayKey), budget: { usd: micros / 1e6, per: "month" } }],
        prices: { "gemini-4-neon": { input: 10, output: 1 } }
      }
    })
  }
  const much: Said = {
    parts: [{ text: "One " }],
    finishReason: "CONTINUATION",
    token: "dG9rZW4x",
    counts: counts(5, 65_536)
  }
  it.each([
    ["an answer that is complete", false, whole],
    ["a stream", true, streamed]
  ])("long decode: the budget of the key is asked between the calls of %s (M-605)", async (_name, stream, render) => {
    const end = async (micros: number) => {
      const gateway = budgeted(micros, [much, short].map(render))
      const answer = await gateway.post(path, { ...long, stream }, loose)
      const text = await answer.text()
      const calls = gateway.seen.length
      await gateway.dispose()
      return [answer.status, calls, /"finish_reason":"(\w+)"/.exec(text)?.[1], text.includes("dG9rZW4x")]
    }
    // The first call reserves 100,000 tokens of output; the second has a prompt of 65,541 tokens.
    expect(await end(750_000)).toStrictEqual([200, 1, "length", true])
    expect(await end(800_000)).toStrictEqual([200, 2, "stop", false])
  })
  it("long decode: a request pays for all its calls, and its reserves are given back (M-603)", async () => {
    const gateway = budgeted(900_000, [much, short, much, short].map(whole))
    const statuses = []
    for (let at = 0; at < 2; at++) statuses.push((await gateway.post(path, long)).status)
    expect([statuses, gateway.seen.length]).toStrictEqual([[200, 200], 4])
    await gateway.dispose()
  })
  it("long decode: an unfinished answer is not kept in the cache, a joined one is (M-607)", async () => {
    const ask = { "x-gateway-cache": "60" }
    for (const stream of [false, true]) {
      const render = stream ? streamed : whole
      const gateway = over([much, much, much, short].map(render), { limits: { longDecodeCalls: 2, retries: 0 } })
      const statuses = []
      for (let at = 0; at < 3; at++) {
        const answer = await gateway.post(path, { ...long, stream }, ask)
        await answer.text()
        statuses.push(answer.headers.get("x-gateway-cache-status"))
      }
      expect([statuses, gateway.seen.length]).toStrictEqual([["MISS", "MISS", "HIT"], 4])
    }
  })
  it("long decode: the token is in no log line, request row or metric (M-605)", async () => {
    const token = "c2VjcmV0LXRva2Vu"
    const [first = {}] = hops
    const steps = [whole({ ...first, token }), refusal(400), whole(short)]
    let at = 0
    const gateway = accountedGateway(() => Effect.succeed(steps[at++] ?? { status: 500 }))
    const unfinished = await (await gateway.post(path, long, loose)).json()
    const answer = await gateway.post(path, { ...long, max_tokens: 10, continuation_token: token })
    await answer.text()
    await until(async () => {
      const { data } = (await gateway.admin("/admin/v1/requests")) as { data: ReadonlyArray<unknown> }
      return data.length === 2
    })
    const rows = JSON.stringify(await gateway.admin("/admin/v1/requests"))
    const metrics = (await gateway.metrics()).join("\n")
    const lines = await gateway.lines()
    expect([unfinished.choices[0].continuation_token, answer.status, gateway.seen.length]).toStrictEqual([
      token,
      200,
      3
    ])
    expect([lines.length > 0, [...lines, rows, metrics].filter((text) => text.includes(token))]).toStrictEqual([
      true,
      []
    ])
  })
  it("long decode: every call has the whole time of a request (M-606)", async () => {
    const times: Array<number> = []
    let at = 0
    const gateway = gatewayOver(
      ({ totalMillis }) => {
        times.push(totalMillis)
        return whole([much, much, short][at++] ?? short)
      },
      { limits: { totalMillis: 70_000 } }
    )
    expect([(await gateway.post(path, long)).status, times]).toStrictEqual([200, [70_000, 70_000, 70_000]])
  })
})

describe("long decode: a stream", () => {
  const asked = { ...long, tools, stream: true, stream_options: { include_usage: true } }
  const chunk = (choices: ReadonlyArray<Json>, rest: JsonObject = {}) => ({
    id,
    object: "chat.completion.chunk",
    created,
    model: "gemini-4-neon",
    provider: "google",
    choices,
    usage: null,
    ...rest
  })
  const delta = (delta: Json, rest: JsonObject = {}) => chunk([{ index: 0, delta, finish_reason: null, ...rest }])
  const said = (text: string) => delta({ content: text, content_blocks: [{ index: 0, delta: { text } }] })

  it("long decode: three hops are one stream with one finish and one usage (M-601, M-603, M-1004)", async () => {
    const gateway = over(hops.map(streamed))
    const answer = await gateway.post(path, asked, loose)
    const text = await answer.text()
    expect(framesOf(text)).toEqual([
      delta({ role: "assistant", content: "" }),
      said("One "),
      said("two."),
      delta({ tool_calls: [call] }),
      delta({}, { finish_reason: "tool_calls", native_finish_reason: "STOP" }),
      chunk([], { usage })
    ])
    expect(text.split("data: [DONE]\n\n")).toStrictEqual([text.slice(0, -"data: [DONE]\n\n".length), ""])
    const body = { ...sentBody, tools: sentTools }
    expect(bodies(gateway.seen)).toStrictEqual([
      body,
      { ...body, continuationToken: "dG9rZW4x" },
      { ...body, continuationToken: "dG9rZW4y" }
    ])
  })
  it.each<readonly [string, Step]>([
    ["is refused", refusal(400)],
    ["breaks before its first event", { status: 200, fault: "reset" }],
    ["ends before its first event", { status: 200 }],
    ["begins with an error", { status: 200, chunks: ['data: {"error":{"code":500,"message":"No."}}\n\n'] }]
  ])("long decode: a stream ends at its length when the next hop %s (M-604, M-605)", async (_name, step) => {
    const [first = {}] = hops
    const gateway = over([streamed(first), step], { limits: { retries: 0 } })
    const frames = framesOf(await (await gateway.post(path, asked, loose)).text())
    expect(frames.slice(2)).toEqual([
      delta({}, { finish_reason: "length", native_finish_reason: "CONTINUATION", continuation_token: "dG9rZW4x" }),
      chunk([], {
        usage: {
          prompt_tokens: 5,
          completion_tokens: 10,
          total_tokens: 15,
          prompt_tokens_details: { cached_tokens: 0 },
          upstream: counts(5, 10),
          cost: 0.000165
        }
      })
    ])
  })
  it("long decode: a hop that breaks after its first event breaks the stream (M-604)", async () => {
    const [first = {}] = hops
    const cut: ScriptedResponse = { ...streamed({ parts: [{ text: "two" }] }), fault: "reset" }
    const gateway = over([streamed(first), cut])
    const frames = framesOf(await (await gateway.post(path, asked, loose)).text())
    expect(frames.slice(2)).toEqual([
      said("two"),
      {
        error: {
          message: "The upstream closed the connection in the middle of its answer.",
          type: "api_error",
          param: null,
          code: "upstream_truncated",
          provider: "google"
        }
      }
    ])
  })
  it("long decode: a client that leaves in the second hop ends it (M-604, M-1004)", async () => {
    const [first = {}] = hops
    const begun = Deferred.makeUnsafe<void>()
    const stopped = Deferred.makeUnsafe<void>()
    const endless = Effect.onInterrupt(Effect.andThen(Deferred.succeed(begun, undefined), Effect.never), () =>
      Deferred.succeed(stopped, undefined)
    )
    const gateway = over([streamed(first), endless])
    const answer = await gateway.post(path, asked)
    const reader = answer.body?.getReader()
    await reader?.read()
    const rest = reader?.read()
    await Effect.runPromise(Deferred.await(begun))
    await reader?.cancel()
    await rest
    await Effect.runPromise(Deferred.await(stopped))
    expect(gateway.seen.length).toBe(2)
  })
})
