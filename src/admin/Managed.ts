// Admin resources of one kind: reads and changes stored records, and lists declared entries, which are read-only.
// Must not know what a kind means, nor whether HTTP or the command line asks.
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import {
  RecordChanged,
  RecordInvalid,
  RecordRefused,
  RecordUnknown,
  type StoreUnavailable
} from "../domain/GatewayError.ts"
import type { Fault } from "../domain/faults.ts"
import type { JsonObject } from "../domain/text/json.ts"
import { ConfigSnapshot, type ConfigState } from "../store/ConfigSnapshot.ts"
import { Records } from "../store/Records.ts"
import {
  type Actor,
  type Page,
  type RecordContent,
  type RecordKind,
  RecordsMoved,
  type StoredRecord,
  versionsOf,
  withVersions
} from "../store/StoredRecord.ts"
import { isNoId, longestId } from "./resourceReader.ts"

export type ReadFault = RecordUnknown | RecordRefused | StoreUnavailable
export type ChangeFault = ReadFault | RecordInvalid | RecordChanged

/** The precondition of a change; undefined accepts any record. */
export type Expected = ((record: StoredRecord) => boolean) | undefined

/** The operations on entries of one kind. A change is in effect in this process when its effect succeeds. */
export interface Managed<A> {
  /** A page in the order of ids; `cursor` is the `next` of the previous page. */
  readonly list: (limit: number, cursor?: string) => Effect.Effect<Page<A>, StoreUnavailable>
  readonly get: (id: string) => Effect.Effect<A, ReadFault>
  readonly create: (written: JsonObject, actor: Actor) => Effect.Effect<A, ChangeFault>
  /** Replaces the whole record, except secrets that `written` does not name. */
  readonly update: (id: string, written: JsonObject, actor: Actor, expected?: Expected) => Effect.Effect<A, ChangeFault>
  readonly remove: (id: string, actor: Actor, expected?: Expected) => Effect.Effect<void, ChangeFault>
}

/** The id and the new content of a record. */
export interface Change {
  readonly id: string
  readonly content: RecordContent
}

export interface Kind<A> {
  readonly kind: RecordKind
  readonly declared: (state: ConfigState) => ReadonlyMap<string, A>
  /** The public form of a record; the failure is the reason why it cannot be read. */
  readonly shown: (record: StoredRecord) => Result.Result<A, string>
  /** The refusal of a change, from the states before and after it; undefined when the change is allowed. */
  readonly guard: (
    before: ConfigState,
    after: ConfigState,
    changed: string,
    nowMillis: number
  ) => RecordRefused | undefined
}

/** The change that `written` means for the record before (undefined: a new one), or every fault in it. */
export type Judge = (
  written: JsonObject,
  before: StoredRecord | undefined,
  state: ConfigState
) => Result.Result<Change, ReadonlyArray<Fault>>

/** Computes the new content from the current record. */
export type Edit<E = never> = (before: StoredRecord, state: ConfigState) => Effect.Effect<RecordContent, E>

/** The steps of every change, for kinds with changes of their own. */
export interface Changing<A> extends Pick<Managed<A>, "list" | "get" | "remove"> {
  readonly read: (record: StoredRecord) => Effect.Effect<A, RecordRefused>
  readonly insert: (
    change: (state: ConfigState) => Effect.Effect<Change, RecordInvalid | RecordRefused>,
    actor: Actor
  ) => Effect.Effect<StoredRecord, ChangeFault>
  readonly edit: <E>(
    id: string,
    actor: Actor,
    expected: Expected,
    edit: Edit<E>
  ) => Effect.Effect<StoredRecord, ChangeFault | E>
}

export const invalidRecord = (faults: ReadonlyArray<Fault>): RecordInvalid =>
  new RecordInvalid({ faults: faults.map(({ message, path }) => ({ path, message })) })

const places: Readonly<Record<RecordKind, string>> = {
  provider: "providers",
  key: "keys",
  config: "configs",
  prompt: "prompts"
}

/** `id` exists in the configuration, so it is short enough for a message. */
const declaredFault = (kind: RecordKind, id: string): RecordRefused =>
  new RecordRefused({
    code: "declared_in_configuration",
    message: `The ${kind} "${id}" is declared under "${places[kind]}" of the configuration file, or by the environment; change it there.`
  })

/** The state as a change would leave it: without the record, or with its next version. */
const withRecord = (state: ConfigState, kind: RecordKind, id: string, next: StoredRecord | undefined): ConfigState => {
  const set = state.records[kind]
  const versions = next === undefined ? [] : [...versionsOf(set, id), next]
  return { ...state, records: { ...state.records, [kind]: withVersions(set, id, versions) } }
}

/** Runs one change at a time, so that changes of this process need not repeat because of each other. */
export type RunInTurn = <A, E, R>(change: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

interface Parts<A> {
  readonly spec: Kind<A>
  readonly records: Records["Service"]
  readonly snapshot: ConfigSnapshot["Service"]
  readonly turn: RunInTurn
}

export const unreadable = (kind: RecordKind, id: string, why: string): RecordRefused =>
  new RecordRefused({
    code: "record_unreadable",
    message: `The ${kind} "${id}" cannot be read: ${why}. Remove it, and create it again.`
  })

const isUnreadable = (error: { readonly _tag: string; readonly code?: string }): boolean =>
  error._tag === "RecordRefused" && error.code === "record_unreadable"

const reading = <A>({ snapshot, records, spec: { declared, kind, shown } }: Parts<A>) => {
  const read = (record: StoredRecord) =>
    Effect.mapError(Effect.fromResult(shown(record)), (why) => unreadable(kind, record.id, why))
  const find = (id: string) =>
    isNoId(id)
      ? Effect.fail(new RecordUnknown({ kind, id: id.slice(0, longestId) }))
      : Effect.catchTags(records.get(kind, id), {
          RecordMissing: () => Effect.fail(new RecordUnknown({ kind, id })),
          RecordBroken: ({ why }) => Effect.fail(unreadable(kind, id, why))
        })
  const get: Managed<A>["get"] = (id) =>
    Effect.suspend(() => {
      const entry = declared(snapshot.current()).get(id)
      return entry === undefined ? Effect.flatMap(find(id), read) : Effect.succeed(entry)
    })
  const list: Managed<A>["list"] = Effect.fnUntraced(function* (limit, cursor) {
    const entries = declared(snapshot.current())
    const { next: last, rows: stored } = yield* records.page(kind, limit, cursor)
    const isHere = (id: string) => (cursor === undefined || id > cursor) && (last === undefined || id <= last)
    const mixed = [
      // Unreadable records are left out; the snapshot logs them.
      ...stored.flatMap((record) => {
        const entry = entries.has(record.id) ? undefined : Result.getOrUndefined(shown(record))
        return entry === undefined ? [] : [{ id: record.id, entry }]
      }),
      ...[...entries].flatMap(([id, entry]) => (isHere(id) ? [{ id, entry }] : []))
    ].toSorted((one, other) => (one.id < other.id ? -1 : 1))
    const rows = mixed.slice(0, limit)
    return { rows: rows.map(({ entry }) => entry), next: mixed.length > limit ? rows.at(-1)?.id : last }
  })
  return { read, find, get, list }
}

/**
 * Repeats a change that failed because another process changed a record first, now on the new state. Each repetition means
 * that another change has succeeded, so the changes as a whole make progress.
 */
const untilSettled = <B, E>(change: Effect.Effect<B, E | RecordsMoved>): Effect.Effect<B, E> =>
  Effect.catch(change, (error) => (error instanceof RecordsMoved ? untilSettled(change) : Effect.fail(error)))

const changeSteps = <A>(
  { snapshot, spec: { declared, guard, kind } }: Parts<A>,
  find: ReturnType<typeof reading<A>>["find"]
) => ({
  /** The state, read again. A change is checked against it and made only while it is the newest. */
  current: Effect.map(snapshot.refresh, () => snapshot.current()),
  checkGuard: Effect.fnUntraced(function* (state: ConfigState, id: string, next: StoredRecord | undefined) {
    const refused = guard(state, withRecord(state, kind, id, next), id, yield* Clock.currentTimeMillis)
    if (refused !== undefined) return yield* refused
  }),
  /** Completes the write also when the client disconnects, and refreshes all snapshots before the change is reported. */
  complete: <B, E>(write: Effect.Effect<B, E>) => Effect.uninterruptible(Effect.tap(write, () => snapshot.refreshAll)),
  /** The record that a change starts from. */
  findChangeable: Effect.fnUntraced(function* (state: ConfigState, id: string, expected: Expected) {
    if (declared(state).has(id)) return yield* declaredFault(kind, id)
    const before = yield* find(id)
    if (expected !== undefined && !expected(before)) return yield* new RecordChanged({ version: before.version })
    return before
  })
})

type Steps<A> = ReturnType<typeof changeSteps<A>>

const inserting =
  <A>(
    { records, spec: { declared, kind }, turn }: Parts<A>,
    { checkGuard, complete, current }: Steps<A>
  ): Changing<A>["insert"] =>
  (change, actor) =>
    turn(
      untilSettled(
        Effect.gen(function* () {
          const state = yield* current
          const { content, id } = yield* change(state)
          if (declared(state).has(id)) return yield* declaredFault(kind, id)
          const atMillis = yield* Clock.currentTimeMillis
          yield* checkGuard(state, id, {
            kind,
            id,
            version: 1,
            createdMillis: atMillis,
            updatedMillis: atMillis,
            value: content.value,
            secret: content.secret ?? undefined
          })
          return yield* complete(
            Effect.catchTag(records.create(kind, id, content, actor, state.revision), "RecordTaken", () =>
              Effect.fail(
                new RecordRefused({
                  code: "already_exists",
                  message: `There is a ${kind} "${id}" already; update it, or choose another id.`
                })
              )
            )
          )
        })
      )
    )

const editing =
  <A>(
    { records, spec: { kind }, turn }: Parts<A>,
    { checkGuard, complete, current, findChangeable }: Steps<A>
  ): Changing<A>["edit"] =>
  (id, actor, expected, make) =>
    turn(
      untilSettled(
        Effect.gen(function* () {
          const state = yield* current
          const before = yield* findChangeable(state, id, expected)
          const content = yield* make(before, state)
          const secret = content.secret === undefined ? before.secret : (content.secret ?? undefined)
          yield* checkGuard(state, id, { ...before, version: before.version + 1, value: content.value, secret })
          return yield* complete(
            Effect.catchTags(records.update(kind, id, content, actor, state.revision), {
              RecordMissing: () => Effect.fail(new RecordUnknown({ kind, id })),
              RecordBroken: ({ why }) => Effect.fail(unreadable(kind, id, why))
            })
          )
        })
      )
    )

const removing =
  <A>(
    { records, spec: { kind }, turn }: Parts<A>,
    { checkGuard, complete, current, findChangeable }: Steps<A>
  ): Changing<A>["remove"] =>
  (id, actor, expected) =>
    turn(
      untilSettled(
        Effect.gen(function* () {
          const state = yield* current
          // A record that cannot be read can still be removed.
          yield* Effect.catchIf(Effect.asVoid(findChangeable(state, id, expected)), isUnreadable, () => Effect.void)
          yield* checkGuard(state, id, undefined)
          yield* complete(
            Effect.catchTag(records.remove(kind, id, actor, state.revision), "RecordMissing", () =>
              Effect.fail(new RecordUnknown({ kind, id }))
            )
          )
        })
      )
    )

export const managing = <A>(
  spec: Kind<A>,
  turn: RunInTurn
): Effect.Effect<Changing<A>, never, Records | ConfigSnapshot> =>
  Effect.gen(function* () {
    const parts = { spec, turn, records: yield* Records, snapshot: yield* ConfigSnapshot }
    const { find, get, list, read } = reading(parts)
    const steps = changeSteps(parts, find)
    return {
      read,
      get,
      list,
      insert: inserting(parts, steps),
      edit: editing(parts, steps),
      remove: removing(parts, steps)
    }
  })

/** The operations of a kind whose changes have one judge. */
export const managed = <A>(
  spec: Kind<A>,
  judge: Judge,
  turn: RunInTurn
): Effect.Effect<Changing<A> & Managed<A>, never, Records | ConfigSnapshot> =>
  Effect.map(managing(spec, turn), (changing) => {
    const judged = (written: JsonObject, before: StoredRecord | undefined, state: ConfigState) =>
      Effect.mapError(Effect.fromResult(judge(written, before, state)), invalidRecord)
    return {
      ...changing,
      create: (written, actor) =>
        Effect.flatMap(
          changing.insert((state) => judged(written, undefined, state), actor),
          changing.read
        ),
      update: (id, written, actor, expected) =>
        Effect.flatMap(
          changing.edit(id, actor, expected, (before, state) =>
            Effect.map(judged(written, before, state), ({ content }) => content)
          ),
          changing.read
        )
    }
  })
