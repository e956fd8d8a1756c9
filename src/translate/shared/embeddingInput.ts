// Reads one input of an embeddings request: a text, a part of a chat, media by name, or several parts of one vector.
// Must not depend on an upstream or on other inputs.
import * as Result from "effect/Result"
import type { BodyInvalid } from "../../domain/GatewayError.ts"
import { readEach } from "../../domain/text/readEach.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import { readPart, textPart, type TurnPart } from "./chat-request/readParts.ts"
import { invalid } from "./fault.ts"

type Read<A> = Result.Result<A, BodyInvalid>

/** Members that hold a medium, of clients of other services and of Google's own parts. */
const media = ["image", "image_base64", "video", "audio", "inlineData", "inline_data", "fileData", "file_data"] as const
/** Members that hold parts again. */
const lists = ["content", "parts"] as const
/** Parts of a chat, which some clients write without their type. */
const typed = ["image_url", "input_audio", "file"] as const

/** Members of a medium that hold its address, its bytes, and its type. */
const addresses = ["gcs_uri", "gcsUri", "url", "file_uri", "fileUri", "uri"] as const
const contents = ["base64", "data", "bytesBase64Encoded"] as const
const types = ["mime_type", "mimeType", "media_type", "format"] as const

interface Found {
  readonly name: string
  readonly text: string
}

const firstText = (holder: JsonObject, names: ReadonlyArray<string>): Found | undefined => {
  for (const name of names) {
    const value = holder[name]
    if (typeof value === "string" && value !== "") return { name, text: value }
  }
  return undefined
}

const mediaPart = (path: string, url: string, isData: boolean, declaredType: string | undefined): TurnPart => ({
  _tag: "Media",
  source: { path, url, isData, declaredType, filename: undefined },
  detail: undefined,
  video: undefined,
  signature: undefined,
  cacheControl: undefined
})

/** `{url | gcs_uri | base64, mime_type}`, or the address alone. */
const readMedium = (value: Json, path: string): Read<TurnPart> => {
  if (typeof value === "string" && value !== "") return Result.succeed(mediaPart(path, value, false, undefined))
  if (!isJsonObject(value)) {
    return invalid(path, "invalid_type", `${path} must be an object with url, gcs_uri or base64.`)
  }
  const address = firstText(value, addresses)
  const found = address ?? firstText(value, contents)
  return found === undefined
    ? invalid(`${path}.url`, "invalid_value", `${path} needs url, gcs_uri or base64.`)
    : Result.succeed(
        mediaPart(`${path}.${found.name}`, found.text, address === undefined, firstText(value, types)?.text)
      )
}

const isPresent = (value: Json | undefined): value is Json => value !== undefined && value !== null

/** The parts of one vector. */
export const readInputParts = (input: unknown, path: string): Read<ReadonlyArray<TurnPart>> => {
  if (typeof input === "string") return Result.succeed([textPart(input)])
  if (Array.isArray(input)) {
    const items: ReadonlyArray<unknown> = input
    return Result.map(
      readEach(items, (item, index) => readInputParts(item, `${path}[${index}]`)),
      (parts) => parts.flat()
    )
  }
  if (!isJsonObject(input)) return invalid(path, "invalid_type", `${path} must be a text, or an object with media.`)
  const isNamed = isPresent(input["text"]) || [...media, ...lists].some((name) => isPresent(input[name]))
  if (isNamed) return readNamed(input, path)
  const type = input["type"] ?? typed.find((name) => isPresent(input[name]))
  return type === undefined
    ? invalid(path, "invalid_value", `${path} holds nothing to embed; give text, image, video or audio.`)
    : Result.map(readPart({ ...input, type }, "user", path), (part) => [part])
}

/** `text` first, then media by name, then lists of parts. */
const readNamed = (input: JsonObject, path: string): Read<ReadonlyArray<TurnPart>> =>
  Result.gen(function* () {
    const parts: Array<TurnPart> = []
    const text = input["text"]
    if (isPresent(text)) {
      if (typeof text !== "string")
        return yield* invalid(`${path}.text`, "invalid_type", `${path}.text must be a text.`)
      parts.push(textPart(text))
    }
    for (const name of media) {
      const value = input[name]
      if (isPresent(value)) parts.push(yield* readMedium(value, `${path}.${name}`))
    }
    for (const name of lists) {
      const value = input[name]
      if (isPresent(value)) parts.push(...(yield* readInputParts(value, `${path}.${name}`)))
    }
    return parts
  })
