// The settings in force with the origin of each, and what the service runs on.
// It must not know settings; the gateway names and describes them.
import { useSignal } from "@preact/signals"
import type { AdminSettings } from "../../api/AdminReports.ts"
import { get } from "../AdminClient.ts"
import { dayAndClock } from "../format.ts"
import { Card, type Column, Facts, List, Loading, Page } from "../parts/Display.tsx"
import { Check, Field } from "../parts/Fields.tsx"
import { useQuery } from "../parts/Query.ts"

type Setting = AdminSettings["settings"][number]

const everyMillis = 5000
const dayMillis = 24 * 60 * 60 * 1000

const State = ({ state }: { readonly state: string }) => (
  <b class={state === "ok" ? "good" : "bad"}>{state.replaceAll("_", " ")}</b>
)

const exported = (exporter: AdminSettings["exporter"]): string => {
  if (exporter === null) return "off; set OTEL_EXPORTER_OTLP_ENDPOINT"
  return [exporter.traces ? "traces" : "", exporter.metrics ? "metrics" : ""].filter((one) => one !== "").join(" and ")
}

const Service = ({ exporter, file, node, prices, redis, started_at: started, store, version }: AdminSettings) => (
  <Card title="Service">
    <Facts
      rows={[
        ["Version", `${version}, on Node ${node}`],
        ["Running since", <span title={started}>{dayAndClock(started)}</span>],
        ["Configuration file", file ?? "none: variables, flags and defaults"],
        [
          "Store",
          <>
            {store.place}: <State state={store.state} />
          </>
        ],
        ["Redis", redis === null ? "none: nothing is shared with other gateways" : <State state={redis.state} />],
        ["OpenTelemetry export", exported(exporter)],
        ["Price list", prices.list],
        [
          "Facts about models",
          `of ${prices.models_as_of}, days old: ${Math.floor((Date.now() - Date.parse(prices.models_as_of)) / dayMillis)}`
        ]
      ]}
    />
  </Card>
)

const printed = (value: unknown): string =>
  value === undefined ? "–" : typeof value === "string" ? value : JSON.stringify(value)

const columns: ReadonlyArray<Column<Setting>> = [
  {
    name: "Setting",
    cell: ({ description, name }) => <code title={description}>{name}</code>
  },
  {
    name: "Value",
    class: "break",
    cell: ({ effective, value }) => (
      <>
        {printed(value)}
        {effective === undefined ? null : <span class="warn"> (in force: {effective})</span>}
      </>
    )
  },
  { name: "From", cell: ({ source }) => <span class={`tag ${source}`}>{source}</span> },
  { name: "Where", cell: ({ from }) => from ?? "–" },
  { name: "Meaning", class: "break muted", cell: ({ description }) => description }
]

export const Settings = () => {
  const { data, fault } = useQuery("settings", () => get<AdminSettings>("/settings"), everyMillis)
  const text = useSignal("")
  const isAll = useSignal(false)
  const settings = data.value
  const rows = (settings?.settings ?? []).filter(
    ({ name, source }) => name.includes(text.value) && (isAll.value || source !== "default")
  )
  return (
    <Page title="Settings" fault={fault.value}>
      {settings === undefined ? <Loading /> : <Service {...settings} />}
      <div class="filters">
        <Field label="Name" value={text.value} isSearch change={(name) => (text.value = name)} />
        <Check label="Defaults too" isChecked={isAll.value} change={(isOn) => (isAll.value = isOn)} />
      </div>
      {rows.length > 0 ? (
        <List label="Settings" columns={columns} rows={rows} keyOf={({ name }) => name} />
      ) : settings === undefined ? null : (
        <p class="card">
          {settings.settings.length === 0
            ? "The application that embeds this gateway sets its values in code."
            : "No setting of this name differs from its default. Tick “Defaults too” to see all."}
        </p>
      )}
    </Page>
  )
}
