// The public addresses of media that a chat request names: what a shell may fetch before it is translated.
// It must not know who fetches, nor for which upstream. Nothing is judged here but the addresses.
import { isJsonObject, type Json } from "../../../domain/text/json.ts"
import type { ChatRequest } from "../../../wire/openai/Chat.ts"
import { isPublicMedia } from "./media.ts"

/** Each once, in order. Parts that no translator reads may be among them. */
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

/** A file that holds its data is not looked for elsewhere. */
const urlOf = (part: unknown): Json | undefined => {
  if (!isJsonObject(part)) return undefined
  const { file, image_url: image } = part
  if (part["type"] === "image_url") return isJsonObject(image) ? image["url"] : image
  if (part["type"] !== "file" || !isJsonObject(file)) return undefined
  return (file["file_data"] ?? "") === "" ? file["file_url"] : undefined
}
