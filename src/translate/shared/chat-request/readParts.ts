// Reads the content of a message as parts: text, images, audio, video, files, thinking, and provider parts.
// Must not depend on the order of roles, tool calls or a provider.
import * as Result from "effect/Result"
import { readEach } from "../../../domain/faults.ts"
import type { BodyInvalid } from "../../../domain/GatewayError.ts"
import { isJsonObject, type Json, type JsonObject } from "../../../domain/text/json.ts"
import { type MediaSource, namesFile } from "../media/media.ts"
import { audioFormatNames, mimeOfAudioFormat, normaliseMime } from "../media/mime.ts"
import { invalid } from "./paramReader.ts"
import { chatPart } from "./partSpellings.ts"

/** The backend that made a part and signed it, e.g. `gemini/google`; parts without one go by what memory knows. */
export interface Issued {
  readonly issuer?: string | undefined
}

/** The client's `cache_control` mark: the prompt may be cached up to this part. Only Claude supports it. */
export type CacheControl = JsonObject | undefined

export interface ContentText extends Issued {
  readonly _tag: "Text"
  readonly text: string
  readonly signature: string | undefined
  readonly cacheControl: CacheControl
}
/** The section of a video and its frames per second; offsets have the form `10s`. */
export interface VideoCut {
  readonly startOffset: string | undefined
  readonly endOffset: string | undefined
  readonly fps: number | undefined
}
export interface MediaPart extends Issued {
  readonly _tag: "Media"
  readonly source: MediaSource
  readonly detail: string | undefined
  readonly video: VideoCut | undefined
  readonly signature: string | undefined
  readonly cacheControl: CacheControl
}
export interface ThinkingPart extends Issued {
  readonly _tag: "Thinking"
  readonly thinking: string
  readonly signature: string | undefined
}
/** A part in a provider's own form, replayed unchanged to that provider only. */
export interface ProviderPart extends Issued {
  readonly _tag: "Own"
  readonly provider: string
  readonly part: JsonObject
}
export interface RedactedPart extends Issued {
  readonly _tag: "Redacted"
  readonly data: string
}
export type TurnPart = ContentText | MediaPart | ThinkingPart | ProviderPart | RedactedPart

type Read<A> = Result.Result<A, BodyInvalid>

export const textPart = (text: string, signature?: string, cacheControl?: CacheControl): ContentText => ({
  _tag: "Text",
  text,
  signature,
  cacheControl
})

/** Joins the texts of parts. */
export const joinTexts = (parts: ReadonlyArray<TurnPart>): string =>
  parts.map((part) => (part._tag === "Text" ? part.text : "")).join("")

export const cacheControlOf = ({ cache_control: mark }: { readonly [key: string]: unknown }): CacheControl =>
  isJsonObject(mark) ? mark : undefined

/** Part types each role accepts. */
const allowedTypes = {
  system: ["text"],
  user: ["text", "image_url", "input_audio", "file", "image"],
  assistant: ["text", "refusal", "thinking", "redacted_thinking", "image", "image_url", "file", "provider_part"],
  tool: ["text", "image_url", "input_audio", "file", "image"]
} as const
export type PartRole = keyof typeof allowedTypes

/** Reads `content` of a message at `path`; null and absent content give no parts. */
export const readContent = (content: unknown, role: PartRole, path: string): Read<ReadonlyArray<TurnPart>> => {
  if (content === undefined || content === null) return Result.succeed([])
  if (typeof content === "string") return Result.succeed([textPart(content.toWellFormed())])
  if (!Array.isArray(content))
    return invalid(path, "invalid_type", "content must be a string or an array of content parts.")
  return readPartList(content, role, path)
}

/** Reads an array of parts and stops at the first fault. */
export const readPartList = (
  items: ReadonlyArray<unknown>,
  role: PartRole,
  path: string
): Read<ReadonlyArray<TurnPart>> =>
  readEach(items, (item, index) => {
    const issuer = role === "assistant" && isJsonObject(item) ? item["issuer"] : undefined
    const part = readPart(item, role, `${path}[${index}]`)
    return typeof issuer === "string" ? Result.map(part, (read) => ({ ...read, issuer })) : part
  })

export const readPart = (given: unknown, role: PartRole, path: string): Read<TurnPart> => {
  // A text in a list is the text of a part.
  if (typeof given === "string") return Result.succeed(textPart(given.toWellFormed()))
  if (!isJsonObject(given)) return invalid(path, "invalid_type", "A content part must be an object.")
  const item = chatPart(given)
  const type = item["type"]
  const types: ReadonlyArray<string> = allowedTypes[role]
  if (typeof type !== "string" || !types.includes(type)) {
    return invalid(
      `${path}.type`,
      "invalid_value",
      `A content part of a ${role} message has one of the types ${types.join(", ")}.`
    )
  }
  const marks = {
    signature: signatureOf(item, role),
    cacheControl: cacheControlOf(item),
    detail: stringOf(item["media_resolution"])
  }
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
      return readProviderPart(item, path)
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

/** Only assistant parts carry signatures: models sign their own output. */
const signatureOf = (item: JsonObject, role: PartRole): string | undefined => {
  const value = role === "assistant" ? (item["signature"] ?? item["thought_signature"]) : undefined
  return typeof value === "string" && value !== "" ? value : undefined
}

/** Calls, results and files have checked forms of their own; `provider_part` must not bypass those checks. */
const withOwnForm = ["functionCall", "functionResponse", "fileData"]
const typesWithOwnForm: ReadonlySet<Json | undefined> = new Set(["tool_use", "tool_result", "image", "document"])

const readProviderPart = (item: JsonObject, path: string): Read<TurnPart> => {
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

const readText = (item: JsonObject, field: string, path: string, make: (text: string) => TurnPart): Read<TurnPart> => {
  const text = item[field]
  return typeof text === "string"
    ? Result.succeed(make(text.toWellFormed()))
    : invalid(`${path}.${field}`, "invalid_type", `${field} must be a string.`)
}

const stringOf = (value: Json | undefined): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined

/** Fields of a part next to its content; `detail` is its own media resolution. */
type Marks = Pick<MediaPart, "signature" | "cacheControl" | "detail">

const readImageUrl = (value: Json | undefined, marks: Marks, path: string): Read<TurnPart> => {
  const at = `${path}.image_url`
  const given = isJsonObject(value) ? value : { url: stringOf(value) }
  const { url } = given
  if (url === undefined || url === null || url === "")
    return invalid(`${at}.url`, "missing_required_parameter", "image_url needs a url.")
  if (typeof url !== "string") return invalid(`${at}.url`, "invalid_type", "url must be a string.")
  return readOptions(given, { path: `${at}.url`, url, isData: false, filename: undefined }, marks, at)
}

/** Options that any media has next to its content: type, resolution, and the cut of a video. */
const readOptions = (
  given: JsonObject,
  source: Omit<MediaSource, "declaredType">,
  marks: Marks,
  at: string
): Read<TurnPart> => {
  const declaredType = stringOf(given["mime_type"]) ?? stringOf(given["format"])
  return Result.map(readVideo(given["video_metadata"] ?? undefined, `${at}.video_metadata`), (video): TurnPart => ({
    _tag: "Media",
    source: { ...source, declaredType },
    video,
    ...marks,
    detail: marks.detail ?? stringOf(given["detail"])
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
  video: undefined,
  ...marks
})

const readAudio = (value: Json | undefined, marks: Marks, path: string): Read<TurnPart> => {
  const at = `${path}.input_audio`
  if (!isJsonObject(value)) return invalid(at, "missing_required_parameter", "input_audio needs data and format.")
  const { data, format } = value
  if (typeof data !== "string" || data === "")
    return invalid(`${at}.data`, "missing_required_parameter", "input_audio needs data, base64 text.")
  const known = typeof format === "string" ? (mimeOfAudioFormat(format) ?? audioType(format)) : undefined
  if (known === undefined && (format ?? undefined) !== undefined)
    return invalid(`${at}.format`, "invalid_value", `format must be one of ${audioFormatNames.join(", ")}.`)
  const isData = !isAddress(data)
  return Result.succeed(
    plainMedia({ path: `${at}.data`, url: data, isData, declaredType: known, filename: undefined }, marks)
  )
}

/** A format that is written as a type. */
const audioType = (format: string): string | undefined => (/^audio\//i.test(format) ? normaliseMime(format) : undefined)

/** Base64 has no colon, so an address is never taken for it. */
const isAddress = (text: string): boolean => /^(?:https?|gs):\/\//i.test(text)

const fileFields = ["file_data", "file_url", "url", "file_id"] as const

const readFile = (value: Json | undefined, marks: Marks, path: string): Read<TurnPart> => {
  const at = `${path}.file`
  const name = isJsonObject(value) ? fileFields.find((field) => stringOf(value[field]) !== undefined) : undefined
  const url = isJsonObject(value) && name !== undefined ? stringOf(value[name]) : undefined
  if (!isJsonObject(value) || url === undefined)
    return invalid(at, "missing_required_parameter", "file needs file_data, file_url or file_id.")
  if (name === "file_id" && !namesFile(url) && !isAddress(url) && !/^data:/i.test(url))
    return invalid(
      `${at}.file_id`,
      "invalid_value",
      "file_id must be files/<id>, or a gs://, https or Files API URL; the gateway keeps no files."
    )
  const filename = stringOf(value["filename"])
  const isData = name === "file_data" && !isAddress(url)
  return readOptions(value, { path: `${at}.${name}`, url, isData, filename }, marks, at)
}

const readImage = (value: Json | undefined, marks: Marks, path: string): Read<TurnPart> => {
  const at = `${path}.image`
  const data = isJsonObject(value) ? value["b64_json"] : undefined
  if (!isJsonObject(value) || typeof data !== "string")
    return invalid(`${at}.b64_json`, "invalid_type", "An image part needs b64_json.")
  const declaredType = stringOf(value["mime_type"])
  return Result.succeed(
    plainMedia({ path: `${at}.b64_json`, url: data, isData: true, declaredType, filename: undefined }, marks)
  )
}
