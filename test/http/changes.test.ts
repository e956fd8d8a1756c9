// Tests configuration changes while a request is under way: the request keeps the configuration it began with.
// Must not depend on how changes are distributed.
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { Gateway } from "../../src/Gateway.ts"
import { WebHandler } from "../../src/http/HttpApi.ts"
import { ConfigSnapshot } from "../../src/store/ConfigSnapshot.ts"
import { Transport } from "../../src/upstream/Transport.ts"
import { googleAccount } from "../support/account.ts"
import { config } from "../support/config.ts"
import { gatewayKey, settingsFor } from "../support/TestGateway.ts"
import { hello } from "./face.ts"

const account = (slug: string) => ({
  ...googleAccount,
  slug,
  base_url: `http://${slug}.test`,
  credentials: { _tag: "ApiKey", key: Redacted.make("k") } as const
})
const declared = (slug: string) => ({
  accounts: [account(slug)],
  keys: [{ name: "test", key: Redacted.make(gatewayKey), config: "fast", scopes: ["inference", "admin"] as const }],
  configs: { fast: config({ provider: `@${slug}` }) }
})

it.effect(
  "configuration: a change that arrives with the body applies to later requests: config and account are of one moment (TH28)",
  () =>
    Effect.gen(function* () {
      const send = yield* WebHandler
      const holdings = yield* ConfigSnapshot
      const url = (body: BodyInit): Promise<unknown> => {
        const headers = {
          "content-type": "application/json",
          "x-gateway-api-key": gatewayKey,
          "x-gateway-dry-run": "true"
        }
        const init = { method: "POST", headers, body, duplex: "half" }
        return send(new Request("http://gateway/v1/chat/completions", init))
          .then((response) => response.json())
          .then((shown: { url?: string }) => shown.url ?? shown)
      }
      const body = JSON.stringify({ ...hello, model: "gemini-2.5-flash" })
      const held = Promise.withResolvers<ReadableStreamDefaultController<Uint8Array>>()
      const slow = url(
        new ReadableStream<Uint8Array>({ pull: (controller) => held.resolve(controller) }, { highWaterMark: 0 })
      )
      const controller = yield* Effect.promise(() => held.promise)
      yield* holdings.declare(declared("new"))
      controller.enqueue(new TextEncoder().encode(body))
      controller.close()
      const path = "v1beta/models/gemini-2.5-flash:generateContent"
      expect(yield* Effect.promise(() => slow)).toBe(`http://old.test/${path}`)
      expect(yield* Effect.promise(() => url(body))).toBe(`http://new.test/${path}`)
    }).pipe(
      Effect.provide(
        Gateway.layerTest({ ...settingsFor("http://old.test"), ...declared("old") }).pipe(
          Layer.provide(Transport.layerTest(() => ({ status: 500 })))
        )
      )
    )
)
