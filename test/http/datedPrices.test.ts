// A price that changes on its day, over the routes: a request costs what the moment of its arrival states.
// Must not read the clock of the machine.
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"
import { expect } from "vitest"
import { defaultLimits } from "../../src/domain/Limits.ts"
import type { Settings } from "../../src/domain/settings/Settings.ts"
import { Gateway } from "../../src/Gateway.ts"
import { WebHandler } from "../../src/http/HttpApi.ts"
import { Transport } from "../../src/upstream/Transport.ts"
import { adminKey } from "../support/accounted.ts"
import { googleAccount } from "../support/account.ts"
import { replying } from "../support/scripted.ts"
import { gatewayKey } from "../support/TestGateway.ts"

const settings: Settings = {
  server: { host: "127.0.0.1", port: 0 },
  accounts: [googleAccount],
  keys: [
    { name: "ci", key: Redacted.make(gatewayKey) },
    { name: "boss", key: Redacted.make(adminKey), scopes: ["admin"] }
  ],
  limits: defaultLimits,
  prices: { "gemini-3.8-flash": [{ output: 3 }, { from: "2026-12-01", output: 5 }] }
}

/** The clock moves two seconds on while a call runs. */
const network = Transport.layerTest(() =>
  Effect.as(
    TestClock.adjust("2 seconds"),
    replying({
      candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 100, totalTokenCount: 101 }
    })
  )
)

const send = (path: string, key: string, body?: object) =>
  Effect.flatMap(WebHandler, (handler) =>
    Effect.promise(() =>
      handler(
        new Request(`http://gateway${path}`, {
          headers: { "content-type": "application/json", "x-gateway-api-key": key },
          ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) })
        })
      ).then((response) => response.json())
    )
  )

const ask = send("/v1/chat/completions", gatewayKey, {
  model: "@google/gemini-3.8-flash",
  messages: [{ role: "user", content: "Hello" }]
})

const midnight = Date.parse("2026-12-01T00:00:00Z")

it.effect("prices: a request before midnight costs the price of its day, also where its answer comes after", () =>
  Effect.andThen(
    TestClock.setTime(midnight - 1000),
    Effect.gen(function* () {
      yield* ask
      yield* ask
      const list: { readonly data: ReadonlyArray<{ readonly cost_usd: number }> } = yield* send(
        "/admin/v1/requests",
        adminKey
      )
      expect(list.data.map(({ cost_usd }) => cost_usd)).toEqual([0.0005, 0.0003])
    }).pipe(Effect.provide(Gateway.layerTest(settings).pipe(Layer.provide(network))))
  )
)
