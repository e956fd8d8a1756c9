// Provider accounts: what each is, whether it answers, its token exchanges and refusals, its models, and those that end.
// It must not know credentials, or where facts about models come from.
import type { ProviderModel } from "../../api/AdminReports.ts"
import * as client from "../AdminClient.ts"
import { gatewayMetrics, type Metric, type ProviderRow } from "../AdminClient.ts"
import { useSignal } from "@preact/signals"
import type { ProviderCheck } from "../../api/AdminResources.ts"
import { count, dayAndClock, duration } from "../format.ts"
import { href } from "../Location.ts"
import { messageOf, useQuery } from "../parts/Query.ts"

interface ModelsProps {
  readonly provider: ProviderRow
  readonly rows: ReadonlyArray<ProviderModel>
  /** Models with requests in the last 30 days, as `provider/model`. */
  readonly used: ReadonlySet<string>
}

const placeOf = ({ locations }: ProviderModel): string =>
  locations === undefined
    ? "everywhere"
    : locations.map((one) => (one === "regions" ? "single regions" : one)).join(", ")

/** The id without the word of a family, as requests are counted. */
const countedId = ({ id }: ProviderModel): string => id.replace(/^[a-z]+\./, "")

const Models = ({ provider: { region, slug }, rows, used }: ModelsProps) => {
  const ending = rows.filter((row) => row.notice !== undefined && used.has(`${slug}/${countedId(row)}`))
  const places = [...Map.groupBy(rows, placeOf)]
  return (
    <>
      {ending.map(({ id, notice }) => (
        <p key={id} class={notice?.kind === "shut_down" ? "bad note" : "warn note"}>
          In use: {notice?.message}
        </p>
      ))}
      <details>
        <summary>{rows.length} models</summary>
        {places.map(([place, models]) => (
          <div key={place}>
            <h3>{place}</h3>
            <ul class="chips">
              {models.map(({ id, is_served_here: isHere, notice }) => (
                <li key={id} class={notice === undefined ? "" : "warn"} title={notice?.message}>
                  {id}
                  {isHere === false ? ` (not in ${region})` : ""}
                </li>
              ))}
            </ul>
          </div>
        ))}
      </details>
    </>
  )
}

// Provider accounts: what each is, whether it answers, its token exchanges and refusals, its models, and those that end.

type Provider = client.ProviderRow

const dayMillis = 24 * 60 * 60 * 1000
const names = {
  refreshed: "gateway_token_refresh_timestamp_seconds",
  attempts: "gateway_upstream_attempts_total"
}

interface View {
  readonly rows: ReadonlyArray<Provider>
  readonly series: ReadonlyArray<Metric>
  /** Models with requests in the last 30 days, as `provider/model`. */
  readonly used: ReadonlySet<string>
}

const load = async (): Promise<View> => {
  const from = new Date(Date.now() - 30 * dayMillis).toISOString().slice(0, 10)
  const [providers, series, used] = await Promise.all([
    client.providers(),
    gatewayMetrics(names.refreshed, names.attempts),
    client.get<client.Page<client.UsageRow>>("/usage", { from, group_by: "provider,model" })
  ])
  return { rows: providers.data, series, used: new Set(used.data.map(({ model, provider }) => `${provider}/${model}`)) }
}

const credentialOf = ({ credential }: Provider): string =>
  credential === undefined
    ? "none: requests bring their own"
    : [credential.type, credential.client_email, credential.fingerprint].filter((one) => one !== undefined).join(", ")

const Result = ({ check }: { readonly check: ProviderCheck }) => (
  <p class={check.ok ? "good" : "bad"} role="status">
    {check.message} ({duration(check.duration_ms)}
    {check.upstream_status === undefined ? "" : `, status ${check.upstream_status}`})
  </p>
)

const Exchanges = ({ series }: { readonly series: ReadonlyArray<Metric> }) => {
  const found = series.filter(({ name }) => name === names.refreshed)
  if (found.length === 0) return <>none since the start</>
  return (
    <>
      {found
        .toSorted((one, other) => other.value - one.value)
        .map(({ labels, value }) => (
          <div key={labels["result"]} class={labels["result"] === "ok" ? "good" : "bad"}>
            {labels["result"]} {dayAndClock(new Date(value * 1000).toISOString())}
          </div>
        ))}
    </>
  )
}

/** Refusals for which the quota or the rate limit of the account is the reason. */
const quotaCodes = new Set(["rate_limit_exceeded", "insufficient_quota"])

const sumOf = (series: ReadonlyArray<Metric>, isCounted: (outcome: string) => boolean): number =>
  series.reduce((sum, { labels, name, value }) => {
    const counts = name === names.attempts && isCounted(labels["outcome"] ?? "")
    return counts ? sum + value : sum
  }, 0)

const Calls = ({ series }: { readonly series: ReadonlyArray<Metric> }) => {
  const calls = sumOf(series, () => true)
  const failed = sumOf(series, (outcome) => outcome !== "ok" && !quotaCodes.has(outcome))
  const refused = sumOf(series, (outcome) => quotaCodes.has(outcome))
  return (
    <>
      {count(calls)} since the start, {count(failed)} failed,{" "}
      <b class={refused === 0 ? "" : "warn"}>{count(refused)} refused by quota</b>
    </>
  )
}

interface CardProps {
  readonly row: Provider
  readonly view: View
}

const Test = ({ slug }: { readonly slug: string }) => {
  const check = useSignal<ProviderCheck | undefined>(undefined)
  const fault = useSignal("")
  const isRunning = useSignal(false)
  const test = async (): Promise<void> => {
    isRunning.value = true
    fault.value = ""
    try {
      check.value = await client.testProvider(slug)
    } catch (error) {
      fault.value = messageOf(error)
    }
    isRunning.value = false
  }
  return (
    <>
      <div class="actions">
        <button type="button" disabled={isRunning.value} onClick={() => void test()}>
          {isRunning.value ? "Testing …" : "Test"}
        </button>
        <a href={href("/requests", { provider: slug })}>Its requests</a>
      </div>
      {check.value === undefined ? null : <Result check={check.value} />}
      <p class="fault" role="alert">
        {fault.value}
      </p>
    </>
  )
}

const Card = ({ row, view }: CardProps) => {
  const models = useQuery(`models ${row.slug}`, () =>
    client.get<client.Page<ProviderModel>>(`/providers/${encodeURIComponent(row.slug)}/models`)
  )
  const series = view.series.filter(({ labels }) => labels["provider"] === row.slug)
  return (
    <section class="card stack">
      <h2>{row.slug}</h2>
      <dl>
        <dt>Kind</dt>
        <dd>{row.provider}</dd>
        <dt>Project</dt>
        <dd>{row.project_id ?? "–"}</dd>
        <dt>Region</dt>
        <dd>{row.region ?? "–"}</dd>
        <dt>Credential</dt>
        <dd>{credentialOf(row)}</dd>
        <dt>Last token exchange</dt>
        <dd>
          <Exchanges series={series} />
        </dd>
        <dt>Calls</dt>
        <dd>
          <Calls series={series} />
        </dd>
        <dt>Declared in</dt>
        <dd>{row.source === "file" ? "the configuration" : "the store"}</dd>
      </dl>
      <Test slug={row.slug} />
      <p class="fault" role="alert">
        {models.fault.value}
      </p>
      <Models provider={row} rows={models.data.value?.data ?? []} used={view.used} />
    </section>
  )
}

export const Providers = () => {
  const { data, fault } = useQuery("providers", load)
  const view = data.value
  return (
    <>
      <div class="title">
        <h1>Providers</h1>
      </div>
      <p class="fault" role="alert">
        {fault.value}
      </p>
      <div class="columns">
        {view?.rows.map((row) => (
          <Card key={row.slug} row={row} view={view} />
        ))}
      </div>
      {view?.rows.length === 0 ? (
        <p class="card">
          There is no provider. Declare one in the configuration file, or make one by POST /admin/v1/providers.
        </p>
      ) : null}
    </>
  )
}
