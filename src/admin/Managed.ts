// Entries of one kind as operators see and change them: those of the store, and beside them those declared, which are read-only.
// It must not know what a kind means, nor who asks.
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
import { type Held, Holdings } from "../store/Holdings.ts"
import {
  type Actor,
  type Page,
  type RecordContent,
  type RecordKind,
  Records,
  RecordsMoved,
  type StoredRecord
} from "../store/Records.ts"
import { isNoId, longestId } from "./noId.ts"

export type ReadFault = RecordUnknown | RecordRefused | StoreUnavailable
export type ChangeFault = ReadFault | RecordInvalid | RecordChanged

/** Whether a change may be made to the record as it is; undefined: whatever it is. */
export type Expected = ((record: StoredRecord) => boolean) | undefined

/** What operators do with entries of one kind. What was written holds, in this process, when the effect succeeds. */
export interface Managed<A> {
  /** A page in the order of ids; `cursor` is the `next` of the page before. */
  readonly list: (limit: number, cursor?: string) => Effect.Effect<Page<A>, StoreUnavailable>
  readonly get: (id: string) => Effect.Effect<A, ReadFault>
  readonly create: (written: JsonObject, actor: Actor) => Effect.Effect<A, ChangeFault>
  /** Puts `written` in the place of all that is there but secrets it does not name. */
  readonly update: (id: string, written: JsonObject, actor: Actor, expected?: Expected) => Effect.Effect<A, ChangeFault>
  readonly remove: (id: string, actor: Actor, expected?: Expected) => Effect.Effect<void, ChangeFault>
}

/** What a record is to become. */
export interface Change {
  readonly id: string
  readonly content: RecordContent
}

export interface Kind<A> {
  readonly kind: RecordKind
  readonly declared: (held: Held) => ReadonlyMap<string, A>
  /** How a record is shown; the failure says why it cannot be read. */
  readonly shown: (record: StoredRecord) => Result.Result<A, string>
  /** Why what is held may not become what it would be after a change; undefined when it may. */
  readonly guard: (before: Held, after: Held, changed: string, nowMillis: number) => RecordRefused | undefined
}

/** What `written` makes of the record there is, of none where there is none, or everything that is wrong with it. */
export type Judge = (
  written: JsonObject,
  before: StoredRecord | undefined,
  held: Held
) => Result.Result<Change, ReadonlyArray<Fault>>

/** Makes of the record there is what it is to become. */
export type Edit<E = never> = (before: StoredRecord, held: Held) => Effect.Effect<RecordContent, E>

/** The steps every change takes, for kinds that have changes of their own. */
export interface Changing<A> extends Pick<Managed<A>, "list" | "get" | "remove"> {
  readonly read: (record: StoredRecord) => Effect.Effect<A, RecordRefused>
  readonly insert: (
    change: (held: Held) => Effect.Effect<Change, RecordInvalid | RecordRefused>,
    actor: Actor
  ) => Effect.Effect<StoredRecord, ChangeFault>
  readonly edit: <E>(
    id: string,
    actor: Actor,
    expected: Expected,
    edit: Edit<E>
  ) => Effect.Effect<StoredRecord, ChangeFault | E>
}

export const invalid = (faults: ReadonlyArray<Fault>): RecordInvalid =>
  new RecordInvalid({ faults: faults.map(({ message, path }) => ({ path, message })) })

const places: Readonly<Record<RecordKind, string>> = {
  provider: "providers",
  key: "keys",
  config: "configs",
  prompt: "prompts"
}

/** `id` is one that exists, so it is short. */
const declaredFault = (kind: RecordKind, id: string): RecordRefused =>
  new RecordRefused({
    code: "declared_in_configuration",
    message: `The ${kind} "${id}" is declared under "${places[kind]}" of the configuration file, or by the environment; change it there.`
  })

/** Every version of a record that a change would leave. */
const withRecord = (held: Held, kind: RecordKind, id: string, next: StoredRecord | undefined): Held => {
  const others = held.records[kind].filter((one) => one.id !== id)
  const own = held.records[kind].filter((one) => one.id === id)
  return { ...held, records: { ...held.records, [kind]: next === undefined ? others : [...others, ...own, next] } }
}

/** Lets one change through at a time, so that those of this process need not start again for each other. */
export type Turn = <A, E, R>(change: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

interface Parts<A> {
  readonly spec: Kind<A>
  readonly records: Records["Service"]
  readonly holdings: Holdings["Service"]
  readonly turn: Turn
}

export const unreadable = (kind: RecordKind, id: string, why: string): RecordRefused =>
  new RecordRefused({
    code: "record_unreadable",
    message: `The ${kind} "${id}" cannot be read: ${why}. Remove it, and make it anew.`
  })

const isUnreadable = (error: { readonly _tag: string; readonly code?: string }): boolean =>
  error._tag === "RecordRefused" && error.code === "record_unreadable"

const reading = <A>({ holdings, records, spec: { declared, kind, shown } }: Parts<A>) => {
  const read = (record: StoredRecord) =>
    Effect.mapError(Effect.fromResult(shown(record)), (why) => unreadable(kind, record.id, why))
  const found = (id: string) =>
    isNoId(id)
      ? Effect.fail(new RecordUnknown({ kind, id: id.slice(0, longestId) }))
      : Effect.catchTags(records.get(kind, id), {
          RecordMissing: () => Effect.fail(new RecordUnknown({ kind, id })),
          RecordBroken: ({ why }) => Effect.fail(unreadable(kind, id, why))
        })
  const get: Managed<A>["get"] = (id) =>
    Effect.suspend(() => {
      const entry = declared(holdings.held()).get(id)
      return entry === undefined ? Effect.flatMap(found(id), read) : Effect.succeed(entry)
    })
  const list: Managed<A>["list"] = Effect.fnUntraced(function* (limit, cursor) {
    const entries = declared(holdings.held())
    const { next: last, rows: stored } = yield* records.page(kind, limit, cursor)
    const isHere = (id: string) => (cursor === undefined || id > cursor) && (last === undefined || id <= last)
    const mixed = [
      // What cannot be read is left out; the log tells of it.
      ...stored.flatMap((record) => {
        const entry = entries.has(record.id) ? undefined : Result.getOrUndefined(shown(record))
        return entry === undefined ? [] : [{ id: record.id, entry }]
      }),
      ...[...entries].flatMap(([id, entry]) => (isHere(id) ? [{ id, entry }] : []))
    ].toSorted((one, other) => (one.id < other.id ? -1 : 1))
    const rows = mixed.slice(0, limit)
    return { rows: rows.map(({ entry }) => entry), next: mixed.length > limit ? rows.at(-1)?.id : last }
  })
  return { read, found, get, list }
}

/**
 * A change that another process was faster than is judged anew, by what that one left. It waits for nobody: each time it
 * starts again, another one has come to its end.
 */
const settled = <B, E>(change: Effect.Effect<B, E | RecordsMoved>): Effect.Effect<B, E> =>
  Effect.catch(change, (error) => (error instanceof RecordsMoved ? settled(change) : Effect.fail(error)))

const changes = <A>(
  { holdings, records, spec: { declared, guard, kind }, turn }: Parts<A>,
  found: ReturnType<typeof reading<A>>["found"]
) => {
  /** What a change is judged by, looked at anew. It is made only while that is all there is. */
  const current = Effect.map(holdings.refresh, () => holdings.held())
  const guarded = Effect.fnUntraced(function* (held: Held, id: string, next: StoredRecord | undefined) {
    const refused = guard(held, withRecord(held, kind, id, next), id, yield* Clock.currentTimeMillis)
    if (refused !== undefined) return yield* refused
  })
  /** A change that has begun is finished, whoever hangs up, and holds here before it is told. */
  const finished = <B, E>(write: Effect.Effect<B, E>) =>
    Effect.uninterruptible(Effect.tap(write, () => Effect.ignore(holdings.refresh)))

  /** The record a change starts from. */
  const starting = Effect.fnUntraced(function* (held: Held, id: string, expected: Expected) {
    if (declared(held).has(id)) return yield* declaredFault(kind, id)
    const before = yield* found(id)
    if (expected !== undefined && !expected(before)) return yield* new RecordChanged({ version: before.version })
    return before
  })

  const insert: Changing<A>["insert"] = (change, actor) =>
    turn(
      settled(
        Effect.gen(function* () {
          const held = yield* current
          const { content, id } = yield* change(held)
          if (declared(held).has(id)) return yield* declaredFault(kind, id)
          const atMillis = yield* Clock.currentTimeMillis
          yield* guarded(held, id, {
            kind,
            id,
            version: 1,
            createdMillis: atMillis,
            updatedMillis: atMillis,
            value: content.value,
            secret: content.secret ?? undefined
          })
          return yield* finished(
            Effect.catchTag(records.create(kind, id, content, actor, held.revision), "RecordTaken", () =>
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

  const edit: Changing<A>["edit"] = (id, actor, expected, make) =>
    turn(
      settled(
        Effect.gen(function* () {
          const held = yield* current
          const before = yield* starting(held, id, expected)
          const content = yield* make(before, held)
          const secret = content.secret === undefined ? before.secret : (content.secret ?? undefined)
          yield* guarded(held, id, { ...before, version: before.version + 1, value: content.value, secret })
          return yield* finished(
            Effect.catchTags(records.update(kind, id, content, actor, held.revision), {
              RecordMissing: () => Effect.fail(new RecordUnknown({ kind, id })),
              RecordBroken: ({ why }) => Effect.fail(unreadable(kind, id, why))
            })
          )
        })
      )
    )

  const remove: Changing<A>["remove"] = (id, actor, expected) =>
    turn(
      settled(
        Effect.gen(function* () {
          const held = yield* current
          // What cannot be read can still be removed.
          yield* Effect.catchIf(Effect.asVoid(starting(held, id, expected)), isUnreadable, () => Effect.void)
          yield* guarded(held, id, undefined)
          yield* finished(
            Effect.catchTag(records.remove(kind, id, actor, held.revision), "RecordMissing", () =>
              Effect.fail(new RecordUnknown({ kind, id }))
            )
          )
        })
      )
    )
  return { insert, edit, remove }
}

export const managing = <A>(spec: Kind<A>, turn: Turn): Effect.Effect<Changing<A>, never, Records | Holdings> =>
  Effect.gen(function* () {
    const parts = { spec, turn, records: yield* Records, holdings: yield* Holdings }
    const { found, get, list, read } = reading(parts)
    return { read, get, list, ...changes(parts, found) }
  })

/** Entries of a kind whose changes are all judged alike. */
export const managed = <A>(
  spec: Kind<A>,
  judge: Judge,
  turn: Turn
): Effect.Effect<Changing<A> & Managed<A>, never, Records | Holdings> =>
  Effect.map(managing(spec, turn), (changing) => {
    const judged = (written: JsonObject, before: StoredRecord | undefined, held: Held) =>
      Effect.mapError(Effect.fromResult(judge(written, before, held)), invalid)
    return {
      ...changing,
      create: (written, actor) =>
        Effect.flatMap(
          changing.insert((held) => judged(written, undefined, held), actor),
          changing.read
        ),
      update: (id, written, actor, expected) =>
        Effect.flatMap(
          changing.edit(id, actor, expected, (before, held) =>
            Effect.map(judged(written, before, held), ({ content }) => content)
          ),
          changing.read
        )
    }
  })
