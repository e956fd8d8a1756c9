// Rows of the audit log as the database has them, and what they mean.
// Must not read or write tables.
import type { AuditRow, RecordName } from "../StoredRecord.ts"

/** A row of the audit log. */
export interface LogRow {
  readonly revision: number
  readonly at_millis: number
  readonly actor: string
  readonly request_id: string | null
  readonly action: AuditRow["action"]
  readonly kind: AuditRow["kind"]
  readonly id: string
  readonly version: number
}

/** The record of an entry; none for content that was read. */
export const recordName = ({ id, kind }: Pick<LogRow, "kind" | "id">): ReadonlyArray<RecordName> =>
  kind === "request" ? [] : [{ kind, id }]

export const auditRow = (row: LogRow): AuditRow => ({
  atMillis: row.at_millis,
  actor: row.actor,
  requestId: row.request_id ?? undefined,
  action: row.action,
  kind: row.kind,
  id: row.id,
  version: row.version
})
