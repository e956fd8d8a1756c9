// Tests numbers outside a field's range on every route: the error is an out-of-range value, never a wrong type.
// Must not reach the upstream: a refused request makes no call.
import * as Redacted from "effect/Redacted"
import { afterAll, describe, expect, it } from "vitest"
import { isJsonObject } from "../../src/domain/text/json.ts"
import { gatewayOver, replying } from "../support/scripted.ts"
import { gatewayKey } from "../support/TestGateway.ts"

const adminKey = "mgk_admin000000000000000000000000000"
const gateway = gatewayOver(() => replying({ choices: [{ message: { content: "Hi" } }] }), {
  keys: [
    { name: "test", key: Redacted.make(gatewayKey) },
    { name: "admin", key: Redacted.make(adminKey), scopes: ["admin"] }
  ],
  prompts: [
    {
      id: "greeting",
      name: undefined,
      labels: new Map(),
      versions: new Map([
        [
          1,
          {
            model: "@google/gemini-2.5-flash",
            messages: [{ role: "user", content: "Hi" }],
            parameters: {}
          }
        ]
      ])
    }
  ]
})
afterAll(() => gateway.dispose())

const messages = [{ role: "user", content: "Hi" }]
const gemini = "@google/gemini-2.5-flash"
const claude = "@vertex-ai/anthropic.claude-sonnet-4-5"
const llama = "@vertex-ai/meta.llama-4-maverick-17b-128e-instruct-maas"
const chat = "/v1/chat/completions"

/** The least integer that a double cannot separate from its neighbour, a longer one, and a negative one. */
const integers = ["9007199254740992", "12345678901234567890", "-12345678901234567890"]
const infinite = ["1e400", "-1e400"]
/** The place of the number in a body. */
const here = "<here>"

/** Undefined where the answer is no refusal of a value. */
const faultOf = async (path: string, body: object, number: string, headers = {}): Promise<unknown> => {
  gateway.seen.length = 0
  const text = JSON.stringify(body).replaceAll(`"${here}"`, number)
  const answer = await gateway.send(path, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${gatewayKey}`,
      "x-request-id": "request-1",
      ...headers
    },
    body: text
  })
  const said: unknown = await answer.json()
  const error = isJsonObject(said) ? said["error"] : undefined
  return isJsonObject(error)
    ? [answer.status, error["type"], error["param"], error["code"], gateway.seen.length]
    : [answer.status]
}
const refused = (param: string) => [400, "invalid_request_error", param, "invalid_value", 0]

const ofChat = [
  "max_tokens",
  "max_completion_tokens",
  "temperature",
  "top_p",
  "top_k",
  "n",
  "presence_penalty",
  "frequency_penalty",
  "top_logprobs"
]
const numbers: ReadonlyArray<readonly [name: string, path: string, body: object, param: string]> = [
  ...[gemini, claude, llama].flatMap((model) =>
    ofChat.map((param) => [`${model} ${param}`, chat, { model, messages, [param]: here }, param] as const)
  ),
  ["a count of tokens", `${chat}/count_tokens`, { model: gemini, messages, max_tokens: here }, "max_tokens"],
  ["parameters of a prompt", "/v1/prompts/greeting/completions", { variables: {}, top_p: here }, "top_p"],
  ["a rendered prompt", "/v1/prompts/greeting/render", { variables: {}, n: here }, "n"],
  ...["n", "seed", "output_compression", "outputCompression", "partial_images", "guidance_scale", "guidanceScale"].map(
    (param) =>
      [
        `images ${param}`,
        "/v1/images/generations",
        { model: "@vertex-ai/imagen-4.0-generate-001", prompt: "A cat", [param]: here },
        param
      ] as const
  ),
  [
    "a budget of thinking",
    chat,
    { model: gemini, messages, thinking: { type: "enabled", budget_tokens: here } },
    "thinking.budget_tokens"
  ]
]

const places: ReadonlyArray<readonly [name: string, path: string, body: object, param: string]> = [
  [
    "dimensions",
    "/v1/embeddings",
    { model: "@google/gemini-embedding-001", input: "Hi", dimensions: here },
    "dimensions"
  ],
  [
    "frames of a video",
    chat,
    {
      model: gemini,
      messages: [
        {
          role: "user",
          content: [
            { type: "image_url", image_url: { url: "https://files.example/a.mp4", video_metadata: { fps: here } } }
          ]
        }
      ]
    },
    "messages[0].content[0].image_url.video_metadata.fps"
  ],
  [
    "an offset of a video",
    "/v1/embeddings",
    {
      model: "@vertex-ai/multimodalembedding@001",
      input: { video: { url: "gs://bucket/a.mp4", end_offset: here } }
    },
    "input.video.end_offset"
  ]
]

describe("numbers out of range", () => {
  it.each(numbers)("long numbers: a hint out of range is no fault in %s (W2, W24)", async (_name, path, body) => {
    for (const number of [...integers, ...infinite])
      expect([number, await faultOf(path, body, number, { "x-gateway-dry-run": "true" })]).toEqual([number, [200]])
  })

  it.each(places)("long numbers: a value out of range is refused in %s (B74)", async (_name, path, body, param) => {
    for (const number of [...integers, ...infinite])
      expect([number, await faultOf(path, body, number)]).toEqual([number, refused(param)])
  })

  it.each(["/v1/messages"])("long numbers: %s refuses a value out of range in its dialect (B99)", async (path) => {
    for (const number of [...integers, ...infinite, "1e20"]) {
      const answer = await gateway.send(path, {
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": gatewayKey, "x-request-id": "request-1" },
        body: `{"model":"${claude}","messages":${JSON.stringify(messages)},"max_tokens":${number}}`
      })
      expect([answer.status, await answer.json()]).toEqual([
        400,
        {
          type: "error",
          error: { type: "invalid_request_error", message: "max_tokens is a positive whole number below 2^53." },
          request_id: "request-1"
        }
      ])
    }
  })

  it("long numbers: the message states the allowed range (B74)", async () => {
    const answer = await gateway.post("/v1/embeddings", {
      model: "@google/gemini-embedding-001",
      input: "Hi",
      dimensions: { a: JSON.rawJSON("12345678901234567890") }
    })
    expect(await answer.json()).toEqual({
      error: {
        message: "dimensions has the wrong type: expected number.",
        type: "invalid_request_error",
        param: "dimensions",
        code: "invalid_type"
      }
    })
  })

  it("long numbers: a field without a numeric type still reports a wrong type", async () => {
    const body = { model: gemini, messages, user: here }
    expect(await faultOf(chat, body, "12345678901234567890")).toEqual([
      400,
      "invalid_request_error",
      "user",
      "invalid_type",
      0
    ])
    expect(await faultOf(chat, { ...body, user: "x", max_tokens: "ten" }, "0")).toEqual([
      400,
      "invalid_request_error",
      "max_tokens",
      "invalid_type",
      0
    ])
  })

  it.each([
    ["seed", { seed: here }],
    ["an unknown field", { new_feature: { deep: [here] } }]
  ])("long numbers: %s may be a long integer (B111)", async (_name, more) => {
    expect(await faultOf(chat, { model: llama, messages, ...more }, "12345678901234567890")).toEqual([200])
    expect(gateway.seen.length).toBe(1)
  })

  it("long numbers: a seed that is not finite is the largest whole number (TH36, W24)", async () => {
    expect(await faultOf(chat, { model: llama, messages, seed: here }, "1e400")).toEqual([200])
    expect(gateway.seen.map(({ body }) => isJsonObject(body) && body["seed"])).toEqual([Number.MAX_SAFE_INTEGER])
  })

  it("long numbers: the admin API names each of them", async () => {
    const limits = {
      requests_per_minute: JSON.rawJSON("12345678901234567890"),
      tokens_per_minute: JSON.rawJSON("1e400")
    }
    const answer = await gateway.post(
      "/admin/v1/keys",
      { name: "ci", rate_limit: limits },
      { "x-gateway-api-key": adminKey }
    )
    const said: unknown = await answer.json()
    expect([answer.status, isJsonObject(said) ? said["errors"] : said]).toEqual([
      400,
      Object.keys(limits).map((name) => ({
        path: `rate_limit.${name}`,
        message: "is out of range: integers are below 2^53, other numbers finite"
      }))
    ])
  })
})
