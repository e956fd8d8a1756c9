// Prompts and partials: the list, and one of them with its versions and labels.
// Must not know templates.
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { Prompt } from "../../../api/AdminResources.ts"
import { href, navigate, place } from "../../Location.ts"
import { messageOf, useQuery } from "../../parts/Query.ts"
import { prompts, type ReadPrompt, readPrompt } from "./PromptCalls.ts"
import { PromptForm } from "./PromptForm.tsx"
import { TryOut } from "./TryOut.tsx"

const labelsOf = ({ labels = {} }: Prompt): string =>
  Object.entries(labels)
    .map(([label, version]) => `${label} is ${version}`)
    .join(", ")

const List = ({ rows }: { readonly rows: ReadonlyArray<Prompt> }) =>
  rows.length === 0 ? (
    <p class="card">There is no prompt yet. Make one below; clients ask it by its id and send its variables.</p>
  ) : (
    <ul class="card plain entries">
      {rows.map((row) => (
        <li key={row.id}>
          <a href={href("/prompts", { id: row.id })}>{row.id}</a>{" "}
          <span class="muted">
            {[
              row.name,
              row.text === undefined ? row.model : "partial",
              `${row.versions.length} ${row.versions.length === 1 ? "version" : "versions"}`,
              labelsOf(row),
              row.source === "file" ? "declared in the configuration" : ""
            ]
              .filter(Boolean)
              .join(" · ")}
          </span>
        </li>
      ))}
    </ul>
  )

const Versions = ({ row }: { readonly row: Prompt }) => (
  <nav class="versions" aria-label="Versions">
    {row.versions.toReversed().map((version) => {
      const labels = Object.entries(row.labels ?? {}).filter(([, labelled]) => labelled === version)
      return (
        <a
          key={version}
          href={href("/prompts", { id: row.id, version: String(version) })}
          aria-current={version === row.version ? "page" : undefined}
        >
          {version}
          {labels.map(([label]) => (
            <span key={label} class="tag">
              {label}
            </span>
          ))}
        </a>
      )
    })}
  </nav>
)

export const Prompts = () => {
  const { query } = place.value
  const id = query.get("id") ?? undefined
  const version = query.get("version") ?? undefined
  const list = useQuery("prompts", prompts)
  const chosen = useSignal<ReadPrompt | undefined>(undefined)
  const fault = useSignal("")
  const open = async (): Promise<void> => {
    fault.value = ""
    try {
      chosen.value = id === undefined ? undefined : await readPrompt(id, version)
    } catch (error) {
      chosen.value = undefined
      fault.value = messageOf(error)
    }
  }
  useEffect(() => void open(), [id, version])
  const saved = (next: string | undefined): void => {
    void list.reload()
    if (next === id && version === undefined) void open()
    else navigate(href("/prompts", { id: next }))
  }
  const read = chosen.value?.row.id === id ? chosen.value : undefined
  const name = `${id ?? ""} ${read?.row.version ?? ""} ${read?.row.versions.length ?? ""}`
  return (
    <>
      <div class="title">
        <h1>Prompts</h1>
        <a href={href("/prompts")}>New prompt</a>
      </div>
      <p class="fault" role="alert">
        {fault.value || list.fault.value}
      </p>
      <List rows={list.data.value?.data ?? []} />
      {read === undefined ? null : <Versions row={read.row} />}
      {id !== undefined && read === undefined ? null : (
        <div class="columns">
          <PromptForm key={name} read={read} saved={saved} />
          {read === undefined || read.row.text !== undefined ? null : <TryOut key={name} row={read.row} />}
        </div>
      )}
    </>
  )
}
