// What operators keep by the admin API: records by kind and id, each change a new version, each change in the audit log.
// It must not know what a kind of record means.
import * as Context from "effect/Context"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import type { JsonObject } from "../domain/json.ts"

export const recordKinds = ["provider", "key", "config", "prompt"] as const
export type RecordKind = (typeof recordKinds)[number]

export interface StoredRecord {
  readonly kind: RecordKind
  readonly id: string
  /** 1 when created, one more with each update. */
  readonly version: number
  readonly createdMillis: number
  readonly updatedMillis: number
  /** What may be shown. */
  readonly value: JsonObject
  /** What may not; encrypted wherever it is kept. */
  readonly secret: Redacted.Redacted<JsonObject> | undefined
}

/** What a change writes. `secret` undefined keeps the one there is, null removes it. */
export interface RecordContent {
  readonly value: JsonObject
  readonly secret?: Redacted.Redacted<JsonObject> | null | undefined
}

/** Who changes it, and in which request, for the audit log. */
export interface Actor {
  /** Id of an admin key, or `cli`. */
  readonly id: string
  readonly requestId: string | undefined
}

/** A record of the id is there already. */
export class RecordTaken extends Schema.TaggedError<RecordTaken>()("RecordTaken", { kind: Schema.Literals(recordKinds), id: Schema.String }) {}

/** The id has no record. */
export class RecordMissing extends Schema.TaggedError<RecordMissing>()("RecordMissing", { kind: Schema.Literals(recordKinds), id: Schema.String }) {}

/** The record has changed since the version the change was made from. */
export class RecordStale extends Schema.TaggedError<RecordStale>()("RecordStale", {
  kind: Schema.Literals(recordKinds),
  id: Schema.String,
  version: Schema.Number
}) {}

export interface AuditRow {
  readonly atMillis: number
  readonly actor: string
  readonly requestId: string | undefined
  readonly action: "create" | "update" | "delete"
  readonly kind: RecordKind
  readonly id: string
  readonly version: number
}

export interface Page<A> {
  readonly rows: ReadonlyArray<A>
  /** What to ask for the page behind; undefined on the last. */
  readonly next: string | undefined
}

export class Records extends Context.Service<Records, {
  /** Every record of a kind, by id. */
  readonly all: (kind: RecordKind) => Effect.Effect<ReadonlyArray<StoredRecord>, StoreUnavailable>
  /** A page of a kind in the order of ids; `cursor` is the `next` of the page before. */
  readonly page: (kind: RecordKind, limit: number, cursor: string | undefined) => Effect.Effect<Page<StoredRecord>, StoreUnavailable>
  readonly get: (kind: RecordKind, id: string) => Effect.Effect<StoredRecord, RecordMissing | StoreUnavailable>
  /** Every version of a record there was and is, the oldest first; empty when there is none. Secrets of older versions are not kept. */
  readonly versions: (kind: RecordKind, id: string) => Effect.Effect<ReadonlyArray<StoredRecord>, StoreUnavailable>
  /** Every version of every record of a kind that is still there, by id and version. Only the newest of each has its secret. */
  readonly histories: (kind: RecordKind) => Effect.Effect<ReadonlyArray<StoredRecord>, StoreUnavailable>
  readonly create: (kind: RecordKind, id: string, content: RecordContent, actor: Actor) => Effect.Effect<StoredRecord, RecordTaken | StoreUnavailable>
  /** Writes the next version; with `expected` only when that is the version there is. */
  readonly update: (
    kind: RecordKind,
    id: string,
    content: RecordContent,
    actor: Actor,
    expected?: number
  ) => Effect.Effect<StoredRecord, RecordMissing | RecordStale | StoreUnavailable>
  /** Removes the record and all its versions; with `expected` only when that is the version there is. */
  readonly remove: (
    kind: RecordKind,
    id: string,
    actor: Actor,
    expected?: number
  ) => Effect.Effect<void, RecordMissing | RecordStale | StoreUnavailable>
  /** A number that grows with every change of any record, by any process on the same store. */
  readonly revision: Effect.Effect<number, StoreUnavailable>
  /** The audit log, the newest first. */
  readonly audit: (limit: number, cursor: string | undefined) => Effect.Effect<Page<AuditRow>, StoreUnavailable>
}>()("gateway/store/Records") {
  /** Records of this process alone, gone when it ends. */
  static readonly layerMemory: Layer.Layer<Records> = Layer.sync(Records, () => {
    const histories = new Map<string, ReadonlyArray<StoredRecord>>()
    const log: Array<AuditRow> = []
    const nameOf = (kind: RecordKind, id: string): string => `${kind}\n${id}`
    const latest = (kind: RecordKind, id: string): StoredRecord | undefined => histories.get(nameOf(kind, id))?.at(-1)
    const sorted = (kind: RecordKind): ReadonlyArray<StoredRecord> =>
      [...histories.values()].map((history) => history.at(-1)).filter((one) => one?.kind === kind).filter((one) => one !== undefined)
        .toSorted((one, other) => (one.id < other.id ? -1 : 1))
    /** The record a change starts from. */
    const current = (kind: RecordKind, id: string, expected: number | undefined): Effect.Effect<StoredRecord, RecordMissing | RecordStale> => {
      const there = latest(kind, id)
      if (there === undefined) return Effect.fail(new RecordMissing({ kind, id }))
      return expected === undefined || expected === there.version
        ? Effect.succeed(there)
        : Effect.fail(new RecordStale({ kind, id, version: there.version }))
    }
    const write = (
      { id, kind }: Pick<StoredRecord, "id" | "kind">,
      before: StoredRecord | undefined,
      { secret, value }: RecordContent,
      actor: Actor
    ): Effect.Effect<StoredRecord> =>
      Effect.map(Clock.currentTimeMillis, (atMillis) => {
        const version = (before?.version ?? 0) + 1
        const kept = secret === undefined ? before?.secret : secret ?? undefined
        const record: StoredRecord = { kind, id, version, createdMillis: before?.createdMillis ?? atMillis, updatedMillis: atMillis, value, secret: kept }
        const past = (histories.get(nameOf(kind, id)) ?? []).map((one) => ({ ...one, secret: undefined }))
        histories.set(nameOf(kind, id), [...past, record])
        log.push({ atMillis, actor: actor.id, requestId: actor.requestId, action: before === undefined ? "create" : "update", kind, id, version })
        return record
      })
    return {
      all: (kind) => Effect.sync(() => sorted(kind)),
      page: (kind, limit, cursor) =>
        Effect.sync(() => {
          const behind = sorted(kind).filter(({ id }) => cursor === undefined || id > cursor)
          const rows = behind.slice(0, limit)
          return { rows, next: behind.length > limit ? rows.at(-1)?.id : undefined }
        }),
      get: (kind, id) => Effect.suspend(() => current(kind, id, undefined)).pipe(Effect.catchTag("RecordStale", Effect.die)),
      histories: (kind) => Effect.sync(() => sorted(kind).flatMap(({ id }) => histories.get(nameOf(kind, id)) ?? [])),
      versions: (kind, id) => Effect.sync(() => histories.get(nameOf(kind, id)) ?? []),
      create: (kind, id, content, actor) =>
        Effect.suspend(() =>
          latest(kind, id) === undefined ? write({ kind, id }, undefined, content, actor) : Effect.fail(new RecordTaken({ kind, id }))),
      update: (kind, id, content, actor, expected) =>
        Effect.flatMap(Effect.suspend(() => current(kind, id, expected)), (before) => write(before, before, content, actor)),
      remove: (kind, id, actor, expected) =>
        Effect.flatMap(Effect.suspend(() => current(kind, id, expected)), ({ version }) =>
          Effect.map(Clock.currentTimeMillis, (atMillis) => {
            histories.delete(nameOf(kind, id))
            log.push({ atMillis, actor: actor.id, requestId: actor.requestId, action: "delete", kind, id, version })
          })),
      revision: Effect.sync(() => log.length),
      audit: (limit, cursor) =>
        Effect.sync(() => {
          const end = cursor === undefined ? log.length : Number(cursor)
          const start = Math.max(0, end - limit)
          return { rows: log.slice(start, end).toReversed(), next: start > 0 ? String(start) : undefined }
        })
    }
  })
}
