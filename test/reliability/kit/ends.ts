// Judges how an answer ended: whole, with one error in the form of its route, or in a way that no client can read.
// Must not know faults.
import { judge } from "../../attack/judge.ts"
import type { Heard } from "./ask.ts"
import type { Form } from "./routes.ts"

/** `whole`, `failed`, or what is wrong with the end. */
export type End = { readonly is: "whole" | "failed" } | { readonly is: "wrong"; readonly why: string }

const whole: End = { is: "whole" }
const failed: End = { is: "failed" }
const wrong = (why: string): End => ({ is: "wrong", why })

type Json = Readonly<Record<string, unknown>>

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)
const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])
const objects = (value: unknown): ReadonlyArray<Json> => listOf(value).filter(isObject)
const isFull = (value: unknown): boolean => listOf(value).length > 0
const isText = (value: unknown): boolean => typeof value === "string" && value !== ""
const finishOf = (value: Json): unknown => objects(value["candidates"]).at(0)?.["finishReason"]

/** Whether the JSON of a whole answer has all that a client of the route reads. */
const isWhole: Readonly<Partial<Record<Form, (value: Json) => boolean>>> = {
  chat: (value) =>
    objects(value["choices"]).some((choice) => isText(choice["finish_reason"]) && isObject(choice["message"])),
  messages: (value) => value["type"] === "message" && isText(value["stop_reason"]) && isFull(value["content"]),
  responses: (value) => value["status"] === "completed" && isFull(value["output"]),
  google: (value) => isText(finishOf(value)),
  embeddings: (value) => objects(value["data"]).some((one) => isFull(one["embedding"])),
  images: (value) => objects(value["data"]).some((one) => isText(one["b64_json"])),
  count: (value) => Object.values(value).some((one) => typeof one === "number")
}

interface Frame {
  readonly event: string | undefined
  readonly data: string
}

/** Events of a stream; undefined where the last one has no end. */
const framesOf = (body: string): ReadonlyArray<Frame> | undefined => {
  const parts = body.replaceAll("\r\n", "\n").split("\n\n")
  if (parts.pop() !== "") return undefined
  return parts.flatMap((part): ReadonlyArray<Frame> => {
    const lines = part.split("\n")
    const data = lines.filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trim())
    const event = lines
      .find((line) => line.startsWith("event:"))
      ?.slice(6)
      .trim()
    return data.length === 0 ? [] : [{ event, data: data.join("\n") }]
  })
}

interface Reading {
  /** Positions of events that are errors. */
  readonly isError: (value: Json) => boolean
  /** The event that ends a whole stream. */
  readonly isEnd: (value: Json) => boolean
}

const readings: Readonly<Partial<Record<Form, Reading>>> = {
  chatStream: {
    isError: (value) => "error" in value,
    isEnd: (value) => objects(value["choices"]).some((choice) => isText(choice["finish_reason"]))
  },
  messagesStream: { isError: (value) => value["type"] === "error", isEnd: (value) => value["type"] === "message_stop" },
  responsesStream: {
    // The event `error` comes before it, as OpenAI's does.
    isError: (value) => value["type"] === "response.failed",
    isEnd: (value) => value["type"] === "response.completed"
  },
  googleStream: { isError: (value) => "error" in value, isEnd: (value) => isText(finishOf(value)) },
  googleArray: { isError: (value) => "error" in value, isEnd: (value) => isText(finishOf(value)) }
}

/** One error, which is the last event; or one end without an error. */
const streamEnd = (values: ReadonlyArray<Json>, { isEnd, isError }: Reading, isClosed: boolean | undefined): End => {
  const errors = values.filter(isError).length
  const ends = values.filter(isEnd).length
  if (errors > 1) return wrong(`${errors} errors`)
  if (errors === 1) {
    const last = values.at(-1)
    if (last === undefined || !isError(last)) return wrong("events after the error")
    return isClosed === true ? wrong("[DONE] after an error") : failed
  }
  if (ends !== 1) return wrong(`${ends} ends and no error`)
  return isClosed === false ? wrong("no [DONE]") : whole
}

const judgeStream = (form: Form, body: string): End => {
  const reading = readings[form]
  if (reading === undefined) return wrong("no stream was asked for")
  if (form === "googleArray") {
    const values = parsed(body)
    return Array.isArray(values) ? streamEnd(objects(values), reading, undefined) : wrong("the array is no JSON")
  }
  const frames = framesOf(body)
  if (frames === undefined) return wrong("an event without an end")
  const isClosed = frames.at(-1)?.data === "[DONE]"
  const values = frames.filter(({ data }) => data !== "[DONE]").map(({ data }) => parsed(data))
  if (!values.every(isObject)) return wrong("an event that is no JSON")
  return streamEnd(values.filter(isObject), reading, form === "chatStream" ? isClosed : undefined)
}

const judgeWhole = (form: Form, body: string): End => {
  const value = parsed(body)
  return isObject(value) && isWhole[form]?.(value) === true ? whole : wrong("200 with a body that is not whole")
}

/** How this answer of a route ended. */
export const endOf = (form: Form, path: string, heard: Heard): End => {
  const { body, isComplete, status } = heard
  if (status === 0) return wrong(`no answer: ${body}`)
  if (!isComplete) return wrong(`the answer of ${status} was cut off`)
  const { faults } = judge({ method: "POST", path, waits: 30_000 }, heard)
  if (faults.length > 0) return wrong(faults.join("; "))
  if (status >= 400) return failed
  if (status !== 200) return wrong(`status ${status}`)
  return form.endsWith("Stream") || form === "googleArray" ? judgeStream(form, body) : judgeWhole(form, body)
}
