// Media inside JSON: what there is, and the same JSON with short texts in place of the bytes.
// It must not know dialects: a media type next to a text of base64 is media in each of them.
import { type Fields, isFields } from "./readJson.ts"

export interface Media {
  readonly type: string
  /** Base64. */
  readonly data: string
}

const dataUri = /^data:([\w.+-]+\/[\w.+-]+)[^,]{0,64};base64,([A-Za-z0-9+/=_-]*)$/

const typeNames = ["mimeType", "mime_type", "media_type"] as const
const dataNames = ["data", "b64_json", "bytesBase64Encoded"] as const

const textOf = (fields: Fields, names: ReadonlyArray<string>): string | undefined => {
  for (const name of names) {
    const value = fields[name]
    if (typeof value === "string") return value
  }
  return undefined
}

/** Pictures of OpenAI's routes have no type next to them. */
const usualType = "image/png"

const mediaOf = (fields: Fields): Media | undefined => {
  const data = textOf(fields, dataNames)
  const type = textOf(fields, typeNames) ?? (typeof fields["b64_json"] === "string" ? usualType : undefined)
  return data === undefined || type === undefined ? undefined : { type, data }
}

/** All media of a value, in their order. */
export const mediaIn = (value: unknown): ReadonlyArray<Media> => {
  if (typeof value === "string") {
    const match = dataUri.exec(value)
    return match === null ? [] : [{ type: match[1] ?? "", data: match[2] ?? "" }]
  }
  if (!isFields(value)) return []
  const media = mediaOf(value)
  return media === undefined ? Object.values(value).flatMap(mediaIn) : [media]
}

/** Texts that are longer than this and look like base64 are media or signatures, which people do not read. */
const longestCode = 100

const short = (text: string): string => {
  const begin = dataUri.test(text) ? text.slice(0, text.indexOf(",") + 1) : ""
  return text.length > longestCode && (begin !== "" || /^[A-Za-z0-9+/=_-]+$/.test(text))
    ? `${begin}… (${text.length - begin.length} characters of base64)`
    : text
}

/** A value as lines to read. */
export const readable = (value: unknown): string =>
  JSON.stringify(value, (_name, inner: unknown) => (typeof inner === "string" ? short(inner) : inner), 2)

/** Pictures that browsers show, and that run nothing. */
export const isPicture = ({ data, type }: Media): boolean =>
  /^image\/(png|jpeg|webp|gif)$/.test(type) && /^[A-Za-z0-9+/]+=*$/.test(data)
