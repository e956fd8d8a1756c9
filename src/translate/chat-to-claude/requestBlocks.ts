// Translates parts of a turn (text, images, documents, thinking) to blocks of a Claude message.
// Must not depend on turns, roles or calls.
import * as Result from "effect/Result"
import type { RequestFault } from "../../domain/GatewayError.ts"
import type { BlockOut } from "../../wire/anthropic/Messages.ts"
import { textOfBase64 } from "../shared/media/base64.ts"
import { readFetched } from "../shared/media/fetchedMedia.ts"
import { isInline, mediaFault, notUtf8, readInline } from "../shared/media/media.ts"
import { plainText } from "../shared/media/mime.ts"
import type { CacheControl, MediaPart, TurnPart } from "../shared/chat-request/readParts.ts"
import type { TranslateContext } from "../Translator.ts"

/** Provider name of `provider_part` blocks from Claude. */
export const claudeProvider = "anthropic"

/**
 * Translates all parts with an upstream equivalent. `own`: thinking and server-side parts of Claude may be included.
 */
export const partsToClaude = (
  parts: ReadonlyArray<TurnPart>,
  own: boolean,
  context: TranslateContext
): Result.Result<ReadonlyArray<BlockOut>, RequestFault> => {
  const blocks: Array<BlockOut> = []
  for (const part of parts) {
    if (part._tag === "Media") {
      const media = mediaToClaude(part, context)
      if (Result.isFailure(media)) return Result.fail(media.failure)
      blocks.push(media.success)
      continue
    }
    const isOwn = own && (part.issuer === undefined || part.issuer === context.target.issuer)
    const block = partToClaude(part, isOwn)
    if (block !== undefined) blocks.push(block)
  }
  return Result.succeed(blocks)
}

/** Claude rejects texts of white space alone, so they are dropped. */
const partToClaude = (part: Exclude<TurnPart, MediaPart>, own: boolean): BlockOut | undefined => {
  switch (part._tag) {
    case "Text":
      return isBlank(part.text) ? undefined : { type: "text", text: part.text, ...marked(part.cacheControl) }
    // Claude rejects thinking without a signature, so thoughts from other sources are dropped.
    case "Thinking":
      return own && part.signature !== undefined
        ? { type: "thinking", thinking: part.thinking, signature: part.signature }
        : undefined
    case "Redacted":
      return own ? { type: "redacted_thinking", data: part.data } : undefined
    case "Own":
      return own && part.provider === claudeProvider ? part.part : undefined
  }
}

const isBlank = (text: string): boolean => !/\S/.test(text)

const marked = (cacheControl: CacheControl): { readonly cache_control?: CacheControl } =>
  cacheControl === undefined ? {} : { cache_control: cacheControl }

/** Source: Anthropic, vision, supported formats. */
const images = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"])
const longestTitle = 500

/** Vertex AI rejects media URLs for Claude; media are sent as bytes. */
const mediaToClaude = (
  { source, cacheControl }: MediaPart,
  { media }: TranslateContext
): Result.Result<BlockOut, RequestFault> => {
  const read = isInline(source) ? readInline(source) : readFetched(source, media(source.url), "Claude")
  return Result.flatMap(read, ({ mimeType, data }): Result.Result<BlockOut, RequestFault> => {
    if (images.has(mimeType)) {
      return Result.succeed({
        type: "image",
        source: { type: "base64", media_type: mimeType, data },
        ...marked(cacheControl)
      })
    }
    const title = source.filename === undefined ? {} : { title: source.filename.slice(0, longestTitle) }
    if (mimeType === "application/pdf") {
      return Result.succeed({
        type: "document",
        source: { type: "base64", media_type: mimeType, data },
        ...title,
        ...marked(cacheControl)
      })
    }
    if (mimeType !== plainText) {
      return mediaFault(
        source,
        "unsupported_media_type",
        "Claude does not read this media type. Readable are jpeg, png, gif and webp images, pdf and text documents."
      )
    }
    const text = textOfBase64(data)
    return text === undefined
      ? notUtf8(source)
      : Result.succeed({
          type: "document",
          source: { type: "text", media_type: plainText, data: text },
          ...title,
          ...marked(cacheControl)
        })
  })
}
