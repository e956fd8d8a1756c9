// Changes a completion as other hosts of OpenAI's dialect write it; `demo:quirk-NAME` in the prompt selects a quirk.
// It must not depend on requests or sockets.
// Source: recorded answers and public reports, for each quirk.

import { isRecord } from "../shapes/open.ts"
import type { Json } from "./reply.ts"

/** Changes to an answer: first to its JSON values, then to the text pieces made of them. */
export interface Quirk {
  /** A completion or one chunk. */
  readonly value?: (value: Json) => Json
  readonly chunks?: (values: ReadonlyArray<Json>) => ReadonlyArray<Json>
  readonly pieces?: (pieces: ReadonlyArray<string>) => ReadonlyArray<string>
  /** Answers a stream with the whole completion as JSON. */
  readonly unaryAlways?: boolean
}

const without = (value: Json, ...names: ReadonlyArray<string>): Json =>
  Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)))

const choicesOf = (value: Json): ReadonlyArray<Json> =>
  Array.isArray(value["choices"]) ? value["choices"].filter(isRecord) : []

const eachChoice =
  (change: (choice: Json) => Json) =>
  (value: Json): Json => ({ ...value, choices: choicesOf(value).map(change) })

/** Changes the message of a completion or the delta of a chunk. */
const eachMessage = (change: (message: Json) => Json) =>
  eachChoice((choice) => {
    const name = "message" in choice ? "message" : "delta"
    const message = choice[name]
    return isRecord(message) ? { ...choice, [name]: change(message) } : choice
  })

const eachCall = (change: (call: Json) => Json) =>
  eachMessage((message) => {
    const calls = message["tool_calls"]
    return Array.isArray(calls) ? { ...message, tool_calls: calls.filter(isRecord).map(change) } : message
  })

const finished = (word: string) =>
  eachChoice((choice) => (typeof choice["finish_reason"] === "string" ? { ...choice, finish_reason: word } : choice))

const times = {
  queue_time: 0.034199604,
  prompt_time: 0.000671097,
  completion_time: 0.045735062,
  total_time: 0.046406159
}

const timed = (value: Json): Json => ({
  ...value,
  ...(isRecord(value["usage"]) ? { usage: { ...times, ...value["usage"] }, service_tier: "on_demand" } : {}),
  x_groq: { id: "req_01k92s237sf8fbxzedfmbvwb47" }
})

const parseArguments = (call: Json): Json => {
  const { function: called } = call
  if (!isRecord(called) || typeof called["arguments"] !== "string") return call
  return { ...call, function: { ...called, arguments: JSON.parse(called["arguments"] || "{}") } }
}

/** Joins the argument pieces of each call into its first chunk. */
const wholeCalls = (values: ReadonlyArray<Json>): ReadonlyArray<Json> => {
  const callOf = (value: Json): Json | undefined => {
    const [choice] = choicesOf(value)
    const calls = isRecord(choice?.["delta"]) ? choice["delta"]["tool_calls"] : undefined
    return Array.isArray(calls) && isRecord(calls[0]) ? calls[0] : undefined
  }
  const textOf = (call: Json): string => (isRecord(call["function"]) ? String(call["function"]["arguments"] ?? "") : "")
  return values
    .filter((value) => callOf(value)?.["id"] !== undefined || callOf(value) === undefined)
    .map((value) => {
      const call = callOf(value)
      if (call === undefined) return value
      const text = values
        .map(callOf)
        .filter((other) => other?.["index"] === call["index"])
        .map((other) => textOf(other ?? {}))
        .join("")
      return eachCall((one) => ({
        ...one,
        function: { ...(isRecord(one["function"]) ? one["function"] : {}), arguments: text }
      }))(value)
    })
}

const quirks: Readonly<Record<string, Quirk>> = {
  comments: { pieces: ([first = "", ...rest]) => [": PROCESSING\n\n", first, ": PROCESSING\n\n", ...rest] },
  "role-everywhere": { value: eachMessage((message) => ({ role: "assistant", content: "", ...message })) },
  "queue-time": { value: timed },
  "vendor-fields": {
    value: (value) => ({
      ...eachMessage((message) => ({ ...message, reasoning: null }))(
        eachChoice((choice) => ({ ...choice, native_finish_reason: choice["finish_reason"] }))(value)
      ),
      provider: "DeepInfra"
    })
  },
  "missing-fields": {
    value: (value) => {
      const bare = eachMessage((message) => without(message, "role"))(
        eachChoice((choice) => without(choice, "logprobs"))(value)
      )
      // Only a completion may omit the finish reason; without it a stream has no end.
      const ended =
        value["object"] === "chat.completion" ? eachChoice((choice) => without(choice, "finish_reason"))(bare) : bare
      return without(ended, "id", "object", "created", "system_fingerprint")
    }
  },
  "object-arguments": { value: eachCall(parseArguments), chunks: wholeCalls },
  "whole-arguments": { chunks: wholeCalls },
  "empty-ids": { value: eachCall((call) => ("id" in call ? { ...call, id: "" } : call)) },
  "list-content": {
    value: eachMessage((message) => ("tool_calls" in message ? { ...message, content: [] } : message))
  },
  "foreign-finish": { value: finished("eos_token") },
  "stop-for-calls": { value: finished("stop") },
  "usage-beside-choice": {
    value: (value) =>
      isRecord(value["usage"]) && choicesOf(value).length === 0
        ? { ...value, choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }] }
        : value
  },
  "no-done": { pieces: (pieces) => pieces.slice(0, -1) },
  "no-finish": {
    chunks: (values) => values.filter((value) => choicesOf(value).every((choice) => choice["finish_reason"] === null)),
    pieces: (pieces) => pieces.slice(0, -1)
  },
  "json-stream": { unaryAlways: true }
}

const noQuirk: Required<Quirk> = {
  value: (value) => value,
  chunks: (values) => values,
  pieces: (pieces) => pieces,
  unaryAlways: false
}

/** Applies the second quirk after the first. */
const combineQuirks = (first: Required<Quirk>, second: Quirk): Required<Quirk> => ({
  value: (value) => (second.value ?? noQuirk.value)(first.value(value)),
  chunks: (values) => (second.chunks ?? noQuirk.chunks)(first.chunks(values)),
  pieces: (pieces) => (second.pieces ?? noQuirk.pieces)(first.pieces(pieces)),
  unaryAlways: first.unaryAlways || second.unaryAlways === true
})

/** The quirks that the prompt names, combined in their order. */
export const quirksIn = (text: string): Required<Quirk> =>
  [...text.matchAll(/demo:quirk-([a-z-]*[a-z])/g)]
    .map(([, name = ""]) => quirks[name] ?? {})
    .reduce(combineQuirks, noQuirk)
