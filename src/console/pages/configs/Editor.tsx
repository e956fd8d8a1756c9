// The editor of a config: faults at their lines while it is written, the picture of its targets, and a simulator.
// Must not know what a config may contain; the gateway checks it.
import { type Signal, useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { ConfigCheck } from "../../../api/admin/ConfigCheck.ts"
import type { WrittenConfigBody } from "../../../api/AdminResources.ts"
import * as client from "../../AdminClient.ts"
import { CodeField } from "../../parts/CodeField.tsx"
import { messageOf, useQuery } from "../../parts/Query.ts"
import { SaveButtons } from "../../parts/SaveButtons.tsx"
import { jsonFaultLine, readJson } from "../../readJson.ts"
import * as calls from "./ConfigCalls.ts"
import { configTree } from "./configTree.ts"
import { Fields } from "./Fields.tsx"
import { lineOf } from "./lineOf.ts"
import { Simulator } from "./Simulator.tsx"
import { Tree } from "./Tree.tsx"
import { Versions } from "./Versions.tsx"

const sample = { strategy: { mode: "fallback" }, targets: [{ provider: "@google" }, { provider: "@vertex-ai" }] }

/** The pause after a key stroke before the text is checked. */
const pauseMillis = 300

interface Fault {
  readonly path: string
  readonly message: string
  readonly line: number | undefined
}

const placed = (text: string, faults: ReadonlyArray<{ readonly path: string; readonly message: string }>) =>
  faults.map(({ message, path }) => ({ path, message, line: lineOf(text, path.replace(/^config\.?/, "")) }))

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

export const Editor = ({ read, saved }: EditorProps) => {
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
          <Fields />
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
