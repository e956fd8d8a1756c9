// The log of changes: when which key changed what, newest first.
// It must not know how changes are made.
import { useSignal } from "@preact/signals"
import { type AuditEntry, auditPage } from "../AdminClient.ts"
import { dayAndClock } from "../format.ts"
import { href } from "../Location.ts"
import { type Column, List, Page } from "../parts/Display.tsx"
import { useAction, useQuery } from "../parts/Query.ts"

const columns: ReadonlyArray<Column<AuditEntry>> = [
  { name: "When", cell: ({ at }) => <span title={at}>{dayAndClock(at)}</span> },
  { name: "Key", cell: ({ actor }) => actor },
  { name: "Change", cell: ({ action }) => action },
  { name: "Kind", cell: ({ kind }) => kind },
  { name: "Id", cell: ({ id, kind }) => (kind === "config" ? <a href={href("/configs", { id })}>{id}</a> : id) },
  { name: "Version", cell: ({ version }) => version },
  { name: "Request", cell: (row) => row.request_id ?? "–" }
]

export const Audit = () => {
  const { data, fault } = useQuery("audit", () => auditPage())
  const older = useSignal<ReadonlyArray<AuditEntry>>([])
  const cursor = useSignal<string | null | undefined>(undefined)
  const more = useAction()
  const next = cursor.value === undefined ? data.value?.next_cursor : cursor.value
  const load = async (): Promise<void> => {
    const page = await auditPage(next ?? undefined)
    older.value = [...older.value, ...page.data]
    cursor.value = page.next_cursor
  }
  const rows = [...(data.value?.data ?? []), ...older.value]
  return (
    <Page title="Audit" fault={more.fault.value || fault.value}>
      {rows.length === 0 ? null : (
        <List
          label="Changes"
          columns={columns}
          rows={rows}
          keyOf={({ at, id, kind, version }) => `${at} ${kind} ${id} ${version}`}
        />
      )}
      {data.value?.data.length === 0 ? (
        <p class="card">
          There is no change yet. Each change of a provider, key, config or prompt by this API or the command line is
          listed here.
        </p>
      ) : null}
      {next === null || next === undefined ? null : (
        <button type="button" onClick={() => void more.run(load)}>
          Older changes
        </button>
      )}
    </Page>
  )
}
