// GET /metrics in Prometheus' text format; open unless the operator requires an admin key.
// It must not depend on which metrics there are.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import { SharedRegistry } from "../../telemetry/AllSeries.ts"
import { prometheusName } from "../../telemetry/metrics.ts"
import { keyedRoute } from "../edge/GatewayAuth.ts"
import type { Routes } from "../edge/Route.ts"

/** Who may read the metrics. */
export const MetricsAccess: Context.Reference<"none" | "admin"> = Context.Reference<"none" | "admin">(
  "gateway/http/MetricsAccess",
  {
    defaultValue: () => "none"
  }
)

const contentType = "text/plain; version=0.0.4; charset=utf-8"

/** The registry is the one the service was built with, or a shared one. */
const answer = Effect.map(Effect.all([Effect.context<never>(), SharedRegistry]), ([own, shared]) =>
  Effect.map(shared ?? Effect.succeed(own), (context) =>
    HttpServerResponse.text(PrometheusMetrics.formatUnsafe(context, { metricNameMapper: prometheusName }), {
      contentType,
      headers: { "cache-control": "no-store" }
    })
  )
)

/** Outside the request lifecycle, like the health routes: a gateway that refuses work still reports its metrics. */
const open: Routes = Effect.map(answer, (metrics) => [{ method: "GET", path: "/metrics", answer: () => metrics }])

const guarded = keyedRoute(
  "GET",
  "/metrics",
  Effect.map(answer, (metrics) => () => metrics),
  "admin"
)

export const MetricsHandlers: Routes<Effect.Services<typeof guarded>> = Effect.flatMap(MetricsAccess, (access) =>
  access === "admin" ? guarded : open
)
