// The log of changes: when which key changed what, newest first.
// Must not know how changes are made.
import { useSignal } from "@preact/signals"
import { type AuditEntry, auditPage } from "../AdminClient.ts"
import { dayAndClock } from "../format.ts"
import { href } from "../Location.ts"
import { List } from "../parts/Display.tsx"
import { messageOf, useQuery } from "../parts/Query.ts"

const headings = ["When", "Key", "Change", "Kind", "Id", "Version", "Request"]

const Row = ({ action, actor, at, id, kind, request_id: requestId, version }: AuditEntry) => (
  <tr>
    <td title={at}>{dayAndClock(at)}</td>
    <td>{actor}</td>
    <td>{action}</td>
    <td>{kind}</td>
    <td>{kind === "config" ? <a href={href("/configs", { id })}>{id}</a> : id}</td>
    <td>{version}</td>
    <td>{requestId ?? "–"}</td>
  </tr>
)

const Table = ({ rows }: { readonly rows: ReadonlyArray<AuditEntry> }) => (
  <List label="Changes" headings={headings}>
    {rows.map((row) => (
      <Row key={`${row.at} ${row.kind} ${row.id} ${row.version}`} {...row} />
    ))}
  </List>
)

export const Audit = () => {
  const { data, fault } = useQuery("audit", () => auditPage())
  const older = useSignal<ReadonlyArray<AuditEntry>>([])
  const cursor = useSignal<string | null | undefined>(undefined)
  const refused = useSignal("")
  const next = cursor.value === undefined ? data.value?.next_cursor : cursor.value
  const more = async (): Promise<void> => {
    try {
      const page = await auditPage(next ?? undefined)
      older.value = [...older.value, ...page.data]
      cursor.value = page.next_cursor
      refused.value = ""
    } catch (error) {
      refused.value = messageOf(error)
    }
  }
  const rows = [...(data.value?.data ?? []), ...older.value]
  return (
    <>
      <div class="title">
        <h1>Audit</h1>
      </div>
      <p class="fault" role="alert">
        {refused.value || fault.value}
      </p>
      {rows.length > 0 ? <Table rows={rows} /> : null}
      {data.value?.data.length === 0 ? (
        <p class="card">
          There is no change yet. Each change of a provider, key, config or prompt by this API or the command line is
          listed here.
        </p>
      ) : null}
      {next === null || next === undefined ? null : (
        <button type="button" onClick={() => void more()}>
          Older changes
        </button>
      )}
    </>
  )
}
