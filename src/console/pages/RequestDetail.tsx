// One request: how it ended, the calls to providers as a waterfall, its usage and cost, and commands to copy.
// Must not know the list it was chosen from.
import type { ComponentChildren } from "preact"
import { useEffect } from "preact/hooks"
import * as client from "../AdminClient.ts"
import { count, dayAndClock, dollars, duration } from "../format.ts"
import { href } from "../Location.ts"
import { Copy } from "../parts/Copy.tsx"
import { useQuery } from "../parts/Query.ts"
import { Status } from "../parts/Status.tsx"
import { curlOf } from "../requestTexts.ts"

type Request = client.RequestRow
type Attempt = Request["attempts"][number]

const share = (part: number, whole: number): string => `${whole === 0 ? 0 : Math.min(100, (part / whole) * 100)}%`

const outcomeOf = ({ error_code: code, error_message: message, upstream_status: status }: Attempt): string =>
  [status === undefined ? undefined : `status ${status}`, code, message].filter((one) => one !== undefined).join(", ")

const Bar = ({ attempt, whole }: { readonly attempt: Attempt; readonly whole: number }) => {
  const { first_chunk_ms: first } = attempt
  const outcome = outcomeOf(attempt)
  return (
    <li>
      <span class="what">
        {attempt.provider} / {attempt.model}
      </span>
      <span class="track" aria-hidden="true">
        <span
          class={`span ${attempt.error_code === undefined ? "good" : "bad"}`}
          style={{ left: share(attempt.started_ms, whole), width: share(attempt.duration_ms, whole) }}
        />
      </span>
      <span class="muted">
        from {duration(attempt.started_ms)} for {duration(attempt.duration_ms)}
        {first === undefined ? "" : `, first chunk after ${duration(first)}`}
        {outcome === "" ? "" : `: ${outcome}`}
      </span>
    </li>
  )
}

const Waterfall = ({ attempts, duration_ms: whole }: Request) => (
  <section class="card">
    <h2>Calls to providers</h2>
    {attempts.length === 0 ? (
      <p class="muted">None: the gateway answered by itself.</p>
    ) : (
      <ol class="waterfall">
        {attempts.map((attempt) => (
          <Bar key={attempt.started_ms} attempt={attempt} whole={whole} />
        ))}
      </ol>
    )}
  </section>
)

const Fault = ({ error_code: code, error_message: message, error_param: param }: Request) =>
  code === undefined ? null : (
    <section class="card">
      <h2>Error</h2>
      <dl>
        <dt>Code</dt>
        <dd>{code}</dd>
        <dt>Message</dt>
        <dd>{message ?? "–"}</dd>
        <dt>Parameter</dt>
        <dd>{param ?? "–"}</dd>
      </dl>
    </section>
  )

const Usage = ({ cost_usd: cost, saved, usage }: Request) => (
  <section class="card">
    <h2>Usage</h2>
    {usage === undefined ? (
      <p class="muted">No usage was reported.</p>
    ) : (
      <dl>
        <dt>Tokens in</dt>
        <dd>{count(usage.input_tokens)}</dd>
        <dt>of them cached</dt>
        <dd>{count(usage.cached_tokens)}</dd>
        <dt>Tokens out</dt>
        <dd>{count(usage.output_tokens)}</dd>
        <dt>of them reasoning</dt>
        <dd>{count(usage.reasoning_tokens)}</dd>
        <dt>Cost</dt>
        <dd>{cost === undefined ? "no price is known" : dollars(cost)}</dd>
      </dl>
    )}
    {saved === undefined ? null : <p>The cache saved {dollars(saved.cost_usd)}.</p>}
  </section>
)

const Fact = ({ children, name }: { readonly name: string; readonly children: ComponentChildren }) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
)

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
      <Fact name="Provider">{row.provider ?? "–"}</Fact>
      <Fact name="Model">{row.model ?? "–"}</Fact>
      <Fact name="Key">{row.key_id ?? "–"}</Fact>
      <Fact name="Stream">{row.stream ? "yes" : "no"}</Fact>
      <Fact name="Cache">{row.cache ?? "–"}</Fact>
      <Fact name="Duration">{duration(row.duration_ms)}</Fact>
      <Fact name="First token">{duration(row.ttft_ms)}</Fact>
      <Fact name="Gateway overhead">{duration(row.overhead_ms)}</Fact>
      <Fact name="Request id">{row.request_id}</Fact>
      <Fact name="Trace id">{row.trace_id}</Fact>
    </dl>
  </section>
)

const Whole = ({ row }: { readonly row: Request }) => (
  <>
    <div class="actions">
      <Copy name="Copy as curl" text={curlOf(row, location.origin)} />
      <Copy name="Copy record" text={JSON.stringify(row, null, 2)} />
    </div>
    <div class="columns">
      <Fault {...row} />
      <Waterfall {...row} />
      <Facts {...row} />
      <Usage {...row} />
    </div>
  </>
)

export const RequestDetail = ({ id }: { readonly id: string }) => {
  const { data, fault } = useQuery(id, () => client.request(id))
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === "Escape") history.back()
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
      {row === undefined ? null : <Whole row={row} />}
    </>
  )
}
