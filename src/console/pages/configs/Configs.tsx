// Gateway configs: the list, and an editor with faults at their lines, the fields by their schema, and stored versions.
// It must not know what a config may contain; the gateway checks it.
import { type Signal, useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { ConfigCheck } from "../../../api/AdminReports.ts"
import type { WrittenConfigBody } from "../../../api/AdminResources.ts"
import {
  CallFailed,
  checkConfig,
  type ConfigRow,
  configs,
  keys,
  type ReadRecord,
  type TriedRequest
} from "../../AdminClient.ts"
import { dayAndClock } from "../../format.ts"
import { gatewayAddress } from "../../gatewayAddress.ts"
import { Card, type Column, Difference, Fault, List } from "../../parts/Display.tsx"
import { Choice, CodeField, SaveButtons } from "../../parts/Fields.tsx"
import { messageOf, useAction, useQuery } from "../../parts/Query.ts"
import { RecordPage } from "../../parts/RecordPage.tsx"
import { jsonFaultLine, lineOfPath, readJson } from "../../readJson.ts"
import { configTree } from "./configTree.ts"
import { Simulator, Tree } from "./Simulator.tsx"

const sample = { strategy: { mode: "fallback" }, targets: [{ provider: "@google" }, { provider: "@vertex-ai" }] }

/** The pause after a key stroke before the text is checked. */
const pauseMillis = 300

interface ConfigFault {
  readonly path: string
  readonly message: string
  readonly line: number | undefined
}

const placed = (text: string, faults: ReadonlyArray<{ readonly path: string; readonly message: string }>) =>
  faults.map(({ message, path }) => ({ path, message, line: lineOfPath(text, path.replace(/^config\.?/, "")) }))

const faultsOf = (error: unknown, text: string): ReadonlyArray<ConfigFault> =>
  error instanceof CallFailed && error.faults.length > 0
    ? placed(text, error.faults)
    : [{ path: "", message: messageOf(error), line: undefined }]

const jsonFaults = (text: string): ReadonlyArray<ConfigFault> => [
  { path: "", message: "The text is not valid JSON.", line: jsonFaultLine(text) }
]

const Lines = ({
  faults,
  name
}: {
  readonly faults: ReadonlyArray<ConfigFault>
  readonly name: "faults" | "notices"
}) => (
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
  readonly faults: Signal<ReadonlyArray<ConfigFault>>
  readonly run: (request?: TriedRequest) => Promise<void>
}

/** Checks the text after each change of it, with the request that was simulated last. */
const useCheck = (id: string | undefined, text: string): Checked => {
  const check = useSignal<ConfigCheck | undefined>(undefined)
  const faults = useSignal<ReadonlyArray<ConfigFault>>([])
  const tried = useSignal<TriedRequest | undefined>(undefined)
  const run = async (request = tried.peek()): Promise<void> => {
    tried.value = request
    const config = readJson(text)
    if (config === undefined) {
      faults.value = jsonFaults(text)
      return
    }
    try {
      check.value = await checkConfig(id, config, request)
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
  const { components }: Document = await (await fetch(`${gatewayAddress}/openapi.json`)).json()
  const { schemas } = components
  const name = schemas["AdminConfigBody"]?.properties?.["config"]?.$ref?.split("/").at(-1) ?? ""
  return rowsOf("", schemas[name] ?? {})
}

const fieldColumns: ReadonlyArray<Column<Row>> = [
  { name: "Field", cell: ([name]) => <code>{name}</code> },
  { name: "Value", class: "break", cell: ([, kind]) => kind },
  { name: "Meaning", class: "break", cell: ([, , meaning]) => meaning }
]

/** The fields that a config may have, with their meanings, from the schema that checks it. */
const ConfigFields = () => {
  const rows = useSignal<ReadonlyArray<Row>>([])
  const { fault, run } = useAction()
  const open = (): Promise<void> =>
    run(async () => {
      rows.value = rows.value.length > 0 ? rows.value : await load()
    })
  return (
    <details class="whole" onToggle={() => void open()}>
      <summary>What a config may have</summary>
      <p class="fault">
        {fault.value === "" ? "" : `The schema is at /openapi.json of the port for clients. ${fault.value}`}
      </p>
      <List label="Fields of a config" columns={fieldColumns} rows={rows.value} keyOf={([name]) => name} />
    </details>
  )
}

const printed = ({ config }: ConfigRow): string => JSON.stringify(config, null, 2)

interface VersionsProps {
  readonly row: ConfigRow
  /** Saves the config of an older version as the newest. */
  readonly restore: (old: ConfigRow) => void
}

/** The stored versions of a config: what one differs in from the newest, and going back to it. */
const Versions = ({ restore, row }: VersionsProps) => {
  const older = (row.versions ?? []).filter((version) => version !== row.version).toReversed()
  const chosen = useSignal(String(older[0] ?? ""))
  const old = useSignal<ConfigRow | undefined>(undefined)
  const { fault, run } = useAction()
  const load = async (): Promise<void> => {
    old.value = undefined
    if (chosen.value !== "") old.value = await configs.version(row.id, chosen.value)
  }
  useEffect(() => void run(load), [chosen.value])
  const shown = old.value
  return (
    <Card class="stack" title="Versions">
      {older.length === 0 ? (
        <p class="muted">There is no older one. Each save makes a version.</p>
      ) : (
        <div class="actions">
          <Choice
            label="Compare with"
            options={older.map((version) => [String(version), String(version)])}
            value={chosen.value}
            change={(version) => (chosen.value = version)}
          />
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
      <Fault text={fault.value} />
      {shown === undefined ? null : <Difference before={printed(shown)} after={printed(row)} isShort />}
    </Card>
  )
}

interface EditorProps {
  /** Undefined for a new config. */
  readonly read: ReadRecord<ConfigRow> | undefined
  readonly saved: (id: string | undefined) => void
}

const isWritten = (value: unknown): value is WrittenConfigBody["config"] => typeof value === "object" && value !== null

const Picture = ({ check, text }: { readonly text: string; readonly check: ConfigCheck | undefined }) => {
  const config = readJson(text)
  return (
    <Card class="stack" title="Targets">
      {isWritten(config) ? (
        <Tree nodes={configTree(config)} plan={check?.plan} />
      ) : (
        <p class="muted">Mend the JSON to see them.</p>
      )}
    </Card>
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
  const allKeys = useQuery("keys", keys.list).data.value?.data ?? []
  return (
    <div class="stack">
      <Picture text={text} check={check} />
      <Simulator keys={allKeys} check={check} simulate={(request) => void run(request)} />
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
      const made =
        read === undefined
          ? await configs.create({ id: id.value, config })
          : await configs.update(id.value, { name: read.row.name, config }, read.tag)
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
      await configs.remove(id.value, read?.tag)
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

export const Configs = () => (
  <RecordPage
    title="Configs"
    path="/configs"
    another="New config"
    records={configs}
    noteOf={({ source, version }) => (source === "file" ? "declared in the configuration" : `version ${version ?? 1}`)}
    none="There is no config yet. Make one below, and name it in the header x-gateway-config of a request."
  >
    {(read, saved) => <Editor key={`${read?.row.id ?? ""} ${read?.tag ?? ""}`} read={read} saved={saved} />}
  </RecordPage>
)
