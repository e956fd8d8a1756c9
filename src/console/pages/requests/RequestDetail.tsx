// One request: how it ended, the calls to providers as a waterfall, its usage and cost, its content, and commands to copy.
// It must not know the list it was chosen from, or prices.
import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useEffect } from "preact/hooks"
import * as client from "../../AdminClient.ts"
import type { RequestRow } from "../../AdminClient.ts"
import { count, dayAndClock, dollars, duration } from "../../format.ts"
import { href } from "../../Location.ts"
import { Copy, List, Status } from "../../parts/Display.tsx"
import { useQuery } from "../../parts/Query.ts"
import { readJson } from "../../readJson.ts"
import { anthropicOf, type Asked, calledRoute, curlOf, genaiOf, openAiOf } from "./snippets.ts"
import { ContentCard } from "./Content.tsx"
import { type Attempt, type Line, linesOf, type Phase, type Span } from "./phases.ts"

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

// The phases of a request as bars over its whole time, each with its figures as text.

const share = (part: number, whole: number): string => `${whole === 0 ? 0 : Math.min(100, (part / whole) * 100)}%`

const classOf = (phase: Phase): string => `span ${phase.replace(" ", "-")}`

const Track = ({
  isBad,
  spans,
  whole
}: {
  readonly spans: ReadonlyArray<Span>
  readonly whole: number
  readonly isBad: boolean
}) => (
  <span class="track" aria-hidden="true">
    {spans.map(({ from, millis, phase }) => (
      <span
        key={phase}
        class={isBad ? "span bad" : classOf(phase)}
        style={{ left: share(from, whole), width: share(millis, whole) }}
      />
    ))}
  </span>
)

const outcomeOf = ({ error_code: code, error_message: message, upstream_status: status }: Attempt): string =>
  [status === undefined ? undefined : `status ${status}`, code, message].filter((one) => one !== undefined).join(", ")

const figures = (spans: ReadonlyArray<Span>): string =>
  spans.map(({ millis, phase }) => `${phase} ${duration(millis)}`).join(", ")

const Row = ({ line, whole }: { readonly line: Line; readonly whole: number }) => {
  if (line.kind === "gateway")
    return (
      <li class="gap">
        <span>{line.text}</span>
        <Track spans={line.spans} whole={whole} isBad={false} />
        <span class="muted">{duration(line.spans[0].millis)}</span>
      </li>
    )
  const { attempt, spans } = line
  const outcome = outcomeOf(attempt)
  return (
    <li>
      <span class="what">
        {attempt.provider} / {attempt.model}
      </span>
      <Track spans={spans} whole={whole} isBad={attempt.error_code !== undefined} />
      <span class="muted">
        from {duration(attempt.started_ms)} for {duration(attempt.duration_ms)}: {figures(spans)}
      </span>
      {outcome === "" ? null : <span class="bad">{outcome}</span>}
    </li>
  )
}

const legend: ReadonlyArray<Phase> = ["plan", "token", "connect", "first byte", "stream", "answer", "wait"]

const Waterfall = ({ row }: { readonly row: RequestRow }) => {
  const lines = linesOf(row)
  const present = new Set(lines.flatMap(({ spans }) => spans.map(({ phase }) => phase)))
  return (
    <section class="card whole">
      <h2>Calls to providers</h2>
      {lines.length === 0 ? (
        <p class="muted">None: the gateway answered by itself.</p>
      ) : (
        <>
          <ul class="legend" aria-hidden="true">
            {legend
              .filter((phase) => present.has(phase))
              .map((phase) => (
                <li key={phase}>
                  <span class={`dot ${classOf(phase)}`} />
                  {phase}
                </li>
              ))}
          </ul>
          <ol class="waterfall">
            {lines.map((line, at) => (
              <Row key={at} line={line} whole={row.duration_ms} />
            ))}
          </ol>
        </>
      )}
    </section>
  )
}

// What a request used and cost, part by part.

type CostLine = NonNullable<RequestRow["cost_lines"]>[number]

const rateOf = ({ factor, usd_each: each, usd_per_million: million }: CostLine): string =>
  `${each === undefined ? `${dollars(million)} per million` : `${dollars(each)} each`}${factor === undefined ? "" : ` × ${factor}`}`

const numbers = new Set(["Count", "Cost"])

const Lines = ({ cost, lines }: { readonly lines: ReadonlyArray<CostLine>; readonly cost: number | undefined }) => (
  <List label="Cost" headings={["Part", "Count", "Rate", "Cost"]} numbers={numbers}>
    {lines.map((line) => (
      <tr key={line.part}>
        <td>{line.part.replaceAll("_", " ")}</td>
        <td class="number">{count(line.count)}</td>
        <td>{rateOf(line)}</td>
        <td class="number">{dollars(line.cost_usd)}</td>
      </tr>
    ))}
    <tr>
      <td colSpan={3}>Cost of the request</td>
      <td class="number">{dollars(cost)}</td>
    </tr>
  </List>
)

const Counts = ({ usage }: { readonly usage: NonNullable<RequestRow["usage"]> }) => (
  <dl>
    <dt>Tokens in</dt>
    <dd>{count(usage.input_tokens)}</dd>
    <dt>of them cached</dt>
    <dd>{count(usage.cached_tokens)}</dd>
    <dt>Tokens out</dt>
    <dd>{count(usage.output_tokens)}</dd>
    <dt>of them thinking</dt>
    <dd>{count(usage.reasoning_tokens)}</dd>
  </dl>
)

/** The lines are made by the prices that are known now. */
const isChanged = (cost: number | undefined, lines: ReadonlyArray<CostLine>): boolean =>
  cost !== undefined && Math.abs(lines.reduce((sum, line) => sum + line.cost_usd, 0) - cost) > 1e-6

const Cost = ({
  cost_lines: lines,
  cost_partial: isPartial,
  cost_usd: cost,
  saved,
  usage,
  usage_estimated: isEstimated
}: RequestRow) => (
  <section class="card">
    <h2>Usage and cost</h2>
    {usage === undefined ? <p class="muted">No usage was reported.</p> : <Counts usage={usage} />}
    {isEstimated === true ? <p class="muted">The stream was cut: what its counts lack is an estimate.</p> : null}
    {lines !== undefined && lines.length > 0 ? (
      <Lines lines={lines} cost={cost} />
    ) : usage === undefined ? null : (
      <p class="muted">No price of this model is known: state it under prices in the configuration.</p>
    )}
    {lines !== undefined && isChanged(cost, lines) ? (
      <p class="muted">The rates have changed since the request ended.</p>
    ) : null}
    {isPartial === true ? (
      <p class="muted">Searches without a known fee are not in the cost: state it under prices.</p>
    ) : null}
    {saved === undefined ? null : <p>The cache saved {dollars(saved.cost_usd)}.</p>}
  </section>
)
