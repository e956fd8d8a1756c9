// Wire schema of the image generation request as clients send it, extensions included, and of its answer.
// It must not know any upstream. The schema keeps unknown fields.
import * as Schema from "effect/Schema"
import { maybe } from "../json.ts"
import { costFields } from "./ChatReply.ts"

const opt = Schema.optionalKey

const text = maybe(Schema.String)
const number = maybe(Schema.Finite)
const flag = maybe(Schema.Boolean)

/** Extensions are accepted in OpenAI's spelling and in Google's. */
const extensions = {
  aspect_ratio: text,
  aspectRatio: text,
  image_size: text,
  imageSize: text,
  negative_prompt: text,
  negativePrompt: text,
  guidance_scale: number,
  guidanceScale: number,
  person_generation: text,
  personGeneration: text,
  safety_setting: text,
  safetySetting: text,
  safety_settings: maybe(Schema.Unknown),
  safetySettings: maybe(Schema.Unknown),
  add_watermark: flag,
  addWatermark: flag,
  enhance_prompt: flag,
  enhancePrompt: flag,
  include_rai_reason: flag,
  includeRaiReason: flag,
  include_safety_attributes: flag,
  includeSafetyAttributes: flag,
  storage_uri: text,
  storageUri: text,
  language: text,
  seed: number,
  labels: maybe(Schema.Unknown)
}

/** Every parameter the gateway knows. Each translator must decide what happens to each of them. */
export const ImagesParameters = Schema.Struct({
  model: Schema.String,
  prompt: Schema.String,
  n: number,
  size: text,
  response_format: text,
  output_format: text,
  outputFormat: text,
  output_compression: number,
  outputCompression: number,
  quality: maybe(Schema.Unknown),
  style: maybe(Schema.Unknown),
  background: maybe(Schema.Unknown),
  moderation: maybe(Schema.Unknown),
  user: maybe(Schema.Unknown),
  stream: flag,
  partial_images: number,
  ...extensions
})

/** The body of POST /v1/images/generations. */
export const ImagesRequest = Schema.StructWithRest(ImagesParameters, [Schema.Record(Schema.String, Schema.Unknown)])
export interface ImagesRequest extends Schema.Schema.Type<typeof ImagesRequest> {}

/** The names of the known parameters. */
export type KnownImagesParam = keyof typeof ImagesParameters.fields

export const Image = Schema.Struct({
  b64_json: opt(Schema.String),
  url: opt(Schema.String),
  revised_prompt: opt(Schema.String),
  /** Scores by category, as the upstream returned them (extension). */
  safety_attributes: opt(Schema.Unknown)
})
export interface Image extends Schema.Schema.Type<typeof Image> {}

export const ImagesUsage = Schema.Struct({
  input_tokens: Schema.Number,
  output_tokens: Schema.Number,
  total_tokens: Schema.Number,
  input_tokens_details: Schema.Struct({ text_tokens: Schema.Number, image_tokens: Schema.Number }),
  output_tokens_details: Schema.Struct({ text_tokens: Schema.Number, image_tokens: Schema.Number }),
  ...costFields
})
export interface ImagesUsage extends Schema.Schema.Type<typeof ImagesUsage> {}

/** The answer, full form. */
export const ImageList = Schema.Struct({
  created: Schema.Number,
  data: Schema.Array(Image),
  output_format: opt(Schema.Literals(["png", "jpeg", "webp"])),
  usage: opt(ImagesUsage),
  provider: opt(Schema.String)
})
export interface ImageList extends Schema.Schema.Type<typeof ImageList> {}
