// Media that the gateway fetches for an upstream without URL support: their addresses in a request, and the check of their bytes.
// Must not fetch, and must not depend on a provider.
import * as Result from "effect/Result"
import type { BodyInvalid } from "../../../domain/GatewayError.ts"
import { isJsonObject, type Json } from "../../../domain/text/json.ts"
import type { ChatRequest } from "../../../wire/openai/Chat.ts"
import type { FetchedMedia } from "../../Translator.ts"
import { chatPart } from "../chat-request/partSpellings.ts"
import { base64OfText, isUtf8 } from "./base64.ts"
import { claimedType, type InlineMedia, isPublicMedia, mediaFault, type MediaSource, unknownUrl } from "./media.ts"
import { anyBytes, mimeOfMagic, normaliseMime, plainText } from "./mime.ts"

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

// Reads media that the gateway fetched for an upstream without URL support: determines the type, checks the bytes.

type Read<A> = Result.Result<A, BodyInvalid>

/** Reads the outcome of fetching a media address; `upstream` is the name for error messages. */
export const readFetched = (
  source: MediaSource,
  fetched: FetchedMedia | undefined,
  upstream: string
): Read<InlineMedia> => {
  if (fetched === undefined) {
    const hint = isPublicMedia(source.url)
      ? " The operator can have public addresses fetched by the setting media.fetch."
      : ""
    return mediaFault(
      source,
      "invalid_media_url",
      `${upstream} reads media from the request itself only: send data:<type>;base64,<data>.${hint}`
    )
  }
  switch (fetched._tag) {
    case "Failed":
      return failed(source, fetched.message)
    case "Unfetchable":
      return mediaFault(
        source,
        "invalid_media_url",
        `${upstream} reads media from the request itself, and the gateway fetches public https addresses only, without user name and port, and none of Google's files or of video pages: send such an address, or data:<type>;base64,<data>.`
      )
    case "Shown":
      return placeholderMedia(source)
    case "Fetched":
      return readBytes(source, fetched.contentType, fetched.data)
  }
}

const failed = (source: MediaSource, message: string): Read<never> =>
  mediaFault(source, "media_fetch_failed", `${message} Where this cannot be mended, send data:<type>;base64,<data>.`)

const inline = (mimeType: string, data: string): Read<InlineMedia> => Result.succeed({ _tag: "Inline", mimeType, data })

/** Placeholder for media that a dry run does not fetch. */
const placeholderMedia = (source: MediaSource): Read<InlineMedia> => {
  const mime = claimedType(source)
  const words = `<what ${source.url} holds when the request is sent>`
  return mime === undefined ? unknownUrl(source) : inline(mime, mime === plainText ? base64OfText(words) : words)
}

const isSpecific = (mime: string | undefined): mime is string =>
  mime !== undefined && mime !== anyBytes && mime !== "binary/octet-stream"

const isBinary = (mime: string | undefined): boolean =>
  mime === "application/pdf" || mime?.startsWith("image/") === true

/** The type: the host's `content-type`, else the claimed type, else the type of the bytes. */
const readBytes = (source: MediaSource, contentType: string | undefined, data: string): Read<InlineMedia> => {
  const said = contentType === undefined ? undefined : normaliseMime(contentType)
  const claimed = claimedType(source)
  const magicType = mimeOfMagic(data)
  if (said === plainText && isBinary(claimed)) {
    return failed(
      source,
      "At this URL is text, such as a page in the place of an image or a document: it must be readable without a login."
    )
  }
  const mime = isSpecific(said) ? said : isSpecific(claimed) ? claimed : magicType
  if (mime === undefined) return unknownUrl(source)
  if (mime === plainText)
    return isUtf8(data) ? inline(mime, data) : failed(source, "The text at this URL is not UTF-8.")
  return isBinary(mime) ? checkBytes(source, mime, magicType, data) : inline(mime, data)
}

/**
 * Hosts confuse image types and upstreams reject the mismatch, so the bytes decide. Image types without known magic
 * bytes pass unchecked.
 */
const checkBytes = (
  source: MediaSource,
  mime: string,
  magicType: string | undefined,
  data: string
): Read<InlineMedia> => {
  const isImage = mime.startsWith("image/")
  if (isImage && !imagesWithMagic.has(mime)) return inline(mime, data)
  return magicType !== undefined && isImage === magicType.startsWith("image/") && isBinary(magicType)
    ? inline(magicType, data)
    : failed(source, `What this URL holds is called ${mime}, but its bytes are not.`)
}

/** Image types with recognisable first bytes. */
const imagesWithMagic = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/heic"])
