// Lists the public media URLs of a chat request, for fetching before translation.
// Must not fetch and must not depend on an upstream; checks nothing but the addresses.
import { isJsonObject, type Json } from "../../../domain/text/json.ts"
import type { ChatRequest } from "../../../wire/openai/Chat.ts"
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
const urlOf = (part: unknown): Json | undefined => {
  if (!isJsonObject(part)) return undefined
  const { file, image_url: image } = part
  if (part["type"] === "image_url") return isJsonObject(image) ? image["url"] : image
  if (part["type"] !== "file" || !isJsonObject(file)) return undefined
  return (file["file_data"] ?? "") === "" ? file["file_url"] : undefined
}
