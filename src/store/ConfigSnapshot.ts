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
import {
  type RecordKind,
  recordKinds,
  type RecordName,
  type RecordSet,
  recordSet,
  type StoredRecord,
  versionsOf,
  withVersions
} from "./StoredRecord.ts"

/** The parts of the configuration that a reload replaces. */
export type Declarations = Pick<
  Settings,
  | "accounts"
  | "keys"
  | "configs"
  | "prompts"
  | "prices"
  | "models"
  | "defaults"
  | "aliases"
  | "messages"
  | "attribution"
>

/** A record that cannot be used, and why. It is left out of the view and logged as a warning. */
export interface RecordFault {
  readonly id: string
  readonly message: string
}

/** Declarations and records; prompts with their versions, and the newest of each other record. */
export interface ConfigState {
  readonly declared: Declarations
  readonly records: Readonly<Record<RecordKind, RecordSet>>
  /** The store's revision at which the records were read. */
  readonly revision: number
}

/** Smaller than every revision of a store. */
const unread = -1

/** Pure: a view of the state, and the records that the view cannot use. */
type Build<A> = (state: ConfigState) => { readonly view: A; readonly faults: ReadonlyArray<RecordFault> }

/** A view that knows its faults. */
interface Faulty {
  readonly faults: ReadonlyArray<RecordFault>
}

/** A view of one kind that changes record by record, so that a change costs the same in a large store. */
export interface Tracked<A extends Faulty> {
  readonly kind: RecordKind
  /** A change of a record of these kinds builds the view again. */
  readonly rebuiltBy?: ReadonlyArray<RecordKind>
  readonly build: (state: ConfigState) => A
  /** Brings these records of the view to the state. */
  readonly change: (view: A, state: ConfigState, ids: ReadonlyArray<string>) => void
}

/**
 * Prepares the change of one view; without `changed` anything may have changed. What it returns runs once every view is
 * prepared, so that all views change together.
 */
type Prepare = (next: ConfigState, changed: ReadonlyArray<RecordName> | undefined) => () => void

interface Following<A> {
  readonly prepare: Prepare
  readonly view: () => A
  readonly faults: () => ReadonlyArray<RecordFault>
}

/** Completes when other processes that serve with this one have read a change of the records, or are away. */
export const ChangeNotice: Context.Reference<Effect.Effect<void>> = Context.Reference<Effect.Effect<void>>(
  "gateway/store/ChangeNotice",
  { defaultValue: () => Effect.void }
)

export class ConfigSnapshot extends Context.Service<
  ConfigSnapshot,
  {
    /**
     * A view that is built again after each change of declarations or of a record of these kinds. The getter reads memory
     * only, so the request path may call it.
     */
    readonly view: <A>(kinds: ReadonlyArray<RecordKind>, build: Build<A>) => Effect.Effect<() => A>
    /** A view that is built again after each change of declarations, and else changes record by record. */
    readonly track: <A extends Faulty>(tracked: Tracked<A>) => Effect.Effect<() => A>
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

/** The newest version of each record; older ones of configs are read from the store when an operator asks. */
const newestSet = (records: ReadonlyArray<StoredRecord>): RecordSet =>
  recordSet([...new Map(records.map((record) => [record.id, record])).values()])

/** All records of every kind. */
const readAll = (records: Records["Service"]): Effect.Effect<ConfigState["records"], StoreUnavailable> =>
  Effect.all({
    provider: Effect.map(records.histories("provider"), recordSet),
    key: Effect.map(records.histories("key"), recordSet),
    config: Effect.map(records.histories("config"), newestSet),
    prompt: Effect.map(records.histories("prompt"), recordSet)
  })

const idsOf = (kind: RecordKind, changes: ReadonlyArray<RecordName>): ReadonlyArray<string> => [
  ...new Set(changes.filter((change) => change.kind === kind).map(({ id }) => id))
]

/** The records, with those of these names as they are stored now. */
const readChanged = Effect.fnUntraced(function* (
  records: Records["Service"],
  before: ConfigState["records"],
  changes: ReadonlyArray<RecordName>
) {
  const after = { ...before }
  for (const kind of recordKinds) {
    const ids = idsOf(kind, changes)
    if (ids.length === 0) continue
    const set = recordSet(yield* records.versions(kind, ids))
    for (const id of ids) {
      const versions = versionsOf(set, id)
      after[kind] = withVersions(after[kind], id, kind === "config" ? versions.slice(-1) : versions)
    }
  }
  return after
})

/** Logs the records that cannot be used, each time that they are others. */
const faultReporter = (): ((faults: ReadonlyArray<RecordFault>) => Effect.Effect<void>) => {
  let reported = ""
  return (faults) => {
    const text = faults.map(({ id, message }) => `${id}: ${message}`).join("\n")
    const isNews = text !== reported && text !== ""
    reported = text
    return isNews ? Effect.logWarning(`Stored records that cannot be used are left out:\n${text}`) : Effect.void
  }
}

/** A view that is built whole where one of these kinds changed. */
const builtView = <A>(kinds: ReadonlyArray<RecordKind>, build: Build<A>, state: ConfigState): Following<A> => {
  let made = build(state)
  return {
    prepare: (next, changed) => {
      const isSame = changed !== undefined && !changed.some(({ kind }) => kinds.includes(kind))
      const remade = isSame ? made : build(next)
      return () => {
        made = remade
      }
    },
    view: () => made.view,
    faults: () => made.faults
  }
}

/** A view that changes record by record. */
const trackedView = <A extends Faulty>(
  { build, change, kind, rebuiltBy = [] }: Tracked<A>,
  state: ConfigState
): Following<A> => {
  let view = build(state)
  return {
    prepare: (next, changed) => {
      if (changed !== undefined && !changed.some((one) => rebuiltBy.includes(one.kind)))
        return () => change(view, next, idsOf(kind, changed))
      const remade = build(next)
      return () => {
        view = remade
      }
    },
    view: () => view,
    faults: () => view.faults
  }
}

/** One change at a time: a slow read must not replace a newer state with an older one. */
const follow = (records: Records["Service"], declared: Declarations): Omit<ConfigSnapshot["Service"], "refreshAll"> => {
  const oneAtATime = Semaphore.makeUnsafe(1)
  const following: Array<Following<unknown>> = []
  const none = recordSet([])
  let state: ConfigState = {
    declared,
    records: { provider: none, key: none, config: none, prompt: none },
    revision: unread
  }
  let isFresh = true
  const report = faultReporter()
  const put = (next: ConfigState, changed?: ReadonlyArray<RecordName>): Effect.Effect<void> =>
    Effect.suspend(() => {
      const prepared = following.map(({ prepare }) => prepare(next, changed))
      state = next
      for (const apply of prepared) apply()
      return report(following.flatMap(({ faults }) => faults()))
    })
  const load = Effect.gen(function* () {
    const revision = yield* records.revision
    if (revision === state.revision) return
    const since = state.revision === unread ? undefined : yield* records.changesSince(state.revision)
    if (since === undefined) return yield* put({ ...state, records: yield* readAll(records), revision })
    const changed = yield* readChanged(records, state.records, since.changes)
    yield* put({ ...state, records: changed, revision: since.revision }, since.changes)
  })
  const markFresh = (fresh: boolean): Effect.Effect<void> =>
    Effect.sync(() => {
      isFresh = fresh
    })
  const added = <A>(one: Following<A>): Effect.Effect<() => A> => {
    following.push(one)
    return Effect.as(report(one.faults()), one.view)
  }
  return {
    view: (kinds, build) => Effect.suspend(() => added(builtView(kinds, build, state))),
    track: (tracked) => Effect.suspend(() => added(trackedView(tracked, state))),
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
