// What an answer says of itself, gathered while it passes: its id, its model, why it ended, and its content where that is wanted.
// It must not know who asked for it or how the answer is written.
import * as Result from "effect/Result"
import { decodeUtf8, isJsonObject, type Json, type JsonObject, parseJsonText } from "../domain/text/json.ts"
import type { AnswerFacts } from "../telemetry/genAi.ts"
import { outputContent } from "../telemetry/MessageContent.ts"
import type { Attributes } from "../telemetry/Tracing.ts"
import { noFrames, readFrame, wholeFrames } from "../wire/wholeFrames.ts"

const text = (value: Json | undefined): string | undefined => (typeof value === "string" ? value : undefined)
const list = (value: Json | undefined): ReadonlyArray<JsonObject> =>
  Array.isArray(value) ? value.filter(isJsonObject) : []

/** What was said so far of one choice, or of the only message. */
interface Said {
  content: string
  reasoning: string
  readonly calls: Array<{ id: string | undefined; name: string | undefined; text: string }>
  finishReason: string | undefined
}

/** Of an answer in OpenAI's dialect or in Anthropic's, whole or in pieces. */
export class AnswerNotes implements AnswerFacts {
  id: string | undefined
  model: string | undefined
  private readonly content: boolean
  private readonly said: Array<Said> = []
  private frames = noFrames

  constructor(content: boolean) {
    this.content = content
  }

  get finishReasons(): ReadonlyArray<string> {
    return Object.values(this.said).flatMap(({ finishReason }) => (finishReason === undefined ? [] : [finishReason]))
  }

  /** The content of what was said; nothing where it is not wanted. */
  get attributes(): Attributes {
    return !this.content || this.said.length === 0
      ? {}
      : outputContent(
          Object.values(this.said).map(({ calls, content, finishReason, reasoning }) => ({
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

  /** A complete answer. */
  whole(answer: unknown): void {
    const bytes = isJsonObject(answer) && answer["bytes"] instanceof Uint8Array ? answer["bytes"] : undefined
    if (bytes !== undefined) return this.message(jsonOf(decodeUtf8(bytes) ?? ""))
    if (isJsonObject(answer)) this.openAi(answer, "message")
  }

  /** Pieces of a stream, as they came together. */
  read(pieces: ReadonlyArray<unknown>): void {
    for (const piece of pieces) {
      if (piece instanceof Uint8Array) this.bytes(piece)
      else if (isJsonObject(piece)) this.openAi(piece, "delta")
    }
  }

  private at(index: number): Said {
    return (this.said[index] ??= { content: "", reasoning: "", calls: [], finishReason: undefined })
  }

  private openAi(answer: JsonObject, field: "message" | "delta"): void {
    this.id ??= text(answer["id"])
    this.model ??= text(answer["model"])
    for (const [position, choice] of list(answer["choices"]).entries()) {
      const said = this.at(typeof choice["index"] === "number" ? choice["index"] : position)
      said.finishReason = text(choice["finish_reason"]) ?? said.finishReason
      const message = choice[field]
      if (this.content && isJsonObject(message)) take(said, message)
    }
  }

  private message(reply: Json): void {
    if (!isJsonObject(reply)) return
    this.id ??= text(reply["id"])
    this.model ??= text(reply["model"])
    const said = this.at(0)
    said.finishReason = text(reply["stop_reason"]) ?? said.finishReason
    if (this.content) for (const [position, block] of list(reply["content"]).entries()) takeBlock(said, block, position)
  }

  private bytes(bytes: Uint8Array): void {
    const [frames, whole] = wholeFrames(this.frames, bytes)
    this.frames = frames
    for (const frame of whole) {
      if (!this.content && frame.event !== "message_start" && frame.event !== "message_delta") continue
      const event = jsonOf(readFrame(frame.bytes)?.data ?? "")
      if (isJsonObject(event)) this.event(event)
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

const jsonOf = (words: string): Json => Result.getOrElse(parseJsonText(words), () => null)

const callAt = ({ calls }: Said, index: number): Said["calls"][number] =>
  (calls[index] ??= { id: undefined, name: undefined, text: "" })

const take = (said: Said, message: JsonObject): void => {
  said.content += text(message["content"]) ?? ""
  said.reasoning += text(message["reasoning_content"]) ?? ""
  for (const [position, call] of list(message["tool_calls"]).entries()) {
    const kept = callAt(said, typeof call["index"] === "number" ? call["index"] : position)
    const called = isJsonObject(call["function"]) ? call["function"] : {}
    kept.id ??= text(call["id"])
    kept.name ??= text(called["name"])
    kept.text += text(called["arguments"]) ?? ""
  }
}

/** A block of Anthropic's, or what is added to one. */
const takeBlock = (said: Said, block: JsonObject, position: number): void => {
  said.content += text(block["text"]) ?? ""
  said.reasoning += text(block["thinking"]) ?? ""
  if (block["type"] !== "tool_use" && block["type"] !== "input_json_delta") return
  const kept = callAt(said, position)
  kept.id ??= text(block["id"])
  kept.name ??= text(block["name"])
  kept.text +=
    text(block["partial_json"]) ??
    (isJsonObject(block["input"]) && Object.keys(block["input"]).length > 0 ? JSON.stringify(block["input"]) : "")
}
