// GET and HEAD of "/": clients look there whether a server answers before they send their first request.
// It must not depend on keys or dependencies. An application that mounts the routes keeps its own "/".
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { Routes } from "../edge/Route.ts"

const answer = Effect.succeed(
  HttpServerResponse.text(JSON.stringify({ status: "ok", docs: "/docs" }), {
    contentType: "application/json",
    headers: { "cache-control": "no-store" }
  })
)

/** HEAD is answered by the route of GET. */
export const RootHandlers: Routes = Effect.succeed([{ method: "GET", path: "/", answer: () => answer }])
