// One gateway key: what is left of its budget, its usage, its fields, rotation and revocation.
// Must not know how spending is counted.
import { useSignal } from "@preact/signals"
import type { KeyRow } from "../../AdminClient.ts"
import { count, dayAndClock, dollars, percent } from "../../format.ts"
import { href } from "../../Location.ts"
import { Chart, type Line } from "../../parts/Chart.tsx"
import { messageOf, useQuery } from "../../parts/Query.ts"
import { Tile } from "../../parts/Tile.tsx"
import { Top } from "../../parts/Top.tsx"
import { shareOf, sumRows } from "../../usageSums.ts"
import { burnDown } from "./burnDown.ts"
import { changedKey } from "./keyBody.ts"
import { type KeyUsage, keyUsage, type ReadKey, readKey, rotateKey, updateKey } from "./KeyCalls.ts"
import { KeyForm } from "./KeyForm.tsx"
import { Revoke } from "./Revoke.tsx"

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

export const KeyDetail = ({ configs, id, made }: KeyDetailProps) => {
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
