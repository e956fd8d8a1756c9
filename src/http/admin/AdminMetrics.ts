// GET /admin/v1/metrics: the counters and gauges of the service as JSON, of all its processes together.
// It must not depend on which metrics there are.
import * as Effect from "effect/Effect"
import { type SeriesValue, seriesValues, SharedRegistry } from "../../telemetry/AllSeries.ts"
import { prometheusName } from "../../telemetry/metrics.ts"
import { keyedRoute } from "../edge/GatewayAuth.ts"
import { json } from "../response/Reply.ts"
import { metricsQuery } from "./adminQuery.ts"
import { listOf } from "./adminRows.ts"

const shownSeries = ({ attributes = {}, id, value }: SeriesValue) => {
  const { unit: _unit, ...labels } = attributes
  return { object: "metric", name: prometheusName(id), labels, value }
}

/** Histograms are left out: the usage has what they measure, over time. */
const isNumber = ({ value }: SeriesValue): boolean => typeof value === "number"

export const AdminMetrics = keyedRoute(
  "GET",
  "/admin/v1/metrics",
  Effect.map(
    Effect.all([Effect.context<never>(), SharedRegistry]),
    ([own, shared]) =>
      ({ incoming }) =>
        Effect.flatMap(Effect.fromResult(metricsQuery(incoming.url)), (names) =>
          Effect.flatMap(shared ?? Effect.succeed(own), (context) => {
            const series = seriesValues(context).filter(isNumber).map(shownSeries)
            const chosen = names === undefined ? series : series.filter(({ name }) => names.has(name))
            return json(listOf(chosen, undefined), incoming)
          })
        )
  ),
  "admin"
)
