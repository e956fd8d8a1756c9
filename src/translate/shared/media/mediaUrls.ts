// Lists the public media URLs of a chat request, for fetching before translation.
// Must not fetch and must not depend on an upstream; checks nothing but the addresses.
import { isJsonObject, type Json } from "../../../domain/text/json.ts"
import type { ChatRequest } from "../../../wire/openai/Chat.ts"
import { chatPart } from "../chat-request/partSpellings.ts"
import { isPublicMedia } from "./media.ts"

/** Distinct URLs in order. Includes URLs in parts that no translator reads. */
export const mediaUrls = ({ messages }: ChatRequest): ReadonlyArray<string> => {
  const urls = new Set<string>()
  for (const { content, content_blocks: blocks, content_parts: parts } of messages) {
    for (const list of [content, blocks, parts]) {
      if (!Array.isArray(list)) continue
      for (const part of list) {
        const url = urlOf(part)
        if (typeof url === "string" && isPublicMedia(url)) urls.add(url)
      }
    }
  }
  return [...urls]
}

/** A file with inline data needs no URL. */
const urlOf = (given: unknown): Json | undefined => {
  if (!isJsonObject(given)) return undefined
  const part = chatPart(given)
  const { file, image_url: image, input_audio: audio } = part
  if (part["type"] === "image_url") return isJsonObject(image) ? image["url"] : image
  if (part["type"] === "input_audio") return isJsonObject(audio) ? audio["data"] : undefined
  if (part["type"] !== "file" || !isJsonObject(file)) return undefined
  return [file["file_data"], file["file_url"], file["url"], file["file_id"]].find((value) => (value ?? "") !== "")
}
