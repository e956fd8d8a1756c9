// One request: how it ended, the calls to providers as a waterfall, its usage and cost, its content, and commands to copy.
// Must not know the list it was chosen from.
import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useEffect } from "preact/hooks"
import * as client from "../../AdminClient.ts"
import { dayAndClock, duration } from "../../format.ts"
import { href } from "../../Location.ts"
import { Copy } from "../../parts/Copy.tsx"
import { useQuery } from "../../parts/Query.ts"
import { Status } from "../../parts/Status.tsx"
import { readJson } from "../../readJson.ts"
import { calledRoute } from "./calledRoute.ts"
import { ContentCard } from "./ContentCard.tsx"
import { Cost } from "./Cost.tsx"
import { anthropicOf, type Asked, curlOf, genaiOf, openAiOf } from "./snippets.ts"
import { Waterfall } from "./Waterfall.tsx"

type Request = client.RequestRow

const Fact = ({ children, name }: { readonly name: string; readonly children: ComponentChildren }) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
)

const Fault = ({ error_code: code, error_message: message, error_param: param }: Request) =>
  code === undefined ? null : (
    <section class="card whole problem">
      <h2>Error</h2>
      <p class="bad">{message ?? "There is no message."}</p>
      <dl>
        <Fact name="Code">
          <a href="/docs/errors" target="_blank" rel="noreferrer">
            {code}
          </a>
        </Fact>
        {param === undefined ? null : <Fact name="Parameter">{param}</Fact>}
      </dl>
    </section>
  )

const Parameters = ({ adjusted_params: adjusted = [], ignored_params: ignored = [] }: Request) => (
  <section class="card">
    <h2>Parameters</h2>
    <dl>
      <Fact name="Ignored">{ignored.length === 0 ? "none" : ignored.join(", ")}</Fact>
      <Fact name="Changed">
        {adjusted.length === 0
          ? "none"
          : adjusted.map((one) => <div key={one}>{one.replace("=", ": ").replace(">", " → ")}</div>)}
      </Fact>
    </dl>
  </section>
)

const Filtered = ({ name, value }: { readonly name: string; readonly value: string | undefined }) =>
  value === undefined ? <>–</> : <a href={href("/requests", { [name]: value })}>{value}</a>

const Facts = (row: Request) => (
  <section class="card">
    <h2>Request</h2>
    <dl>
      <Fact name="Ended">
        <time dateTime={row.ts} title={row.ts}>
          {dayAndClock(row.ts)}
        </time>
      </Fact>
      <Fact name="Route">{row.route}</Fact>
      <Fact name="Provider">
        <Filtered name="provider" value={row.provider} />
      </Fact>
      <Fact name="Model">
        <Filtered name="model" value={row.model} />
      </Fact>
      <Fact name="Key">
        <Filtered name="key" value={row.key_id} />
      </Fact>
      <Fact name="Config">{row.config ?? "–"}</Fact>
      <Fact name="Client">{row.client ?? "–"}</Fact>
      {Object.entries(row.metadata ?? {}).map(([name, value]) => (
        <Fact key={name} name={`Metadata ${name}`}>
          {value}
        </Fact>
      ))}
      <Fact name="Stream">{row.stream ? "yes" : "no"}</Fact>
      <Fact name="Cache">{row.cache ?? "–"}</Fact>
      <Fact name="Duration">{duration(row.duration_ms)}</Fact>
      <Fact name="First token">{duration(row.ttft_ms)}</Fact>
      <Fact name="Gateway overhead">{duration(row.overhead_ms)}</Fact>
      <Fact name="Request id">{row.request_id}</Fact>
      <Fact name="Trace id">
        <Filtered name="trace_id" value={row.trace_id} />
      </Fact>
    </dl>
  </section>
)

const askedOf = (row: Request, kept: string | undefined): Asked => {
  const { model = "", provider, stream } = row
  const name = provider === undefined ? model : `@${provider}/${model}`
  const body = kept === undefined ? undefined : readJson(kept)
  return { route: calledRoute(row), model: name, body, isStream: stream }
}

const Snippets = ({ asked }: { readonly asked: Asked }) => (
  <>
    <Copy name="Copy as curl" text={curlOf(asked, location.origin)} />
    <Copy name="Copy for OpenAI" text={openAiOf(asked, location.origin)} />
    <Copy name="Copy for Anthropic" text={anthropicOf(asked, location.origin)} />
    <Copy name="Copy for Google GenAI" text={genaiOf(asked, location.origin)} />
  </>
)

const Whole = ({ row }: { readonly row: Request }) => {
  const kept = useSignal<string | undefined>(undefined)
  return (
    <>
      <div class="actions">
        <Snippets asked={askedOf(row, kept.value)} />
        <Copy name="Copy record" text={JSON.stringify(row, null, 2)} />
        {row.has_content === true ? <a href={href("/explain", { request: row.id })}>Explain and replay</a> : null}
      </div>
      <div class="columns">
        <Fault {...row} />
        <Waterfall row={row} />
        <Facts {...row} />
        <div class="stack">
          <Cost {...row} />
          <Parameters {...row} />
        </div>
      </div>
      <ContentCard row={row} onRead={({ request }) => (kept.value = request.is_cut ? undefined : request.text)} />
    </>
  )
}

export const RequestDetail = ({ id }: { readonly id: string }) => {
  const { data, fault } = useQuery(id, () => client.request(id))
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isTyping = event.target instanceof HTMLElement && event.target.matches("input, select, textarea")
      if (event.key === "Escape" && !isTyping) history.back()
    }
    addEventListener("keydown", onKey)
    return () => removeEventListener("keydown", onKey)
  }, [])
  const row = data.value
  return (
    <>
      <div class="title">
        <a href={href("/requests")} aria-label="All requests">
          ←
        </a>
        <h1>{row?.request_id ?? id}</h1>
        {row === undefined ? null : <Status code={row.status} />}
      </div>
      <p class="fault" role="alert">
        {fault.value}
      </p>
      {row === undefined ? null : <Whole key={row.id} row={row} />}
    </>
  )
}
