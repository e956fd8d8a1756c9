// Gateway keys: the list with limits and spending, and one key with its budget, usage, rotation and revocation.
// It must not know how keys are stored or how spending is counted.
import { useSignal } from "@preact/signals"
import * as client from "../../AdminClient.ts"
import { type KeyRow, type KeyUsage, keyUsage, type ReadKey, readKey, rotateKey, updateKey } from "../../AdminClient.ts"
import { count, dayAndClock, dollars, percent } from "../../format.ts"
import { href, place } from "../../Location.ts"
import { Copy, List, Tile, Top } from "../../parts/Display.tsx"
import { messageOf, useQuery } from "../../parts/Query.ts"
import { KeyForm, Revoke } from "./KeyForm.tsx"
import { Chart, type Line } from "../../parts/Chart.tsx"
import { burnDown, shareOf, sumRows } from "../../usageSums.ts"
import { changedKey } from "./keyBody.ts"

type Key = client.KeyRow

const BudgetMeter = ({ budget, spent_usd: spent = 0 }: Key) =>
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
      <BudgetMeter {...row} />
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

// One gateway key: what is left of its budget, its usage, its fields, rotation and revocation.

const everyMillis = 10 * 1000

type Budget = NonNullable<KeyRow["budget"]>

const BudgetCard = ({ budget: { per, usd }, usage }: { readonly budget: Budget; readonly usage: KeyUsage }) => {
  const { now, period, spentIn } = usage
  const { ahead, emptyAt, left, total } = burnDown(usd, period, spentIn, now)
  const lines: ReadonlyArray<Line> = [
    { name: "left", color: "--one", values: left },
    { name: "at the rate so far", color: "--warn", values: ahead }
  ]
  return (
    <>
      <p class={emptyAt === undefined ? "card" : "card warn"} role="status">
        {emptyAt === undefined
          ? `At the rate so far ${dollars(total)} of ${dollars(usd)} are spent when the ${per} ends, ${dayAndClock(new Date(period.to).toISOString())}.`
          : `At the rate so far the ${dollars(usd)} of this ${per} are spent on ${dayAndClock(new Date(emptyAt).toISOString())}.`}
      </p>
      <Chart
        title={`Budget of this ${per}`}
        seconds={[...period.starts, period.to].map((start) => start / 1000)}
        lines={lines}
        print={dollars}
      />
    </>
  )
}

const Usage = ({ usage: { days, models } }: { readonly usage: KeyUsage }) => {
  const { cost, errors, input, output, requests } = sumRows(days)
  return (
    <>
      <h2>Last 30 days</h2>
      <dl class="tiles">
        <Tile name="Requests" value={count(requests)} />
        <Tile name="Errors" value={percent(shareOf(errors, requests))} />
        <Tile name="Tokens in" value={count(input)} />
        <Tile name="Tokens out" value={count(output)} />
        <Tile name="Cost" value={dollars(cost)} />
      </dl>
      <Top
        title="Models by cost"
        print={dollars}
        filter="model"
        rows={models
          .filter((row) => row.cost_usd > 0)
          .toSorted((one, other) => other.cost_usd - one.cost_usd)
          .map((row) => [row.model ?? "", row.cost_usd])}
      />
    </>
  )
}

const graces = [
  [0, "now"],
  [60 * 60, "in an hour"],
  [24 * 60 * 60, "in a day"],
  [7 * 24 * 60 * 60, "in a week"]
] as const

interface ChangesProps {
  readonly row: KeyRow
  readonly made: (key: KeyRow) => void
  readonly changed: () => void
}

const Changes = ({ changed, made, row }: ChangesProps) => {
  const grace = useSignal(0)
  const fault = useSignal("")
  const rotate = async (): Promise<void> => {
    fault.value = ""
    try {
      made(await rotateKey(row.id, grace.value))
    } catch (error) {
      fault.value = messageOf(error)
    }
    changed()
  }
  return (
    <section class="card">
      <h2>Rotate or revoke</h2>
      <div class="actions">
        <label>
          The old text is refused
          <select value={grace.value} onChange={(event) => (grace.value = Number(event.currentTarget.value))}>
            {graces.map(([seconds, text]) => (
              <option key={seconds} value={seconds}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <button type="button" onClick={() => void rotate()}>
          Make another text
        </button>
        <Revoke id={row.id} done={changed} />
      </div>
      <p class="fault" role="alert">
        {fault.value}
      </p>
    </section>
  )
}

const Facts = ({ row }: { readonly row: KeyRow }) => (
  <section class="card">
    <h2>Key</h2>
    <dl>
      <dt>Id</dt>
      <dd>{row.id}</dd>
      <dt>Text begins with</dt>
      <dd>{row.prefix ?? "–"}</dd>
      <dt>Providers</dt>
      <dd>{row.providers?.join(", ") ?? "all"}</dd>
      <dt>Models</dt>
      <dd>{row.models?.join(", ") ?? "all"}</dd>
      <dt>A minute</dt>
      <dd>
        {row.rate_limit?.requests_per_minute ?? "any"} requests, {row.rate_limit?.tokens_per_minute ?? "any"} tokens
      </dd>
      <dt>Last used</dt>
      <dd>{row.last_used_at === undefined ? "never" : dayAndClock(row.last_used_at)}</dd>
      <dt>Old text taken until</dt>
      <dd>{row.previous_until === undefined ? "–" : dayAndClock(row.previous_until)}</dd>
      <dt>State</dt>
      <dd>{row.revoked_at === undefined ? "valid" : `revoked ${dayAndClock(row.revoked_at)}`}</dd>
    </dl>
    <a href={href("/requests", { key: row.id })}>Its requests</a>
  </section>
)

interface KeyDetailProps {
  readonly id: string
  readonly configs: ReadonlyArray<string>
  readonly made: (key: KeyRow) => void
}

const KeyDetail = ({ configs, id, made }: KeyDetailProps) => {
  const key = useQuery<ReadKey>(id, () => readKey(id))
  const row = key.data.value?.row
  const name = row === undefined ? "" : `${row.id} ${row.version ?? ""}`
  const usage = useQuery(name, async () => (row === undefined ? undefined : keyUsage(row)), everyMillis)
  const isChangeable = row?.source === "store" && row.revoked_at === undefined
  return (
    <>
      <div class="title">
        <a href={href("/keys")} aria-label="All keys">
          ←
        </a>
        <h1>{row?.name ?? id}</h1>
      </div>
      <p class="fault" role="alert">
        {key.fault.value || usage.fault.value}
      </p>
      <div class="columns">
        <div class="stack">
          {row?.budget === undefined || usage.data.value === undefined ? null : (
            <BudgetCard budget={row.budget} usage={usage.data.value} />
          )}
          {usage.data.value === undefined ? null : <Usage usage={usage.data.value} />}
        </div>
        <div class="stack">
          {row === undefined ? null : <Facts row={row} />}
          {isChangeable ? <Changes row={row} made={made} changed={() => void key.reload()} /> : null}
        </div>
      </div>
      {isChangeable ? (
        <KeyForm
          key={name}
          title="Change this key"
          button="Save"
          row={row}
          configs={configs}
          send={async (body) => {
            await updateKey(id, changedKey(row, body), key.data.value?.tag)
            await key.reload()
          }}
        />
      ) : null}
    </>
  )
}
