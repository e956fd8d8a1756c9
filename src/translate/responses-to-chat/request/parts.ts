// The parts of an input item as parts of a chat message.
// It must not know roles, items or any provider. Rules: R207, R209.
import * as Result from "effect/Result"
import { readEach } from "../../../domain/text/readEach.ts"
import type { RequestFault } from "../../../domain/GatewayError.ts"
import { isJsonObject, type Json, type JsonObject } from "../../../domain/text/json.ts"
import { chatPart } from "../../shared/chat-request/partSpellings.ts"
import { invalid } from "../../shared/fault.ts"

type Read<A> = Result.Result<A, RequestFault>

const partTypes = "input_text, output_text, text, summary_text, refusal, input_image, input_file, input_audio"

const stringAt = (part: JsonObject, ...names: ReadonlyArray<string>): string | undefined => {
  for (const name of names) {
    const value = part[name]
    if (typeof value === "string") return value
  }
  return undefined
}

/** A mark that the prompt may be cached up to here, in the word the chat has for it. */
const marksOf = (part: JsonObject): JsonObject =>
  (part["prompt_cache_breakpoint"] ?? undefined) === undefined ? {} : { cache_control: { type: "ephemeral" } }

/** One part. Refusals of earlier answers are parts of their own in a chat too. */
export const readPart = (part: Json | undefined, path: string): Read<JsonObject> => {
  if (typeof part === "string") return Result.succeed({ type: "text", text: part })
  if (!isJsonObject(part)) return invalid(path, "invalid_type", "A content part must be an object.")
  switch (part["type"]) {
    case "input_text":
    case "output_text":
    case "text":
    case "summary_text": {
      const text = part["text"]
      return typeof text === "string"
        ? Result.succeed({ type: "text", text, ...marksOf(part) })
        : invalid(`${path}.text`, "invalid_type", "text must be a string.")
    }
    case "refusal": {
      const refusal = part["refusal"]
      return typeof refusal === "string"
        ? Result.succeed({ type: "text", text: refusal })
        : invalid(`${path}.refusal`, "invalid_type", "refusal must be a string.")
    }
    case "input_image":
      return readImage(part, path)
    case "input_file":
      return readFile(part, path)
    case "input_audio":
      return readAudio(part, path)
    default:
      return readSpelled(chatPart(part), path)
  }
}

const ofChat: ReadonlySet<Json | undefined> = new Set(["text", "image_url", "input_audio", "file"])

/** Parts as a chat, Anthropic or Google spells them. */
const readSpelled = (part: JsonObject, path: string): Read<JsonObject> =>
  ofChat.has(part["type"])
    ? Result.succeed(part)
    : invalid(`${path}.type`, "invalid_value", `A content part has one of the types ${partTypes}.`)

/** A file here is named by its address: the part takes the form the chat has for one. */
const fileOf = (id: string, part: JsonObject): JsonObject => ({ type: "file", file: { file_id: id }, ...marksOf(part) })

const readImage = (part: JsonObject, path: string): Read<JsonObject> => {
  const given = part["image_url"]
  const url = isJsonObject(given) ? given["url"] : given
  const id = stringAt(part, "file_id")
  if (typeof url === "string" && url !== "") {
    const detail = stringAt(part, "detail")
    return Result.succeed({
      type: "image_url",
      image_url: { url, ...(detail === undefined ? {} : { detail }) },
      ...marksOf(part)
    })
  }
  return id === undefined
    ? invalid(`${path}.image_url`, "missing_required_parameter", "An input_image needs image_url or file_id.")
    : Result.succeed(fileOf(id, part))
}

const fileSources = ["file_data", "file_url", "file_id"] as const

const readFile = (part: JsonObject, path: string): Read<JsonObject> => {
  const source = fileSources.find((name) => (stringAt(part, name) ?? "") !== "")
  if (source === undefined)
    return invalid(path, "missing_required_parameter", "An input_file needs file_data, file_url or file_id.")
  const filename = stringAt(part, "filename")
  return Result.succeed({
    type: "file",
    file: { ...(filename === undefined ? {} : { filename }), [source]: part[source], ...optionsOf(part) },
    ...marksOf(part)
  })
}

/** What a chat knows of any media. */
const optionsOf = (part: JsonObject): JsonObject =>
  Object.fromEntries(
    ["mime_type", "format", "detail", "video_metadata"].flatMap((name) =>
      (part[name] ?? undefined) === undefined ? [] : [[name, part[name]]]
    )
  )

const readAudio = (part: JsonObject, path: string): Read<JsonObject> => {
  const inner = part["input_audio"]
  const given = isJsonObject(inner) ? inner : part
  const data = stringAt(given, "data")
  return data === undefined
    ? invalid(`${path}.data`, "missing_required_parameter", "An input_audio needs data, base64 text.")
    : Result.succeed({
        type: "input_audio",
        input_audio: { data, format: given["format"] ?? null },
        ...marksOf(part)
      })
}

/** Thoughts in the content of a message are those of a chat; this API has items for them, and a model makes its own (W3). */
const isThought = (part: Json): boolean => isJsonObject(part) && thoughts.has(part["type"])
const thoughts: ReadonlySet<Json | undefined> = new Set(["thinking", "redacted_thinking", "reasoning"])

/** `content` of a message or `output` of a tool: text as it is, or a list of parts. */
export const readResponsesContent = (
  content: Json | undefined,
  path: string
): Read<string | ReadonlyArray<JsonObject>> => {
  if (typeof content === "string") return Result.succeed(content)
  if (content === undefined || content === null)
    return invalid(path, "missing_required_parameter", `${path} is missing.`)
  const list = isJsonObject(content) ? [content] : content
  if (!Array.isArray(list)) return invalid(path, "invalid_type", `${path} must be a string or an array of parts.`)
  return Result.map(
    readEach(list, (item, index) =>
      isThought(item) ? Result.succeed(undefined) : readPart(item, `${path}[${index}]`)
    ),
    (parts) => parts.filter((part) => part !== undefined)
  )
}

/** The texts of a content in one. */
export const textOf = (content: string | ReadonlyArray<JsonObject>): string =>
  typeof content === "string"
    ? content
    : content.map((part) => (part["type"] === "text" && typeof part["text"] === "string" ? part["text"] : "")).join("")
