// GET and HEAD of "/": clients look there whether a server answers before they send their first request.
// It must not depend on keys or dependencies. An application that mounts the routes keeps its own "/".
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"

const answer = HttpServerResponse.text(JSON.stringify({ status: "ok", docs: "/docs" }), {
  contentType: "application/json",
  headers: { "cache-control": "no-store" }
})

/** The router answers HEAD by the route of GET. */
export const RootHandlers = HttpRouter.use((router) => router.add("GET", "/", answer))
