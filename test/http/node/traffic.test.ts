// Tests the running requests of a process: what it logs when its memory is full.
// Must not depend on the memory of the process that runs it.
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { Memory, Traffic } from "../../../src/http/node/Traffic.ts"

it.effect("memory: each change of its state is one line, and keys of operators are let in (F61)", () => {
  const lines: Array<string> = []
  let isFull = true
  const surroundings = Layer.merge(
    Layer.succeed(Memory, { isFull: () => isFull }),
    Logger.layer([Logger.make(({ logLevel, message }) => void lines.push(`${logLevel} ${String(message)}`))])
  )
  return Effect.gen(function* () {
    const { adminShares, shares } = yield* Traffic
    const enter = Effect.flatMap(Effect.yieldNow, () => {
      const entered = shares.enter("one")
      return Effect.as(Effect.yieldNow, typeof entered === "string" ? entered : "entered")
    })
    expect([yield* enter, yield* enter, typeof adminShares.enter("operator")]).toEqual(["all", "all", "object"])
    isFull = false
    expect([yield* enter, yield* enter]).toEqual(["entered", "entered"])
    expect(lines).toEqual([
      "Warn memory: requests in flight leave less than 15 % of it; new ones get 503 until some have ended. More memory, a larger --max-old-space-size or a lower limits.inFlight prevents this.",
      "Info memory: there is room for requests again"
    ])
  }).pipe(Effect.provide(Layer.provideMerge(Traffic.layer, surroundings)))
})
