// Translates text, image and video inputs to instances of multimodalembedding@001.
// Must not depend on text-only models. Field names: Vertex AI's page on multimodal embeddings.
import * as Result from "effect/Result"
import { readEach } from "../../domain/text/readEach.ts"
import type { RequestFault } from "../../domain/GatewayError.ts"
import { isJsonObject, isLongInteger, type Json, type JsonObject } from "../../domain/text/json.ts"
import { normaliseBase64 } from "../shared/media/base64.ts"
import { invalid } from "../shared/fault.ts"
import { isCloudStorageUri, readMedia } from "../shared/media/media.ts"
import { mimeOfPath } from "../shared/media/mime.ts"
import type { EmbeddingInput } from "../shared/readEmbeddings.ts"

type Read<A> = Result.Result<A, RequestFault>

/** A text input becomes an instance of that text. */
export const multimodalInstances = (inputs: ReadonlyArray<EmbeddingInput>): Read<ReadonlyArray<JsonObject>> =>
  readEach(inputs, (input) => instanceOf(inFields(input), input.path))

const isFields = (written: unknown): written is JsonObject =>
  isJsonObject(written) && written["type"] === undefined && ["text", "image", "video"].some((name) => name in written)

/** An input in the fields of an instance: parts of chats are sorted into them. */
const inFields = ({ parts, written }: EmbeddingInput): JsonObject => {
  if (isFields(written)) return written
  const fields: Record<string, Json> = {}
  const texts: Array<string> = []
  for (const part of parts) {
    if (part._tag === "Text") texts.push(part.text)
    if (part._tag !== "Media") continue
    const { declaredType, isData, url } = part.source
    const isVideo = (declaredType ?? mimeOfPath(url) ?? url.slice("data:".length)).startsWith("video/")
    fields[isVideo ? "video" : "image"] = {
      [isData ? "base64" : "url"]: url,
      ...(declaredType === undefined ? {} : { mime_type: declaredType })
    }
  }
  return { ...(texts.length === 0 ? {} : { text: texts.join("\n") }), ...fields }
}

const instanceOf = (input: JsonObject, path: string): Read<JsonObject> => {
  const text = input["text"] ?? undefined
  if (text !== undefined && (typeof text !== "string" || text === "")) {
    return invalid(`${path}.text`, "invalid_value", `${path}.text must be a text that is not empty.`)
  }
  return Result.gen(function* () {
    const image = yield* mediumOf(input["image"] ?? undefined, `${path}.image`)
    const video = yield* mediumOf(input["video"] ?? undefined, `${path}.video`)
    const stretch = yield* stretchOf(input["video"] ?? undefined, `${path}.video`)
    const instance: JsonObject = {
      ...(text === undefined ? {} : { text }),
      ...(image === undefined ? {} : { image: withType(image) }),
      ...(video === undefined ? {} : { video: { ...video.data, ...stretch } })
    }
    return Object.keys(instance).length === 0
      ? yield* invalid(path, "invalid_value", `${path} holds nothing to embed; give text, image or video.`)
      : instance
  })
}

interface Medium {
  readonly data: { readonly gcsUri: string } | { readonly bytesBase64Encoded: string }
  readonly mimeType: string | undefined
}

/** Only images have a field for the type. */
const withType = ({ data, mimeType }: Medium): JsonObject => (mimeType === undefined ? data : { ...data, mimeType })

const forms = "a gs:// URI (url or gcs_uri), a data URI (url) or base64"

/** Reads `{url | base64 | gcs_uri, mime_type?}`; https URLs are refused because media are not fetched here. */
const mediumOf = (value: Json | undefined, path: string): Read<Medium | undefined> => {
  if (value === undefined) return Result.succeed(undefined)
  if (!isJsonObject(value)) return invalid(path, "invalid_type", `${path} must be an object with ${forms}.`)
  const name = ["gcs_uri", "url", "base64"].find((field) => (value[field] ?? undefined) !== undefined)
  const source = name === undefined ? undefined : value[name]
  if (name === undefined || typeof source !== "string" || source === "") {
    return invalid(`${path}.${name ?? "url"}`, "invalid_value", `${path} needs ${forms}.`)
  }
  const declared = value["mime_type"] ?? undefined
  if (declared !== undefined && typeof declared !== "string") {
    return invalid(`${path}.mime_type`, "invalid_type", `${path}.mime_type must be a string.`)
  }
  if (name !== "base64" && isCloudStorageUri(source)) {
    return Result.succeed({ data: { gcsUri: source }, mimeType: declared })
  }
  if (/^data:/i.test(source.slice(0, 5))) {
    const media = { path: `${path}.${name}`, url: source, isData: true, declaredType: declared, filename: undefined }
    return Result.flatMap(readMedia(media, { kind: "vertex-ai" }), (read): Read<Medium> =>
      read._tag === "Inline"
        ? Result.succeed({ data: { bytesBase64Encoded: read.data }, mimeType: read.mimeType })
        : invalid(media.path, "invalid_media_url", `${path} must be ${forms}.`)
    )
  }
  const data = name === "base64" ? normaliseBase64(source) : undefined
  if (data !== undefined) return Result.succeed({ data: { bytesBase64Encoded: data }, mimeType: declared })
  return name === "base64"
    ? invalid(
        `${path}.base64`,
        "invalid_base64",
        "The data is not base64: it holds characters or padding base64 does not have."
      )
    : invalid(`${path}.${name}`, "invalid_media_url", `${path}.${name} cannot be read by this model; send ${forms}.`)
}

const offsets = [
  ["start_offset", "startOffsetSec"],
  ["end_offset", "endOffsetSec"],
  ["interval", "intervalSec"]
] as const

/** The section of a video to embed, and the length of its segments. */
const stretchOf = (video: Json | undefined, path: string): Read<JsonObject> => {
  const config: Record<string, number> = {}
  for (const [param, field] of offsets) {
    const value = isJsonObject(video) ? (video[param] ?? undefined) : undefined
    if (value === undefined) continue
    if (typeof value !== "number" || !Number.isFinite(value)) {
      const code = typeof value === "number" || isLongInteger(value) ? "invalid_value" : "invalid_type"
      return invalid(`${path}.${param}`, code, `${path}.${param} must be a number of seconds.`)
    }
    config[field] = value
  }
  return Result.succeed(Object.keys(config).length === 0 ? {} : { videoSegmentConfig: config })
}
