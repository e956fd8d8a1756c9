// Gateway configs: the list, and the one that is open in the editor.
// Must not know what a config may contain.
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import * as client from "../../AdminClient.ts"
import { href, navigate, place } from "../../Location.ts"
import { messageOf, useQuery } from "../../parts/Query.ts"
import { type ReadConfig, readConfig } from "./ConfigCalls.ts"
import { Editor } from "./Editor.tsx"

const List = ({ rows }: { readonly rows: ReadonlyArray<client.ConfigRow> }) =>
  rows.length === 0 ? (
    <p class="card">There is no config yet. Make one below, and name it in the header x-gateway-config of a request.</p>
  ) : (
    <ul class="card plain entries">
      {rows.map(({ id, source, version }) => (
        <li key={id}>
          <a href={href("/configs", { id })}>{id}</a>{" "}
          <span class="muted">{source === "file" ? "declared in the configuration" : `version ${version ?? 1}`}</span>
        </li>
      ))}
    </ul>
  )

export const Configs = () => {
  const id = place.value.query.get("id") ?? undefined
  const list = useQuery("configs", client.configs)
  const chosen = useSignal<ReadConfig | undefined>(undefined)
  const fault = useSignal("")
  const open = async (): Promise<void> => {
    fault.value = ""
    try {
      chosen.value = id === undefined ? undefined : await readConfig(id)
    } catch (error) {
      chosen.value = undefined
      fault.value = messageOf(error)
    }
  }
  useEffect(() => void open(), [id])
  const saved = (next: string | undefined): void => {
    void list.reload()
    if (next === id) void open()
    else navigate(href("/configs", { id: next }))
  }
  const read = chosen.value?.row.id === id ? chosen.value : undefined
  return (
    <>
      <div class="title">
        <h1>Configs</h1>
        <a href={href("/configs")}>New config</a>
      </div>
      <p class="fault" role="alert">
        {fault.value || list.fault.value}
      </p>
      <List rows={list.data.value?.data ?? []} />
      {id !== undefined && read === undefined ? null : (
        <Editor key={`${id ?? ""} ${read?.tag ?? ""}`} read={read} saved={saved} />
      )}
    </>
  )
}
