// Provider accounts: what each is, whether it answers, its token exchanges and refusals, its models, and those that end.
// It must not know credentials, or where facts about models come from.
import type { ProviderModel } from "../../api/AdminReports.ts"
import type { ProviderCheck } from "../../api/AdminResources.ts"
import {
  gatewayMetrics,
  get,
  type Metric,
  monthMillis,
  type Page as RowPage,
  type ProviderRow,
  providers,
  testProvider,
  usageSince
} from "../AdminClient.ts"
import { useSignal } from "@preact/signals"
import { count, dayAndClock, duration } from "../format.ts"
import { href } from "../Location.ts"
import { Card, Facts, Fault, Page } from "../parts/Display.tsx"
import { useAction, useQuery } from "../parts/Query.ts"

const names = {
  refreshed: "gateway_token_refresh_timestamp_seconds",
  attempts: "gateway_upstream_attempts_total"
}

interface View {
  readonly rows: ReadonlyArray<ProviderRow>
  readonly series: ReadonlyArray<Metric>
  /** Models with requests in the last 30 days, as `provider/model`. */
  readonly used: ReadonlySet<string>
}

const load = async (): Promise<View> => {
  const [{ data: rows }, series, used] = await Promise.all([
    providers.list(),
    gatewayMetrics(names.refreshed, names.attempts),
    usageSince(Date.now() - monthMillis, "provider,model")
  ])
  return { rows, series, used: new Set(used.map(({ model, provider }) => `${provider}/${model}`)) }
}

interface ModelsProps {
  readonly provider: ProviderRow
  readonly rows: ReadonlyArray<ProviderModel>
  readonly used: View["used"]
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

const credentialOf = ({ credential }: ProviderRow): string =>
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
  const exchanges = series.filter(({ name }) => name === names.refreshed)
  if (exchanges.length === 0) return <>none since the start</>
  return (
    <>
      {exchanges
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

const Test = ({ slug }: { readonly slug: string }) => {
  const check = useSignal<ProviderCheck | undefined>(undefined)
  const { fault, isBusy, run } = useAction()
  const test = async (): Promise<void> => {
    check.value = await testProvider(slug)
  }
  return (
    <>
      <div class="actions">
        <button type="button" disabled={isBusy.value} onClick={() => void run(test)}>
          {isBusy.value ? "Testing …" : "Test"}
        </button>
        <a href={href("/requests", { provider: slug })}>Its requests</a>
      </div>
      {check.value === undefined ? null : <Result check={check.value} />}
      <Fault text={fault.value} />
    </>
  )
}

const ProviderCard = ({ row, view }: { readonly row: ProviderRow; readonly view: View }) => {
  const models = useQuery(`models ${row.slug}`, () =>
    get<RowPage<ProviderModel>>(`/providers/${encodeURIComponent(row.slug)}/models`)
  )
  const series = view.series.filter(({ labels }) => labels["provider"] === row.slug)
  return (
    <Card class="stack" title={row.slug}>
      <Facts
        rows={[
          ["Kind", row.provider],
          ["Project", row.project_id ?? "–"],
          ["Region", row.region ?? "–"],
          ["Credential", credentialOf(row)],
          ["Last token exchange", <Exchanges series={series} />],
          ["Calls", <Calls series={series} />],
          ["Declared in", row.source === "file" ? "the configuration" : "the store"]
        ]}
      />
      <Test slug={row.slug} />
      <Fault text={models.fault.value} />
      <Models provider={row} rows={models.data.value?.data ?? []} used={view.used} />
    </Card>
  )
}

export const Providers = () => {
  const { data, fault } = useQuery("providers", load)
  const view = data.value
  return (
    <Page title="Providers" fault={fault.value}>
      <div class="columns">
        {view?.rows.map((row) => (
          <ProviderCard key={row.slug} row={row} view={view} />
        ))}
      </div>
      {view?.rows.length === 0 ? (
        <p class="card">
          There is no provider. Declare one in the configuration file, or make one by POST /admin/v1/providers.
        </p>
      ) : null}
    </Page>
  )
}
