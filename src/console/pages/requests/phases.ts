// The phases of a request over time, from its attempts: plan, token, connection, first byte, stream, and waits between.
// It must not know how they are drawn.
import type { RequestRow } from "../../AdminClient.ts"

export type Attempt = RequestRow["attempts"][number]

/** A complete answer comes in one phase, a stream in two. */
export type Phase = "plan" | "token" | "connect" | "answer" | "first byte" | "stream" | "wait" | "end"

export interface Span {
  readonly phase: Phase
  /** Milliseconds after the arrival of the request. */
  readonly from: number
  readonly millis: number
}

/** One line: the gateway's own time, or a call. */
export type Line =
  | { readonly kind: "gateway"; readonly text: string; readonly spans: readonly [Span] }
  | { readonly kind: "call"; readonly attempt: Attempt; readonly spans: ReadonlyArray<Span> }

/** Clocks of two processes may differ by parts of a millisecond. */
const span = (phase: Phase, from: number, to: number): Span => ({ phase, from, millis: Math.max(0, to - from) })

const spansOf = (attempt: Attempt): ReadonlyArray<Span> => {
  const { duration_ms: whole, first_chunk_ms: first, sent_ms: sent, started_ms: start, token_ms: token } = attempt
  const authorized = token ?? 0
  const onWire = sent ?? authorized
  return [
    ...(token === undefined ? [] : [span("token", start, start + token)]),
    ...(sent === undefined ? [] : [span("connect", start + authorized, start + sent)]),
    ...(first === undefined
      ? [span("answer", start + onWire, start + whole)]
      : [span("first byte", start + onWire, start + first), span("stream", start + first, start + whole)])
  ]
}

const endOf = (attempt: Attempt): number => attempt.started_ms + attempt.duration_ms

/** Why a call follows another one. */
const reasonOf = (before: Attempt, next: Attempt): string => {
  const cause = before.error_code ?? "no answer"
  return before.target === next.target
    ? `Sent to the same target again, because of ${cause}`
    : `Next target of the config, because of ${cause}`
}

/** The lines of a request in the order of time. */
export const linesOf = ({ attempts, duration_ms: whole, stream }: RequestRow): ReadonlyArray<Line> => {
  const [first] = attempts
  const last = attempts.at(-1)
  if (first === undefined || last === undefined) return []
  const gateway = (text: string, phase: Phase, from: number, to: number): Line => ({
    kind: "gateway",
    text,
    spans: [span(phase, from, to)]
  })
  const calls = attempts.flatMap((attempt, at): ReadonlyArray<Line> => {
    const before = attempts[at - 1]
    const call: Line = { kind: "call", attempt, spans: spansOf(attempt) }
    return before === undefined
      ? [call]
      : [gateway(reasonOf(before, attempt), "wait", endOf(before), attempt.started_ms), call]
  })
  return [
    gateway("Read, admitted and planned", "plan", 0, first.started_ms),
    ...calls,
    ...(stream ? [] : [gateway("Answered by the gateway", "end", endOf(last), whole)])
  ]
}
