// Tests the circuits of targets: when they open, the probes they admit, and the keys and targets they leave alone.
// Must not depend on HTTP or on Redis.
import { describe, expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as TestClock from "effect/testing/TestClock"
import type { CircuitRule } from "../../src/domain/config/GatewayConfig.ts"
import { BodyInvalid, type GatewayError } from "../../src/domain/GatewayError.ts"
import type { Json } from "../../src/domain/text/json.ts"
import { defaultLimits, Limits } from "../../src/domain/Limits.ts"
import { ProviderError } from "../../src/domain/ProviderError.ts"
import type { RequestContext } from "../../src/domain/RequestContext.ts"
import { Gateway } from "../../src/Gateway.ts"
import { Circuits } from "../../src/state/Circuits.ts"
import { circuitOf, verdictOf } from "../../src/router/failures.ts"
import { ProviderRouter } from "../../src/router/ProviderRouter.ts"
import { Transport } from "../../src/upstream/Transport.ts"
import { googleAccount, requestContext, vertexAccount } from "../support/account.ts"
import { config, fallback } from "../support/config.ts"
import { reply } from "../support/gemini.ts"
import { replying } from "../support/scripted.ts"
import { settingsFor } from "../support/TestGateway.ts"

const rule: CircuitRule = { id: "r", consecutive: 2, rate: undefined, cooldownMillis: 1_000, codes: undefined }

describe("outcome of a call for its circuit", () => {
  const message = "What is wrong."
  const failed = (reason: ProviderError["reason"], upstreamStatus?: number) =>
    Option.some(new ProviderError({ slug: "a", reason, ...(upstreamStatus === undefined ? {} : { upstreamStatus }) }))
  const overloaded = failed({ _tag: "Overloaded", message, code: "upstream_unavailable" }, 503)
  const limited = failed({ _tag: "RateLimited", message }, 429)
  it("circuit outcome: 500 and above, and no answer, are failures; a refusal is a success", () => {
    expect(
      [
        overloaded,
        failed({ _tag: "Timeout", message, phase: "connect" }),
        failed({ _tag: "Transport", message, kind: "refused" }),
        failed({ _tag: "BadReply", message, kind: "empty" }, 200),
        limited,
        failed({ _tag: "InvalidRequest", message }, 400)
      ].map((one) => verdictOf(rule, one))
    ).toEqual(["Failure", "Failure", "Failure", "Failure", "Success", "Success"])
  })
  it("circuit outcome: a target's own codes replace the default", () => {
    const own = { ...rule, codes: new Set([429]) }
    expect([limited, overloaded].map((one) => verdictOf(own, one))).toEqual(["Failure", "Success"])
  })
  it("circuits: aborted calls, calls refused by the gateway, and calls not made change nothing (F48)", () => {
    const refusedHere: Option.Option<GatewayError> = Option.some(new BodyInvalid({ code: "x", param: null, message }))
    expect(
      [
        Option.none<GatewayError>(),
        refusedHere,
        failed({ _tag: "CircuitOpen", message }),
        failed({ _tag: "Transport", message, kind: "stale" })
      ].map((one) => verdictOf(rule, one))
    ).toEqual(["Ignored", "Ignored", "Ignored", "Ignored"])
  })
})

describe("name of a circuit (TH20)", () => {
  const named = (value: Json, index = 0, key = requestContext.key) => {
    const target = config(value).targets[index]
    if (target === undefined) throw new Error("no such target")
    return circuitOf(
      {
        account: vertexAccount,
        modelId: "m",
        betas: [],
        carried: requestContext.carried,
        origin: "caller",
        ignored: [],
        target,
        edges: []
      },
      key
    )?.name
  }
  const circuit = { cb_config: { failure_threshold: 1 } }
  it("circuit name: is absent where the config has no circuit (TH20)", () => expect(named({})).toBe(undefined))
  it("circuit name: has caller, account, place, model and rule (TH20)", () => {
    expect(named(circuit)).toBe(named({ ...circuit, retry: { attempts: 1 } }))
    const others = [
      named(circuit, 0, { ...requestContext.key, id: "other" }),
      named({ cb_config: { failure_threshold: 2 } }),
      named({ ...circuit, provider: "vertex-ai", api_key: "x" })
    ]
    expect(new Set([named(circuit), ...others]).size).toBe(4)
  })
  it("circuit name: has the target itself where it has credentials of its own (TH20)", () => {
    const keyed = { provider: "vertex-ai", api_key: "x" }
    const value = { ...fallback(keyed, keyed), ...circuit }
    expect(named(value, 0)).not.toBe(named(value, 1))
    const shared = { ...fallback({}, {}), ...circuit }
    expect(named(shared, 0)).toBe(named(shared, 1))
  })
})

describe("circuit", () => {
  const circuits = (limits: Partial<typeof defaultLimits> = {}) =>
    Circuits.layerMemory.pipe(Layer.provide(Layer.succeed(Limits, { ...defaultLimits, ...limits })))
  /** A call through the circuit of a name; how it ended. */
  const call = (name: string, inner: Effect.Effect<string, string>, by = rule) =>
    Effect.flatMap(Circuits, ({ guard }) =>
      Effect.match(
        guard(
          { name, owner: "key", slug: "google", modelId: "m", rule: by },
          inner,
          (cause) => (Cause.hasInterruptsOnly(cause) ? "Ignored" : "Failure"),
          ({ retryAfterMillis }) => `refused ${retryAfterMillis}`
        ),
        {
          onFailure: (error) => error,
          onSuccess: (value) => value
        }
      )
    )
  const bad = Effect.fail("bad")
  const good = Effect.succeed("good")

  it.effect("circuit: opens after failures in a row, refuses, admits one probe, and closes after its success", () =>
    Effect.gen(function* () {
      expect([yield* call("a", bad), yield* call("a", good), yield* call("a", bad), yield* call("a", bad)]).toEqual([
        "bad",
        "good",
        "bad",
        "bad"
      ])
      yield* TestClock.adjust(400)
      expect([yield* call("a", good), yield* call("b", good)]).toEqual(["refused 600", "good"])
      yield* TestClock.adjust(600)
      const probe = yield* Effect.forkChild(call("a", Effect.as(Effect.sleep(100), "slow")))
      yield* Effect.yieldNow
      expect(yield* call("a", good)).toBe("refused undefined")
      yield* TestClock.adjust(100)
      expect([yield* Fiber.join(probe), yield* call("a", good)]).toEqual(["slow", "good"])
    }).pipe(Effect.provide(circuits()))
  )
  it.effect("circuit: opens again after a failed probe", () =>
    Effect.gen(function* () {
      yield* call("a", bad)
      yield* call("a", bad)
      yield* TestClock.adjust(1_000)
      expect([yield* call("a", bad), yield* call("a", good)]).toEqual(["bad", "refused 1000"])
    }).pipe(Effect.provide(circuits()))
  )
  it.effect("circuits: do not change by cancelled calls, probes included (F48)", () =>
    Effect.gen(function* () {
      const giveUp = Effect.gen(function* () {
        const running = yield* Effect.forkChild(call("a", Effect.never))
        yield* Effect.yieldNow
        yield* Fiber.interrupt(running)
      })
      for (let n = 0; n < 5; n++) yield* giveUp
      expect(yield* call("a", good)).toBe("good")
      yield* call("a", bad)
      yield* call("a", bad)
      yield* TestClock.adjust(1_000)
      yield* giveUp
      expect(yield* call("a", good)).toBe("good")
    }).pipe(Effect.provide(circuits()))
  )
  it.effect("circuit: opens by a share of failures once there are enough calls", () => {
    const share: CircuitRule = { ...rule, consecutive: undefined, rate: { threshold: 0.5, minimum: 4 } }
    return Effect.gen(function* () {
      const ends = []
      for (const inner of [bad, good, bad, good, good]) ends.push(yield* call("a", inner, share))
      expect(ends).toEqual(["bad", "good", "bad", "good", "refused 1000"])
    }).pipe(Effect.provide(circuits()))
  })
  it.effect("circuit: of two thresholds the first one reached opens it", () => {
    const both: CircuitRule = { ...rule, consecutive: 3, rate: { threshold: 0.4, minimum: 5 } }
    return Effect.gen(function* () {
      for (const inner of [bad, bad, bad]) yield* call("a", inner, both)
      for (const inner of [bad, good, good, good, bad]) yield* call("b", inner, both)
      expect([yield* call("a", good, both), yield* call("b", good, both)]).toEqual(["refused 1000", "refused 1000"])
      const { open } = yield* Circuits
      expect([
        ...(yield* open(
          ["a", "b", "c"].map((name) => ({ name, owner: "key", slug: "google", modelId: "m", rule: both }))
        ))
      ]).toEqual(["a", "b"])
      yield* TestClock.adjust(1_000)
      expect([
        ...(yield* open(
          ["a", "b", "c"].map((name) => ({ name, owner: "key", slug: "google", modelId: "m", rule: both }))
        ))
      ]).toEqual([])
    }).pipe(Effect.provide(circuits()))
  })
  it.effect("circuit: none is made beyond the limit of names, until some expire", () =>
    Effect.gen(function* () {
      yield* call("a", good)
      for (let n = 0; n < 3; n++) yield* call("b", bad)
      expect(yield* call("b", good)).toBe("good")
      yield* TestClock.adjust(1_000)
      for (let n = 0; n < 2; n++) yield* call("b", bad)
      expect(yield* call("b", good)).toBe("refused 1000")
    }).pipe(Effect.provide(circuits({ circuitEntries: 1, circuitIdleMillis: 1_000 })))
  )
})

describe("circuits of one key", () => {
  const limits = { ...defaultLimits, circuitEntries: 10, circuitIdleMillis: 1_000 }
  const layer = Circuits.layerMemory.pipe(Layer.provide(Layer.succeed(Limits, limits)))
  /** How many of so many names have a circuit: it is open after two failures. */
  const opened = (owner: string, names: number, cooldownMillis = rule.cooldownMillis) =>
    Effect.gen(function* () {
      const { guard, open } = yield* Circuits
      const all = Array.from({ length: names }, (_, at) => ({
        name: `${owner} ${at}`,
        owner,
        slug: "google",
        modelId: "m",
        rule: { ...rule, cooldownMillis }
      }))
      for (const circuit of all) {
        for (let n = 0; n < 2; n++)
          yield* Effect.exit(
            guard(
              circuit,
              Effect.fail("bad"),
              () => "Failure" as const,
              () => "refused"
            )
          )
      }
      return (yield* open(all)).size
    })

  it.effect("circuits: a key with many rules leaves circuits for other keys (TH20)", () =>
    Effect.gen(function* () {
      expect([yield* opened("loud", 1_000), yield* opened("quiet", 3), yield* opened("other", 3)]).toEqual([10, 3, 3])
      expect(yield* opened("loud", 1_000)).toBe(10)
      expect(yield* opened("quiet", 3)).toBe(3)
    }).pipe(Effect.provide(layer))
  )
  it.effect("circuits: open ones without calls stay within the limit (TH19)", () =>
    Effect.gen(function* () {
      const day = 86_400_000
      expect(yield* opened("slow", 10, day)).toBe(10)
      yield* TestClock.adjust(60_000)
      const { guard, open } = yield* Circuits
      const more = { name: "slow more", owner: "slow", slug: "google", modelId: "m", rule: { ...rule, consecutive: 1 } }
      expect(
        yield* Effect.flip(
          guard(
            more,
            Effect.fail("bad"),
            () => "Failure" as const,
            () => "refused"
          )
        )
      ).toBe("bad")
      expect([...(yield* open([more]))]).toEqual([])
      yield* TestClock.adjust(day)
      expect(yield* opened("slow", 10)).toBe(10)
    }).pipe(Effect.provide(layer))
  )
})

describe("circuits through the router", () => {
  const request = { model: "gemini-2.5-flash", messages: [{ role: "user", content: "hi" }] }
  const good = replying(reply([{ text: "fine" }], { finishReason: "STOP" }))
  const busy = { status: 503, chunks: [JSON.stringify({ error: { code: 503, message: "Not now." } })] }
  const world = (isDown: (url: string, at: number) => boolean) => {
    const calls: Array<{ readonly at: number; readonly slug: string }> = []
    const transport = Transport.layerTest(({ url }) =>
      Effect.clockWith((clock) => {
        const at = clock.currentTimeMillisUnsafe()
        calls.push({ at, slug: url.includes("generativelanguage") ? "google" : "vertex-ai" })
        return Effect.succeed(isDown(url, at) ? busy : good)
      })
    )
    const settings = settingsFor("http://unused.invalid", { accounts: [googleAccount, vertexAccount] })
    return { calls, layer: Gateway.layerNoDeps(settings).pipe(Layer.provide(transport)) }
  }
  const circuit = { cb_config: { failure_threshold: 2, cooldown_interval: 5_000 } }
  const google = { provider: "google", retry: { attempts: 0 } }
  const vertex = { provider: "vertex-ai" }
  const asking = (value: Json, more: Partial<RequestContext> = {}) =>
    Effect.flatMap(ProviderRouter, (router) =>
      Effect.map(
        Effect.exit(router.run("chat", request, { ...requestContext, ...more, config: config(value) })),
        (exit) => {
          if (Exit.isSuccess(exit)) return exit.value.served.slug
          const error = Option.getOrUndefined(Exit.findErrorOption(exit))
          return error?._tag === "AllTargetsFailed" && error.last._tag === "ProviderError" ? error.last.reason : error
        }
      )
    )

  it.effect("circuits: an open target is skipped, and a single one reports the time to retry", () => {
    const { calls, layer } = world((url) => url.includes("generativelanguage"))
    return Effect.gen(function* () {
      const both = { ...fallback(google, vertex), ...circuit }
      for (let n = 0; n < 4; n++) expect(yield* asking(both)).toBe("vertex-ai")
      expect(calls.map(({ slug }) => slug)).toEqual([
        "google",
        "vertex-ai",
        "google",
        "vertex-ai",
        "vertex-ai",
        "vertex-ai"
      ])
      expect(yield* asking({ ...google, ...circuit })).toEqual({
        _tag: "CircuitOpen",
        message: "The upstream was not called: it failed too often of late.",
        retryAfterMillis: 5_000
      })
      expect(yield* asking(both, { key: { ...requestContext.key, id: "other" } })).toBe("vertex-ai")
      expect(calls.at(-2)?.slug).toBe("google")
    }).pipe(Effect.provide(layer))
  })
  it.effect("circuits: load goes to closed targets", () => {
    const { calls, layer } = world((url) => url.includes("generativelanguage"))
    const shared = { strategy: { mode: "loadbalance", ...circuit }, targets: [google, vertex] }
    return Effect.gen(function* () {
      for (let n = 0; n < 2; n++) yield* asking({ ...google, ...circuit })
      for (let n = 0; n < 20; n++) expect(yield* asking(shared)).toBe("vertex-ai")
      expect(calls).toHaveLength(22)
    }).pipe(Effect.provide(layer))
  })
  it.effect("circuits: a storm of requests meets an open circuit, with at most one probe each cooldown (F19)", () => {
    const { calls, layer } = world((_url, at) => at < 20_000)
    return Effect.gen(function* () {
      const ends: Array<unknown> = []
      for (let n = 0; n < 600; n++) {
        ends.push(yield* asking({ ...google, ...circuit }))
        yield* TestClock.adjust(50)
      }
      expect(calls.filter(({ at }) => at < 20_000).map(({ at }) => at)).toEqual([0, 50, 5_050, 10_050, 15_050])
      expect(ends.slice(25_050 / 50).every((end) => end === "google")).toBe(true)
    }).pipe(Effect.provide(layer))
  })
})
