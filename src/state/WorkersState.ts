// The state that the workers of one machine share: the first process keeps it, and each worker asks it by messages.
// Must not know how messages are sent. Without an answer, callers use the state of their own process.
import * as CircuitBreaker from "effect/persistence/CircuitBreaker"
import type { Call, Handlers, Link, LinkLost } from "./Link.ts"
import { type RateAnswer, type RateAsk, RateCounts } from "../domain/RateCounts.ts"
import {
  type DueName,
  type ListedName,
  type SharedBreakers,
  sharedBreakers,
  SharedState,
  type SharedText,
  StateAway,
  type TextRoom
} from "./SharedState.ts"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { monotonicMillis } from "../domain/time.ts"
import { FairEntries } from "../domain/collections.ts"
import { Limits, type LimitValues } from "../domain/Limits.ts"
import * as Layer from "effect/Layer"

type AdmitAnswer =
  | { readonly generation: number; readonly probe: boolean; readonly consecutiveOpenings: number }
  | { readonly openMillis: number }
  | { readonly isProbing: true }

interface RecordAsk {
  readonly key: string
  readonly generation: number
  readonly outcome: "Success" | "Failure" | "Ignored"
  readonly tripPolicy: CircuitBreaker.TripPolicy
  readonly openMillis: number
}

export interface StateCalls {
  readonly takeRates: Call<{ readonly asks: ReadonlyArray<RateAsk>; readonly isForced: boolean }, RateAnswer>
  readonly admit: Call<string, AdmitAnswer>
  /** The new state of the breaker, or null when the state stays. */
  readonly record: Call<RecordAsk, "Open" | "Closed" | null>
  readonly texts: Call<{ readonly room: TextRoom; readonly keys: ReadonlyArray<string> }, ReadonlyArray<string | null>>
  readonly setText: Call<SharedText, void>
  readonly addName: Call<DueName, void>
  readonly names: Call<
    { readonly list: string; readonly most: number; readonly idleMillis: number },
    ReadonlyArray<ListedName>
  >
  readonly removeName: Call<{ readonly list: string; readonly name: string }, void>
  readonly clearNames: Call<string, void>
  /** Takes a slot of a key with a limit of running requests; false when all are taken. */
  readonly enter: Call<{ readonly slot: number; readonly key: string; readonly most: number }, boolean>
  readonly leave: Call<number, void>
}

// The state that the first process keeps for its workers: rate buckets, breakers, texts, lists of names, slots.

export interface WorkersState {
  /** The calls of one worker. */
  readonly of: (worker: number) => Handlers<StateCalls>
  /** Ends what a worker held when it ended: its slots and its probes. */
  readonly forget: (worker: number) => Effect.Effect<void>
}

/** The first line of a name of several lines; names of one line have one owner together. */
const ownerOf = (name: string): string => name.slice(0, Math.max(0, name.indexOf("\n")))

/** A list of names that become due; the bounds come with each call. */
export class DueNames {
  private readonly untilMillis = new Map<string, number>()

  add({ dueMillis, most, name }: Omit<DueName, "list">, nowMillis: number): void {
    this.untilMillis.set(name, nowMillis + dueMillis)
    while (this.untilMillis.size > most) this.untilMillis.delete(this.crowding(name))
  }

  /** The name that leaves next, when this one came last: of the owner with most names the one that is due first. */
  private crowding(latest: string): string {
    const byOwner = Map.groupBy(this.sorted(), ([name]) => ownerOf(name))
    let crowd = byOwner.get(ownerOf(latest)) ?? []
    for (const names of byOwner.values()) if (names.length > crowd.length) crowd = names
    return crowd.at(-1)?.[0] ?? latest
  }

  list(most: number, idleMillis: number, nowMillis: number): ReadonlyArray<ListedName> {
    for (const [name, until] of this.untilMillis) if (until <= nowMillis - idleMillis) this.untilMillis.delete(name)
    return this.sorted()
      .slice(0, most)
      .map(([name, until]) => [name, until - nowMillis])
  }

  remove(name: string): void {
    this.untilMillis.delete(name)
  }

  private sorted(): ReadonlyArray<readonly [name: string, untilMillis: number]> {
    return [...this.untilMillis].toSorted(([, one], [, other]) => other - one)
  }
}

/** The slots of keys with a limit of running requests. A worker numbers its slots. */
export class Slots {
  private readonly byKey = new Map<string, Set<string>>()
  private readonly keyOf = new Map<string, string>()

  enter(worker: number, slot: number, key: string, most: number): boolean {
    const taken = this.byKey.get(key) ?? new Set()
    if (taken.size >= most) return false
    const name = `${worker}:${slot}`
    this.byKey.set(key, taken.add(name))
    this.keyOf.set(name, key)
    return true
  }

  leave(worker: number, slot: number): void {
    this.free(`${worker}:${slot}`)
  }

  forget(worker: number): void {
    for (const name of this.keyOf.keys()) if (name.startsWith(`${worker}:`)) this.free(name)
  }

  private free(name: string): void {
    const key = this.keyOf.get(name)
    if (key === undefined) return
    this.keyOf.delete(name)
    const taken = this.byKey.get(key)
    taken?.delete(name)
    if (taken?.size === 0) this.byKey.delete(key)
  }
}

interface StoredText {
  readonly text: string
  readonly untilMillis: number
}

/** Texts by room, within the bounds that one process has for them. */
const makeTexts = (limits: LimitValues) => {
  const rooms: Readonly<Record<TextRoom, FairEntries<StoredText>>> = {
    cache: new FairEntries(limits.cacheEntries, limits.cacheBytes),
    signature: new FairEntries(limits.signatureEntries, limits.signatureTotalBytes)
  }
  return {
    get: (room: TextRoom, key: string, nowMillis: number): string | null => {
      const stored = rooms[room].get(key)
      if (stored === undefined) return null
      if (stored.untilMillis > nowMillis) return stored.text
      rooms[room].delete(key)
      return null
    },
    set: ({ key, lifeMillis, owner, room, text }: SharedText, nowMillis: number): void =>
      // Two bytes a character, the most that V8 takes.
      rooms[room].set(owner, key, { text, untilMillis: nowMillis + lifeMillis }, 2 * text.length)
  }
}

const clocked = <A>(use: (nowMillis: number) => A): Effect.Effect<A> =>
  Effect.clockWith((clock) => Effect.sync(() => use(monotonicMillis(clock))))

/** Breakers, and the probes that run in each worker. */
const makeBreakers = (store: SharedBreakers) => {
  const probes = new Map<string, RecordAsk & { readonly worker: number }>()
  const ended: Omit<RecordAsk, "key" | "generation"> = {
    outcome: "Ignored",
    tripPolicy: CircuitBreaker.consecutive(1),
    openMillis: 0
  }
  const admit = (worker: number, key: string): Effect.Effect<AdmitAnswer> =>
    Effect.scoped(
      Effect.matchEffect(store.admit(key), {
        onSuccess: ({ consecutiveOpenings, generation, probe }) => {
          if (probe) probes.set(key, { ...ended, key, generation, worker })
          return Effect.succeed<AdmitAnswer>({ generation, probe, consecutiveOpenings })
        },
        onFailure: ({ reason }): Effect.Effect<AdmitAnswer> =>
          reason._tag === "CircuitOpen"
            ? Effect.succeed({ openMillis: Duration.toMillis(reason.retryAfter) })
            : reason._tag === "CircuitHalfOpen"
              ? Effect.succeed({ isProbing: true })
              : Effect.die(reason)
      })
    )
  const record = ({ generation, key, openMillis, outcome, tripPolicy }: RecordAsk) => {
    if (probes.get(key)?.generation === generation) probes.delete(key)
    const recorded = store.record({ key, generation, outcome, tripPolicy, openFor: Duration.millis(openMillis) })
    return Effect.orDie(Effect.map(recorded, (state) => state ?? null))
  }
  const forget = (worker: number): Effect.Effect<void> =>
    Effect.forEach(
      [...probes.values()].filter((probe) => probe.worker === worker),
      record,
      { discard: true }
    )
  return { admit, record, forget }
}

export const makeWorkersState: Effect.Effect<WorkersState> = Effect.gen(function* () {
  const limits = yield* Limits
  const rates = new RateCounts()
  const store = yield* Effect.provide(
    CircuitBreaker.CircuitBreakerStore,
    CircuitBreaker.layerStoreMemory({ idleTimeToLive: Duration.millis(limits.circuitIdleMillis) })
  )
  const breakers = makeBreakers(sharedBreakers(store))
  const texts = makeTexts(limits)
  const slots = new Slots()
  const lists = new Map<string, DueNames>()
  const listOf = (name: string): DueNames => {
    const list = lists.get(name) ?? new DueNames()
    lists.set(name, list)
    return list
  }
  return {
    of: (worker) => ({
      takeRates: ({ asks, isForced }) => clocked((now) => rates.take(asks, isForced, now)),
      admit: (key) => breakers.admit(worker, key),
      record: breakers.record,
      texts: ({ keys, room }) => clocked((now) => keys.map((key) => texts.get(room, key, now))),
      setText: (text) => clocked((now) => texts.set(text, now)),
      addName: ({ list, ...name }) => clocked((now) => listOf(list).add(name, now)),
      names: ({ idleMillis, list, most }) => clocked((now) => listOf(list).list(most, idleMillis, now)),
      removeName: ({ list, name }) => Effect.sync(() => listOf(list).remove(name)),
      clearNames: (list) => Effect.sync(() => void lists.delete(list)),
      enter: ({ key, most, slot }) => Effect.sync(() => slots.enter(worker, slot, key, most)),
      leave: (slot) => Effect.sync(() => slots.leave(worker, slot))
    }),
    forget: (worker) =>
      Effect.andThen(
        Effect.sync(() => slots.forget(worker)),
        breakers.forget(worker)
      )
  }
})

// The shared state of the workers of one machine: each call is asked of the first process.

type Asked = Pick<Link<StateCalls>, "ask">

const away = <A>(asked: Effect.Effect<A, LinkLost>): Effect.Effect<A, StateAway> =>
  Effect.mapError(asked, ({ cause }) => new StateAway({ cause }))

const breakerFault = (reason: CircuitBreaker.CircuitBreakerErrorReason) =>
  new CircuitBreaker.CircuitBreakerError({ reason })

const breakersOf = ({ ask }: Asked): SharedState["Service"]["breakers"] => {
  const asked = <A>(answer: Effect.Effect<A, LinkLost>) =>
    Effect.mapError(answer, ({ cause }) =>
      breakerFault(new CircuitBreaker.CircuitBreakerStoreError({ message: "the first process does not answer", cause }))
    )
  return {
    admit: (key) =>
      Effect.flatMap(asked(ask("admit", key)), (answer) => {
        if ("generation" in answer) return Effect.succeed({ ...answer, transition: undefined })
        return Effect.fail(
          breakerFault(
            "openMillis" in answer
              ? new CircuitBreaker.CircuitOpen({ key, retryAfter: Duration.millis(answer.openMillis) })
              : new CircuitBreaker.CircuitHalfOpen({ key })
          )
        )
      }),
    record: ({ generation, key, openFor, outcome, tripPolicy }) =>
      Effect.map(
        asked(ask("record", { key, generation, outcome, tripPolicy, openMillis: Duration.toMillis(openFor) })),
        (state) => state ?? undefined
      )
  }
}

/** The state that the first process keeps, over this link. */
export const layerPrimaryState = (link: Asked): Layer.Layer<SharedState> =>
  Layer.succeed(SharedState, {
    takeRates: (asks, isForced) => away(link.ask("takeRates", { asks, isForced })),
    breakers: breakersOf(link),
    texts: (room, keys) => away(link.ask("texts", { room, keys })),
    setText: (text) => away(link.ask("setText", text)),
    addName: (name) => away(link.ask("addName", name)),
    names: (list, most, idleMillis) => away(link.ask("names", { list, most, idleMillis })),
    removeName: (list, name) => away(link.ask("removeName", { list, name })),
    clearNames: (list) => away(link.ask("clearNames", list))
  })
