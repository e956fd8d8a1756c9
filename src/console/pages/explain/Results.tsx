// The results of explaining: what the provider would get, and what an answer was like against the one before.
// Must not know how results are made.
import type { RequestRow } from "../../AdminClient.ts"
import { count, dollars, duration } from "../../format.ts"
import { href } from "../../Location.ts"
import { List } from "../../parts/List.tsx"
import type { DryRunAnswer } from "../requests/DetailClient.ts"
import { readable } from "../../mediaIn.ts"
import { Difference } from "../../parts/Difference.tsx"
import type { Replayed } from "./Replay.ts"

/** A dry run, and the body of the provider that it is compared with. */
export interface ShownDryRun {
  readonly got: DryRunAnswer
  readonly before: string | undefined
}

const printed = (names: ReadonlyArray<string>): string => (names.length === 0 ? "none" : names.join(", "))

export const DryRunResult = ({ before, got }: ShownDryRun) => {
  const body = readable(got.body)
  return (
    <section class="card" aria-label="Dry run">
      <h2>The provider gets</h2>
      <p class="address">
        {got.method} {got.url}
      </p>
      {before === undefined ? <pre>{body}</pre> : <Difference before={before} after={body} />}
      <p>
        Ignored: {printed(got.ignored_params)}. Changed: {printed(got.adjusted_params)}.
        {before === undefined
          ? ""
          : before === body
            ? " The body is the same as before."
            : " Marked against the body before."}
      </p>
    </section>
  )
}

type Fact = readonly [name: string, of: (row: RequestRow) => string]

const facts: ReadonlyArray<Fact> = [
  ["Status", ({ status }) => String(status)],
  ["Provider", ({ provider }) => provider ?? "–"],
  ["Model", ({ model }) => model ?? "–"],
  ["Duration", (row) => duration(row.duration_ms)],
  ["First token", (row) => duration(row.ttft_ms)],
  ["Tokens in", ({ usage }) => (usage === undefined ? "–" : count(usage.input_tokens))],
  ["Tokens out", ({ usage }) => (usage === undefined ? "–" : count(usage.output_tokens))],
  ["Cost", (row) => dollars(row.cost_usd)]
]

const numbers = new Set(["Before", "Now"])

/** A request that was sent, and the one it is compared with. */
export interface ShownReplay {
  readonly now: Replayed
  readonly before: Replayed | undefined
}

export const ReplayResult = ({ before, now }: ShownReplay) => (
  <section class="card" aria-label="Sent">
    <h2>The answer</h2>
    {before === undefined ? <pre>{now.answer}</pre> : <Difference before={before.answer} after={now.answer} />}
    <List label="Figures" headings={["Figure", "Before", "Now"]} numbers={numbers}>
      {facts.map(([name, of]) => (
        <tr key={name}>
          <th scope="row">{name}</th>
          <td class="number">{before?.row === undefined ? "–" : of(before.row)}</td>
          <td class="number">{now.row === undefined ? "–" : of(now.row)}</td>
        </tr>
      ))}
    </List>
    {now.row === undefined ? null : (
      <p>
        <a href={href(`/requests/${encodeURIComponent(now.row.id)}`)}>Its request</a>
      </p>
    )}
  </section>
)
