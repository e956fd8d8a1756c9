// What a request used and cost, part by part.
// Must not know prices: the gateway has made the lines.
import type { RequestRow } from "../../AdminClient.ts"
import { count, dollars } from "../../format.ts"
import { List } from "../../parts/List.tsx"

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

export const Cost = ({
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
