// The providers of a range with their errors and durations, and the circuits of their targets.
// Must not know how a circuit opens.
import type { UsageRow } from "../AdminClient.ts"
import type { Metric } from "../AdminReads.ts"
import { count, duration, percent } from "../format.ts"
import { href } from "../Location.ts"
import { quantile, shareOf } from "../usageSums.ts"

const states = [
  { word: "closed", color: "good" },
  { word: "half open", color: "warn" },
  { word: "open", color: "bad" }
]

const Circuit = ({ metric: { labels, value } }: { readonly metric: Metric }) => {
  const state = states[value]
  return (
    <li>
      {labels["target"]}: <b class={state?.color}>circuit {state?.word}</b>
    </li>
  )
}

interface TargetsProps {
  readonly providers: ReadonlyArray<UsageRow>
  readonly circuits: ReadonlyArray<Metric>
}

export const Targets = ({ circuits, providers }: TargetsProps) => (
  <section class="card" aria-label="Providers and circuits">
    <h2>Providers and circuits</h2>
    <div class="strip">
      {providers
        .filter(({ provider }) => provider !== "")
        .map(({ duration_bands: bands = [], errors, provider = "", requests }) => {
          const share = shareOf(errors, requests)
          return (
            <ul key={provider} class="plain">
              <li>
                <a href={href("/requests", { provider })}>{provider}</a>
              </li>
              <li>{count(requests)} requests</li>
              <li>
                <b class={share === 0 ? "good" : share < 0.05 ? "warn" : "bad"}>{percent(share)} errors</b>
              </li>
              <li class="muted">95 % within {duration(quantile(bands, 0.95))}</li>
              {circuits
                .filter(({ labels }) => labels["target"]?.startsWith(`${provider}/`))
                .map((metric) => (
                  <Circuit key={metric.labels["target"]} metric={metric} />
                ))}
            </ul>
          )
        })}
    </div>
  </section>
)
