// The page of a kind of record: the list, and the record of the address in its editor.
// It must not know what a record contains.
import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useEffect } from "preact/hooks"
import type { ReadRecord, Records } from "../AdminClient.ts"
import { href, navigate, place } from "../Location.ts"
import { Entries, Page } from "./Display.tsx"
import { useAction, useQuery } from "./Query.ts"

interface RecordPageProps<Row> {
  readonly title: string
  readonly path: "/configs" | "/prompts"
  /** The link to an empty editor. */
  readonly another: string
  readonly records: Records<Row>
  /** What the list shows next to an id. */
  readonly noteOf: (row: Row) => string
  /** What is shown in place of an empty list. */
  readonly none: string
  /** The editor. `read` is undefined for a new record; `saved` gets the id of the record, or undefined where it is gone. */
  readonly children: (read: ReadRecord<Row> | undefined, saved: (id: string | undefined) => void) => ComponentChildren
}

export const RecordPage = <Row extends { readonly id: string }>(props: RecordPageProps<Row>) => {
  const { another, children, none, noteOf, path, records, title } = props
  const { query } = place.value
  const id = query.get("id") ?? undefined
  const version = query.get("version") ?? undefined
  const list = useQuery(path, records.list)
  const chosen = useSignal<ReadRecord<Row> | undefined>(undefined)
  const { fault, run } = useAction()
  const open = async (): Promise<void> => {
    await run(async () => {
      chosen.value = id === undefined ? undefined : await records.read(id, version)
    })
    if (fault.value !== "") chosen.value = undefined
  }
  useEffect(() => void open(), [id, version])
  const saved = (next: string | undefined): void => {
    void list.reload()
    if (next === id && version === undefined) void open()
    else navigate(href(path, { id: next }))
  }
  const read = chosen.value?.row.id === id ? chosen.value : undefined
  const rows = list.data.value?.data ?? []
  return (
    <Page title={title} side={<a href={href(path)}>{another}</a>} fault={fault.value || list.fault.value}>
      <Entries path={path} rows={rows.map((row) => [row.id, noteOf(row)])} none={none} />
      {id !== undefined && read === undefined ? null : children(read, saved)}
    </Page>
  )
}
