// Replaces each layer of the gateway, as a part and by a layer around it, and checks that the served gateway calls it.
// Must not open a port or reach the network.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { describe, expect, it } from "@effect/vitest"
import type { Settings } from "../src/domain/settings/Settings.ts"
import {
  Administration,
  Admission,
  Catalog,
  Circuits,
  CloudPlatformProvider,
  Configs,
  GatewayKeys,
  LearnedRemedies,
  ModelMakerProvider,
  type PartsOverNetwork,
  Prices,
  Prompts,
  Providers,
  ProviderRouter,
  ProviderTest,
  RateStore,
  Records,
  ResponseCache,
  ResponseStore,
  SignatureMemory,
  Spending,
  Store,
  TokenProvider,
  Upstream,
  UsageLog
} from "../src/index.ts"
import { Gateway, Transport, type TransportRequest, WebHandler } from "../src/testing.ts"
import { googleAccount, vertexAccount } from "./support/account.ts"
import { adminKey } from "./support/accounted.ts"
import { config } from "./support/config.ts"
import { promptsOf } from "./support/prompts.ts"
import { gatewayKey, settingsFor } from "./support/TestGateway.ts"

const settings: Settings = settingsFor("http://unused.invalid", {
  accounts: [googleAccount, vertexAccount],
  configs: {
    steady: config({ cache: { mode: "simple" }, cb_config: { failure_threshold: 3, cooldown_interval: 5_000 } })
  },
  keys: [
    { name: "test", key: Redacted.make(gatewayKey), budget: { usd: 5, per: "day" } },
    { name: "boss", key: Redacted.make(adminKey), scopes: ["admin"] }
  ],
  prompts: promptsOf([{ id: "hello", model: "@google/gemini-3.8-flash", messages: [{ role: "user", content: "Hi" }] }])
})

/** A service that records the names of the functions that are called, and of the values that are read. */
const spied = <S extends object>(service: S, used: Set<string>): S =>
  new Proxy(service, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== "function") {
        used.add(String(name))
        return value
      }
      return (...args: ReadonlyArray<unknown>) => {
        used.add(String(name))
        return Reflect.apply(value, target, args)
      }
    }
  })

/** A layer of one service that records which of its members are used. */
const spying = <I, S extends object, R>(
  key: Context.Key<I, S>,
  layer: Layer.Layer<I, never, R>,
  used: Set<string>
): Layer.Layer<I, never, R> =>
  Layer.effect(
    key,
    Effect.map(key, (service) => spied(service, used))
  ).pipe(Layer.provide(layer))

const call = { id: "call_1", type: "function", function: { name: "look", arguments: "{}" } }
const chat = (model: string) => ({
  model,
  messages: [
    { role: "user", content: "Hi" },
    { role: "assistant", tool_calls: [call] },
    { role: "tool", tool_call_id: "call_1", content: "found" }
  ]
})

const [post, get] = ["POST", "GET"]
/** One request of every kind of route. */
const requests: ReadonlyArray<readonly [method: string, path: string, key: string, body?: object]> = [
  [post, "/v1/chat/completions", gatewayKey, chat("@google/gemini-3.8-flash")],
  [post, "/v1/chat/completions", gatewayKey, chat("@vertex-ai/gemini-3.8-flash")],
  [post, "/v1/prompts/hello/completions", gatewayKey, {}],
  [post, "/v1/responses", gatewayKey, { model: "@google/gemini-3.8-flash", input: "Hi" }],
  [get, "/v1/models", gatewayKey],
  [get, "/admin/v1/providers", adminKey],
  [get, "/admin/v1/configs", adminKey],
  [get, "/admin/v1/prompts", adminKey],
  ["DELETE", "/admin/v1/models/learned", adminKey],
  [get, "/admin/v1/requests", adminKey],
  [post, "/admin/v1/providers/google/test", adminKey, {}]
]

const answer = JSON.stringify({
  candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  totalTokens: 1
})
const network = (sent: Array<TransportRequest> = []) =>
  Transport.layerTest((request) => {
    sent.push(request)
    return { status: 200, chunks: [answer] }
  })

/** Sends every request; the statuses of the answers. */
const served = Effect.gen(function* () {
  const handler = yield* WebHandler
  const statuses: Array<number> = []
  for (const [method, path, key, body] of requests) {
    const response = yield* Effect.promise(() =>
      handler(
        new Request(`http://gateway${path}`, {
          method,
          headers: { "content-type": "application/json", "x-gateway-api-key": key, "x-gateway-config": "steady" },
          ...(body === undefined ? {} : { body: JSON.stringify(body) })
        })
      )
    )
    yield* Effect.promise(() => response.text())
    statuses.push(response.status)
  }
  return statuses
})

const keys = GatewayKeys.layerStatic(settings.keys)
const admission = Admission.layer.pipe(Layer.provide([RateStore.layerMemory, Spending.layerMemory]))

/** A replacement of every part that records its use, and the members that the requests use. */
const rows: {
  readonly [Part in Exclude<keyof PartsOverNetwork, "shared" | "readiness">]-?: {
    readonly calls: ReadonlyArray<string>
    readonly parts: (used: Set<string>) => Required<Pick<PartsOverNetwork, Part>>
  }
} = {
  tokenProvider: {
    calls: ["authorization"],
    parts: (used) => ({ tokenProvider: spying(TokenProvider, TokenProvider.layer, used) })
  },
  cloudPlatform: {
    calls: ["authorize", "prepare"],
    parts: (used) => ({ cloudPlatform: spying(CloudPlatformProvider, CloudPlatformProvider.layer, used) })
  },
  modelMaker: {
    calls: ["authorize", "prepare"],
    parts: (used) => ({ modelMaker: spying(ModelMakerProvider, ModelMakerProvider.layer, used) })
  },
  providers: {
    calls: ["google", "vertex-ai"],
    parts: (used) => ({ providers: spying(Providers, Providers.layer, used) })
  },
  upstream: { calls: ["once"], parts: (used) => ({ upstream: spying(Upstream, Upstream.layer, used) }) },
  router: {
    calls: ["run", "targets"],
    parts: (used) => ({ router: spying(ProviderRouter, ProviderRouter.layer, used) })
  },
  catalog: {
    calls: ["list", "models", "now", "resolve"],
    parts: (used) => ({ catalog: spying(Catalog, Catalog.layer, used) })
  },
  configs: { calls: ["find"], parts: (used) => ({ configs: spying(Configs, Configs.layer, used) }) },
  prompts: { calls: ["find"], parts: (used) => ({ prompts: spying(Prompts, Prompts.layer, used) }) },
  prices: { calls: ["counted", "load"], parts: (used) => ({ prices: spying(Prices, Prices.layerWith({}), used) }) },
  keys: { calls: ["find"], parts: (used) => ({ keys: spying(GatewayKeys, keys, used) }) },
  admission: { calls: ["admit"], parts: (used) => ({ admission: spying(Admission, admission, used) }) },
  usageLog: {
    calls: ["append", "requests"],
    parts: (used) => ({ usageLog: spying(UsageLog, UsageLog.layerMemory, used) })
  },
  signatures: {
    calls: ["recall"],
    parts: (used) => ({ signatures: spying(SignatureMemory, SignatureMemory.layerMemory, used) })
  },
  remedies: {
    calls: ["clear", "recall"],
    parts: (used) => ({ remedies: spying(LearnedRemedies, LearnedRemedies.layerMemory, used) })
  },
  circuits: { calls: ["guard"], parts: (used) => ({ circuits: spying(Circuits, Circuits.layerMemory, used) }) },
  cache: {
    calls: ["get", "keyOf", "longest", "set"],
    parts: (used) => ({ cache: spying(ResponseCache, ResponseCache.layerMemory, used) })
  },
  responses: {
    calls: ["keep", "keeps", "some"],
    parts: (used) => ({ responses: spying(ResponseStore, ResponseStore.layer, used) })
  },
  administration: {
    calls: ["configs", "keys", "prompts", "providers"],
    parts: (used) => ({ administration: spying(Administration, Administration.layer, used) })
  },
  providerTest: { calls: ["run"], parts: (used) => ({ providerTest: spying(ProviderTest, ProviderTest.layer, used) }) },
  store: {
    calls: ["histories", "page", "revision"],
    parts: (used) => ({
      store: spying(Records, Store.layerMemory, used).pipe(Layer.provideMerge(Store.layerMemory))
    })
  }
}

const answers = requests.map(([method]) => (method === "DELETE" ? 204 : 200))

describe("replaced layers", () => {
  it.effect.each(Object.entries(rows))("replaced layer: the served gateway calls the part %s", ([, { calls, parts }]) =>
    Effect.gen(function* () {
      const used = new Set<string>()
      const gateway = Gateway.layerTest(settings, parts(used)).pipe(Layer.provide(network()))
      const statuses = yield* Effect.provide(served, gateway)
      expect([statuses, [...used].toSorted()]).toEqual([answers, calls])
    })
  )

  it.effect("replaced layer: a layer around the gateway is used as a part is", () =>
    Effect.gen(function* () {
      const tokens = new Set<string>()
      const catalog = new Set<string>()
      const found = new Set<string>()
      const store = new Set<string>()
      const around = Layer.mergeAll(
        spying(TokenProvider, TokenProvider.layerStatic({ "x-own": Redacted.make("own") }), tokens),
        spying(Catalog, Catalog.layerMemory(settings.accounts), catalog),
        spying(GatewayKeys, keys, found),
        rows.store.parts(store).store
      )
      const sent: Array<TransportRequest> = []
      const gateway = Gateway.layerTest(settings).pipe(Layer.provide([around, network(sent)]))
      const statuses = yield* Effect.provide(served, gateway)
      expect([statuses, ...[tokens, catalog, found, store].map((used) => [...used].toSorted())]).toEqual([
        answers,
        ...[rows.tokenProvider, rows.catalog, rows.keys, rows.store].map(({ calls }) => calls)
      ])
      expect(new Set(sent.map(({ auth }) => JSON.stringify(Object.entries(auth).map(([name]) => name))))).toEqual(
        new Set(['["x-own"]'])
      )
    })
  )

  it.effect("replaced layer: a part wins over a layer around the gateway", () =>
    Effect.gen(function* () {
      const [part, around] = [new Set<string>(), new Set<string>()]
      const gateway = Gateway.layerTest(settings, rows.tokenProvider.parts(part)).pipe(
        Layer.provide([spying(TokenProvider, TokenProvider.layerStatic({}), around), network()])
      )
      yield* Effect.provide(served, gateway)
      expect([[...part], [...around]]).toEqual([["authorization"], []])
    })
  )

  it.live.each([
    ["as a part", (transport: Layer.Layer<Transport>) => Gateway.layer(settings, { transport })],
    ["around it", (transport: Layer.Layer<Transport>) => Gateway.layer(settings).pipe(Layer.provide(transport))]
  ] as const)("replaced layer: the gateway on a port calls the network that is given %s", ([, layer]) =>
    Effect.gen(function* () {
      const sent: Array<TransportRequest> = []
      const context = yield* Layer.build(layer(network(sent)))
      const { address } = Context.get(context, HttpServer.HttpServer)
      const response = yield* Effect.promise(() =>
        fetch(`http://127.0.0.1:${"port" in address ? address.port : 0}/v1/chat/completions`, {
          method: "POST",
          headers: { "content-type": "application/json", "x-gateway-api-key": gatewayKey },
          body: JSON.stringify({ model: "@google/gemini-3.8-flash", messages: [{ role: "user", content: "Hi" }] })
        })
      )
      expect([response.status, sent.map(({ url }) => url)]).toEqual([
        200,
        ["https://generativelanguage.googleapis.com/v1beta/models/gemini-3.8-flash:generateContent"]
      ])
    })
  )

  it.effect("replaced layer: a gateway does not use the services of another one next to it", () =>
    Effect.gen(function* () {
      const [one, other] = [new Set<string>(), new Set<string>()]
      const handlers = yield* Effect.forEach([one, other], (used) =>
        Layer.build(Gateway.layerTest(settings, rows.router.parts(used)).pipe(Layer.provide(network())))
      )
      yield* Effect.forEach(handlers.slice(0, 1), (context) => Effect.provide(served, context))
      expect([[...one].toSorted(), [...other]]).toEqual([rows.router.calls, []])
    })
  )
})
