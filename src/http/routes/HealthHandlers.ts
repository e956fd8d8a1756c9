// Liveness and readiness for supervisors and load balancers, without a key and without a call to a dependency.
// It must not depend on providers, or on which dependencies the service has.
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { version } from "../../domain/version.ts"
import { ConsoleSessions } from "../../keys/ConsoleSessions.ts"
import { pageFault } from "../edge/OwnHost.ts"
import { Readiness } from "../edge/Readiness.ts"
import type { Answering, Routes } from "../edge/Route.ts"
import { Traffic } from "../node/Traffic.ts"

const answer = (
  status: number,
  body: unknown,
  headers: Record<string, string> = {}
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(JSON.stringify(body), {
    status,
    contentType: "application/json",
    headers: { "cache-control": "no-store", ...headers }
  })

const alive = answer(200, { status: "ok" })

/** The state of a dependency, and its text where it has one. */
const checkOf = (state: ReturnType<Readiness[string]>): { readonly state: string; readonly message?: string } =>
  typeof state === "object" ? state : { state: typeof state === "string" ? state : state ? "ok" : "down" }

const leaving =
  "The service shuts down: running requests finish, and new ones belong to another instance. Readiness does not return."

/**
 * Without a dependency the service is degraded and still serves. Only a service that shuts down is not ready. A foreign
 * page gets the status alone: a load balancer that looks like a browser needs no more.
 */
const ready = (
  readiness: Readiness,
  { isForeign, isLeaving }: { readonly isForeign: boolean; readonly isLeaving: boolean }
): HttpServerResponse.HttpServerResponse => {
  const looked = Object.entries(readiness).map(([name, look]) => [name, checkOf(look())] as const)
  const texts = looked.flatMap(([name, { message }]) => (message === undefined ? [] : [[name, message] as const]))
  const messages = [...texts, ...(isLeaving ? [["service", leaving] as const] : [])]
  const status = isLeaving ? "shutting_down" : looked.every(([, { state }]) => state === "ok") ? "ok" : "degraded"
  const details = {
    checks: { config: "ok", ...Object.fromEntries(looked.map(([name, { state }]) => [name, state])) },
    ...(messages.length === 0 ? {} : { messages: Object.fromEntries(messages) }),
    version
  }
  const body = isForeign ? { status } : { status, ...details }
  return isLeaving ? answer(503, body, { connection: "close" }) : answer(200, body)
}

/** Outside the request lifecycle: a busy process is alive and ready, even while its in-flight bound refuses requests. */
export const HealthHandlers: Routes<Traffic> = Effect.gen(function* () {
  const traffic = yield* Traffic
  const readiness = yield* Readiness
  const live = Effect.succeed(alive)
  const { hosts } = (yield* ConsoleSessions) ?? { hosts: [] }
  const look: Answering = ({ headers }) =>
    Effect.sync(() =>
      ready(readiness, {
        isForeign: pageFault(headers, hosts) !== undefined,
        isLeaving: traffic.drainingSince !== undefined
      })
    )
  return [
    ...(["/health/live", "/livez", "/healthz"] as const).map((path) => ({ path, answer: () => live })),
    ...(["/health/ready", "/readyz", "/health"] as const).map((path) => ({ path, answer: look }))
  ].map((route) => ({ ...route, method: "GET" }))
})
