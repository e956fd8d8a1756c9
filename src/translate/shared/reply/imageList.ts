// Builds OpenAI's image list from upstream pictures, joins lists, and gives reasons for missing pictures.
// Must not depend on an upstream's wrapping of pictures.
import type { Reason } from "../../../domain/ProviderError.ts"
import { upstreamText } from "../../../domain/text/upstreamText.ts"
import type { Image, ImageList, ImagesRequest, ImagesUsage } from "../../../wire/openai/Images.ts"

/** Joins the lists of all calls of one request, in order. */
export const joinImages = (lists: ReadonlyArray<ImageList>): ImageList => {
  const [first] = lists
  if (first === undefined) return { created: 0, data: [] }
  const usages = lists.flatMap(({ usage }) => (usage === undefined ? [] : [usage]))
  return {
    ...first,
    data: lists.flatMap(({ data }) => data),
    ...(usages.length === 0 ? {} : { usage: usages.reduce(addUsage) })
  }
}

const addUsage = (one: ImagesUsage, other: ImagesUsage): ImagesUsage => ({
  input_tokens: one.input_tokens + other.input_tokens,
  output_tokens: one.output_tokens + other.output_tokens,
  total_tokens: one.total_tokens + other.total_tokens,
  input_tokens_details: addDetails(one.input_tokens_details, other.input_tokens_details),
  output_tokens_details: addDetails(one.output_tokens_details, other.output_tokens_details)
})

type Details = ImagesUsage["input_tokens_details"]

const addDetails = (one: Details, other: Details): Details => ({
  text_tokens: one.text_tokens + other.text_tokens,
  image_tokens: one.image_tokens + other.image_tokens
})

/** Encodes a picture in the client's `response_format`. */
export const encodePicture = (base64: string, mimeType: string, { response_format }: ImagesRequest): Image =>
  response_format === "url" ? { url: `data:${mimeType};base64,${base64}` } : { b64_json: base64 }

/** OpenAI's names of image formats. */
export const outputFormatOf = (mimeType: string | undefined): Pick<ImageList, "output_format"> => {
  switch (mimeType) {
    case "image/png":
      return { output_format: "png" }
    case "image/jpeg":
      return { output_format: "jpeg" }
    case "image/webp":
      return { output_format: "webp" }
    default:
      return {}
  }
}

/** A filter withheld the picture or rejected the prompt. */
export const refusedPrompt = (message: string): Reason => ({
  _tag: "InvalidRequest",
  code: "content_policy_violation",
  param: "prompt",
  message
})

/** The same with the upstream's message, if the upstream sent one. */
export const filteredPicture = (message: string | null | undefined): Reason =>
  refusedPrompt(
    upstreamText(message ?? "") || "The provider's safety filters kept the picture back. Change the prompt."
  )

/** True when the picture is missing but the call did not fail otherwise: the request's other pictures stay valid. */
export const isWithoutPicture = (reason: Reason): boolean =>
  (reason._tag === "InvalidRequest" && reason.code === "content_policy_violation") ||
  (reason._tag === "BadReply" && reason.kind === "no_content")

export const noPicture: Reason = {
  _tag: "BadReply",
  kind: "no_content",
  message: "The upstream answered without a picture. Try again."
}
