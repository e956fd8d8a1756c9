// The phases of a request as bars over its whole time, each with its figures as text.
// Must not know where the phases come from.
import type { RequestRow } from "../../AdminClient.ts"
import { duration } from "../../format.ts"
import { type Attempt, type Line, linesOf, type Phase, type Span } from "./phases.ts"

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

export const Waterfall = ({ row }: { readonly row: RequestRow }) => {
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
