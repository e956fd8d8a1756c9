// The lines that connect a client to this gateway, and whether its first request has arrived.
// It must not know clients; the gateway has their lines.
import { signal, useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { keys, knownClients, type RequestRow, requests } from "../AdminClient.ts"
import { clock } from "../format.ts"
import { gatewayAddress } from "../gatewayAddress.ts"
import { href, navigate, place } from "../Location.ts"
import { Copy, Page, Status } from "../parts/Display.tsx"
import { Choice, Field, type Options } from "../parts/Fields.tsx"
import { useQuery } from "../parts/Query.ts"

const everyMillis = 2000

interface Watched {
  readonly keyId: string
  readonly route: string
}

/** The oldest request of the key on the routes of the client, since the page asks. */
const firstRequest = async ({ keyId, route }: Watched, since: string): Promise<RequestRow | undefined> => {
  const { data } = await requests({ since, limit: "1000", key: keyId })
  return data.findLast((row) => row.route.startsWith(route))
}

const Light = (watched: Watched) => {
  const since = useSignal(new Date().toISOString())
  const name = `${watched.keyId} ${watched.route}`
  useEffect(() => {
    since.value = new Date().toISOString()
  }, [name])
  const { data, fault } = useQuery(name, () => firstRequest(watched, since.value), everyMillis)
  const row = data.value
  if (fault.value !== "") return <p class="fault">{fault.value}</p>
  const isFound = row !== undefined && row.ts >= since.value && row.route.startsWith(watched.route)
  return (
    <p role="status" class="light">
      <span class="dot" style={{ background: `var(${isFound ? "--good" : "--muted"})` }} />
      {isFound ? (
        <>
          Its first request arrived at {clock(row.ts)}: <Status code={row.status} />{" "}
          <a href={href(`/requests/${encodeURIComponent(row.id)}`)}>{row.model ?? row.route}</a>
        </>
      ) : (
        <>Waiting for its first request to {watched.route} …</>
      )}
    </p>
  )
}

const optionsOf = (rows: ReadonlyArray<{ readonly id: string; readonly name: string }>): Options =>
  rows.map(({ id, name }) => [id, name])

interface LinesProps {
  readonly name: string
  readonly place: string
  readonly lines: string
}

const Lines = ({ lines, name, place: where }: LinesProps) => (
  <>
    <h2>{name}</h2>
    <p>{where}</p>
    <pre>{lines}</pre>
    <Copy key={lines} name="Copy lines" text={lines} />
  </>
)

/** The address, the key and the model of the page in the places of a text. */
const filled = (text: string, key: string, named: string): string =>
  text
    .replaceAll("{origin}", () => gatewayAddress)
    .replaceAll("{key}", () => key || "$GATEWAY_KEY")
    .replaceAll("{model}", () => named)

/** What was typed as the model; undefined for the model of the client. */
const typed = signal<string | undefined>(undefined)

/** Another client may have another route, which serves other models. */
const choose = (client: string): void => {
  typed.value = undefined
  navigate(href("/connect", { client }))
}

export const Connect = () => {
  const { data, fault } = useQuery("connect", async () => {
    const [lines, { data: all }] = await Promise.all([knownClients(), keys.list()])
    return { lines, keys: all.filter(({ revoked_at: revoked }) => revoked === undefined) }
  })
  const keyId = useSignal("")
  const text = useSignal("")
  const chosen = place.value.query.get("client")
  const rows = data.value?.lines ?? []
  const row = rows.find(({ id }) => id === chosen) ?? rows[0]
  const model = typed.value ?? row?.model ?? ""
  const fill = (lines: string): string => filled(lines, text.value, model)
  return (
    <Page title="Connect a client" fault={fault.value}>
      <form class="card form" onSubmit={(event) => event.preventDefault()}>
        <Choice label="Client" options={optionsOf(rows)} value={row?.id} isSearch change={choose} />
        <Choice
          label="Key whose requests count"
          options={[["", "any"], ...optionsOf(data.value?.keys ?? [])]}
          value={keyId.value}
          change={(id) => (keyId.value = id)}
        />
        <Field
          label="Text of the key"
          type="password"
          hint="stays in this tab"
          value={text.value}
          change={(key) => (text.value = key)}
        />
        <Field label="Model" value={model} change={(name) => (typed.value = name)} />
      </form>
      {row === undefined ? null : (
        <section class="card">
          <Lines name={row.name} place={fill(row.place)} lines={fill(row.lines)} />
          <Light keyId={keyId.value} route={row.route} />
        </section>
      )}
    </Page>
  )
}
