// Gateway keys: the list with limits and spending, and making one. A key has a page of its own.
// Must not know how keys are kept.
import { useSignal } from "@preact/signals"
import * as client from "../../AdminClient.ts"
import { dayAndClock, dollars } from "../../format.ts"
import { href, place } from "../../Location.ts"
import { Copy } from "../../parts/Copy.tsx"
import { List } from "../../parts/List.tsx"
import { useQuery } from "../../parts/Query.ts"
import { KeyDetail } from "./KeyDetail.tsx"
import { KeyForm } from "./KeyForm.tsx"
import { Revoke } from "./Revoke.tsx"

type Key = client.KeyRow

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

const Row = ({ changed, row }: { readonly row: Key; readonly changed: () => void }) => (
  <tr>
    <td>
      <a href={href("/keys", { id: row.id })}>{row.name}</a>
    </td>
    <td>{row.prefix === undefined ? "–" : `${row.prefix}…`}</td>
    <td>{(row.scopes ?? ["inference"]).join(", ")}</td>
    <td>{row.models?.join(", ") ?? "all"}</td>
    <td class="number">{row.rate_limit?.requests_per_minute ?? "–"}</td>
    <td>
      <Budget {...row} />
    </td>
    <td>{row.last_used_at === undefined ? "never" : dayAndClock(row.last_used_at)}</td>
    <td>{stateOf(row)}</td>
    <td class="actions">
      {row.source === "file" ? (
        <span class="muted" title="In the configuration">
          declared
        </span>
      ) : row.revoked_at === undefined ? (
        <Revoke id={row.id} done={changed} />
      ) : null}
    </td>
  </tr>
)

const headings = ["Name", "Text", "Scopes", "Models", "Requests/min", "Spent", "Last used", "State", "Change"]
const numbers = new Set(["Requests/min"])

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
  const id = place.value.query.get("id") ?? undefined
  const { data, fault, reload } = useQuery(`keys ${id ?? ""}`, () => client.keys())
  const configs = useQuery("configs", async () => (await client.configs()).data.map((config) => config.id)).data
  const made = useSignal<Key | undefined>(undefined)
  const shown = made.value === undefined ? null : <Made made={made.value} close={() => (made.value = undefined)} />
  const keep = (key: Key): void => void (made.value = key)
  if (id !== undefined)
    return (
      <>
        {shown}
        <KeyDetail key={id} id={id} configs={configs.value ?? []} made={keep} />
      </>
    )
  return (
    <>
      <div class="title">
        <h1>Keys</h1>
      </div>
      <p class="fault" role="alert">
        {fault.value}
      </p>
      {shown}
      {data.value === undefined ? (
        <p class="muted">Loading …</p>
      ) : (
        <List label="Keys" headings={headings} numbers={numbers}>
          {data.value.data.map((row) => (
            <Row key={row.id} row={row} changed={() => void reload()} />
          ))}
        </List>
      )}
      <KeyForm
        title="Make a key"
        button="Make key"
        configs={configs.value ?? []}
        send={async (body) => {
          keep(await client.createKey(body))
          await reload()
        }}
      />
    </>
  )
}
