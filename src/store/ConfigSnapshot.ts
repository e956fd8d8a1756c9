// The current configuration: declarations and stored records as views that follow every change. Reloads and refreshes run here.
// Must not know what a view is for.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Semaphore from "effect/Semaphore"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { Limits } from "../domain/Limits.ts"
import type { Settings } from "../domain/settings/Settings.ts"
import { Records } from "./Records.ts"
import type { RecordKind, StoredRecord } from "./StoredRecord.ts"

/** The parts of the configuration that a reload replaces. */
export type Declarations = Pick<
  Settings,
  "accounts" | "keys" | "configs" | "prompts" | "models" | "defaults" | "aliases"
>

/** A record that cannot be used, and why. It is left out of the view and logged as a warning. */
export interface RecordFault {
  readonly id: string
  readonly message: string
}

/**
 * Declarations and records. `records` has every stored version of every record, the versions of one id in their order.
 */
export interface ConfigState {
  readonly declared: Declarations
  readonly records: Readonly<Record<RecordKind, ReadonlyArray<StoredRecord>>>
  /** The store's revision at which the records were read. */
  readonly revision: number
}

/** Smaller than every revision of a store. */
const unread = -1

/** Pure: a view of the state, and the records that the view cannot use. */
export type Build<A> = (state: ConfigState) => { readonly view: A; readonly faults: ReadonlyArray<RecordFault> }

/** One view. `put` replaces it; it runs once every view is built, so that all views change together. */
interface Following {
  readonly prepare: (state: ConfigState) => { readonly faults: ReadonlyArray<RecordFault>; readonly put: () => void }
}

/** Completes when other processes that serve with this one have read a change of the records, or are away. */
export const ChangeNotice: Context.Reference<Effect.Effect<void>> = Context.Reference<Effect.Effect<void>>(
  "gateway/store/ChangeNotice",
  { defaultValue: () => Effect.void }
)

export class ConfigSnapshot extends Context.Service<
  ConfigSnapshot,
  {
    /** A view that is built again after each change. The getter reads memory only, so the request path may call it. */
    readonly view: <A>(build: Build<A>) => Effect.Effect<() => A>
    /** Replaces the declarations in all views together. */
    readonly declare: (declared: Declarations) => Effect.Effect<void>
    /** Reads the records from the store. */
    readonly refresh: Effect.Effect<void, StoreUnavailable>
    /** The same, here and in the processes that serve with this one. A change of a record calls it before it answers. */
    readonly refreshAll: Effect.Effect<void>
    readonly current: () => ConfigState
    /** False while the store does not answer: its records may have changed. */
    readonly isFresh: () => boolean
  }
>()("gateway/store/ConfigSnapshot") {
  /**
   * Reads the store's revision every `refreshMillis`, so that a change by another process arrives here. A store that does
   * not answer leaves the views as they are.
   */
  static readonly layer = (declared: Declarations): Layer.Layer<ConfigSnapshot, never, Records> =>
    Layer.effect(
      ConfigSnapshot,
      Effect.gen(function* () {
        const { refreshMillis } = yield* Limits
        const { poll, snapshot } = yield* begin(declared)
        yield* Effect.forkScoped(Effect.repeat(Effect.delay(poll, refreshMillis), Schedule.forever))
        return snapshot
      })
    )

  /** For records that only this process changes: they are read after each change, without polling. */
  static readonly layerAlone = (declared: Declarations): Layer.Layer<ConfigSnapshot, never, Records> =>
    Layer.effect(
      ConfigSnapshot,
      Effect.map(begin(declared), ({ snapshot }) => snapshot)
    )
}

/** Reads the records once. When the store does not answer, the snapshot starts with the declarations. */
const begin = Effect.fnUntraced(function* (declared: Declarations) {
  const followed = follow(yield* Records, declared)
  const snapshot = ConfigSnapshot.of({
    ...followed,
    refreshAll: Effect.andThen(Effect.ignore(followed.refresh), yield* ChangeNotice)
  })
  const poll = Effect.ignore(snapshot.refresh)
  yield* poll
  return { poll, snapshot }
})

/** One change at a time: a slow read must not replace a newer state with an older one. */
const follow = (records: Records["Service"], declared: Declarations): Omit<ConfigSnapshot["Service"], "refreshAll"> => {
  const oneAtATime = Semaphore.makeUnsafe(1)
  const following: Array<Following> = []
  let state: ConfigState = { declared, records: { provider: [], key: [], config: [], prompt: [] }, revision: unread }
  let isFresh = true
  let reported = ""
  const report = (faults: ReadonlyArray<RecordFault>): Effect.Effect<void> => {
    const text = faults.map(({ id, message }) => `${id}: ${message}`).join("\n")
    const isNews = text !== reported && text !== ""
    reported = text
    return isNews ? Effect.logWarning(`Stored records that cannot be used are left out:\n${text}`) : Effect.void
  }
  const put = (next: ConfigState): Effect.Effect<void> =>
    Effect.suspend(() => {
      const prepared = following.map(({ prepare }) => prepare(next))
      state = next
      for (const one of prepared) one.put()
      return report(prepared.flatMap(({ faults }) => faults))
    })
  const load = Effect.gen(function* () {
    const revision = yield* records.revision
    if (revision === state.revision) return
    const provider = yield* records.histories("provider")
    const key = yield* records.histories("key")
    const config = yield* records.histories("config")
    const prompt = yield* records.histories("prompt")
    yield* put({ ...state, records: { provider, key, config, prompt }, revision })
  })
  const markFresh = (fresh: boolean): Effect.Effect<void> =>
    Effect.sync(() => {
      isFresh = fresh
    })
  return {
    view: (build) =>
      Effect.suspend(() => {
        const first = build(state)
        let view = first.view
        following.push({
          prepare: (next) => {
            const made = build(next)
            return {
              faults: made.faults,
              put: () => {
                view = made.view
              }
            }
          }
        })
        return Effect.as(report(first.faults), () => view)
      }),
    declare: (next) => oneAtATime.withPermits(1)(Effect.suspend(() => put({ ...state, declared: next }))),
    refresh: oneAtATime
      .withPermits(1)(load)
      .pipe(
        Effect.tap(markFresh(true)),
        Effect.tapError(() => markFresh(false))
      ),
    current: () => state,
    isFresh: () => isFresh
  }
}
