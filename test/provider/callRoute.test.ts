// Tests the cache of call routes: each is computed once, and caller credentials are never cached.
// Must not depend on the network.
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { expect, it } from "vitest"
import { type ProviderAccount, providerAccount } from "../../src/domain/ProviderAccount.ts"
import { KnownModel, memoizeRoutes, type RouteOf, type TargetModel } from "../../src/provider/route.ts"

const account = (slug: string) =>
  providerAccount({ slug, kind: "google", credentials: { _tag: "ApiKey", key: Redacted.make("k") } })
const gemini = (modelId: string): TargetModel => ({ family: "gemini", modelId, endpoint: false })

const counting = () => {
  const worked: Array<string> = []
  const routeOf: RouteOf = memoizeRoutes(({ slug }, { endpoint, family, modelId }, call) => {
    const url = `${slug} ${family} ${endpoint} ${modelId}${call}`
    worked.push(url)
    return Result.succeed({ url, headers: {} })
  })
  return { worked, routeOf }
}

it("call route: account, model and call give the same cached route", () => {
  const { worked, routeOf } = counting()
  const [one, other] = [account("a"), account("b")]
  const of = (by: ProviderAccount, model: TargetModel) => [by, new KnownModel(by, model)] as const
  const [oneM, oneN, otherM] = [of(one, gemini("m")), of(one, gemini("n")), of(other, gemini("m"))]
  const asked: ReadonlyArray<Parameters<RouteOf>> = [
    [...oneM, ":x"],
    [...oneM, ":y"],
    [...oneN, ":x"],
    [...otherM, ":x"],
    [...of(one, { ...gemini("m"), endpoint: true }), ":x"],
    [...of(one, { ...gemini("m"), family: "claude" }), ":x"]
  ]
  const routes = asked.map((each) => routeOf(...each))
  expect(asked.map((each) => routeOf(...each))).toEqual(routes)
  expect(worked).toEqual([
    "a gemini false m:x",
    "a gemini false m:y",
    "a gemini false n:x",
    "b gemini false m:x",
    "a gemini true m:x",
    "a claude false m:x"
  ])
})

it("call route: a known model of one account is computed each time for another", () => {
  const { worked, routeOf } = counting()
  const model = new KnownModel(account("a"), gemini("m"))
  routeOf(account("b"), model, ":x")
  routeOf(account("b"), model, ":x")
  expect(worked).toEqual(["b gemini false m:x", "b gemini false m:x"])
})

it("call route: an account with a caller's credential is not cached", () => {
  const { worked, routeOf } = counting()
  const own = { ...account("a"), origin: "caller" as const }
  routeOf(own, gemini("m"), ":x")
  routeOf(own, gemini("m"), ":x")
  expect(worked.length).toBe(2)
})
