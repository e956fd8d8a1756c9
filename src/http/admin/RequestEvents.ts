// GET /admin/v1/requests/events: the requests as they end, as server-sent events for as long as the key is good.
// It must not depend on where requests are kept.
import type { ServerResponse } from "node:http"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Stream from "effect/Stream"
import { Limits } from "../../domain/Limits.ts"
import { type RecentRequests, type RequestQuery, takes } from "../../domain/usage/usageSums.ts"
import { UsageLog } from "../../keys/UsageLog.ts"
import { frame, pingFrame } from "../../wire/frames.ts"
import { type Call, keyedRoute } from "../edge/GatewayAuth.ts"
import { answered, drained, writePiece } from "../node/NodeAnswer.ts"
import { Traffic } from "../node/Traffic.ts"
import type { IncomingRequest } from "../request/IncomingRequest.ts"
import { baseHeaders } from "../response/baseHeaders.ts"
import { CountedMetadata } from "./AdminHandlers.ts"
import { eventsQuery } from "./adminQuery.ts"
import { shownRequest } from "./adminRows.ts"

/** Requests of this time are one event. */
const turnMillis = 500

const nothing: RecentRequests = { rows: [], skipped: 0 }

/** The event about new requests; empty where the filter takes none of them. */
const eventOf = ({ rows, skipped }: RecentRequests, query: RequestQuery): string => {
  const taken = rows.filter(takes(query))
  return taken.length === 0 && skipped === 0
    ? ""
    : frame(JSON.stringify({ object: "request_event", data: taken.map(shownRequest), skipped }), "requests")
}

/** Writes the frames as the socket takes them, so that a slow reader makes no queue: it gets fewer, larger events. */
const writeFrames = (node: ServerResponse, headers: Record<string, string>, frames: Stream.Stream<string>) =>
  Effect.suspend(() => {
    node.writeHead(200, headers)
    return Effect.map(
      Stream.runForEach(frames, (text) => (writePiece(node, text) ? Effect.void : drained(node))),
      () => {
        node.end()
        return answered
      }
    )
  })

const reply = (incoming: IncomingRequest, frames: Stream.Stream<string>) => {
  const headers: Record<string, string> = {
    ...baseHeaders(incoming),
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no"
  }
  if (incoming.method === "HEAD") return Effect.succeed(HttpServerResponse.empty({ status: 200, headers }))
  return incoming.node === undefined
    ? Effect.succeed(
        HttpServerResponse.stream(Stream.encodeText(frames), { contentType: headers["content-type"], headers })
      )
    : writeFrames(incoming.node, headers, frames)
}

/** True while the key of the request may read. A store that does not answer is no reason to end. */
const isKnown = ({ known }: Call): Effect.Effect<boolean> =>
  Effect.match(known, {
    onSuccess: ({ key }) => key.scopes.includes("admin"),
    onFailure: ({ _tag }) => _tag === "StoreUnavailable"
  })

export const RequestEvents = keyedRoute(
  "GET",
  "/admin/v1/requests/events",
  Effect.gen(function* () {
    const log = yield* UsageLog
    const metadata = yield* CountedMetadata
    const traffic = yield* Traffic
    const { pingMillis } = yield* Limits
    return Effect.fnUntraced(function* (call) {
      const { incoming } = call
      const query = yield* Effect.fromResult(eventsQuery(incoming.url, metadata))
      const read = yield* log.follow(query.limit)
      let silentMillis = 0
      /** The next frame, or none for now; undefined ends the stream. */
      const turn = Effect.gen(function* () {
        yield* Effect.sleep(turnMillis)
        if (traffic.drainingSince !== undefined || !(yield* isKnown(call))) return undefined
        const event = eventOf(yield* Effect.orElseSucceed(read, () => nothing), query)
        silentMillis = event === "" ? silentMillis + turnMillis : 0
        if (silentMillis < pingMillis) return event
        silentMillis = 0
        return pingFrame
      })
      // The first frame sends the headers.
      const frames = Stream.fromEffectRepeat(turn).pipe(
        Stream.takeWhile((text) => text !== undefined),
        Stream.filter((text) => text !== ""),
        Stream.prepend([pingFrame])
      )
      return yield* reply(incoming, frames)
    })
  }),
  "admin"
)
