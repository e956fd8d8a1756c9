// GET /metrics in Prometheus' text format; open unless the operator requires an admin key.
// It must not depend on which metrics there are.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import { PageRefused } from "../../domain/GatewayError.ts"
import { ConsoleSessions } from "../../keys/ConsoleSessions.ts"
import { SharedRegistry } from "../../telemetry/AllSeries.ts"
import { prometheusName } from "../../telemetry/metrics.ts"
import { keyedRoute } from "../edge/GatewayAuth.ts"
import { pageFault } from "../edge/OwnHost.ts"
import type { Routes } from "../edge/Route.ts"
import type { Traffic } from "../node/Traffic.ts"
import { requestReceiver } from "../request/IncomingRequest.ts"
import { refuse } from "../response/ErrorResponse.ts"

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

/**
 * Outside the request lifecycle, like the health routes: a gateway that refuses work still reports its metrics. A page
 * whose name was made to point here would be of the same origin, so browsers read them under own names only.
 */
const open: Routes<Traffic> = Effect.gen(function* () {
  const metrics = yield* answer
  const receive = yield* requestReceiver
  const { hosts } = (yield* ConsoleSessions) ?? { hosts: [] }
  return [
    {
      method: "GET",
      path: "/metrics",
      answer: (arrival) => {
        const reason = pageFault(arrival.headers, hosts)
        return reason === undefined
          ? metrics
          : Effect.clockWith((clock) =>
              Effect.succeed(refuse(new PageRefused({ reason }), receive(arrival, clock, undefined)))
            )
      }
    }
  ]
})

const guarded = keyedRoute(
  "GET",
  "/metrics",
  Effect.map(answer, (metrics) => () => metrics),
  "admin"
)

export const MetricsHandlers: Routes<Effect.Services<typeof guarded>> = Effect.flatMap(MetricsAccess, (access) =>
  access === "admin" ? guarded : open
)
