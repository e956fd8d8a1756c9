// Observes a response for its span: id, model, finish reasons, and the content where content capture is on.
// Must not know the exporter, or how the response is written.
import * as Result from "effect/Result"
import { decodeUtf8, isJsonObject, type Json, type JsonObject, parseJsonText } from "../domain/text/json.ts"
import type { ResponseFacts } from "../telemetry/genAi.ts"
import { outputContent } from "../telemetry/MessageContent.ts"
import type { Attributes } from "../telemetry/Tracing.ts"
import { noFrames, readFrame, wholeFrames } from "../wire/wholeFrames.ts"

const text = (value: Json | undefined): string | undefined => (typeof value === "string" ? value : undefined)
const list = (value: Json | undefined): ReadonlyArray<JsonObject> =>
  Array.isArray(value) ? value.filter(isJsonObject) : []

/** The output so far of one choice, or of the only message. */
interface Output {
  content: string
  reasoning: string
  readonly calls: Array<{ id: string | undefined; name: string | undefined; text: string }>
  finishReason: string | undefined
}

/** Reads responses of OpenAI's, Anthropic's and Google's dialects, complete or streamed as events. */
export class ResponseObserver implements ResponseFacts {
  id: string | undefined
  model: string | undefined
  private readonly content: boolean
  private readonly outputs: Array<Output> = []
  private frames = noFrames
  private isArray: boolean | undefined

  constructor(content: boolean) {
    this.content = content
  }

  get finishReasons(): ReadonlyArray<string> {
    return Object.values(this.outputs).flatMap(({ finishReason }) => (finishReason === undefined ? [] : [finishReason]))
  }

  /** The content as attributes; empty where content capture is off. */
  get attributes(): Attributes {
    return !this.content || this.outputs.length === 0
      ? {}
      : outputContent(
          Object.values(this.outputs).map(({ calls, content, finishReason, reasoning }) => ({
            finishReason,
            message: {
              content: content === "" ? null : content,
              ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
              tool_calls: Object.values(calls).map(({ id, name, text: written }) => ({
                id,
                function: { name, arguments: written }
              }))
            }
          }))
        )
  }

  /** Reads a complete response. */
  whole(answer: unknown): void {
    const bytes = isJsonObject(answer) && answer["bytes"] instanceof Uint8Array ? answer["bytes"] : undefined
    if (bytes !== undefined) {
      const reply = jsonOf(decodeUtf8(bytes) ?? "")
      return isJsonObject(reply) && Array.isArray(reply["candidates"]) ? this.google(reply) : this.message(reply)
    }
    if (isJsonObject(answer)) this.openAi(answer, "message")
  }

  /** Reads pieces of a stream. */
  read(pieces: ReadonlyArray<unknown>): void {
    for (const piece of pieces) {
      if (piece instanceof Uint8Array) this.bytes(piece)
      else if (isJsonObject(piece)) this.openAi(piece, "delta")
    }
  }

  private at(index: number): Output {
    return (this.outputs[index] ??= { content: "", reasoning: "", calls: [], finishReason: undefined })
  }

  private openAi(answer: JsonObject, field: "message" | "delta"): void {
    this.id ??= text(answer["id"])
    this.model ??= text(answer["model"])
    for (const [position, choice] of list(answer["choices"]).entries()) {
      const output = this.at(typeof choice["index"] === "number" ? choice["index"] : position)
      output.finishReason = text(choice["finish_reason"]) ?? output.finishReason
      const message = choice[field]
      if (this.content && isJsonObject(message)) take(output, message)
    }
  }

  private message(reply: Json): void {
    if (!isJsonObject(reply)) return
    this.id ??= text(reply["id"])
    this.model ??= text(reply["model"])
    const output = this.at(0)
    output.finishReason = text(reply["stop_reason"]) ?? output.finishReason
    if (this.content)
      for (const [position, block] of list(reply["content"]).entries()) takeBlock(output, block, position)
  }

  private google(reply: JsonObject): void {
    this.id ??= text(reply["responseId"])
    this.model ??= text(reply["modelVersion"])
    for (const [position, candidate] of list(reply["candidates"]).entries()) {
      const output = this.at(typeof candidate["index"] === "number" ? candidate["index"] : position)
      output.finishReason = text(candidate["finishReason"]) ?? output.finishReason
      const { content } = candidate
      if (!this.content || !isJsonObject(content)) continue
      for (const part of list(content["parts"])) takePart(output, part)
    }
  }

  private bytes(bytes: Uint8Array): void {
    // A stream as one JSON array has no frames, and is not kept for a span.
    if ((this.isArray ??= bytes[0] === openBracket)) return
    const [frames, whole] = wholeFrames(this.frames, bytes)
    this.frames = frames
    for (const frame of whole) {
      if (!this.content && frame.event !== "" && frame.event !== "message_start" && frame.event !== "message_delta")
        continue
      const data = readFrame(frame.bytes)?.data
      const event = data?.startsWith("{") === true ? jsonOf(data) : null
      if (!isJsonObject(event)) continue
      if (frame.event === "" && event["type"] === undefined) this.google(event)
      else this.event(event)
    }
  }

  private event(event: JsonObject): void {
    const { delta, index, message } = event
    if (event["type"] === "message_start") this.message(message ?? null)
    if (event["type"] === "message_delta" && isJsonObject(delta))
      this.at(0).finishReason = text(delta["stop_reason"]) ?? this.at(0).finishReason
    const position = typeof index === "number" ? index : 0
    const block =
      event["type"] === "content_block_start"
        ? event["content_block"]
        : event["type"] === "content_block_delta"
          ? delta
          : undefined
    if (isJsonObject(block)) takeBlock(this.at(0), block, position)
  }
}

const openBracket = 0x5b

/** Adds a part of a Gemini candidate. */
const takePart = (output: Output, part: JsonObject): void => {
  if (part["thought"] === true) output.reasoning += text(part["text"]) ?? ""
  else output.content += text(part["text"]) ?? ""
  const call = part["functionCall"]
  if (isJsonObject(call))
    output.calls.push({ id: text(call["id"]), name: text(call["name"]), text: JSON.stringify(call["args"] ?? {}) })
}

const jsonOf = (words: string): Json => Result.getOrElse(parseJsonText(words), () => null)

const callAt = ({ calls }: Output, index: number): Output["calls"][number] =>
  (calls[index] ??= { id: undefined, name: undefined, text: "" })

const take = (output: Output, message: JsonObject): void => {
  output.content += text(message["content"]) ?? ""
  output.reasoning += text(message["reasoning_content"]) ?? ""
  for (const [position, call] of list(message["tool_calls"]).entries()) {
    const recorded = callAt(output, typeof call["index"] === "number" ? call["index"] : position)
    const called = isJsonObject(call["function"]) ? call["function"] : {}
    recorded.id ??= text(call["id"])
    recorded.name ??= text(called["name"])
    recorded.text += text(called["arguments"]) ?? ""
  }
}

/** Adds an Anthropic content block or its delta. */
const takeBlock = (output: Output, block: JsonObject, position: number): void => {
  output.content += text(block["text"]) ?? ""
  output.reasoning += text(block["thinking"]) ?? ""
  if (block["type"] !== "tool_use" && block["type"] !== "input_json_delta") return
  const recorded = callAt(output, position)
  recorded.id ??= text(block["id"])
  recorded.name ??= text(block["name"])
  recorded.text +=
    text(block["partial_json"]) ??
    (isJsonObject(block["input"]) && Object.keys(block["input"]).length > 0 ? JSON.stringify(block["input"]) : "")
}
