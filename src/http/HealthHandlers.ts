// Alive and ready, for whoever restarts or routes; no key needed, no dependency touched.
// It must not know providers.
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { Traffic } from "./Traffic.ts"
import { version } from "../domain/version.ts"

const answer = (status: number, body: unknown, headers: Record<string, string> = {}): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(JSON.stringify(body), {
    status,
    contentType: "application/json",
    headers: { "cache-control": "no-store", ...headers }
  })

const alive = answer(200, { status: "ok" })
const ready = answer(200, { status: "ok", checks: { config: "ok" }, version })
const leaving = answer(503, { status: "shutting_down", checks: { config: "ok" }, version }, { connection: "close" })

/** Outside the boundary: a process that is merely busy is alive and ready, whatever its in-flight bound refuses. */
export const HealthHandlers = HttpRouter.use((router) =>
  Effect.gen(function*() {
    const traffic = yield* Traffic
    const readiness = Effect.sync(() => (traffic.draining ? leaving : ready))
    for (const path of ["/health/live", "/livez", "/healthz"] as const) yield* router.add("GET", path, alive)
    for (const path of ["/health/ready", "/readyz", "/health"] as const) yield* router.add("GET", path, readiness)
  })
)
