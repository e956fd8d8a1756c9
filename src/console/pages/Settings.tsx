// The settings in force with the origin of each, and what the service runs on.
// Must not know settings; the gateway names and describes them.
import { useSignal } from "@preact/signals"
import type { AdminSettings } from "../../api/AdminReports.ts"
import { get } from "../AdminClient.ts"
import { dayAndClock } from "../format.ts"
import { List } from "../parts/Display.tsx"
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
  <section class="card">
    <h2>Service</h2>
    <dl>
      <dt>Version</dt>
      <dd>
        {version}, on Node {node}
      </dd>
      <dt>Running since</dt>
      <dd title={started}>{dayAndClock(started)}</dd>
      <dt>Configuration file</dt>
      <dd>{file ?? "none: variables, flags and defaults"}</dd>
      <dt>Store</dt>
      <dd>
        {store.place}: <State state={store.state} />
      </dd>
      <dt>Redis</dt>
      <dd>{redis === null ? "none: nothing is shared with other gateways" : <State state={redis.state} />}</dd>
      <dt>OpenTelemetry export</dt>
      <dd>{exported(exporter)}</dd>
      <dt>Price list</dt>
      <dd>{prices.list}</dd>
      <dt>Facts about models</dt>
      <dd>
        of {prices.models_as_of}, days old: {Math.floor((Date.now() - Date.parse(prices.models_as_of)) / dayMillis)}
      </dd>
    </dl>
  </section>
)

const printed = (value: unknown): string =>
  value === undefined ? "–" : typeof value === "string" ? value : JSON.stringify(value)

const Row = ({ description, effective, from, name, source, value }: Setting) => (
  <tr>
    <td title={description}>
      <code>{name}</code>
    </td>
    <td class="break">
      {printed(value)}
      {effective === undefined ? null : <span class="warn"> (in force: {effective})</span>}
    </td>
    <td>
      <span class={`tag ${source}`}>{source}</span>
    </td>
    <td>{from ?? "–"}</td>
    <td class="break muted">{description}</td>
  </tr>
)

export const Settings = () => {
  const { data, fault } = useQuery("settings", () => get<AdminSettings>("/settings"), everyMillis)
  const text = useSignal("")
  const isAll = useSignal(false)
  const settings = data.value
  const rows = (settings?.settings ?? []).filter(
    ({ name, source }) => name.includes(text.value) && (isAll.value || source !== "default")
  )
  return (
    <>
      <div class="title">
        <h1>Settings</h1>
      </div>
      <p class="fault" role="alert">
        {fault.value}
      </p>
      {settings === undefined ? <p class="muted">Loading …</p> : <Service {...settings} />}
      <div class="filters">
        <label>
          Name
          <input
            data-search
            spellcheck={false}
            value={text.value}
            onInput={(event) => (text.value = event.currentTarget.value.trim())}
          />
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={isAll.value}
            onChange={(event) => (isAll.value = event.currentTarget.checked)}
          />
          Defaults too
        </label>
      </div>
      {rows.length > 0 ? (
        <List label="Settings" headings={["Setting", "Value", "From", "Where", "Meaning"]}>
          {rows.map((row) => (
            <Row key={row.name} {...row} />
          ))}
        </List>
      ) : settings === undefined ? null : (
        <p class="card">
          {settings.settings.length === 0
            ? "The application that embeds this gateway sets its values in code."
            : "No setting of this name differs from its default. Tick “Defaults too” to see all."}
        </p>
      )}
    </>
  )
}
