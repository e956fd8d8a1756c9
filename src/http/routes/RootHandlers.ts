// GET and HEAD of "/": name and version, and "/api/hello": clients look there whether a server answers before their first request. Browsers are led to the console.
// It must not depend on keys or dependencies. An application that mounts the routes keeps its own "/".
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { version } from "../../domain/version.ts"
import { ConsoleSessions } from "../../keys/ConsoleSessions.ts"
import type { Answering, Routes } from "../edge/Route.ts"

const headers = { "cache-control": "no-store" }
const answer = Effect.succeed(
  HttpServerResponse.text(JSON.stringify({ name: "model-gateway", version, status: "ok", docs: "/docs" }), {
    contentType: "application/json",
    headers
  })
)
const toConsole = Effect.succeed(
  HttpServerResponse.redirect("/console/", { status: 303, headers: { ...headers, vary: "accept" } })
)

const answerOrConsole: Answering = (arrival) =>
  /\btext\/html\b/.test(arrival.headers["accept"] ?? "") ? toConsole : answer

/** Claude Code asks here whether its base URL answers, before its first request. */
const hello = { method: "GET", path: "/api/hello", answer: () => answer } as const

/** HEAD is answered by the route of GET. */
export const RootHandlers: Routes = Effect.succeed([{ method: "GET", path: "/", answer: () => answer }, hello])

/** The same on a server that has the console. */
export const ConsoleRootHandlers: Routes = Effect.map(ConsoleSessions, (sessions) => [
  { method: "GET", path: "/", answer: sessions === undefined ? () => answer : answerOrConsole },
  hello
])
