// Tests that nothing of an open stream refers to its request, from the router down.
// Must not depend on HTTP.
import { expect, it } from "@effect/vitest"
import { queryObjects } from "node:v8"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { Gateway } from "../../src/Gateway.ts"
import { ProviderRouter } from "../../src/router/ProviderRouter.ts"
import { Transport } from "../../src/upstream/Transport.ts"
import { googleAccount, requestContext } from "../support/account.ts"
import { reply } from "../support/gemini.ts"
import { settingsFor } from "../support/TestGateway.ts"

/** Lives as long as the object that has it. */
class Mark {
  readonly isMark = true
}

const marked = <A extends object>(value: A): A => Object.defineProperty({ ...value }, "mark", { value: new Mark() })

const event = (more: { readonly finishReason?: string }) => `data: ${JSON.stringify(reply([{ text: "Hi" }], more))}\n\n`
const transport = Transport.layerTest(() =>
  Effect.succeed({
    status: 200,
    headers: { "content-type": "text/event-stream" },
    chunks: [event({}), event({ finishReason: "STOP" })]
  })
)
const gateway = Gateway.layerNoDeps(settingsFor("http://unused.invalid", { accounts: [googleAccount] })).pipe(
  Layer.orDie,
  Layer.provide(transport)
)

it.live("open stream: the router keeps nothing of its request", () =>
  Effect.gen(function* () {
    const router = yield* ProviderRouter
    const request = { model: "gemini-2.5-flash", messages: [{ role: "user", content: "Hi" }], stream: true }
    const opening = yield* Effect.forkChild(
      Effect.suspend(() => router.open("chat", marked(request), marked(requestContext)))
    )
    const { chunks } = yield* Fiber.join(opening)
    expect(queryObjects(Mark)).toBe(0)
    expect(yield* Stream.runCount(chunks)).toBeGreaterThan(0)
  }).pipe(Effect.scoped, Effect.provide(gateway))
)
