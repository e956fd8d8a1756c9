// Gateway configs: the list, and an editor with faults at their lines, the fields by their schema, and stored versions.
// It must not know what a config may contain; the gateway checks it.
import { type Signal, useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import * as client from "../../AdminClient.ts"
import * as calls from "../../AdminClient.ts"
import { type ConfigRow, configVersion, type ReadConfig, readConfig } from "../../AdminClient.ts"
import { href, navigate, place } from "../../Location.ts"
import { messageOf, useQuery } from "../../parts/Query.ts"
import type { ConfigCheck } from "../../../api/AdminReports.ts"
import type { WrittenConfigBody } from "../../../api/AdminResources.ts"
import { CodeField, SaveButtons } from "../../parts/Fields.tsx"
import { jsonFaultLine, lineOfPath, readJson } from "../../readJson.ts"
import { configTree } from "./configTree.ts"
import { Simulator, Tree } from "./Simulator.tsx"
import { Difference, List } from "../../parts/Display.tsx"
import { dayAndClock } from "../../format.ts"

const ConfigList = ({ rows }: { readonly rows: ReadonlyArray<client.ConfigRow> }) =>
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
      <ConfigList rows={list.data.value?.data ?? []} />
      {id !== undefined && read === undefined ? null : (
        <Editor key={`${id ?? ""} ${read?.tag ?? ""}`} read={read} saved={saved} />
      )}
    </>
  )
}

// The editor of a config: faults at their lines while it is written, the picture of its targets, and a simulator.

const sample = { strategy: { mode: "fallback" }, targets: [{ provider: "@google" }, { provider: "@vertex-ai" }] }

/** The pause after a key stroke before the text is checked. */
const pauseMillis = 300

interface Fault {
  readonly path: string
  readonly message: string
  readonly line: number | undefined
}

const placed = (text: string, faults: ReadonlyArray<{ readonly path: string; readonly message: string }>) =>
  faults.map(({ message, path }) => ({ path, message, line: lineOfPath(text, path.replace(/^config\.?/, "")) }))

const faultsOf = (error: unknown, text: string): ReadonlyArray<Fault> =>
  error instanceof client.CallFailed && error.faults.length > 0
    ? placed(text, error.faults)
    : [{ path: "", message: messageOf(error), line: undefined }]

const jsonFaults = (text: string): ReadonlyArray<Fault> => [
  { path: "", message: "The text is not valid JSON.", line: jsonFaultLine(text) }
]

const Lines = ({ faults, name }: { readonly faults: ReadonlyArray<Fault>; readonly name: "faults" | "notices" }) => (
  <div class={`${name} whole`} {...(name === "faults" ? { role: "alert" } : {})}>
    {faults.map(({ line, message, path }) => (
      <p key={path + message}>
        {line === undefined ? "" : `line ${line}: `}
        {path} {message}
      </p>
    ))}
  </div>
)

interface Checked {
  readonly check: Signal<ConfigCheck | undefined>
  readonly faults: Signal<ReadonlyArray<Fault>>
  readonly run: (request?: calls.TriedRequest) => Promise<void>
}

/** Checks the text after each change of it, with the request that was simulated last. */
const useCheck = (id: string | undefined, text: string): Checked => {
  const check = useSignal<ConfigCheck | undefined>(undefined)
  const faults = useSignal<ReadonlyArray<Fault>>([])
  const tried = useSignal<calls.TriedRequest | undefined>(undefined)
  const run = async (request = tried.peek()): Promise<void> => {
    tried.value = request
    const config = readJson(text)
    if (config === undefined) {
      faults.value = jsonFaults(text)
      return
    }
    try {
      check.value = await calls.checkConfig(id, config, request)
      faults.value = placed(text, check.value.faults)
    } catch (error) {
      faults.value = faultsOf(error, text)
    }
  }
  useEffect(() => {
    const timer = setTimeout(() => void run(), pauseMillis)
    return () => clearTimeout(timer)
  }, [text])
  return { check, faults, run }
}

interface EditorProps {
  /** Undefined for a new config. */
  readonly read: calls.ReadConfig | undefined
  readonly saved: (id: string | undefined) => void
}

const isWritten = (value: unknown): value is WrittenConfigBody["config"] => typeof value === "object" && value !== null

const Picture = ({ check, text }: { readonly text: string; readonly check: ConfigCheck | undefined }) => {
  const config = readJson(text)
  return (
    <section class="card stack">
      <h2>Targets</h2>
      {isWritten(config) ? (
        <Tree nodes={configTree(config)} plan={check?.plan} />
      ) : (
        <p class="muted">Mend the JSON to see them.</p>
      )}
    </section>
  )
}

const IdField = ({ id, isFixed }: { readonly id: Signal<string>; readonly isFixed: boolean }) => (
  <label>
    Id
    <input value={id.value} disabled={isFixed} required onInput={(event) => (id.value = event.currentTarget.value)} />
  </label>
)

interface TriedProps {
  readonly text: string
  readonly check: ConfigCheck | undefined
  readonly run: Checked["run"]
}

const Tried = ({ check, run, text }: TriedProps) => {
  const keys = useQuery("keys", () => client.keys()).data.value?.data ?? []
  return (
    <div class="stack">
      <Picture text={text} check={check} />
      <Simulator keys={keys} check={check} simulate={(request) => void run(request)} />
    </div>
  )
}

const Editor = ({ read, saved }: EditorProps) => {
  const id = useSignal(read?.row.id ?? "")
  const text = useSignal(JSON.stringify(read?.row.config ?? sample, null, 2))
  const { check, faults, run } = useCheck(read?.row.id, text.value)
  const change = async (make: () => Promise<string | undefined>): Promise<void> => {
    faults.value = []
    try {
      saved(await make())
    } catch (error) {
      faults.value = faultsOf(error, text.value)
    }
  }
  const keep = (config: unknown): Promise<void> =>
    change(async () => {
      const { name } = read?.row ?? {}
      const made =
        read === undefined
          ? await calls.createConfig({ id: id.value, config })
          : await calls.updateConfig(id.value, { ...(name === undefined ? {} : { name }), config }, read.tag)
      return made.id
    })
  const save = (event: SubmitEvent): void => {
    event.preventDefault()
    const config = readJson(text.value)
    if (config === undefined) faults.value = jsonFaults(text.value)
    else void keep(config)
  }
  const remove = (): void =>
    void change(async () => {
      await calls.removeConfig(id.value, read?.tag)
      return undefined
    })
  const isFixed = read?.row.source === "file"
  return (
    <>
      <div class="columns">
        <form class="card form" onSubmit={save}>
          <h2>{read === undefined ? "Make a config" : `Config ${read.row.id}`}</h2>
          <IdField id={id} isFixed={read !== undefined} />
          <CodeField
            label="Config as JSON"
            text={text.value}
            isReadOnly={isFixed}
            faulty={new Set(faults.value.flatMap(({ line }) => line ?? []))}
            change={(value) => (text.value = value)}
          />
          <Lines name="faults" faults={faults.value} />
          <Lines
            name="notices"
            faults={faults.value.length === 0 ? placed(text.value, check.value?.notices ?? []) : []}
          />
          <ConfigFields />
          <SaveButtons
            isFixed={isFixed}
            save="Save"
            removal={read === undefined ? undefined : "Remove"}
            remove={remove}
          />
        </form>
        <Tried text={text.value} check={check.value} run={run} />
      </div>
      {read === undefined || isFixed ? null : <Versions row={read.row} restore={(old) => void keep(old.config)} />}
    </>
  )
}

// The fields that a config may have, with their meanings, from the schema that checks it.

interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: ReadonlyArray<Schema>
}

interface Document {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

type Row = readonly [name: string, kind: string, meaning: string]

/** A reference is to a config inside a config, whose fields are listed once. */
const rowsOf = (
  path: string,
  { anyOf = [], description = "", enum: words = anyOf[0]?.enum, items, properties, type = "" }: Schema
): ReadonlyArray<Row> => [
  ...(path === "" ? [] : [[path, words?.join(", ") ?? type, description] as const]),
  ...Object.entries(properties ?? items?.properties ?? {}).flatMap(([name, inner]) =>
    rowsOf(path === "" ? name : `${path}.${name}`, inner)
  )
]

const load = async (): Promise<ReadonlyArray<Row>> => {
  const { components }: Document = await (await fetch("/openapi.json")).json()
  const { schemas } = components
  const name = schemas["AdminConfigBody"]?.properties?.["config"]?.$ref?.split("/").at(-1) ?? ""
  return rowsOf("", schemas[name] ?? {})
}

const ConfigFields = () => {
  const rows = useSignal<ReadonlyArray<Row>>([])
  const fault = useSignal("")
  const open = async (): Promise<void> => {
    try {
      rows.value = rows.value.length > 0 ? rows.value : await load()
    } catch (error) {
      fault.value = `The schema is at /openapi.json of the port for clients. ${messageOf(error)}`
    }
  }
  return (
    <details class="whole" onToggle={() => void open()}>
      <summary>What a config may have</summary>
      <p class="fault">{fault.value}</p>
      <List label="Fields of a config" headings={["Field", "Value", "Meaning"]}>
        {rows.value.map(([name, kind, meaning]) => (
          <tr key={name}>
            <td>
              <code>{name}</code>
            </td>
            <td class="break">{kind}</td>
            <td class="break">{meaning}</td>
          </tr>
        ))}
      </List>
    </details>
  )
}

// The stored versions of a config: what one differs in from the newest, and going back to it.

const printed = ({ config }: ConfigRow): string => JSON.stringify(config, null, 2)
interface VersionsProps {
  readonly row: ConfigRow
  /** Saves the config of an older version as the newest. */
  readonly restore: (old: ConfigRow) => void
}

const Versions = ({ restore, row }: VersionsProps) => {
  const older = (row.versions ?? []).filter((version) => version !== row.version).toReversed()
  const chosen = useSignal(older[0])
  const old = useSignal<ConfigRow | undefined>(undefined)
  const fault = useSignal("")
  const load = async (): Promise<void> => {
    old.value = undefined
    fault.value = ""
    if (chosen.value === undefined) return
    try {
      old.value = await configVersion(row.id, chosen.value)
    } catch (error) {
      fault.value = messageOf(error)
    }
  }
  useEffect(() => void load(), [chosen.value])
  const shown = old.value
  return (
    <section class="card stack">
      <h2>Versions</h2>
      {older.length === 0 ? <p class="muted">There is no older one. Each save makes a version.</p> : null}
      {older.length === 0 ? null : (
        <div class="actions">
          <label>
            Compare with
            <select value={chosen.value} onChange={(event) => (chosen.value = Number(event.currentTarget.value))}>
              {older.map((version) => (
                <option key={version} value={version}>
                  {version}
                </option>
              ))}
            </select>
          </label>
          {shown === undefined ? null : (
            <>
              <span class="muted">saved {dayAndClock(shown.updated_at ?? "")}</span>
              <button type="button" onClick={() => restore(shown)}>
                Roll back to {shown.version}
              </button>
            </>
          )}
        </div>
      )}
      <p class="fault" role="alert">
        {fault.value}
      </p>
      {shown === undefined ? null : <Difference before={printed(shown)} after={printed(row)} isShort />}
    </section>
  )
}
