// Gateway keys: their limits and spending, making one, rotating and revoking.
// Must not know how keys are kept.
import { useSignal } from "@preact/signals"
import * as client from "../AdminClient.ts"
import { dayAndClock, dollars } from "../format.ts"
import { keyBody } from "../keyBody.ts"
import { Copy } from "../parts/Copy.tsx"
import { List } from "../parts/List.tsx"
import { messageOf, useQuery } from "../parts/Query.ts"

type Key = client.KeyRow

/** Runs a change, shows its failure, and reads the list again. */
type Change = (run: () => Promise<Key | void>) => Promise<void>

const Budget = ({ budget, spent_usd: spent = 0 }: Key) =>
  budget === undefined ? (
    <>{dollars(spent)}</>
  ) : (
    <label class="budget">
      <meter max={budget.usd} value={Math.min(spent, budget.usd)} high={budget.usd * 0.8} />
      {dollars(spent)} of {dollars(budget.usd)} a {budget.per}
    </label>
  )

const stateOf = ({ expires_at: expires, revoked_at: revoked }: Key): string => {
  if (revoked !== undefined) return `revoked ${dayAndClock(revoked)}`
  return expires === undefined ? "valid" : `until ${dayAndClock(expires)}`
}

const Actions = ({ change, row }: { readonly row: Key; readonly change: Change }) => {
  const asks = useSignal<"rotate" | "revoke" | undefined>(undefined)
  if (row.source === "file") return <span class="muted">declared in the configuration</span>
  if (row.revoked_at !== undefined) return null
  const confirm = (): void => {
    const isRotation = asks.value === "rotate"
    asks.value = undefined
    void change(() => (isRotation ? client.rotateKey(row.id) : client.revokeKey(row.id)))
  }
  return asks.value === undefined ? (
    <>
      <button type="button" onClick={() => (asks.value = "rotate")}>
        Rotate
      </button>
      <button type="button" onClick={() => (asks.value = "revoke")}>
        Revoke
      </button>
    </>
  ) : (
    <>
      <button type="button" class="danger" onClick={confirm}>
        {asks.value === "rotate" ? "Refuse the old text now" : "Refuse this key now"}
      </button>
      <button type="button" onClick={() => (asks.value = undefined)}>
        Cancel
      </button>
    </>
  )
}

const Row = ({ change, row }: { readonly row: Key; readonly change: Change }) => (
  <tr>
    <td>{row.name}</td>
    <td>{row.prefix === undefined ? "–" : `${row.prefix}…`}</td>
    <td>{(row.scopes ?? ["inference"]).join(", ")}</td>
    <td>{row.models?.join(", ") ?? "all"}</td>
    <td>{row.rate_limit?.requests_per_minute ?? "–"}</td>
    <td>
      <Budget {...row} />
    </td>
    <td>{row.last_used_at === undefined ? "never" : dayAndClock(row.last_used_at)}</td>
    <td>{stateOf(row)}</td>
    <td class="actions">
      <Actions row={row} change={change} />
    </td>
  </tr>
)

const headings = ["Name", "Text", "Scopes", "Models", "Requests a minute", "Spent", "Last used", "State", "Change"]

const Table = ({ change, rows }: { readonly rows: ReadonlyArray<Key>; readonly change: Change }) => (
  <List label="Keys" headings={headings}>
    {rows.map((row) => (
      <Row key={row.id} row={row} change={change} />
    ))}
  </List>
)

const Field = ({
  hint = "",
  label,
  name,
  isNumber = false
}: {
  readonly label: string
  readonly name: string
  readonly hint?: string
  readonly isNumber?: boolean
}) => (
  <label>
    {label}
    {isNumber ? (
      <input name={name} type="number" min="0" step="any" />
    ) : (
      <input name={name} placeholder={hint} spellcheck={false} autocomplete="off" />
    )}
  </label>
)

const Form = ({ change }: { readonly change: Change }) => {
  const submit = (event: SubmitEvent & { currentTarget: HTMLFormElement }): void => {
    event.preventDefault()
    const form = event.currentTarget
    const fields = new FormData(form)
    void change(async () => {
      const made = await client.createKey(keyBody((name) => String(fields.get(name) ?? "")))
      form.reset()
      return made
    })
  }
  return (
    <form class="card form" onSubmit={submit}>
      <h2>Make a key</h2>
      <Field label="Name" name="name" />
      <label>
        Scope
        <select name="scope">
          <option value="inference">inference: calls models</option>
          <option value="admin">admin: sees and changes the gateway</option>
        </select>
      </label>
      <Field label="Providers" name="providers" hint="all, or google, vertex-ai" />
      <Field label="Models" name="models" hint="all, or gemini-*, claude-*" />
      <Field label="Requests a minute" name="requests" isNumber />
      <Field label="Budget a month in US dollars" name="budget" isNumber />
      <button type="submit" class="primary">
        Make key
      </button>
    </form>
  )
}

const Made = ({ close, made }: { readonly made: Key; readonly close: () => void }) => (
  <section class="card made" role="status">
    <h2>The key {made.name}</h2>
    <p>Its text is shown now and never again.</p>
    <pre>{made.key}</pre>
    <Copy name="Copy key" text={made.key ?? ""} />
    <button type="button" onClick={close}>
      I have kept it
    </button>
  </section>
)

export const Keys = () => {
  const { data, fault, reload } = useQuery("keys", () => client.keys())
  const made = useSignal<Key | undefined>(undefined)
  const refused = useSignal("")
  const change: Change = async (run) => {
    refused.value = ""
    try {
      const key = await run()
      if (key !== undefined) made.value = key
      await reload()
    } catch (error) {
      refused.value = messageOf(error)
    }
  }
  return (
    <>
      <div class="title">
        <h1>Keys</h1>
      </div>
      <p class="fault" role="alert">
        {refused.value || fault.value}
      </p>
      {made.value === undefined ? null : <Made made={made.value} close={() => (made.value = undefined)} />}
      {data.value === undefined ? <p class="muted">Loading …</p> : <Table rows={data.value.data} change={change} />}
      <Form change={change} />
    </>
  )
}
