// Reads content parts as other dialects and libraries spell them, and gives them chat's own form.
// Must not depend on roles or a provider, and refuses nothing: the reader of chat's parts does that.
import { isJsonObject, type Json, type JsonObject } from "../../../domain/text/json.ts"
import { base64OfText } from "../media/base64.ts"

/** Parts of chat's own, which are read as they are. */
const chatTypes: ReadonlySet<Json | undefined> = new Set([
  "text",
  "image_url",
  "refusal",
  "thinking",
  "redacted_thinking",
  "provider_part"
])

/** Spellings of a text: Responses API, and the older ones of its items. */
const texts: ReadonlySet<Json | undefined> = new Set(["input_text", "output_text", "summary_text"])

/** Spellings of media, each with a name whose ending is the type where the media itself shows none. */
const mediaNames: ReadonlyMap<Json | undefined, string | undefined> = new Map([
  ["image", undefined],
  ["input_image", undefined],
  ["audio", "audio.mp3"],
  ["audio_url", "audio.mp3"],
  ["input_audio", undefined],
  ["video", "video.mp4"],
  ["video_url", "video.mp4"],
  ["input_video", "video.mp4"],
  ["document", "document.pdf"],
  ["document_url", "document.pdf"],
  ["file", undefined],
  ["file_url", undefined],
  ["input_file", undefined],
  ["media", undefined]
])

/** The part in chat's own form; one that has no other spelling is the same object. */
export const chatPart = (item: JsonObject): JsonObject => {
  const { type } = item
  if (chatTypes.has(type)) return item
  if (texts.has(type)) return { ...item, type: "text" }
  if (mediaNames.has(type)) return chatMedia(item)
  if (type === "reasoning") return { ...item, type: "thinking", thinking: item["thinking"] ?? item["text"] }
  if (type === "search_result") return { ...marksOf(item), type: "text", text: foundText(item) }
  return type === undefined ? googlePart(item) : item
}

/** Google's parts have no type: one of their members is the content. */
const googlePart = (item: JsonObject): JsonObject => {
  if (typeof item["text"] === "string") return { ...item, type: "text" }
  const data = item["inlineData"] ?? item["inline_data"] ?? item["fileData"] ?? item["file_data"]
  const video = item["videoMetadata"] ?? item["video_metadata"]
  return isJsonObject(data)
    ? chatMedia({ ...item, type: "media", source: data, ...(video === undefined ? {} : { video_metadata: video }) })
    : item
}

const marks = ["cache_control", "media_resolution", "signature", "thought_signature", "issuer"] as const

/** What stands next to the content of any part. */
const marksOf = (item: JsonObject): JsonObject =>
  Object.fromEntries(marks.flatMap((name) => (item[name] === undefined ? [] : [[name, item[name]]])))

const first = (holders: ReadonlyArray<JsonObject>, ...names: ReadonlyArray<string>): string | undefined => {
  for (const holder of holders)
    for (const name of names) {
      const value = holder[name]
      if (typeof value === "string" && value !== "") return value
    }
  return undefined
}

/** Where the content of a media part may be: under its type, in `source`, or in the part itself. */
const holdersOf = (item: JsonObject): ReadonlyArray<JsonObject> => {
  const named = [item[String(item["type"])], item["source"], item["image_url"]]
  const strings = named.flatMap((value) => (typeof value === "string" && value !== "" ? [{ url: value }] : []))
  return [...named.filter(isJsonObject), ...strings, item]
}

/** Whether chat's reader knows this form already. */
const isChatForm = ({ file, image, input_audio: audio, type }: JsonObject): boolean =>
  (type === "file" && isJsonObject(file)) ||
  (type === "image" && isJsonObject(image) && typeof image["b64_json"] === "string") ||
  (type === "input_audio" && isJsonObject(audio))

/** Media of any spelling: a file of chat, or a picture where the part names one by its address. */
const chatMedia = (item: JsonObject): JsonObject => {
  if (isChatForm(item)) return item
  const { type } = item
  const holders = holdersOf(item)
  const words = plainWords(holders)
  const data =
    words === undefined
      ? first(holders, "data", "file_data", "b64_json", "base64")
      : `data:text/plain;base64,${base64OfText(words)}`
  const url = first(holders, "url", "file_url", "file_uri", "fileUri", "uri")
  const id = first(holders, "file_id", "id")
  if (data === undefined && url === undefined && id === undefined) return item
  const mime = first(holders, "mime_type", "mimeType", "media_type", "mediaType", "format")
  const name = first(holders, "filename", "file_name", "title", "name") ?? mediaNames.get(type)
  const video = holders.find((holder) => isJsonObject(holder["video_metadata"]))?.["video_metadata"]
  const detail = first(holders, "detail")
  const about = {
    ...(mime === undefined || words !== undefined ? {} : { mime_type: mime }),
    ...(video === undefined ? {} : { video_metadata: video }),
    ...(detail === undefined ? {} : { detail })
  }
  const picture = data === undefined ? url : asDataUri(data, mime)
  if ((type === "image" || type === "input_image" || mime?.startsWith("image/") === true) && picture !== undefined)
    return { ...marksOf(item), type: "image_url", image_url: { url: picture, ...about } }
  if (type === "input_audio" && data !== undefined)
    return { ...marksOf(item), type, input_audio: { data, ...(mime === undefined ? {} : { format: mime }) } }
  return {
    ...marksOf(item),
    type: "file",
    file: {
      ...(data === undefined ? (url === undefined ? { file_id: id } : { file_url: url }) : { file_data: data }),
      ...about,
      ...(name === undefined ? {} : { filename: name })
    }
  }
}

/** A data URI may leave its type out: the bytes show it. */
const asDataUri = (data: string, mime = ""): string =>
  /^(?:data:|https?:|gs:)/i.test(data) ? data : `data:${mime};base64,${data}`

/** The text of a document that holds its own words instead of base64. */
const plainWords = (holders: ReadonlyArray<JsonObject>): string | undefined => {
  const source = holders.find(({ type }) => type === "text" || type === "content")
  if (source === undefined) return undefined
  const { content, data } = source
  if (typeof data === "string") return data
  if (typeof content === "string") return content
  return Array.isArray(content) ? textsOf(content) : undefined
}

const textsOf = (list: ReadonlyArray<Json>): string =>
  list.flatMap((one) => (isJsonObject(one) && typeof one["text"] === "string" ? [one["text"]] : [])).join("\n\n")

/** A search result that a client puts into the prompt: its title and address, then its texts. */
const foundText = ({ content, source, title }: JsonObject): string =>
  [title, source, Array.isArray(content) ? textsOf(content) : content]
    .filter((text) => typeof text === "string" && text !== "")
    .join("\n")
