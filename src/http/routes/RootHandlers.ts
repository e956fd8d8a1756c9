// GET and HEAD of "/": clients look there whether a server answers before they send their first request. Browsers are led to the console.
// It must not depend on keys or dependencies. An application that mounts the routes keeps its own "/".
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { ConsoleSessions } from "../../keys/ConsoleSessions.ts"
import { headersOf } from "../node/NodeAnswer.ts"

const headers = { "cache-control": "no-store" }
const answer = HttpServerResponse.text(JSON.stringify({ status: "ok", docs: "/docs" }), {
  contentType: "application/json",
  headers
})

const toConsole = HttpServerResponse.redirect("/console/", { status: 303, headers: { ...headers, vary: "accept" } })

const answerOrConsole = Effect.map(HttpServerRequest.HttpServerRequest, (request) =>
  /\btext\/html\b/.test(headersOf(request)["accept"] ?? "") ? toConsole : answer
)

/** The router answers HEAD by the route of GET. */
export const RootHandlers = HttpRouter.use((router) => router.add("GET", "/", answer))

/** The same on a server that has the console. */
export const ConsoleRootHandlers = HttpRouter.use((router) =>
  Effect.flatMap(ConsoleSessions, (sessions) =>
    router.add("GET", "/", sessions === undefined ? answer : answerOrConsole)
  )
)
