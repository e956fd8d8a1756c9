// A request as it comes in, before its key is looked at: ids, switches of the answer, and its share of the process.
// It must not depend on bodies, routes or keys.
import { randomUUID } from "node:crypto"
import type * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { parseTraceparent, type RequestMeta, type RequestRecord } from "../../accounting/RequestRecord.ts"
import { gatewayHeader, type HeaderRecord, isStrict, ownHeaders, requestHeaderNames } from "../../api/Headers.ts"
import { Limits } from "../../domain/Limits.ts"
import { queryKey } from "../../domain/native/nativeQuery.ts"
import type { RequestHold } from "../../keys/FairShares.ts"
import type { Arrival } from "../node/Exchange.ts"
import { Traffic } from "../node/Traffic.ts"
import { countOf } from "./wireFaults.ts"
import { RouteUnknown } from "../../domain/GatewayError.ts"

/** The time of an id in hexadecimal, kept for the requests of the same millisecond: `toString(16)` costs more than the comparison. */
const uuidTime = (() => {
  let last = -1
  let text = ""
  return (millis: number): string => {
    if (millis !== last) {
      last = millis
      const time = millis.toString(16).padStart(12, "0")
      text = `${time.slice(0, 8)}-${time.slice(8)}`
    }
    return text
  }
})()

/** A UUIDv7 of a wall-clock time in milliseconds. Tests replace it to know the ids beforehand. */
export const FreshId: Context.Reference<(millis: number) => string> = Context.Reference("gateway/http/FreshId", {
  defaultValue: () => (millis: number) => `${uuidTime(millis)}-7${randomUUID().slice(15)}`
})

/** The ids in the headers of every answer, errors included. */
export interface RequestIds {
  readonly requestId: string
  readonly traceId: string
  /** The answer repeats our headers under their `x-portkey-*` names. */
  readonly usesAlias: boolean
}

/** What the gateway reads of a request before it looks at the key. */
export interface IncomingRequest extends RequestIds, RequestMeta, Arrival {
  /** An invalid switch counts as strict here; the context of the request refuses it later. */
  readonly strict: boolean
  /** It has gateway headers next to that of its key. */
  readonly hasOptions: boolean
  /** The key in the query; clients of Google's own dialects write theirs there. */
  readonly queryKey: string | undefined
  /** Two Authorization headers came. Node drops the second one silently. */
  readonly authorizationTwice: boolean
  readonly traffic: Traffic["Service"]
  /** The silence of a stream after which it is kept alive. */
  readonly pingMillis: number
  /** Takes notes for the accounts of the request; undefined without accounting. */
  readonly recorder: RequestRecord | undefined
  /** What the request holds of the process; undefined until its key is known. */
  hold: RequestHold | undefined
  /** The client's word for a parameter, where the body that runs was made of the client's; undefined for the same words. */
  wordOf: ((param: string) => string) | undefined
  /** Names of custom tools of a chat, whose calls come back as custom calls. */
  customTools: ReadonlySet<string> | undefined
}

/** The refusal of a path that no route has. */
export const pathUnknown = ({ method, path }: Pick<Arrival, "method" | "path">): RouteUnknown =>
  new RouteUnknown({ method, path: path.slice(0, 256) })

const requestIdGrammar = /^[\w-]{1,128}$/
export const traceIdGrammar = /^[\x20-\x7e]{1,128}$/

const requestIdOf = (headers: HeaderRecord, freshId: string): string => {
  const presented = headers["x-request-id"]
  return presented !== undefined && requestIdGrammar.test(presented) ? presented : freshId
}

const traceIdOf = (headers: HeaderRecord, freshId: string, hasOptions: boolean): string => {
  const trace = hasOptions ? gatewayHeader(headers, requestHeaderNames.traceId) : undefined
  if (trace !== undefined && traceIdGrammar.test(trace)) return trace
  const parent = headers["traceparent"]
  return (parent === undefined ? undefined : parseTraceparent(parent)?.traceId) ?? freshId.replaceAll("-", "")
}

/** The ids of a request that is refused before a route sees it. `headers` is empty where Node could not parse them. */
export const requestIds = (headers: HeaderRecord, freshId: string): RequestIds => {
  const { hasOptions, usesAlias } = ownHeaders(headers)
  return { requestId: requestIdOf(headers, freshId), traceId: traceIdOf(headers, freshId, hasOptions), usesAlias }
}

type Receive = (arrival: Arrival, clock: Clock.Clock, recorder: RequestRecord | undefined) => IncomingRequest

/** Makes the function that turns the arrivals of a server into requests. */
export const requestReceiver: Effect.Effect<Receive, never, Traffic> = Effect.gen(function* () {
  const traffic = yield* Traffic
  const freshId = yield* FreshId
  const { pingMillis } = yield* Limits
  return ({ exchange, headers, method, native, path, pathModel, query, url }, clock, recorder) => {
    const startedMillis = clock.currentTimeMillisUnsafe()
    const id = freshId(startedMillis)
    const { hasOptions, usesAlias } = ownHeaders(headers)
    return {
      requestId: requestIdOf(headers, id),
      traceId: traceIdOf(headers, id, hasOptions),
      usesAlias,
      strict: !hasOptions || isStrict(headers),
      hasOptions,
      startedMillis,
      freshId: id,
      method,
      url,
      path,
      pathModel,
      query,
      native,
      queryKey: native === undefined || query === "" ? undefined : queryKey(query),
      authorizationTwice: exchange.head !== undefined && countOf(exchange.head.rawHeaders, "authorization") > 1,
      headers,
      exchange,
      pingMillis,
      traffic,
      recorder,
      hold: undefined,
      wordOf: undefined,
      customTools: undefined
    }
  }
})
