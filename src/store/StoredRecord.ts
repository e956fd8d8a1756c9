// A stored record, its changes, its page, its audit log entry, and the errors of reading and changing it.
// Must not know the database.
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { JsonObject } from "../domain/text/json.ts"

export const recordKinds = ["provider", "key", "config", "prompt"] as const
export type RecordKind = (typeof recordKinds)[number]

export interface RecordName {
  readonly kind: RecordKind
  readonly id: string
}

export interface StoredRecord extends RecordName {
  /** 1 when created, one more with each update. */
  readonly version: number
  readonly createdMillis: number
  readonly updatedMillis: number
  /** The public part. */
  readonly value: JsonObject
  /** The secret part; it is stored encrypted. */
  readonly secret: Redacted.Redacted<JsonObject> | undefined
}

/** The content that a change writes. `secret` undefined keeps the stored one; null removes it. */
export interface RecordContent {
  readonly value: JsonObject
  readonly secret?: Redacted.Redacted<JsonObject> | null | undefined
  /** The action in the audit log, for an update with a name of its own. */
  readonly action?: "revoke" | "rotate"
}

/** The author of a change and its request, for the audit log. */
export interface Actor {
  /** Id of an admin key, or `cli`. */
  readonly id: string
  readonly requestId: string | undefined
}

/** A record with the id exists already. */
export class RecordTaken extends Schema.TaggedError<RecordTaken>()("RecordTaken", {
  kind: Schema.Literals(recordKinds),
  id: Schema.String
}) {}

/** The id has no record. */
export class RecordMissing extends Schema.TaggedError<RecordMissing>()("RecordMissing", {
  kind: Schema.Literals(recordKinds),
  id: Schema.String
}) {}

/** A record has changed since the revision against which the change was checked. */
export class RecordsMoved extends Schema.TaggedError<RecordsMoved>()("RecordsMoved", {}) {}

/** The stored record is damaged: its secret does not open. An update with a new secret, or a removal, repairs it. */
export class RecordBroken extends Schema.TaggedError<RecordBroken>()("RecordBroken", {
  kind: Schema.Literals(recordKinds),
  id: Schema.String,
  why: Schema.String
}) {
  override get message(): string {
    return `the ${this.kind} ${this.id} cannot be decrypted: ${this.why}; store its secret again, or remove it`
  }
}

export interface AuditRow {
  readonly atMillis: number
  readonly actor: string
  readonly requestId: string | undefined
  /** `read` is of captured content, whose kind is `request`. */
  readonly action: "create" | "update" | "delete" | "read" | NonNullable<RecordContent["action"]>
  readonly kind: RecordKind | "request"
  readonly id: string
  readonly version: number
}

export interface Page<A> {
  readonly rows: ReadonlyArray<A>
  /** The cursor of the next page; undefined on the last page. */
  readonly next: string | undefined
}
