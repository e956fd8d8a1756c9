// Injects a fault that the model id names: overload, silence, broken streams, garbage, gzip, endless streams.
// It must not depend on sockets; a fault changes the steps of a good answer.

import { gzipSync } from "node:zlib"
import {
  type Answer,
  errorAnswer,
  googleError,
  type GoogleError,
  retryInfo,
  type Step,
  textAnswer,
  type Call
} from "./answers.ts"

/** How a dialect writes the errors and events of a fault. */
export interface FaultWire {
  readonly refusal: (error: GoogleError) => Answer
  /** An error inside a stream that has begun. */
  readonly errorEvent: (error: GoogleError) => string
  /** The next event of an endless answer. */
  readonly lineEvent: (text: string, isFirst: boolean) => string
  /** A refusal by model servers other than Google's; `refusal` if absent. */
  readonly modelRefusal?: (error: GoogleError) => Answer
  /** Events of a stream sent before it breaks; default two. */
  readonly begun?: number
}

export interface FaultContext {
  /** 1 for the first call of this model id. */
  readonly callNumber: number
  readonly streaming: boolean
  /** The stream consists of server-sent events. */
  readonly sse: boolean
  readonly wire: FaultWire
}

/** For operations that never stream. */
const unaryWire: FaultWire = {
  refusal: (error) => errorAnswer(error, false),
  errorEvent: (error) => JSON.stringify({ error }),
  lineEvent: (text) => text
}

type Fault = (good: Answer, context: FaultContext) => Answer

const internal = googleError("INTERNAL", "An internal error has occurred. Please retry or report it.")
const overloaded = googleError("UNAVAILABLE", "The model is overloaded. Please try again later.")

const writesOf = (answer: Answer): ReadonlyArray<string | Uint8Array> =>
  [...answer.steps].flatMap((step) => ("write" in step ? [step.write] : []))

const half = (write: string | Uint8Array): string => {
  const text = Buffer.from(write).toString("utf8")
  return text.slice(0, Math.floor(text.length / 2))
}

/** The first events of a stream, or the first half of a unary body. */
const beginning = (good: Answer, { streaming, wire }: FaultContext): ReadonlyArray<Step> => {
  const writes = writesOf(good)
  if (streaming)
    return writes.slice(0, Math.min(wire.begun ?? 2, Math.max(1, writes.length - 1))).map((write) => ({ write }))
  return writes.slice(0, 1).map((write) => ({ write: half(write) }))
}

const withSteps = (good: Answer, steps: Iterable<Step>): Answer => ({ ...good, steps })

function* slowly(steps: Iterable<Step>): Generator<Step> {
  yield { pauseMillis: 2000 }
  for (const step of steps) {
    if (!("write" in step)) continue
    yield step
    yield { pauseMillis: 500 }
  }
}

function* silently(steps: Iterable<Step>): Generator<Step> {
  let isFirst = true
  for (const step of steps) {
    yield step
    if (isFirst) yield { pauseMillis: 20_000 }
    isFirst = false
  }
}

function* endless(lineEvent: FaultWire["lineEvent"]): Generator<Step> {
  for (let line = 1; ; line++) {
    const text = `Line ${line} of an answer without an end. ${"More words follow. ".repeat(20)}\n`
    yield { write: lineEvent(text, line === 1) }
  }
}

const refusedByModel = (error: GoogleError, { wire }: FaultContext): Answer =>
  (wire.modelRefusal ?? wire.refusal)(error)

const faults: Readonly<Record<string, Fault>> = {
  "demo-slow": (good) => withSteps(good, slowly(good.steps)),
  "demo-silent": (good) => withSteps(good, silently(good.steps)),
  "demo-flaky-429": (good, { callNumber, wire }) =>
    callNumber % 2 === 0
      ? good
      : wire.refusal(
          googleError("RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan.", [
            {
              "@type": "type.googleapis.com/google.rpc.QuotaFailure",
              violations: [{ quotaId: "GenerateRequestsPerMinutePerProjectPerModel-FreeTier" }]
            },
            retryInfo("0.2s")
          ])
        ),
  "demo-503": (_good, { wire }) => wire.refusal(overloaded),
  "demo-html-502": () =>
    textAnswer(
      502,
      "text/html; charset=UTF-8",
      "<!DOCTYPE html>\n<html><title>Error 502 (Server Error)!!1</title><p><b>502.</b> That’s an error.</html>\n"
    ),
  "demo-hangs": (good) => withSteps(good, [{ end: "hang" }]),
  "demo-dies-midstream": (good, context) => withSteps(good, [...beginning(good, context), { end: "close" }]),
  "demo-error-first-event": (good, context) =>
    context.streaming
      ? withSteps(good, [{ write: context.wire.errorEvent(internal) }])
      : { ...refusedByModel(internal, context), status: 200 },
  "demo-error-midstream": (good, context) =>
    context.streaming
      ? withSteps(good, [...beginning(good, context), { write: context.wire.errorEvent(internal) }])
      : refusedByModel(internal, context),
  "demo-overloaded": (good, context) =>
    context.streaming
      ? withSteps(good, [{ write: context.wire.errorEvent(overloaded) }])
      : refusedByModel(overloaded, context),
  "demo-truncated": (good, context) =>
    withSteps(
      good,
      context.streaming
        ? writesOf(good)
            .slice(0, -1)
            .map((write) => ({ write }))
        : beginning(good, context)
    ),
  "demo-garbage": (good, { streaming, sse }) =>
    withSteps(
      good,
      streaming && sse ? [{ write: 'data: {"candidates": [{"content"\r\n\r\n' }] : [{ write: "}{ this is not JSON" }]
    ),
  "demo-endless": (good, { streaming, wire }) => (streaming ? withSteps(good, endless(wire.lineEvent)) : good),
  "demo-gzip": (good) => ({
    ...good,
    headers: { ...good.headers, "content-encoding": "gzip" },
    steps: [{ write: gzipSync(Buffer.concat(writesOf(good).map((write) => Buffer.from(write)))) }]
  })
}

/** True for a model id that selects a fault. */
export const isFault = (model: string): boolean => Object.hasOwn(faults, model)

/** The faulty answer for a fault id; `good` unchanged for every other id. */
export const applyFault = (model: string, good: Answer, context: FaultContext): Answer => {
  const fault = isFault(model) ? faults[model] : undefined
  return fault === undefined ? good : fault(good, context)
}

/** The same for an operation that never streams. */
export const applyUnaryFault = ({ callNumber, route }: Call, good: Answer): Answer =>
  applyFault(route.target.id, good, { callNumber, streaming: false, sse: false, wire: unaryWire })
