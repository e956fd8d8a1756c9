// Gateway configs: a list, and an editor that shows each fault with its place.
// Must not know what a config may contain; the gateway checks it.
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import * as client from "../AdminClient.ts"
import { href, navigate, place } from "../Location.ts"
import { lineOf } from "../lineOf.ts"
import { messageOf, useQuery } from "../parts/Query.ts"
import { readJson } from "../readJson.ts"

const sample = { strategy: { mode: "fallback" }, targets: [{ provider: "@google" }, { provider: "@vertex-ai" }] }

interface Fault {
  readonly path: string
  readonly message: string
}

const faultsOf = (error: unknown): ReadonlyArray<Fault> =>
  error instanceof client.CallFailed && error.faults.length > 0
    ? error.faults
    : [{ path: "", message: messageOf(error) }]

const Faults = ({ faults, text }: { readonly faults: ReadonlyArray<Fault>; readonly text: string }) => (
  <div class="faults" role="alert">
    {faults.map(({ message, path }) => {
      const line = lineOf(text, path.replace(/^config\.?/, ""))
      return (
        <p key={path + message}>
          {line === undefined ? "" : `line ${line}: `}
          {path} {message}
        </p>
      )
    })}
  </div>
)

interface ButtonsProps {
  /** Declared in the configuration file. */
  readonly isFixed: boolean
  readonly isNew: boolean
  readonly remove: () => void
}

const Buttons = ({ isFixed, isNew, remove }: ButtonsProps) =>
  isFixed ? (
    <p class="muted whole">It is declared in the configuration file, so it is changed there.</p>
  ) : (
    <>
      <button type="submit" class="primary">
        Save
      </button>
      {isNew ? null : (
        <button type="button" class="danger" onClick={remove}>
          Remove
        </button>
      )}
    </>
  )

interface EditorProps {
  /** Undefined for a new config. */
  readonly read: client.ReadConfig | undefined
  readonly saved: (id: string | undefined) => void
}

const Editor = ({ read, saved }: EditorProps) => {
  const id = useSignal(read?.row.id ?? "")
  const text = useSignal(JSON.stringify(read?.row.config ?? sample, null, 2))
  const faults = useSignal<ReadonlyArray<Fault>>([])
  const isFixed = read?.row.source === "file"
  const change = async (run: () => Promise<string | undefined>): Promise<void> => {
    faults.value = []
    try {
      saved(await run())
    } catch (error) {
      faults.value = faultsOf(error)
    }
  }
  const save = (event: SubmitEvent): void => {
    event.preventDefault()
    const config = readJson(text.value)
    if (config === undefined) {
      faults.value = [{ path: "", message: "The text is not valid JSON." }]
      return
    }
    void change(async () => {
      const made =
        read === undefined
          ? await client.createConfig({ id: id.value, config })
          : await client.updateConfig(id.value, { config }, read.tag)
      return made.id
    })
  }
  const remove = (): void =>
    void change(async () => {
      await client.removeConfig(id.value, read?.tag)
      return undefined
    })
  return (
    <form class="card form" onSubmit={save}>
      <h2>{read === undefined ? "Make a config" : `Config ${read.row.id}`}</h2>
      <label>
        Id
        <input
          value={id.value}
          disabled={read !== undefined}
          required
          onInput={(event) => (id.value = event.currentTarget.value)}
        />
      </label>
      <label class="whole">
        Config as JSON
        <textarea
          class="code"
          rows={14}
          spellcheck={false}
          readOnly={isFixed}
          value={text.value}
          onInput={(event) => (text.value = event.currentTarget.value)}
        />
      </label>
      <div class="whole">
        <Faults faults={faults.value} text={text.value} />
      </div>
      <Buttons isFixed={isFixed} isNew={read === undefined} remove={remove} />
    </form>
  )
}

const List = ({ rows }: { readonly rows: ReadonlyArray<client.ConfigRow> }) =>
  rows.length === 0 ? (
    <p class="card">There is no config yet. Make one below, and name it in the header x-gateway-config of a request.</p>
  ) : (
    <ul class="card plain">
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
  const chosen = useSignal<client.ReadConfig | undefined>(undefined)
  const fault = useSignal("")
  const open = async (): Promise<void> => {
    fault.value = ""
    try {
      chosen.value = id === undefined ? undefined : await client.config(id)
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
