// Tests the renewal of a gateway token that the upstream refuses: renewed once, and sent again with the new one.
// Must not depend on HTTP or on the token endpoint.
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { providerAccount } from "../../src/domain/ProviderAccount.ts"
import { Gateway } from "../../src/Gateway.ts"
import type { Provider } from "../../src/provider/Provider.ts"
import { Providers } from "../../src/provider/Providers.ts"
import { ProviderRouter } from "../../src/router/ProviderRouter.ts"
import { Transport } from "../../src/upstream/Transport.ts"
import { requestContext } from "../support/account.ts"
import { acmeCalls } from "../support/acme.ts"
import { settingsFor } from "../support/TestGateway.ts"

/** Its tokens have numbers; a refused one is followed by the next. */
const numbered = (): Provider => {
  let token = 1
  return {
    prepare: acmeCalls,
    authorize: () => Effect.sync(() => ({ authorization: Redacted.make(`Bearer ${token}`) })),
    refresh: () => Effect.sync(() => ++token > 0)
  }
}

/** The same provider, with an `authorize` that completes without waiting. */
const prompt = (): Provider => {
  const provider = numbered()
  return { ...provider, authorize: (account) => Effect.runSync(Effect.exit(provider.authorize(account))) }
}

const good = { choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }] }

/** The tokens that were sent, and whether there was an answer, when every token up to one is refused. */
const sent = Effect.fnUntraced(function* (provider: Provider, refused: number) {
  const tokens: Array<string> = []
  const network = Transport.layerTest(({ auth }) => {
    tokens.push(...Object.values(auth).map(Redacted.value))
    return tokens.length <= refused
      ? { status: 401, chunks: [JSON.stringify({ error: { message: "no", code: 401 } })] }
      : { status: 200, chunks: [JSON.stringify(good)] }
  })
  const settings = settingsFor("http://unused.invalid", {
    accounts: [providerAccount({ slug: "acme", kind: "acme", models: ["rocket-1"] })]
  })
  const gateway = Gateway.layerTest(settings, {
    providers: Providers.layerWith({ acme: Effect.succeed(provider) })
  }).pipe(Layer.provide(network))
  const asked = Effect.flatMap(ProviderRouter, (router) =>
    router.run("chat", { model: "@acme/rocket-1", messages: [{ role: "user", content: "Hello" }] }, requestContext)
  )
  return { answered: Result.isSuccess(yield* Effect.result(asked).pipe(Effect.provide(gateway))), tokens }
})

describe.each([
  ["waited for", numbered],
  ["cached", prompt]
])("attempt with a token that is %s", (_way, provider) => {
  it.effect("attempt: a good token is sent once", () =>
    Effect.map(sent(provider(), 0), (all) => expect(all).toEqual({ answered: true, tokens: ["Bearer 1"] }))
  )
  it.effect("attempt: a refused token is followed by the next one", () =>
    Effect.map(sent(provider(), 1), (all) => expect(all).toEqual({ answered: true, tokens: ["Bearer 1", "Bearer 2"] }))
  )
  it.effect("attempt: a token refused again is not renewed a second time", () =>
    Effect.map(sent(provider(), 2), (all) => expect(all).toEqual({ answered: false, tokens: ["Bearer 1", "Bearer 2"] }))
  )
})
