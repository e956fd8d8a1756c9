// Tests route groups mounted one by one next to an application's own routes, and the contract with Effect's own client.
// Must not open sockets.
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { describe, expect, it } from "@effect/vitest"
import {
  Admission,
  AdminApi,
  Catalog,
  Configs,
  GatewayApi,
  GatewayKeys,
  HttpApi,
  Prices,
  ProviderRouter
} from "../../src/index.ts"
import { layerStandIns } from "../../src/testing.ts"
import { googleAccount } from "../support/account.ts"
import { adminKey } from "../support/accounted.ts"
import { face, fullCompletion, key, served } from "./face.ts"

const keys = [
  { name: "test", key: Redacted.make(key) },
  { name: "boss", key: Redacted.make(adminKey), scopes: ["admin" as const] }
]
const router = Layer.mock(ProviderRouter, {
  run: (operation) =>
    operation === "chat" ? Effect.succeed({ value: fullCompletion as never, served }) : Effect.die(operation)
})
const hello = HttpRouter.add("GET", "/hello", HttpServerResponse.text("hello"))

const chatServices = () => {
  const catalog = Catalog.layerMemory([googleAccount])
  return Layer.mergeAll(
    router,
    catalog,
    Admission.layerMemory,
    Configs.layerMemory({}),
    GatewayKeys.layerStatic(keys),
    Prices.layerWith({}).pipe(Layer.provide(catalog))
  )
}

/** The status of each request, one after the other. */
const statuses = async (
  {
    dispose,
    handler
  }: { readonly handler: (request: Request) => Promise<Response>; readonly dispose: () => Promise<void> },
  asked: ReadonlyArray<readonly [method: string, path: string]>
) => {
  const found: Array<string> = []
  for (const [method, path] of asked) {
    const response = await handler(
      new Request(`http://app${path}`, {
        method,
        headers: {
          "content-type": "application/json",
          "x-gateway-api-key": path.startsWith("/admin") ? adminKey : key
        },
        ...(method === "GET"
          ? {}
          : { body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hi" }] }) })
      })
    )
    found.push(`${response.status} ${method} ${path}`)
  }
  await dispose()
  return found
}

const asked = [
  ["GET", "/hello"],
  ["POST", "/v1/chat/completions"],
  ["POST", "/v1/messages"],
  ["GET", "/v1/models"],
  ["GET", "/admin/v1/providers"],
  ["GET", "/metrics"]
] as const

describe("route groups", () => {
  it("route groups: only chat is mounted, with the services of chat alone", async () => {
    const app = Layer.mergeAll(hello, HttpApi.groups.chat).pipe(Layer.provide(chatServices()))
    expect(await statuses(HttpRouter.toWebHandler(app, { disableLogger: true }), asked)).toEqual([
      "200 GET /hello",
      "200 POST /v1/chat/completions",
      "404 POST /v1/messages",
      "404 GET /v1/models",
      "404 GET /admin/v1/providers",
      "404 GET /metrics"
    ])
  })

  it("route groups: every group is mounted where the whole is, without the admin API", async () => {
    const { admin, ...rest } = HttpApi.groups
    expect(admin).toBeDefined()
    const app = Layer.mergeAll(hello, ...Object.values(rest)).pipe(
      Layer.provide(layerStandIns({ accounts: [googleAccount], keys })),
      Layer.provide(router)
    )
    expect(await statuses(HttpRouter.toWebHandler(app, { disableLogger: true }), asked)).toEqual([
      "200 GET /hello",
      "200 POST /v1/chat/completions",
      "400 POST /v1/messages",
      "200 GET /v1/models",
      "404 GET /admin/v1/providers",
      "200 GET /metrics"
    ])
  })
})

describe("contract", () => {
  it("contract: Effect's client asks for a chat and lists models", async () => {
    const { dispose, send } = face()
    const client = HttpApiClient.make(GatewayApi, {
      baseUrl: "http://gateway",
      transformClient: HttpClient.mapRequest(HttpClientRequest.setHeader("x-gateway-api-key", key))
    })
    const program = Effect.gen(function* () {
      const { chat, models } = yield* client
      const answer = yield* chat.createCompletion({
        headers: {},
        payload: { model: "gemini-2.5-flash", messages: [{ role: "user", content: "Hi" }] }
      })
      const { body: list } = yield* models.list({})
      return [
        "body" in answer ? answer.body : answer,
        list.data.map(({ id }) => id).filter((id) => id.startsWith("@gemini/"))
      ]
    })
    const network = FetchHttpClient.layer.pipe(
      Layer.provide(
        Layer.succeed(FetchHttpClient.Fetch, (input, init) => {
          const { pathname, search } = new URL(input instanceof Request ? input.url : input)
          return send(`${pathname}${search}`, init)
        })
      )
    )
    const got = await Effect.runPromise(Effect.provide(program, network))
    await dispose()
    expect(got).toEqual([
      {
        id: "chatcmpl-1",
        object: "chat.completion",
        created: 1,
        model: "@gemini/gemini-2.5-flash",
        choices: [
          {
            index: 0,
            message: { role: "assistant", content: "Hé", refusal: null },
            logprobs: null,
            finish_reason: "stop"
          }
        ],
        usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
      },
      ["@gemini/gemini-2.5-flash", "@gemini/anthropic.claude-x"]
    ])
  })

  it("contract: other generators read both APIs", () => {
    expect(Object.keys(OpenApi.fromApi(GatewayApi).paths).length).toBeGreaterThan(10)
    expect(Object.keys(OpenApi.fromApi(AdminApi).paths).length).toBeGreaterThan(10)
  })
})
