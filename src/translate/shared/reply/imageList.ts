// Pictures of an upstream as the list OpenAI's clients read, several such lists as one, and why there may be none.
// It must not know how an upstream wraps its pictures.
import type { Reason } from "../../../domain/ProviderError.ts"
import { upstreamText } from "../../../domain/text/upstreamText.ts"
import type { Image, ImageList, ImagesRequest, ImagesUsage } from "../../../wire/openai/Images.ts"

/** The answers of all calls of one request, in order, as one. */
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

/** Bytes in the form the client asked for. */
export const pictureOf = (base64: string, mimeType: string, { response_format }: ImagesRequest): Image =>
  response_format === "url" ? { url: `data:${mimeType};base64,${base64}` } : { b64_json: base64 }

/** The published words for the form of a picture. */
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

/** A filter kept the picture back, or the prompt out. */
export const refusedPrompt = (message: string): Reason => ({
  _tag: "InvalidRequest",
  code: "content_policy_violation",
  param: "prompt",
  message
})

/** The same in the upstream's own words, where it has any. */
export const filteredPicture = (told: string | null | undefined): Reason =>
  refusedPrompt(upstreamText(told ?? "") || "The provider's safety filters kept the picture back. Change the prompt.")

/** True where there is no picture and nothing else is wrong: others of the same request are still worth having. */
export const isWithoutPicture = (reason: Reason): boolean =>
  (reason._tag === "InvalidRequest" && reason.code === "content_policy_violation") ||
  (reason._tag === "BadReply" && reason.kind === "no_content")

export const noPicture: Reason = {
  _tag: "BadReply",
  kind: "no_content",
  message: "The upstream answered without a picture. Try again."
}
