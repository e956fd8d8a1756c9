// W3C trace context: parses traceparent and tracestate of a request, and prints traceparent for an upstream.
// Must not know spans or exporters. Source: w3.org/TR/trace-context, version 00.
import type { HeaderRecord } from "../api/Headers.ts"

/** The client's span, the parent of the request. */
export interface TraceParent {
  readonly traceId: string
  readonly spanId: string
  readonly sampled: boolean
}

/** Later versions may add fields after a further dash; version ff and ids of zeros are invalid. */
const grammar = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/

export const parseTraceparent = (text: string): TraceParent | undefined => {
  const [, traceId, spanId, flags, more] = grammar.exec(text) ?? []
  return traceId === undefined ||
    spanId === undefined ||
    flags === undefined ||
    (more !== undefined && text.startsWith("00"))
    ? undefined
    : { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

/** Prints the header that makes a span the parent of the receiver's spans. */
export const traceparentOf = ({ sampled, spanId, traceId }: TraceParent): string =>
  `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`

/** The trace of a request, its parent span, and the client's `tracestate`. */
export interface TraceContext {
  readonly traceId: string
  readonly parent: TraceParent | undefined
  readonly state: string | undefined
}

const idGrammar = /^(?!0{32})[\da-f]{32}$/
const stateGrammar = /^[\x20-\x7e]{1,512}$/

/** `given` is the id in the response, in any form; `fresh` replaces it where it is not a valid trace id. */
export const traceContextOf = (headers: HeaderRecord, given: string, fresh: string): TraceContext => {
  const parent = parseTraceparent(headers["traceparent"] ?? "")
  const state = headers["tracestate"]
  return {
    traceId: parent?.traceId ?? (idGrammar.test(given) ? given : fresh.replaceAll("-", "")),
    parent,
    state: parent !== undefined && state !== undefined && stateGrammar.test(state) ? state : undefined
  }
}
