// The content of a message as parts: text, media, and what an assistant turn may hold besides.
// It must not know roles' order, tool calls or any provider.
import * as Result from "effect/Result"
import type { BodyInvalid } from "../../../domain/GatewayError.ts"
import { isJsonObject, type Json, type JsonObject } from "../../../domain/text/json.ts"
import { invalid } from "../fault.ts"
import { type MediaSource, namesFile } from "../media/media.ts"
import { audioFormatNames, mimeOfAudioFormat } from "../media/mime.ts"

/** The client's mark that a prompt may be cached up to here; only Claude knows it. */
export type CacheControl = JsonObject | undefined

export interface TextPart {
  readonly _tag: "Text"
  readonly text: string
  readonly signature: string | undefined
  readonly cacheControl: CacheControl
}
/** Which part of a video, and how many frames of a second; offsets as `10s`. */
export interface VideoCut {
  readonly startOffset: string | undefined
  readonly endOffset: string | undefined
  readonly fps: number | undefined
}
export interface MediaPart {
  readonly _tag: "Media"
  readonly source: MediaSource
  readonly detail: string | undefined
  readonly video: VideoCut | undefined
  readonly signature: string | undefined
  readonly cacheControl: CacheControl
}
export interface ThinkingPart {
  readonly _tag: "Thinking"
  readonly thinking: string
  readonly signature: string | undefined
}
/** A provider's own part, replayed unchanged to that provider only. */
export interface OwnPart {
  readonly _tag: "Own"
  readonly provider: string
  readonly part: JsonObject
}
export type Part = TextPart | MediaPart | ThinkingPart | OwnPart | { readonly _tag: "Redacted"; readonly data: string }

type Read<A> = Result.Result<A, BodyInvalid>

export const textPart = (text: string, signature?: string, cacheControl?: CacheControl): TextPart => ({
  _tag: "Text",
  text,
  signature,
  cacheControl
})

/** The texts of some parts in one. */
export const textOf = (parts: ReadonlyArray<Part>): string =>
  parts.map((part) => (part._tag === "Text" ? part.text : "")).join("")

export const cacheControlOf = ({ cache_control: mark }: { readonly [key: string]: unknown }): CacheControl =>
  isJsonObject(mark) ? mark : undefined

/** Part types a role may use. */
const allowed = {
  system: ["text"],
  user: ["text", "image_url", "input_audio", "file"],
  assistant: ["text", "refusal", "thinking", "redacted_thinking", "image", "image_url", "provider_part"],
  tool: ["text", "image_url"]
} as const
export type PartRole = keyof typeof allowed

/** Reads `content` of a message at `path`; null and absent read as no parts. */
export const readContent = (content: unknown, role: PartRole, path: string): Read<ReadonlyArray<Part>> => {
  if (content === undefined || content === null) return Result.succeed([])
  if (typeof content === "string") return wellFormed(content, path, () => [textPart(content)])
  if (!Array.isArray(content))
    return invalid(path, "invalid_type", "content must be a string or an array of content parts.")
  return readAll(content, role, path)
}

/** Reads an array of parts, stopping at the first fault. */
export const readAll = (items: ReadonlyArray<unknown>, role: PartRole, path: string): Read<ReadonlyArray<Part>> => {
  const parts: Array<Part> = []
  for (const [index, item] of items.entries()) {
    const part = readPart(item, role, `${path}[${index}]`)
    if (Result.isFailure(part)) return Result.fail(part.failure)
    parts.push(part.success)
  }
  return Result.succeed(parts)
}

const readPart = (item: unknown, role: PartRole, path: string): Read<Part> => {
  if (!isJsonObject(item)) return invalid(path, "invalid_type", "A content part must be an object.")
  const type = item["type"]
  const types: ReadonlyArray<string> = allowed[role]
  if (typeof type !== "string" || !types.includes(type)) {
    return invalid(
      `${path}.type`,
      "invalid_value",
      `A content part of a ${role} message has one of the types ${types.join(", ")}.`
    )
  }
  const marks = { signature: signatureOf(item, role), cacheControl: cacheControlOf(item) }
  switch (type) {
    case "image_url":
      return readImageUrl(item["image_url"], marks, path)
    case "input_audio":
      return readAudio(item["input_audio"], marks, path)
    case "file":
      return readFile(item["file"], marks, path)
    case "image":
      return readImage(item["image"], marks, path)
    case "provider_part":
      return readOwn(item, path)
    case "thinking":
      return readText(item, "thinking", path, (thinking) => ({
        _tag: "Thinking",
        thinking,
        signature: marks.signature
      }))
    case "redacted_thinking":
      return readText(item, "data", path, (data) => ({ _tag: "Redacted", data }))
    case "refusal":
      return readText(item, "refusal", path, (text) => textPart(text))
    default:
      return readText(item, "text", path, (text) => textPart(text, marks.signature, marks.cacheControl))
  }
}

/** Only what a model made can be signed. */
const signatureOf = (item: JsonObject, role: PartRole): string | undefined => {
  const value = role === "assistant" ? (item["signature"] ?? item["thought_signature"]) : undefined
  return typeof value === "string" && value !== "" ? value : undefined
}

/** Calls, results and files have forms of their own, which are checked; a provider's part is not the way round them. */
const withOwnForm = ["functionCall", "functionResponse", "fileData"]
const typesWithOwnForm: ReadonlySet<Json | undefined> = new Set(["tool_use", "tool_result", "image", "document"])

const readOwn = (item: JsonObject, path: string): Read<Part> => {
  const { part, provider } = item
  const hasOwnForm = (one: JsonObject) =>
    withOwnForm.some((key) => Object.hasOwn(one, key)) || typesWithOwnForm.has(one["type"])
  const isOwn = isJsonObject(part) && Object.keys(part).length > 0 && !hasOwnForm(part)
  return isOwn && typeof provider === "string"
    ? Result.succeed({ _tag: "Own", provider, part })
    : invalid(
        `${path}.part`,
        "invalid_value",
        `A provider_part holds provider and part, which is not empty and is no call, result or file: none of ${withOwnForm.join(", ")}.`
      )
}

const readText = (item: JsonObject, field: string, path: string, make: (text: string) => Part): Read<Part> => {
  const text = item[field]
  return typeof text === "string"
    ? wellFormed(text, `${path}.${field}`, make)
    : invalid(`${path}.${field}`, "invalid_type", `${field} must be a string.`)
}

/** A lone surrogate would silently become another character on the wire. */
const wellFormed = <A>(text: string, path: string, make: (text: string) => A): Read<A> =>
  text.isWellFormed()
    ? Result.succeed(make(text))
    : invalid(path, "invalid_unicode", "The text holds half of a surrogate pair, which is no character.")

const stringOf = (value: Json | undefined): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined

/** What stands beside the content of a part. */
type Marks = Pick<MediaPart, "signature" | "cacheControl">

const readImageUrl = (value: Json | undefined, marks: Marks, path: string): Read<Part> => {
  const given: Json | undefined = typeof value === "string" ? { url: value } : value
  const at = `${path}.image_url`
  if (!isJsonObject(given)) return invalid(`${at}.url`, "missing_required_parameter", "image_url needs a url.")
  const url = given["url"]
  if (url === undefined || url === null || url === "")
    return invalid(`${at}.url`, "missing_required_parameter", "image_url needs a url.")
  if (typeof url !== "string") return invalid(`${at}.url`, "invalid_type", "url must be a string.")
  const declaredType = stringOf(given["mime_type"]) ?? stringOf(given["format"])
  return Result.map(readVideo(given["video_metadata"] ?? undefined, `${at}.video_metadata`), (video): Part => ({
    _tag: "Media",
    source: { path: `${at}.url`, url, isData: false, declaredType, filename: undefined },
    detail: stringOf(given["detail"]),
    video,
    ...marks
  }))
}

const readVideo = (value: Json | undefined, path: string): Read<VideoCut | undefined> => {
  if (value === undefined) return Result.succeed(undefined)
  if (!isJsonObject(value)) return invalid(path, "invalid_type", "video_metadata must be an object.")
  const fps = value["fps"] ?? undefined
  if (fps !== undefined && (typeof fps !== "number" || !Number.isFinite(fps) || fps <= 0))
    return invalid(`${path}.fps`, "invalid_value", "fps must be a number above 0.")
  return Result.gen(function* () {
    const startOffset = yield* readOffset(value["start_offset"] ?? undefined, `${path}.start_offset`)
    const endOffset = yield* readOffset(value["end_offset"] ?? undefined, `${path}.end_offset`)
    return { startOffset, endOffset, fps }
  })
}

const readOffset = (value: Json | undefined, path: string): Read<string | undefined> => {
  if (value === undefined) return Result.succeed(undefined)
  const text = typeof value === "number" ? `${value}s` : value
  return typeof text === "string" && /^\d{1,9}(\.\d{1,9})?s$/.test(text)
    ? Result.succeed(text)
    : invalid(path, "invalid_value", 'An offset is a number of seconds, or text such as "10s".')
}

const plainMedia = (source: MediaSource, marks: Marks): MediaPart => ({
  _tag: "Media",
  source,
  detail: undefined,
  video: undefined,
  ...marks
})

const readAudio = (value: Json | undefined, marks: Marks, path: string): Read<Part> => {
  const at = `${path}.input_audio`
  if (!isJsonObject(value)) return invalid(at, "missing_required_parameter", "input_audio needs data and format.")
  const { data, format } = value
  if (typeof data !== "string" || data === "")
    return invalid(`${at}.data`, "missing_required_parameter", "input_audio needs data, base64 text.")
  const mime = typeof format === "string" ? mimeOfAudioFormat(format) : undefined
  if (mime === undefined)
    return invalid(`${at}.format`, "invalid_value", `format must be one of ${audioFormatNames.join(", ")}.`)
  return Result.succeed(
    plainMedia({ path: `${at}.data`, url: data, isData: true, declaredType: mime, filename: undefined }, marks)
  )
}

const readFile = (value: Json | undefined, marks: Marks, path: string): Read<Part> => {
  const at = `${path}.file`
  if (!isJsonObject(value))
    return invalid(at, "missing_required_parameter", "file needs file_data, file_url or file_id.")
  const about = { isData: false, declaredType: stringOf(value["mime_type"]), filename: stringOf(value["filename"]) }
  const data = stringOf(value["file_data"])
  if (data !== undefined)
    return Result.succeed(plainMedia({ ...about, path: `${at}.file_data`, url: data, isData: true }, marks))
  const url = stringOf(value["file_url"])
  if (url !== undefined) return Result.succeed(plainMedia({ ...about, path: `${at}.file_url`, url }, marks))
  const id = stringOf(value["file_id"])
  if (id === undefined) return invalid(at, "missing_required_parameter", "file needs file_data, file_url or file_id.")
  return namesFile(id)
    ? Result.succeed(plainMedia({ ...about, path: `${at}.file_id`, url: id }, marks))
    : invalid(
        `${at}.file_id`,
        "invalid_value",
        "file_id must be a Files API URL or files/<id>; the gateway keeps no files."
      )
}

const readImage = (value: Json | undefined, marks: Marks, path: string): Read<Part> => {
  const at = `${path}.image`
  const data = isJsonObject(value) ? value["b64_json"] : undefined
  if (!isJsonObject(value) || typeof data !== "string")
    return invalid(`${at}.b64_json`, "invalid_type", "An image part needs b64_json.")
  const declaredType = stringOf(value["mime_type"])
  return Result.succeed(
    plainMedia({ path: `${at}.b64_json`, url: data, isData: true, declaredType, filename: undefined }, marks)
  )
}
