// Provider accounts: what each is, its credential as a fingerprint, and a test that reaches it.
// Must not know credentials.
import { useSignal } from "@preact/signals"
import type { ProviderCheck } from "../../api/AdminResources.ts"
import * as client from "../AdminClient.ts"
import { duration } from "../format.ts"
import { href } from "../Location.ts"
import { messageOf, useQuery } from "../parts/Query.ts"

type Provider = client.ProviderRow

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

const Card = ({ row }: { readonly row: Provider }) => {
  const check = useSignal<ProviderCheck | undefined>(undefined)
  const fault = useSignal("")
  const isRunning = useSignal(false)
  const test = async (): Promise<void> => {
    isRunning.value = true
    fault.value = ""
    try {
      check.value = await client.testProvider(row.slug)
    } catch (error) {
      fault.value = messageOf(error)
    }
    isRunning.value = false
  }
  return (
    <section class="card">
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
        <dt>Models</dt>
        <dd>{row.models?.join(", ") ?? "all"}</dd>
        <dt>Declared in</dt>
        <dd>{row.source === "file" ? "the configuration" : "the store"}</dd>
      </dl>
      <div class="actions">
        <button type="button" disabled={isRunning.value} onClick={() => void test()}>
          {isRunning.value ? "Testing …" : "Test"}
        </button>
        <a href={href("/requests", { provider: row.slug })}>Its requests</a>
      </div>
      {check.value === undefined ? null : <Result check={check.value} />}
      <p class="fault" role="alert">
        {fault.value}
      </p>
    </section>
  )
}

export const Providers = () => {
  const { data, fault } = useQuery("providers", client.providers)
  return (
    <>
      <div class="title">
        <h1>Providers</h1>
      </div>
      <p class="fault" role="alert">
        {fault.value}
      </p>
      <div class="columns">
        {(data.value?.data ?? []).map((row) => (
          <Card key={row.slug} row={row} />
        ))}
      </div>
      {data.value?.data.length === 0 ? (
        <p class="card">
          There is no provider. Declare one in the configuration file, or make one by POST /admin/v1/providers.
        </p>
      ) : null}
    </>
  )
}
