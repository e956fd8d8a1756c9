// Routes for supervisors, scrapers and the first look of a client, without a key: health, metrics, and "/".
// They must not depend on providers, or on which dependencies and metrics there are. An application that mounts the routes keeps its own "/".
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import { version } from "../../domain/version.ts"
import { ConsoleSessions } from "../../keys/ConsoleSessions.ts"
import { PageRefused } from "../../domain/GatewayError.ts"
import { SharedRegistry } from "../../telemetry/Series.ts"
import { prometheusName } from "../../telemetry/metrics.ts"
import { pageFault } from "../edge/ConsoleAuth.ts"
import { Readiness, checkOf } from "../edge/Readiness.ts"
import type { Answering, Routes } from "../edge/Route.ts"
import { BasePath } from "../node/Proxied.ts"
import { Traffic } from "../node/Traffic.ts"
import { keyedRoute } from "../edge/GatewayAuth.ts"
import { requestReceiver } from "../request/IncomingRequest.ts"
import { refuse } from "../response/ErrorResponse.ts"

const healthAnswer = (
  status: number,
  body: unknown,
  headers: Record<string, string> = {}
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(JSON.stringify(body), {
    status,
    contentType: "application/json",
    headers: { "cache-control": "no-store", ...headers }
  })

const aliveAnswer = healthAnswer(200, { status: "ok" })

const leavingText =
  "The service shuts down: running requests finish, and new ones belong to another instance. Readiness does not return."

/**
 * Without a dependency the service is degraded and still serves. Only a service that shuts down is not ready. A foreign
 * page gets the status alone: a load balancer that looks like a browser needs no more.
 */
const readyAnswer = (
  readiness: Readiness,
  { isForeign, isLeaving }: { readonly isForeign: boolean; readonly isLeaving: boolean }
): HttpServerResponse.HttpServerResponse => {
  const looked = Object.entries(readiness).map(([name, look]) => [name, checkOf(look())] as const)
  const texts = looked.flatMap(([name, { message }]) => (message === undefined ? [] : [[name, message] as const]))
  const messages = [...texts, ...(isLeaving ? [["service", leavingText] as const] : [])]
  const status = isLeaving ? "shutting_down" : looked.every(([, { state }]) => state === "ok") ? "ok" : "degraded"
  const details = {
    checks: { config: "ok", ...Object.fromEntries(looked.map(([name, { state }]) => [name, state])) },
    ...(messages.length === 0 ? {} : { messages: Object.fromEntries(messages) }),
    version
  }
  const body = isForeign ? { status } : { status, ...details }
  return isLeaving ? healthAnswer(503, body, { connection: "close" }) : healthAnswer(200, body)
}

/** Outside the request lifecycle: a busy process is alive and ready, even while its in-flight bound refuses requests. */
export const HealthHandlers: Routes<Traffic> = Effect.gen(function* () {
  const traffic = yield* Traffic
  const readiness = yield* Readiness
  const live = Effect.succeed(aliveAnswer)
  const { hosts } = (yield* ConsoleSessions) ?? { hosts: [] }
  const look: Answering = ({ headers }) =>
    Effect.sync(() =>
      readyAnswer(readiness, {
        isForeign: pageFault(headers, hosts) !== undefined,
        isLeaving: traffic.drainingSince !== undefined
      })
    )
  return [
    ...(["/health/live", "/livez", "/healthz"] as const).map((path) => ({ path, answer: () => live })),
    ...(["/health/ready", "/readyz", "/health"] as const).map((path) => ({ path, answer: look }))
  ].map((route) => ({ ...route, method: "GET" }))
})

// GET /metrics in Prometheus' text format; open unless the operator requires an admin key.

/** Who may read the metrics. */
export const MetricsAccess: Context.Reference<"none" | "admin"> = Context.Reference<"none" | "admin">(
  "gateway/http/MetricsAccess",
  {
    defaultValue: () => "none"
  }
)

const metricsType = "text/plain; version=0.0.4; charset=utf-8"

/** The registry is the one the service was built with, or a shared one. */
const metricsAnswer = Effect.map(Effect.all([Effect.context<never>(), SharedRegistry]), ([built, shared]) =>
  Effect.map(shared ?? Effect.succeed(built), (context) =>
    HttpServerResponse.text(PrometheusMetrics.formatUnsafe(context, { metricNameMapper: prometheusName }), {
      contentType: metricsType,
      headers: { "cache-control": "no-store" }
    })
  )
)

/**
 * Outside the request lifecycle, like the health routes: a gateway that refuses work still reports its metrics. A page
 * whose name was made to point here would be of the same origin, so browsers read them under own names only.
 */
const openMetrics: Routes<Traffic> = Effect.gen(function* () {
  const metrics = yield* metricsAnswer
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

const guardedMetrics = keyedRoute(
  "GET",
  "/metrics",
  Effect.map(metricsAnswer, (metrics) => () => metrics),
  "admin"
)

export const MetricsHandlers: Routes<Effect.Services<typeof guardedMetrics>> = Effect.flatMap(MetricsAccess, (access) =>
  access === "admin" ? guardedMetrics : openMetrics
)

// GET and HEAD of "/": name and version, and "/api/hello": clients look there whether a server answers before their first request. Browsers are led to the console.

const rootHeaders = { "cache-control": "no-store" }

const answerOrConsole = (base: string, rootAnswer: ReturnType<Answering>): Answering => {
  const toConsole = Effect.succeed(
    HttpServerResponse.redirect(`${base}/console/`, { status: 303, headers: { ...rootHeaders, vary: "accept" } })
  )
  return (arrival) => (/\btext\/html\b/.test(arrival.headers["accept"] ?? "") ? toConsole : rootAnswer)
}

/** HEAD is answered by the route of GET. Claude Code asks for the second path, before its first request. */
const rootRoutes = (hasConsole: boolean): Routes =>
  Effect.map(BasePath, (base) => {
    const about = { name: "model-gateway", version, status: "ok", docs: `${base}/docs` }
    const rootAnswer = Effect.succeed(
      HttpServerResponse.text(JSON.stringify(about), { contentType: "application/json", headers: rootHeaders })
    )
    return [
      { method: "GET", path: "/", answer: hasConsole ? answerOrConsole(base, rootAnswer) : () => rootAnswer },
      { method: "GET", path: "/api/hello", answer: () => rootAnswer }
    ]
  })

export const RootHandlers: Routes = rootRoutes(false)

/** The same on a server that has the console. */
export const ConsoleRootHandlers: Routes = Effect.flatMap(ConsoleSessions, (sessions) =>
  rootRoutes(sessions !== undefined)
)
