// Tests what follows when a worker ends by itself or becomes silent.
// Must not start a process.
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import {
  makeRoster,
  type Member,
  pauseAfter,
  recentCrashes,
  watchWorker,
  type WorkerCalls
} from "../../src/cli/workers/Crew.ts"
import { makeLink } from "../../src/state/Link.ts"
import { linkedPorts } from "../support/firstProcess.ts"

it("crashes: the pause doubles with each crash of the last minute, and the sixth has none", () => {
  let crashes: ReadonlyArray<number> = []
  const pauses = [0, 1, 2, 3, 4, 5].map((second) => {
    crashes = recentCrashes(crashes, second * 1_000)
    return pauseAfter(crashes)
  })
  expect(pauses).toEqual([100, 200, 400, 800, 1_600, undefined])
})

it("crashes: those of a minute ago no longer count", () => {
  expect(recentCrashes([0, 1_000, 2_000], 61_000)).toEqual([2_000, 61_000])
})

/** A worker whose beats are heard as the list has it, and how its silence was reported. */
const watched = Effect.fnUntraced(function* (heard: ReadonlyArray<boolean>, isReady = true) {
  let beats = 0
  const reported: Array<readonly [beat: number, isSilent: boolean]> = []
  const link = yield* makeLink<object, WorkerCalls>(linkedPorts().ends[0], {})
  const beat = Effect.suspend(() => (beats < heard.length ? Effect.succeed(heard[beats++] === true) : Effect.never))
  const member: Member = { link: { ...link, beat }, isReady, isSilent: false, series: [] }
  const setSilent = (silent: Member, isSilent: boolean) => {
    silent.isSilent = isSilent
    reported.push([beats, isSilent])
  }
  const watching = yield* Effect.forkChild(watchWorker(2, member, { setSilent, readSeries: () => Effect.void }), {
    startImmediately: true
  })
  return { reported, isOver: watching.pollUnsafe() !== undefined }
})
const silence = (beats: number): ReadonlyArray<boolean> => Array<boolean>(beats).fill(false)

it.effect("crashes: silence is reported after 6 beats and ends the worker after 20, whatever a beat takes (F90)", () =>
  Effect.gen(function* () {
    expect(yield* watched(silence(19))).toEqual({ reported: [[6, true]], isOver: false })
    expect(yield* watched(silence(20))).toEqual({ reported: [[6, true]], isOver: true })
    expect(yield* watched([...silence(5), true, ...silence(5)])).toEqual({ reported: [], isOver: false })
    expect(yield* watched([...silence(19), true, ...silence(19)])).toEqual({
      reported: [
        [6, true],
        [20, false],
        [26, true]
      ],
      isOver: false
    })
  })
)

it.effect("crashes: a worker that starts may be silent (F90)", () =>
  Effect.gen(function* () {
    expect(yield* watched(silence(100), false)).toEqual({ reported: [], isOver: false })
  })
)

it.effect("crashes: a worker that is killed has handed over what it counted until 5 s before (F92)", () =>
  Effect.gen(function* () {
    let count = 0
    const { ends } = linkedPorts()
    const roster = yield* makeRoster(2)
    yield* makeLink<Pick<WorkerCalls, "ownSeries">, object>(ends[1], {
      ownSeries: () => Effect.succeed([{ id: "gateway_requests_total", attributes: { route: "/x" }, value: count }])
    })
    const member = roster.add(1, yield* makeLink<object, WorkerCalls>(ends[0], {}))
    const watching = yield* Effect.forkChild(watchWorker(1, member, roster), { startImmediately: true })
    count = 7
    yield* TestClock.adjust(5_000)
    count = 9
    yield* TestClock.adjust(4_999)
    yield* Fiber.interrupt(watching)
    yield* roster.remove(1)
    const series = (yield* roster.allSeries).filter(({ attributes }) => attributes?.["route"] === "/x")
    expect(series.map(({ value }) => value)).toEqual([7])
  })
)
