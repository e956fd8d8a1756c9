// Tests the OpenAPI document: its paths are the service's routes, its schemas are valid, and real answers match it.
// Must not depend on how the document is rendered.
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Ajv2020 } from "ajv/dist/2020.js"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { requestHeaderNames } from "../../src/api/Headers.ts"
import { requestHeaders } from "../../src/api/contractParts.ts"
import { openApi } from "../../src/api/openApi.ts"
import { demoPrompts } from "../../src/demo/seed.ts"
import { HttpApi } from "../../src/http/HttpApi.ts"
import { methodsOf } from "../../src/http/edge/Route.ts"
import { Traffic } from "../../src/http/node/Traffic.ts"
import { script, services } from "../http/face.ts"
import { gatewayKey, startTestGateway, type TestGateway } from "../support/TestGateway.ts"

type Json = ReturnType<typeof JSON.parse>
const document: Json = JSON.parse(JSON.stringify(openApi()))

/** `METHOD /path` of every operation. */
const declared: ReadonlyArray<string> = Object.entries<Json>(document.paths)
  .flatMap(([path, item]) => Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`))
  .sort()

/** The admin API is held to its routes as soon as it is a part of the document. */
const hasAdmin = declared.some((one) => one.includes(" /admin/"))

describe("paths of the document", () => {
  it("paths: are the documented list, each with its operation", () => {
    const operations = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
      Object.entries<Json>(item).map(
        ([method, operation]) => `${method.toUpperCase()} ${path} ${operation.operationId}`
      )
    )
    expect(operations).toMatchSnapshot()
  })

  const needed = Layer.merge(Traffic.layer, services(script()))
  const allRoutes = () => Effect.runPromise(Effect.scoped(Effect.provide(HttpApi.routes, needed)))

  it("paths: are the routes of the service", async () => {
    const routes = await allRoutes()
    const added = routes.map(({ method, path }) => `${method} ${path}`)
    // A trailing wildcard takes the path without its rest as well; some SDKs double the version.
    const served = added
      .filter((route) => !route.includes("/v1/v1/") && (hasAdmin || !route.includes(" /admin/")))
      .flatMap((route) =>
        route.endsWith("/*") ? [route.slice(0, -2), `${route.slice(0, -1)}{id}`] : [route.replaceAll(/:(\w+)/g, "{$1}")]
      )
    expect(served.sort()).toEqual(declared)
  })

  it("methods: are those that the table of routes allows", async () => {
    const allowedMethods = methodsOf(await allRoutes())
    const methods = declared.map((one) => one.split(" "))
    const paths = [...new Set(methods.map(([, path = ""]) => path))]
    expect(paths.map((path) => [path, allowedMethods(path.replaceAll(/\{\w+\}/g, "one")).toSorted()])).toEqual(
      paths.map((path) => [path, methods.filter(([, other]) => other === path).map(([method]) => method)])
    )
  })
})

describe("headers of the document", () => {
  it("request headers: are those the service reads, and the provider's credential", () => {
    const read = Object.values(requestHeaderNames)
      .map(({ name }) => name)
      .filter((name) => name !== requestHeaderNames.apiKey.name && name !== requestHeaderNames.strictOpenAi.name)
    expect(Object.keys(requestHeaders).sort()).toEqual(["authorization", ...read].sort())
  })
})

// Optimized code takes longer to make than it saves.
const ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: false, code: { optimize: false } })
ajv.addSchema(document, "openapi")
const pointer = (steps: ReadonlyArray<string>): string =>
  `openapi#/${steps.map((step) => encodeURIComponent(step.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/")}`

/** Places of all schemas: values of a field `schema`, and the components. */
const places = (value: Json, path: ReadonlyArray<string> = []): ReadonlyArray<ReadonlyArray<string>> =>
  typeof value !== "object" || value === null
    ? []
    : Object.entries<Json>(value).flatMap(([name, inner]) => {
        const here = [...path, name]
        return name === "schema" || (path.length === 2 && path[1] === "schemas") ? [here] : places(inner, here)
      })

/** What is wrong with a value by the schema at a place; undefined when nothing is. */
const fault = (steps: ReadonlyArray<string>, value: unknown): string | undefined => {
  const validate = ajv.getSchema(pointer(steps))
  if (validate === undefined) return `no schema at ${steps.join(".")}`
  return validate(value) === true ? undefined : ajv.errorsText(validate.errors)
}

const responseOf = (route: string, status: number, type = "application/json") => {
  const [method = "", path = ""] = route.split(" ")
  return ["paths", path, method.toLowerCase(), "responses", String(status), "content", type, "schema"]
}
const bodyOf = (route: string) => {
  const [method = "", path = ""] = route.split(" ")
  return ["paths", path, method.toLowerCase(), "requestBody", "content", "application/json", "schema"]
}

describe("schemas of the document", () => {
  const all = places(document)

  it("schemas: are valid JSON schemas without dangling references", () => {
    expect(all.length).toBeGreaterThan(200)
    // Each reference is checked once.
    const distinct = new Map(
      all.map((steps) => [JSON.stringify(steps.reduce((node: Json, step) => node[step], document)), steps])
    )
    expect([...distinct.values()].filter((steps) => typeof ajv.getSchema(pointer(steps)) !== "function")).toEqual([])
  })

  it("schemas: contain no NaN or infinity, and no keyword of the renderer", () => {
    expect(JSON.stringify(document).match(/NaN|Infinity|x-effect|Encoded/g)).toBeNull()
  })

  it("schemas: reject values of another shape", () => {
    expect(
      fault(responseOf("POST /v1/embeddings", 400), { error: { message: "m", type: "odd", param: null, code: "c" } })
    ).toBe("data/error/type must be equal to one of the allowed values")
    expect(
      fault(bodyOf("POST /v1/chat/completions"), { model: "m", messages: [{ role: "nobody", content: "x" }] })
    ).toBeTypeOf("string")
  })

  it("components: have unique names", () => {
    expect(Object.keys(document.components.schemas).filter((name) => /_\d+$/.test(name))).toEqual([])
  })
})

const chat = { model: "@google/gemini-2.5-flash", messages: [{ role: "user", content: "Hello" }] }
const weather = {
  type: "function",
  function: {
    name: "get_weather",
    description: "Weather",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
  }
}
const claude = {
  model: "@vertex-ai/anthropic.claude-sonnet-4-6",
  max_tokens: 256,
  messages: [{ role: "user", content: "Hello" }]
}
const open = { "x-gateway-strict-schema-compliance": "false" }
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

/** What is asked of which operation, and the status it has. */
const asked: ReadonlyArray<
  readonly [what: string, route: string, status: number, body?: Json, headers?: Record<string, string>, id?: string]
> = [
  ["a completion", "POST /v1/chat/completions", 200, chat],
  [
    "all fields of a completion",
    "POST /v1/chat/completions",
    200,
    { ...chat, model: "@vertex-ai/gemini-2.5-flash", reasoning_effort: "high", logprobs: true, top_logprobs: 2 },
    open
  ],
  [
    "a tool call",
    "POST /v1/chat/completions",
    200,
    { ...chat, messages: [{ role: "user", content: "Weather in Bonn?" }], tools: [weather], tool_choice: "required" },
    open
  ],
  [
    "a completion of Claude",
    "POST /v1/chat/completions",
    200,
    { ...chat, model: claude.model, thinking: { type: "enabled", budget_tokens: 1024 } },
    open
  ],
  ["a grounded completion", "POST /v1/chat/completions", 200, { ...chat, tools: [{ type: "google_search" }] }, open],
  [
    "an input image",
    "POST /v1/chat/completions",
    200,
    {
      ...chat,
      messages: [
        { role: "system", content: [{ type: "text", text: "Be brief." }] },
        {
          role: "user",
          content: [
            { type: "text", text: "What is it?" },
            { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } }
          ]
        },
        {
          role: "assistant",
          content: null,
          tool_calls: [
            { id: "call-1", type: "function", function: { name: "get_weather", arguments: '{"city":"Bonn"}' } }
          ]
        },
        { role: "tool", tool_call_id: "call-1", content: "Sunny" }
      ],
      tools: [weather],
      response_format: { type: "text" },
      stop: ["END"],
      seed: 7
    }
  ],
  [
    "a drawn image",
    "POST /v1/chat/completions",
    200,
    { ...chat, model: "@google/gemini-2.5-flash-image", modalities: ["text", "image"] },
    open
  ],
  ["a dry run", "POST /v1/chat/completions", 200, chat, { "x-gateway-dry-run": "true" }],
  ["a bad body", "POST /v1/chat/completions", 400, { ...chat, messages: [] }],
  ["an unknown provider", "POST /v1/chat/completions", 404, { ...chat, model: "@nobody/x" }],
  ["no key", "POST /v1/chat/completions", 401, chat, { "x-gateway-api-key": "mgk_wrong" }],
  ["a token count", "POST /v1/chat/completions/count_tokens", 200, chat, open],
  ["a response", "POST /v1/responses", 200, { model: chat.model, input: "Hello" }],
  [
    "a response of Claude with a call",
    "POST /v1/responses",
    200,
    {
      model: claude.model,
      input: [{ role: "user", content: "Weather in Bonn?" }],
      tools: [{ type: "function", ...weather.function }],
      tool_choice: "required",
      reasoning: { effort: "low", summary: "auto" },
      include: ["reasoning.encrypted_content"]
    }
  ],
  ["a bad response", "POST /v1/responses", 400, { model: chat.model, input: [] }],
  ["tokens of a response", "POST /v1/responses/input_tokens", 200, { model: chat.model, input: "Hello" }],
  ["an unknown response", "GET /v1/responses/{id}", 404, undefined, {}, "resp_00000000000000000000000000000000"],
  ["a message", "POST /v1/messages", 200, claude],
  [
    "a message with tools",
    "POST /v1/messages",
    200,
    {
      ...claude,
      tools: [{ name: "get_weather", input_schema: weather.function.parameters }],
      tool_choice: { type: "any" }
    }
  ],
  ["a bad message", "POST /v1/messages", 400, { ...claude, messages: [] }],
  ["a message of another family", "POST /v1/messages", 400, { ...claude, model: chat.model }],
  ["a count of a message", "POST /v1/messages/count_tokens", 200, { model: claude.model, messages: claude.messages }],
  [
    "an embedding",
    "POST /v1/embeddings",
    200,
    { model: "@google/gemini-embedding-001", input: "a cat", dimensions: 8 }
  ],
  [
    "embeddings as base64",
    "POST /v1/embeddings",
    200,
    { model: "@vertex-ai/text-embedding-005", input: ["a cat", "a dog"], encoding_format: "base64" },
    open
  ],
  [
    "images",
    "POST /v1/images/generations",
    200,
    { model: "@vertex-ai/imagen-3.0-generate-001", prompt: "A cat", n: 2 },
    open
  ],
  [
    "an image of Gemini",
    "POST /v1/images/generations",
    200,
    { model: "@google/gemini-2.5-flash-image", prompt: "A cat" }
  ],
  ["models", "GET /v1/models", 200],
  ["a model", "GET /v1/models/{id}", 200, undefined, {}, "@google/gemini-2.5-flash"],
  ["an unknown model", "GET /v1/models/{id}", 404, undefined, {}, "@google/none"],
  [
    "a prompt's completion",
    "POST /v1/prompts/{id}/completions",
    200,
    { variables: { name: "Ann", message: "Hello" }, temperature: 0 },
    {},
    "greeting"
  ],
  [
    "a rendered prompt",
    "POST /v1/prompts/{id}/render",
    200,
    { variables: { name: "Ann", message: "Hello" } },
    {},
    "greeting"
  ],
  ["an unknown prompt", "POST /v1/prompts/{id}/render", 404, {}, {}, "none"],
  ["liveness", "GET /health/live", 200],
  ["readiness", "GET /health/ready", 200],
  ["the document", "GET /openapi.json", 200]
]

describe("answers of the service", () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startTestGateway({ prompts: demoPrompts })
  })
  afterAll(() => gateway.close())

  const send = (route: string, body: Json | undefined, headers: Record<string, string> = {}, id = "") => {
    const [method = "", path = ""] = route.split(" ")
    return fetch(`${gateway.url}${path.replace("{id}", encodeURIComponent(id))}`, {
      method,
      headers: {
        "x-gateway-api-key": gatewayKey,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers
      },
      body: body === undefined ? null : JSON.stringify(body)
    })
  }

  it.each(asked)(
    "OpenAPI: the answer matches its schema: %s: %s %i",
    async (_what, route, status, body, headers, id) => {
      const response = await send(route, body, headers, id)
      const text = await response.text()
      expect([response.status, text === "" ? "empty" : ""]).toEqual([status, ""])
      expect(fault(responseOf(route, status), JSON.parse(text))).toBeUndefined()
      if (status === 200 && body !== undefined) expect(fault(bodyOf(route), body)).toBeUndefined()
      const promised = Object.entries<Json>(
        document.paths[route.split(" ")[1] ?? ""][route.split(" ")[0]?.toLowerCase() ?? ""].responses[status].headers ??
          {}
      )
      expect(
        promised.filter(([name, { required }]) => required === true && response.headers.get(name) === null)
      ).toEqual([])
    }
  )

  it.each([
    ["chat", "POST /v1/chat/completions", { ...chat, stream: true, stream_options: { include_usage: true } }],
    ["a tool call", "POST /v1/chat/completions", { ...chat, stream: true, tools: [weather], tool_choice: "required" }],
    ["a response", "POST /v1/responses", { model: chat.model, input: "Hello", stream: true }],
    ["a message", "POST /v1/messages", { ...claude, stream: true }]
  ])("OpenAPI: each event of a stream matches its schema: %s", async (_what, route, body) => {
    const text = await (await send(route, body, open)).text()
    const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => data).filter((data) => data !== "[DONE]")
    expect(events.length).toBeGreaterThan(2)
    const at = responseOf(route, 200, "text/event-stream")
    expect(events.map((data) => fault(at, JSON.parse(data))).filter((one) => one !== undefined)).toEqual([])
  })
})
