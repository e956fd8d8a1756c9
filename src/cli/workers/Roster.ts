// The workers that run now: which are ready, and the metric series of all of them as one.
// Must not start or end a worker.
import * as Effect from "effect/Effect"
import { lastingSeries, mergeSeries, type SeriesValue, seriesValues } from "../../telemetry/AllSeries.ts"
import { metrics } from "../../telemetry/metrics.ts"
import { SeriesRegistry } from "../../telemetry/Series.ts"
import type { Link } from "../../workers/Link.ts"
import type { FilesCopy } from "../settings/LoadSettings.ts"
import type { WorkerCalls } from "./workerCalls.ts"

export interface Member {
  readonly link: Link<WorkerCalls>
  isReady: boolean
  /** Its latest series, for a scrape that it does not answer in time. */
  series: ReadonlyArray<SeriesValue>
}

export interface Roster {
  readonly add: (worker: number, link: Link<WorkerCalls>) => Member
  /** Marks a worker ready, and succeeds with whether all are. */
  readonly markReady: (worker: number) => Effect.Effect<boolean>
  /** Reads the series of a worker that is about to end. */
  readonly readSeries: (member: Member) => Effect.Effect<void>
  /** Keeps the counts of a worker that has ended. */
  readonly remove: (worker: number) => Effect.Effect<void>
  /** Completes when the workers other than this one have read the records of the store again. */
  readonly refreshOthers: (worker: number) => Effect.Effect<void>
  readonly allSeries: Effect.Effect<ReadonlyArray<SeriesValue>>
  /** Completes when the workers that are ready have taken the configuration over. */
  readonly reload: (copy: FilesCopy) => Effect.Effect<void>
}

export const makeRoster = (count: number): Effect.Effect<Roster> =>
  Effect.map(Effect.context<never>(), (context) => {
    const ready = SeriesRegistry.of(context).gauge(metrics.workers, {})
    const members = new Map<number, Member>()
    let former: ReadonlyArray<SeriesValue> = []
    const announce = (): void => {
      ready.value = [...members.values()].filter(({ isReady }) => isReady).length
      for (const { link } of members.values()) link.tell("presence", { ready: ready.value, count })
    }
    const readSeries = (member: Member): Effect.Effect<void> =>
      Effect.match(member.link.ask("ownSeries", null), {
        onSuccess: (series) => {
          member.series = series
        },
        onFailure: () => undefined
      })
    const each = (use: (member: Member, worker: number) => Effect.Effect<void>): Effect.Effect<void> =>
      Effect.suspend(() =>
        Effect.forEach([...members], ([worker, member]) => use(member, worker), { concurrency: count, discard: true })
      )
    return {
      add: (worker, link) => {
        const member: Member = { link, isReady: false, series: [] }
        members.set(worker, member)
        return member
      },
      markReady: (worker) =>
        Effect.sync(() => {
          const member = members.get(worker)
          if (member !== undefined) member.isReady = true
          announce()
          return ready.value === count
        }),
      readSeries,
      remove: (worker) =>
        Effect.sync(() => {
          former = mergeSeries([former, lastingSeries(members.get(worker)?.series ?? [])])
          members.delete(worker)
          announce()
        }),
      refreshOthers: (changed) =>
        each(({ isReady, link }, worker) =>
          worker === changed || !isReady ? Effect.void : Effect.ignore(link.ask("refresh", null))
        ),
      allSeries: Effect.map(each(readSeries), () =>
        mergeSeries([former, seriesValues(context), ...[...members.values()].map(({ series }) => series)])
      ),
      reload: (copy) => each(({ link }) => Effect.ignore(link.ask("reload", copy)))
    }
  })
