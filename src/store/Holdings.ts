// All that is declared in the configuration or kept in the store, as views ready for use that follow every change.
// It must not know what a view is for.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Semaphore from "effect/Semaphore"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { Limits } from "../domain/Limits.ts"
import type { Settings } from "../domain/settings/Settings.ts"
import { type RecordKind, Records, type StoredRecord } from "./Records.ts"

/** What of the configuration can be replaced while the service runs. */
export type Declarations = Pick<Settings, "accounts" | "keys" | "configs" | "prompts">

/** A record that cannot be used, and why: told in the log, left out of the view. */
export interface RecordFault {
  readonly id: string
  readonly message: string
}

/** All there is: declarations, and by kind every version that is kept of every record, the versions of one id in their order. */
export interface Held {
  readonly declared: Declarations
  readonly records: Readonly<Record<RecordKind, ReadonlyArray<StoredRecord>>>
  /** The revision of the store that the records are of; while nothing changes after it, they are all there are. */
  readonly revision: number
}

/** No store has it. */
const unread = -1

/** Pure: a view of what is held, and which records could not be used for it. */
export type Build<A> = (held: Held) => { readonly view: A; readonly faults: ReadonlyArray<RecordFault> }

/** One view, and what puts a new state of it in place once all views have theirs. */
interface Following {
  readonly prepare: (held: Held) => { readonly faults: ReadonlyArray<RecordFault>; readonly put: () => void }
}

export class Holdings extends Context.Service<
  Holdings,
  {
    /** A view, made anew after each change; the getter reads memory only and belongs on the request path. */
    readonly view: <A>(build: Build<A>) => Effect.Effect<() => A>
    /** Replaces the declarations, in all views at once. */
    readonly declare: (declared: Declarations) => Effect.Effect<void>
    /** Takes in now what the store holds; whoever changed a record calls it, so that the change holds when it answers. */
    readonly refresh: Effect.Effect<void, StoreUnavailable>
    readonly held: () => Held
    /** False while the store does not answer: what it holds may have changed unseen. */
    readonly isFresh: () => boolean
  }
>()("gateway/store/Holdings") {
  /**
   * Follows the store by its revision, asked for every `refreshMillis`, so that a change by another process holds here
   * soon after. A store that is away leaves the views as they are.
   */
  static readonly layer = (declared: Declarations): Layer.Layer<Holdings, never, Records> =>
    Layer.effect(
      Holdings,
      Effect.gen(function* () {
        const { refreshMillis } = yield* Limits
        const { holdings, poll } = yield* begin(declared)
        yield* Effect.forkScoped(Effect.repeat(Effect.delay(poll, refreshMillis), Schedule.forever))
        return holdings
      })
    )

  /** For records that nobody else can change: they are looked at when this process has changed them. */
  static readonly layerAlone = (declared: Declarations): Layer.Layer<Holdings, never, Records> =>
    Layer.effect(
      Holdings,
      Effect.map(begin(declared), ({ holdings }) => holdings)
    )
}

/** Holdings with what the store holds now; without it they start with what is declared. */
const begin = Effect.fnUntraced(function* (declared: Declarations) {
  const holdings = follow(yield* Records, declared)
  const poll = Effect.ignore(holdings.refresh)
  yield* poll
  return { holdings, poll }
})

/** One change at a time: a slow one must not put an older state in place of a newer. */
const follow = (records: Records["Service"], declared: Declarations): Holdings["Service"] => {
  const oneAtATime = Semaphore.makeUnsafe(1)
  const following: Array<Following> = []
  let held: Held = { declared, records: { provider: [], key: [], config: [], prompt: [] }, revision: unread }
  let isFresh = true
  let told = ""
  const report = (faults: ReadonlyArray<RecordFault>): Effect.Effect<void> => {
    const text = faults.map(({ id, message }) => `${id}: ${message}`).join("\n")
    const isNews = text !== told && text !== ""
    told = text
    return isNews ? Effect.logWarning(`Stored records that cannot be used are left out:\n${text}`) : Effect.void
  }
  const put = (next: Held): Effect.Effect<void> =>
    Effect.suspend(() => {
      const prepared = following.map(({ prepare }) => prepare(next))
      held = next
      for (const one of prepared) one.put()
      return report(prepared.flatMap(({ faults }) => faults))
    })
  const load = Effect.gen(function* () {
    const revision = yield* records.revision
    if (revision === held.revision) return
    const provider = yield* records.histories("provider")
    const key = yield* records.histories("key")
    const config = yield* records.histories("config")
    const prompt = yield* records.histories("prompt")
    yield* put({ ...held, records: { provider, key, config, prompt }, revision })
  })
  const found = (fresh: boolean): Effect.Effect<void> =>
    Effect.sync(() => {
      isFresh = fresh
    })
  return {
    view: (build) =>
      Effect.suspend(() => {
        const first = build(held)
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
    declare: (next) => oneAtATime.withPermits(1)(Effect.suspend(() => put({ ...held, declared: next }))),
    refresh: oneAtATime
      .withPermits(1)(load)
      .pipe(
        Effect.tap(found(true)),
        Effect.tapError(() => found(false))
      ),
    held: () => held,
    isFresh: () => isFresh
  }
}
