// One request: how it ended, the calls to providers as a waterfall, its usage and cost, its content, and commands to copy.
// It must not know the list it was chosen from, or prices.
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { request, type RequestRow } from "../../AdminClient.ts"
import { count, dayAndClock, dollars, duration } from "../../format.ts"
import { gatewayAddress } from "../../gatewayAddress.ts"
import { href } from "../../Location.ts"
import { Card, type Column, Copy, Facts, List, Page, Status } from "../../parts/Display.tsx"
import { useQuery } from "../../parts/Query.ts"
import { readJson } from "../../readJson.ts"
import { ContentCard } from "./Content.tsx"
import { type Attempt, type Line, linesOf, type Phase, type Span } from "./phases.ts"
import { anthropicOf, type Asked, calledRoute, curlOf, genaiOf, openAiOf } from "./snippets.ts"

const ErrorCard = ({ error_code: code, error_message: message, error_param: param }: RequestRow) =>
  code === undefined ? null : (
    <Card class="whole problem" title="Error">
      <p class="bad">{message ?? "There is no message."}</p>
      <Facts
        rows={[
          [
            "Code",
            <a href={`${gatewayAddress}/docs/errors`} target="_blank" rel="noreferrer">
              {code}
            </a>
          ],
          ...(param === undefined ? [] : [["Parameter", param] as const])
        ]}
      />
    </Card>
  )

const Parameters = ({ adjusted_params: adjusted = [], ignored_params: ignored = [] }: RequestRow) => (
  <Card title="Parameters">
    <Facts
      rows={[
        ["Ignored", ignored.length === 0 ? "none" : ignored.join(", ")],
        [
          "Changed",
          adjusted.length === 0
            ? "none"
            : adjusted.map((one) => <div key={one}>{one.replace("=", ": ").replace(">", " → ")}</div>)
        ]
      ]}
    />
  </Card>
)

/** A value that leads to the requests that have it as well. */
const filtered = (name: string, value: string | undefined) =>
  value === undefined ? "–" : <a href={href("/requests", { [name]: value })}>{value}</a>

const RequestFacts = (row: RequestRow) => (
  <Card title="Request">
    <Facts
      rows={[
        [
          "Ended",
          <time dateTime={row.ts} title={row.ts}>
            {dayAndClock(row.ts)}
          </time>
        ],
        ["Route", row.route],
        ["Provider", filtered("provider", row.provider)],
        ["Model", filtered("model", row.model)],
        ["Key", filtered("key", row.key_id)],
        ["Config", row.config ?? "–"],
        ["Client", row.client ?? "–"],
        ...Object.entries(row.metadata ?? {}).map(([name, value]) => [`Metadata ${name}`, value] as const),
        ["Stream", row.stream ? "yes" : "no"],
        ["Cache", row.cache ?? "–"],
        ["Duration", duration(row.duration_ms)],
        ["First token", duration(row.ttft_ms)],
        ["Gateway overhead", duration(row.overhead_ms)],
        ["Request id", row.request_id],
        ["Trace id", filtered("trace_id", row.trace_id)]
      ]}
    />
  </Card>
)

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

/** The phases of a request as bars over its whole time, each with its figures as text. */
const Waterfall = ({ row }: { readonly row: RequestRow }) => {
  const lines = linesOf(row)
  const present = new Set(lines.flatMap(({ spans }) => spans.map(({ phase }) => phase)))
  return (
    <Card class="whole" title="Calls to providers">
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
    </Card>
  )
}

type CostLine = NonNullable<RequestRow["cost_lines"]>[number]

const rateOf = ({ factor, usd_each: each, usd_per_million: million }: CostLine): string =>
  `${each === undefined ? `${dollars(million)} per million` : `${dollars(each)} each`}${factor === undefined ? "" : ` × ${factor}`}`

const costColumns: ReadonlyArray<Column<CostLine>> = [
  { name: "Part", cell: ({ part }) => part.replaceAll("_", " ") },
  { name: "Count", isNumber: true, cell: (line) => count(line.count) },
  { name: "Rate", cell: rateOf },
  { name: "Cost", isNumber: true, cell: (line) => dollars(line.cost_usd) }
]

const Lines = ({ cost, lines }: { readonly lines: ReadonlyArray<CostLine>; readonly cost: number | undefined }) => (
  <List label="Cost" columns={costColumns} rows={lines} keyOf={({ part }) => part}>
    <tr>
      <td colSpan={3}>Cost of the request</td>
      <td class="number">{dollars(cost)}</td>
    </tr>
  </List>
)

const Counts = ({ usage }: { readonly usage: NonNullable<RequestRow["usage"]> }) => (
  <Facts
    rows={[
      ["Tokens in", count(usage.input_tokens)],
      ["of them cached", count(usage.cached_tokens)],
      ["Tokens out", count(usage.output_tokens)],
      ["of them thinking", count(usage.reasoning_tokens)]
    ]}
  />
)

/** The lines are made by the prices that are known now. */
const isChanged = (cost: number | undefined, lines: ReadonlyArray<CostLine>): boolean =>
  cost !== undefined && Math.abs(lines.reduce((sum, line) => sum + line.cost_usd, 0) - cost) > 1e-6

/** What a request used and cost, part by part. */
const Cost = ({
  cost_lines: lines,
  cost_partial: isPartial,
  cost_usd: cost,
  saved,
  usage,
  usage_estimated: isEstimated
}: RequestRow) => (
  <Card title="Usage and cost">
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
  </Card>
)

const askedOf = (row: RequestRow, sentBody: string | undefined): Asked => {
  const { model = "", provider, stream } = row
  const name = provider === undefined ? model : `@${provider}/${model}`
  const body = sentBody === undefined ? undefined : readJson(sentBody)
  return { route: calledRoute(row), model: name, body, isStream: stream }
}

const Snippets = ({ asked }: { readonly asked: Asked }) => (
  <>
    <Copy name="Copy as curl" text={curlOf(asked, gatewayAddress)} />
    <Copy name="Copy for OpenAI" text={openAiOf(asked, gatewayAddress)} />
    <Copy name="Copy for Anthropic" text={anthropicOf(asked, gatewayAddress)} />
    <Copy name="Copy for Google GenAI" text={genaiOf(asked, gatewayAddress)} />
  </>
)

const Whole = ({ row }: { readonly row: RequestRow }) => {
  const sentBody = useSignal<string | undefined>(undefined)
  return (
    <>
      <div class="actions">
        <Snippets asked={askedOf(row, sentBody.value)} />
        <Copy name="Copy record" text={JSON.stringify(row, null, 2)} />
        {row.has_content === true ? <a href={href("/explain", { request: row.id })}>Explain and replay</a> : null}
      </div>
      <div class="columns">
        <ErrorCard {...row} />
        <Waterfall row={row} />
        <RequestFacts {...row} />
        <div class="stack">
          <Cost {...row} />
          <Parameters {...row} />
        </div>
      </div>
      <ContentCard row={row} onRead={({ request }) => (sentBody.value = request.is_cut ? undefined : request.text)} />
    </>
  )
}

export const RequestDetail = ({ id }: { readonly id: string }) => {
  const { data, fault } = useQuery(id, () => request(id))
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
    <Page
      title={row?.request_id ?? id}
      back={[href("/requests"), "All requests"]}
      side={row === undefined ? null : <Status code={row.status} />}
      fault={fault.value}
    >
      {row === undefined ? null : <Whole key={row.id} row={row} />}
    </Page>
  )
}
