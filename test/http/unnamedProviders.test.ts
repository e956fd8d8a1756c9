// Models without a slug through the whole service: defaults, aliases, the suffix of a long context, and what clients ask of Claude.
import * as Redacted from "effect/Redacted"
import { describe, expect, it } from "vitest"
import { config as compiled } from "../support/config.ts"
import { googleAccount, vertexAccount } from "../support/account.ts"
import { reply, stop } from "../support/gemini.ts"
import { gatewaysOver, replying, type ScriptedGateway } from "../support/scripted.ts"
import { gatewayKey } from "../support/TestGateway.ts"

const claude = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-sonnet-4-6",
  content: [{ type: "text", text: "Hi" }],
  stop_reason: "end_turn",
  usage: { input_tokens: 1, output_tokens: 1 }
}
const overScript = gatewaysOver()
const second = { ...vertexAccount, slug: "second", region: "europe-west1" }
const opened = (settings = {}, accounts = [googleAccount, vertexAccount]): ScriptedGateway =>
  overScript(({ url }) => replying(url.includes("anthropic") ? claude : reply([{ text: "Hi" }], stop)), {
    accounts,
    settings
  })
const messages = [{ role: "user", content: "Hi" }]
const sent = ({ seen }: ScriptedGateway) =>
  seen.map(({ body, headers, url }) => ({
    place: url.replace(/^https:\/\/([^./]*)\..*\/models\//, "$1 "),
    beta: headers["anthropic-beta"],
    body: body instanceof Uint8Array ? JSON.parse(new TextDecoder().decode(body)) : body
  }))
const version = "vertex-2023-10-16"

describe("messages", () => {
  const ask = async (body: object, headers: Record<string, string> = {}, gateway = opened()) => {
    const answer = await gateway.post("/v1/messages", { max_tokens: 5, messages, ...body }, headers)
    return { status: answer.status, body: await answer.json(), sent: sent(gateway) }
  }
  it("bare Claude: goes to the only provider that can serve it (N1207)", async () => {
    const { body, sent: calls, status } = await ask({ model: "claude-sonnet-4-6" })
    expect([status, body, calls]).toStrictEqual([
      200,
      claude,
      [
        {
          place: "us-central1-aiplatform claude-sonnet-4-6:rawPredict",
          beta: undefined,
          body: { max_tokens: 5, messages, anthropic_version: version }
        }
      ]
    ])
  })
  it("bare Claude: with several providers the error names the setting (N1207)", async () => {
    const gateway = opened({}, [vertexAccount, second])
    expect(await ask({ model: "claude-sonnet-4-6" }, {}, gateway)).toStrictEqual({
      status: 400,
      body: {
        type: "error",
        error: {
          type: "invalid_request_error",
          message:
            'No provider chosen: write the model as "@slug/model", send x-gateway-provider or have defaults.claude set in the configuration; known here: vertex-ai, second.'
        },
        request_id: "request-1"
      },
      sent: []
    })
  })
  it("bare Claude: the default serves it, under an alias with a long context as well (N805, N1206, N1207)", async () => {
    const settings = { defaults: { claude: "second" }, aliases: { sonnet: "claude-sonnet-4-6" } }
    const gateway = opened(settings, [vertexAccount, second])
    const { sent: calls, status } = await ask({ model: "sonnet[1m]" }, { "anthropic-beta": "a-1" }, gateway)
    expect([status, calls]).toStrictEqual([
      200,
      [
        {
          place: "europe-west1-aiplatform claude-sonnet-4-6:rawPredict",
          beta: "a-1,context-1m-2025-08-07",
          body: { max_tokens: 5, messages, anthropic_version: version }
        }
      ]
    ])
  })
  it.each([
    ["header", {}, { "anthropic-version": "2026-10-21" }, "2026-10-21"],
    ["body", { anthropic_version: "2026-11-01" }, { "anthropic-version": "2026-10-21" }, "2026-11-01"],
    ["older header", {}, { "anthropic-version": "2023-06-01" }, version]
  ])("version: that of the %s (N1208)", async (_, body, headers, expected) => {
    const { sent: calls } = await ask({ model: "claude-sonnet-4-6", ...body }, headers)
    expect(calls.map((call) => call.body)).toStrictEqual([{ max_tokens: 5, messages, anthropic_version: expected }])
  })
  it("version: is kept where a config edits the body (N1208)", async () => {
    const { sent: calls } = await ask(
      { model: "claude-sonnet-4-6" },
      {
        "anthropic-version": "2026-10-21",
        "x-gateway-config": '{"provider":"@vertex-ai","override_params":{"max_tokens":7}}'
      }
    )
    expect(calls.map((call) => call.body)).toStrictEqual([{ max_tokens: 7, messages, anthropic_version: "2026-10-21" }])
  })
  it("thread: false asks for none, and is left out (W11)", async () => {
    const { sent: calls, status } = await ask({ model: "claude-sonnet-4-6", thread: false })
    expect([status, calls.map(({ body }) => body)]).toStrictEqual([
      200,
      [{ max_tokens: 5, messages, anthropic_version: "vertex-2023-10-16" }]
    ])
  })
  it("thread: is refused with what to send instead (N1208)", async () => {
    const { body, sent: calls, status } = await ask({ model: "claude-sonnet-4-6", thread: { id: "t" } })
    expect([status, body, calls]).toStrictEqual([
      400,
      {
        type: "error",
        error: {
          type: "invalid_request_error",
          message:
            "thread is not taken: Vertex AI keeps no conversations; send the whole history in messages, as the tool runner of Anthropic's SDK does with thread: false."
        },
        request_id: "request-1"
      },
      []
    ])
  })
})

describe("a slug without its @", () => {
  const asked = async (model: string, providers?: ReadonlyArray<string>) => {
    const name = "mgk_slug"
    const gateway = opened({ keys: [{ name: "slug", key: Redacted.make(name), providers }] })
    await gateway.post("/v1/chat/completions", { model, messages }, { "x-gateway-api-key": name })
    return gateway.seen.map(({ url }) => url.slice(url.indexOf("/", 8)))
  }
  const gemini = "/v1/projects/test-project/locations/us-central1/publishers/google/models/gemini-2.5-flash"
  const open = "/v1/projects/test-project/locations/us-central1/endpoints/openapi/chat/completions"
  it.each([
    ["vertex-ai/gemini-2.5-flash", [`${gemini}:generateContent`]],
    ["vertex-ai/google/gemini-2.5-flash", [`${gemini}:generateContent`]],
    ["vertex-ai/", []],
    ["google/gemini-2.5-flash", []],
    ["deepseek-ai/deepseek-v3", [open]]
  ])("slug: %s is asked for where the key has such an account (N1207)", async (model, expected) => {
    expect(await asked(model)).toStrictEqual(expected)
  })
  it("slug: that of an account out of the key's reach is the publisher of a model (N1207)", async () => {
    expect(await asked("vertex-ai/gemini-2.5-flash", ["google"])).toStrictEqual([])
  })
})

describe("other routes", () => {
  const settings = { aliases: { fast: "@google/gemini-2.5-flash", embed: "@google/gemini-embedding-001" } }
  it("alias: is its model on every route (N1206)", async () => {
    const gateway = opened(settings)
    const paths = [
      ["/v1/chat/completions", { model: "fast", messages }],
      ["/v1/chat/completions/count_tokens", { model: "fast", messages }],
      ["/v1/embeddings", { model: "embed", input: "a" }]
    ] as const
    for (const [path, body] of paths) await gateway.post(path, body)
    expect(gateway.seen.map(({ url }) => url.slice(url.indexOf("models/")))).toStrictEqual([
      "models/gemini-2.5-flash:generateContent",
      "models/gemini-2.5-flash:countTokens",
      "models/gemini-embedding-001:batchEmbedContents"
    ])
  })
  it("alias: may be the model of a config's override (N1206)", async () => {
    const gateway = opened(settings)
    const answer = await gateway.post(
      "/v1/chat/completions",
      { model: "fast", messages },
      { "x-gateway-config": '{"provider":"@google","override_params":{"model":"fast"}}' }
    )
    expect([answer.status, gateway.seen.map(({ url }) => url.slice(url.indexOf("models/")))]).toStrictEqual([
      200,
      ["models/gemini-2.5-flash:generateContent"]
    ])
  })
  it("alias: is its model on Google's paths, of Claude with the suffix of a long context as well (N805, N1206)", async () => {
    const gateway = opened({ aliases: { fast: "@google/gemini-2.5-flash", sonnet: "claude-sonnet-4-6" } })
    const contents = [{ role: "user", parts: [{ text: "Hi" }] }]
    await gateway.post("/v1beta/models/fast:generateContent", { contents })
    for (const name of ["sonnet", "sonnet[1m]"])
      await gateway.post(`/v1/publishers/anthropic/models/${name}:rawPredict`, { max_tokens: 5, messages })
    expect(sent(gateway).map(({ beta, place }) => [place, beta])).toStrictEqual([
      ["generativelanguage gemini-2.5-flash:generateContent", undefined],
      ["us-central1-aiplatform claude-sonnet-4-6:rawPredict", undefined],
      ["us-central1-aiplatform claude-sonnet-4-6:rawPredict", "context-1m-2025-08-07"]
    ])
  })
  it.each([
    ["a model", ["gemini-2.5-flash"], 200],
    ["an alias", ["fast"], 403]
  ])("alias: the list of a key that names %s is asked for the model (N1206)", async (_, models, status) => {
    const key = "mgk_narrow"
    const gateway = opened({
      ...settings,
      keys: [{ name: "narrow", key: Redacted.make(key), models }]
    })
    const answer = await gateway.post("/v1/chat/completions", { model: "fast", messages }, { "x-gateway-api-key": key })
    expect([answer.status, gateway.seen.length]).toStrictEqual([status, status === 200 ? 1 : 0])
  })
  it("alias: is in the list of models, as far as the key reaches its model (N1206, N1210)", async () => {
    const names = { fast: "@google/gemini-2.5-flash", sonnet: "claude-sonnet-4-6[1m]", far: "@nowhere/gemini-2.5-pro" }
    const accounts = [
      { ...googleAccount, models: ["gemini-2.5-flash"] },
      { ...vertexAccount, models: ["claude-sonnet-4-6"] }
    ]
    const gateway = opened({ aliases: names }, accounts)
    const list = async (path: string, headers = {}) =>
      (await gateway.send(path, { headers: { "x-gateway-api-key": gatewayKey, ...headers } })).json()
    const ids = (data: ReadonlyArray<{ readonly id: string }>) => data.map(({ id }) => id)
    expect([
      ids((await list("/v1/models")).data),
      ids((await list("/v1/models", { "anthropic-version": "2023-06-01" })).data),
      (await list("/v1/models/sonnet", { "anthropic-version": "2023-06-01" })).display_name,
      (await list("/v1/models/fast")).owned_by,
      (await list("/v1beta/models")).models.map(({ name }: { readonly name: string }) => name)
    ]).toStrictEqual([
      ["@google/gemini-2.5-flash", "@vertex-ai/claude-sonnet-4-6", "fast", "sonnet"],
      ["@vertex-ai/claude-sonnet-4-6", "sonnet"],
      "Claude Sonnet 4 6",
      "google",
      ["models/@google/gemini-2.5-flash", "models/fast"]
    ])
  })
  it("schema: next to json_object counts as one of json_schema (N1209)", async () => {
    const schema = { type: "object", properties: { a: { type: "string" } } }
    const bodies = []
    for (const response_format of [
      { type: "json_object", schema },
      { type: "json_schema", json_schema: { name: "response", schema } }
    ]) {
      for (const model of ["@google/gemini-2.5-flash", "@vertex-ai/claude-sonnet-4-6", "@vertex-ai/openai/gpt-oss"]) {
        const gateway = opened()
        await gateway.post("/v1/chat/completions", { model, messages, response_format })
        bodies.push(gateway.seen.map(({ body }) => body))
      }
    }
    expect(bodies.slice(0, 3)).toStrictEqual(bodies.slice(3))
    expect(bodies.map((calls) => calls.length)).toStrictEqual([1, 1, 1, 1, 1, 1])
  })
  it("schema: next to json_object must be an object (N1209)", async () => {
    const answer = await opened().post("/v1/chat/completions", {
      model: "@google/gemini-2.5-flash",
      messages,
      response_format: { type: "json_object", schema: "x" }
    })
    expect([answer.status, await answer.json()]).toStrictEqual([
      400,
      {
        error: {
          message: "response_format.schema must be a JSON schema, which is an object.",
          type: "invalid_request_error",
          param: "response_format.schema",
          code: "invalid_value"
        }
      }
    ])
  })
})

describe("a slug in the model, with a config of the key", () => {
  const targets = [{ provider: "vertex-ai" }, { provider: "second" }]
  const fallback = { id: "both", config: { strategy: { mode: "fallback" }, targets } }
  const conditional = {
    id: "kinds",
    config: {
      strategy: {
        mode: "conditional",
        conditions: [{ query: { "params.model": { $eq: "gemini-3.8-flash" } }, then: "named" }],
        default: "open"
      },
      targets: [{ name: "named", provider: "second" }, { name: "open" }]
    }
  }
  const ask = async (
    model: string,
    { config, id }: { readonly id: string; readonly config: Parameters<typeof compiled>[0] }
  ) => {
    const gateway = opened(
      {
        configs: { [id]: compiled(config) },
        keys: [{ name: "own", key: Redacted.make(gatewayKey), config: id }]
      },
      [googleAccount, vertexAccount, second]
    )
    const answer = await gateway.post("/v1/chat/completions", { model, messages })
    const body: unknown = await answer.json()
    return [answer.status, answer.status === 200 ? sent(gateway).map(({ place }) => place) : body]
  }

  it("slug in the model: is an order, within which the config of the key applies (W1)", async () => {
    expect(await ask("@second/gemini-3.8-flash", fallback)).toStrictEqual([
      200,
      ["europe-west1-aiplatform gemini-3.8-flash:generateContent"]
    ])
    expect(await ask("gemini-3.8-flash", fallback)).toStrictEqual([
      200,
      ["us-central1-aiplatform gemini-3.8-flash:generateContent"]
    ])
  })
  it("slug in the model: an account that no target names serves alone (W1)", async () => {
    expect(await ask("@google/gemini-3.8-flash", fallback)).toStrictEqual([
      200,
      ["generativelanguage gemini-3.8-flash:generateContent"]
    ])
  })
  it("slug in the model: an unknown one is not found (W1)", async () => {
    expect((await ask("@nobody/gemini-3.8-flash", fallback))[0]).toBe(404)
  })
  it("conditions: a target without an account refuses only the requests that it gets (W1)", async () => {
    expect(await ask("gemini-3.8-flash", conditional)).toStrictEqual([
      200,
      ["europe-west1-aiplatform gemini-3.8-flash:generateContent"]
    ])
    expect((await ask("gemini-3.6-flash", conditional))[0]).toBe(400)
  })
})
