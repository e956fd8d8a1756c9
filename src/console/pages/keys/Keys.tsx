// Gateway keys: the list with limits and spending, and one key with its budget, usage, form, rotation and revocation.
// It must not know how keys are stored or how spending is counted.
import { useSignal } from "@preact/signals"
import { configs, keys, keyUsage, type KeyRow, type KeyUsage, rotateKey } from "../../AdminClient.ts"
import { count, dayAndClock, dollars, percent } from "../../format.ts"
import { href, place } from "../../Location.ts"
import { Chart, type Line } from "../../parts/Chart.tsx"
import { Card, type Column, Copy, Facts, Fault, List, Loading, Page, Tile, Top } from "../../parts/Display.tsx"
import { Choice, Field, onSubmit } from "../../parts/Fields.tsx"
import { useAction, useQuery } from "../../parts/Query.ts"
import { burnDown, shareOf, sumRows } from "../../usageSums.ts"
import { changedKey, fieldValue, keyBody, keyFields } from "./keyBody.ts"

const everyMillis = 10 * 1000

/** The button that revokes a key. It asks once more before it does. */
const Revoke = ({ done, id }: { readonly id: string; readonly done: () => void }) => {
  const asks = useSignal(false)
  const { fault, run } = useAction()
  const revoke = async (): Promise<void> => {
    asks.value = false
    await keys.remove(id)
    done()
  }
  if (!asks.value)
    return (
      <>
        <button type="button" class="danger" onClick={() => (asks.value = true)}>
          Revoke
        </button>
        <span class="fault" role="alert">
          {fault.value}
        </span>
      </>
    )
  return (
    <>
      <button type="button" class="danger" onClick={() => void run(revoke)}>
        Refuse this key now
      </button>
      <button type="button" onClick={() => (asks.value = false)}>
        Cancel
      </button>
    </>
  )
}

interface KeyFormProps {
  readonly title: string
  readonly button: string
  /** The key that is changed; undefined for a new one. */
  readonly row?: KeyRow
  readonly configIds: ReadonlyArray<string>
  readonly send: (body: ReturnType<typeof keyBody>) => Promise<void>
}

const inputTypes = { text: "text", list: "text", number: "number", moment: "datetime-local" } as const

const KeyForm = ({ button, configIds, row, send, title }: KeyFormProps) => {
  const { fault, run } = useAction()
  const submit = onSubmit((text, form) =>
    run(async () => {
      await send(keyBody(text))
      if (row === undefined) form.reset()
    })
  )
  return (
    <form class="card form" onSubmit={submit}>
      <h2>{title}</h2>
      {keyFields(configIds).map((field) => {
        const { hint, isRequired, kind, label, name, words } = field
        const shared = { key: name, name, label, value: fieldValue(row, field) }
        return words === undefined ? (
          <Field {...shared} type={inputTypes[kind]} hint={hint} isRequired={isRequired === true} />
        ) : (
          <Choice {...shared} options={words} />
        )
      })}
      <Fault text={fault.value} isWhole />
      <button type="submit" class="primary">
        {button}
      </button>
    </form>
  )
}

type Budget = NonNullable<KeyRow["budget"]>

const momentOf = (millis: number): string => dayAndClock(new Date(millis).toISOString())

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
          ? `At the rate so far ${dollars(total)} of ${dollars(usd)} are spent when the ${per} ends, ${momentOf(period.to)}.`
          : `At the rate so far the ${dollars(usd)} of this ${per} are spent on ${momentOf(emptyAt)}.`}
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
  ["0", "now"],
  [String(60 * 60), "in an hour"],
  [String(24 * 60 * 60), "in a day"],
  [String(7 * 24 * 60 * 60), "in a week"]
] as const

interface ChangesProps {
  readonly row: KeyRow
  readonly made: (key: KeyRow) => void
  readonly changed: () => void
}

const Changes = ({ changed, made, row }: ChangesProps) => {
  const grace = useSignal("0")
  const { fault, run } = useAction()
  const rotate = async (): Promise<void> => {
    await run(async () => made(await rotateKey(row.id, Number(grace.value))))
    changed()
  }
  return (
    <Card title="Rotate or revoke">
      <div class="actions">
        <Choice
          label="The old text is refused"
          options={graces}
          value={grace.value}
          change={(seconds) => (grace.value = seconds)}
        />
        <button type="button" onClick={() => void rotate()}>
          Make another text
        </button>
        <Revoke id={row.id} done={changed} />
      </div>
      <Fault text={fault.value} />
    </Card>
  )
}

const KeyFacts = ({ row }: { readonly row: KeyRow }) => (
  <Card title="Key">
    <Facts
      rows={[
        ["Id", row.id],
        ["Text begins with", row.prefix ?? "–"],
        ["Providers", row.providers?.join(", ") ?? "all"],
        ["Models", row.models?.join(", ") ?? "all"],
        [
          "A minute",
          `${row.rate_limit?.requests_per_minute ?? "any"} requests, ${row.rate_limit?.tokens_per_minute ?? "any"} tokens`
        ],
        ["Last used", row.last_used_at === undefined ? "never" : dayAndClock(row.last_used_at)],
        ["Old text taken until", row.previous_until === undefined ? "–" : dayAndClock(row.previous_until)],
        ["State", row.revoked_at === undefined ? "valid" : `revoked ${dayAndClock(row.revoked_at)}`]
      ]}
    />
    <a href={href("/requests", { key: row.id })}>Its requests</a>
  </Card>
)

interface KeyDetailProps {
  readonly id: string
  readonly configIds: ReadonlyArray<string>
  readonly made: (key: KeyRow) => void
}

const KeyDetail = ({ configIds, id, made }: KeyDetailProps) => {
  const key = useQuery(id, () => keys.read(id))
  const row = key.data.value?.row
  const name = row === undefined ? "" : `${row.id} ${row.version ?? ""}`
  const usage = useQuery(name, async () => (row === undefined ? undefined : keyUsage(row)), everyMillis)
  const isChangeable = row?.source === "store" && row.revoked_at === undefined
  return (
    <Page title={row?.name ?? id} back={[href("/keys"), "All keys"]} fault={key.fault.value || usage.fault.value}>
      <div class="columns">
        <div class="stack">
          {row?.budget === undefined || usage.data.value === undefined ? null : (
            <BudgetCard budget={row.budget} usage={usage.data.value} />
          )}
          {usage.data.value === undefined ? null : <Usage usage={usage.data.value} />}
        </div>
        <div class="stack">
          {row === undefined ? null : <KeyFacts row={row} />}
          {isChangeable ? <Changes row={row} made={made} changed={() => void key.reload()} /> : null}
        </div>
      </div>
      {isChangeable ? (
        <KeyForm
          key={name}
          title="Change this key"
          button="Save"
          row={row}
          configIds={configIds}
          send={async (body) => {
            await keys.update(id, changedKey(row, body), key.data.value?.tag)
            await key.reload()
          }}
        />
      ) : null}
    </Page>
  )
}

const BudgetMeter = ({ budget, spent_usd: spent = 0 }: KeyRow) =>
  budget === undefined ? (
    <>{dollars(spent)}</>
  ) : (
    <label class="budget">
      <meter max={budget.usd} value={Math.min(spent, budget.usd)} high={budget.usd * 0.8} />
      {dollars(spent)} of {dollars(budget.usd)} a {budget.per}
    </label>
  )

const stateOf = ({ expires_at: expires, revoked_at: revoked }: KeyRow): string => {
  if (revoked !== undefined) return `revoked ${dayAndClock(revoked)}`
  return expires === undefined ? "valid" : `until ${dayAndClock(expires)}`
}

const columnsOf = (changed: () => void): ReadonlyArray<Column<KeyRow>> => [
  { name: "Name", cell: ({ id, name }) => <a href={href("/keys", { id })}>{name}</a> },
  { name: "Text", cell: ({ prefix }) => (prefix === undefined ? "–" : `${prefix}…`) },
  { name: "Scopes", cell: ({ scopes = ["inference"] }) => scopes.join(", ") },
  { name: "Models", cell: ({ models }) => models?.join(", ") ?? "all" },
  { name: "Requests/min", isNumber: true, cell: (row) => row.rate_limit?.requests_per_minute ?? "–" },
  { name: "Spent", cell: (row) => <BudgetMeter {...row} /> },
  { name: "Last used", cell: (row) => (row.last_used_at === undefined ? "never" : dayAndClock(row.last_used_at)) },
  { name: "State", cell: stateOf },
  {
    name: "Change",
    class: "actions",
    cell: ({ id, revoked_at: revoked, source }) =>
      source === "file" ? (
        <span class="muted" title="In the configuration">
          declared
        </span>
      ) : revoked === undefined ? (
        <Revoke id={id} done={changed} />
      ) : null
  }
]

const Made = ({ close, made }: { readonly made: KeyRow; readonly close: () => void }) => (
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
  const { data, fault, reload } = useQuery(`keys ${id ?? ""}`, keys.list)
  const configIds =
    useQuery("configs", async () => (await configs.list()).data.map((config) => config.id)).data.value ?? []
  const made = useSignal<KeyRow | undefined>(undefined)
  const shown = made.value === undefined ? null : <Made made={made.value} close={() => (made.value = undefined)} />
  const keep = (key: KeyRow): void => void (made.value = key)
  if (id !== undefined)
    return (
      <>
        {shown}
        <KeyDetail key={id} id={id} configIds={configIds} made={keep} />
      </>
    )
  return (
    <Page title="Keys" fault={fault.value}>
      {shown}
      {data.value === undefined ? (
        <Loading />
      ) : (
        <List label="Keys" columns={columnsOf(() => void reload())} rows={data.value.data} keyOf={(row) => row.id} />
      )}
      <KeyForm
        title="Make a key"
        button="Make key"
        configIds={configIds}
        send={async (body) => {
          keep(await keys.create(body))
          await reload()
        }}
      />
    </Page>
  )
}
