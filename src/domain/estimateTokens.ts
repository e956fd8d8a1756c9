// Estimates the tokens of a request from its body, before an upstream has counted them.
// It must not know models. It knows which members of a dialect carry media; every other string counts as text.
import { isJsonObject, type Json, type JsonObject } from "./text/json.ts"

/** The tokens of a picture, or of one tile of a large one. Source: https://ai.google.dev/gemini-api/docs/tokens */
const tileTokens = 258
/** 128 KiB of media are about one tile, one second of video, or eight seconds of sound. */
const tileBytes = 128 * 1024
const charactersPerToken = 4

interface Seen {
  characters: number
  tokens: number
  /** Those of `tokens` that are sound. */
  audio: number
}

/** Scripts without spaces, where nearly every character is a token: kana, ideographs, Hangul, full-width forms. */
const isDense = (unit: number): boolean =>
  unit >= 0x2e80 &&
  (unit <= 0x9fff ||
    (unit >= 0xac00 && unit <= 0xd7ff) ||
    (unit >= 0xf900 && unit <= 0xfaff) ||
    (unit >= 0xff00 && unit <= 0xffef))

/** Ideographs and emoji beyond the first plane are two UTF-16 units; only the first one counts. */
const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

/** The weighted length of a text: four units are one token, and a character of a dense script counts four. */
export const charactersOf = (text: string): number => {
  let dense = 0
  let silent = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (isHighSurrogate(unit) || isDense(unit)) dense++
    else if (isLowSurrogate(unit)) silent++
  }
  return text.length + dense * (charactersPerToken - 1) - silent
}

/** The tokens of a weighted length. */
export const tokensOfCharacters = (characters: number): number => Math.ceil(characters / charactersPerToken)

const readText = (text: string, seen: Seen): void => {
  seen.characters += charactersOf(text)
}

/** JSON that the model reads as text, such as schemas of tools; member names have no special meaning. */
const readPlain = (value: Json, seen: Seen): void => {
  if (typeof value === "string") readText(value, seen)
  else if (typeof value === "number") seen.tokens++
  else if (Array.isArray(value)) for (const item of value) readPlain(item, seen)
  else if (isJsonObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      seen.characters += name.length
      if (member !== undefined) readPlain(member, seen)
    }
  }
}

/** The member that holds the media of a content part, by the type of the part. */
const holders: Readonly<Record<string, ReadonlySet<string>>> = {
  image_url: new Set(["image_url"]),
  input_audio: new Set(["input_audio"]),
  file: new Set(["file"]),
  image: new Set(["image", "source"]),
  document: new Set(["source"]),
  provider_part: new Set(["part"])
}
/** The media members without a `type`: those of embeddings inputs and of parts in Google's contents. */
const untyped: ReadonlySet<string> = new Set([
  "image",
  "video",
  "image_url",
  "data",
  "inlineData",
  "inline_data",
  "fileData",
  "file_data"
])
const none: ReadonlySet<string> = new Set()

/** Members of a message other than `content` are text, because a message is not a content part. */
const holdersOf = ({ role, type }: JsonObject): ReadonlySet<string> =>
  typeof type === "string"
    ? ((Object.hasOwn(holders, type) ? holders[type] : undefined) ?? none)
    : role === undefined
      ? untyped
      : none

/** Members that contain media as base64, and members that refer to media by address. */
const carrying: ReadonlySet<string> = new Set(["data", "file_data", "b64_json", "base64", "bytesBase64Encoded"])
const pointing: ReadonlySet<string> = new Set([
  "url",
  "file_url",
  "file_uri",
  "fileUri",
  "file_id",
  "gcs_uri",
  "gcsUri"
])

/** Types whose bytes are not text: media types, formats, and file name extensions. */
const sound = /^audio\/|(?:^|\.)(?:wav|mp3|aiff?|(?:x-)?aac|og[ga]|opus|flac|pcm(?:16)?|(?:x-)?m4a|mpga|weba)$/i
const opaque =
  /^(?:image|audio|video)\/|^application\/(?:x-)?pdf|(?:^|\.)(?:pdf|png|jpe?g|jfif|gif|webp|avif|hei[cf]|m4v|mp4|mpe?g|mov|avi|webm|wmv|flv|3gp)$/i
const saysNothing = "application/octet-stream"
const typeNames = ["media_type", "mime_type", "mimeType", "format"] as const
const longestLabel = 256

/** The media type of a data URI; `undefined` for other text. */
const labelOf = (text: string): string | undefined => /^data:([^;,]*)/i.exec(text.slice(0, longestLabel))?.[1]?.trim()

/** The types that are declared: all of them, since dialects differ in which one counts; else the file name's. */
const signsOf = (text: string, holder: JsonObject, usual: string | undefined): ReadonlyArray<string> => {
  const signs: Array<string> = []
  const add = (sign: Json | undefined): void => {
    if (typeof sign === "string" && sign !== "" && sign !== saysNothing) signs.push(sign.slice(-longestLabel))
  }
  for (const name of typeNames) add(holder[name])
  add(labelOf(text))
  if (signs.length === 0) add(holder["filename"])
  if (signs.length === 0) add(usual)
  return signs
}

/** Data count as what their bytes and their declared types agree on; where these differ, as the more expensive of the two. */
const readingOf = (signs: ReadonlyArray<string>, kind: MediaKind): "text" | "media" | "either" => {
  const areMedia = signs.some((sign) => sound.test(sign) || opaque.test(sign))
  const areText = signs.some((sign) => !sound.test(sign) && !opaque.test(sign))
  const isMedia = kind === "media" || kind === "sound"
  if (!areText && (isMedia || (areMedia && kind === "unknown"))) return "media"
  return areText && !areMedia && !isMedia ? "text" : "either"
}

/** Base64 encodes three bytes in four characters. */
const readData = (base64: string, holder: JsonObject, usual: string | undefined, seen: Seen): void => {
  const bytes = (base64.length * 3) / 4
  const signs = signsOf(base64, holder, usual)
  const kind = mediaKindOf(base64)
  const reading = readingOf(signs, kind)
  const tokens = tileTokens * Math.max(1, Math.ceil(bytes / tileBytes))
  if (reading === "text" || (reading === "either" && tokensOfCharacters(bytes) > tokens)) {
    seen.characters += bytes
    return
  }
  seen.tokens += tokens
  if (kind === "sound" || signs.some((sign) => sound.test(sign))) seen.audio += tokens
}

/** An address field may contain the data itself, as a data URI or as bare base64. */
const longestAddress = 8192

const readAddress = (text: string, holder: JsonObject, usual: string | undefined, seen: Seen): void => {
  if (labelOf(text) !== undefined || text.length > longestAddress) return readData(text, holder, usual, seen)
  seen.tokens += tileTokens
  if (signsOf(text, holder, usual).some((sign) => sound.test(sign))) seen.audio += tileTokens
}

/** What media without a type are, by the member that holds them; other members may hold anything. */
const usualTypes: ReadonlyMap<string, string> = new Map([
  ["image", "image/*"],
  ["image_url", "image/*"],
  ["input_audio", "audio/*"],
  ["video", "video/*"]
])

/** Counts a media member: an address, or an object with an address, base64, or a plain text document. */
const readMedia = (value: Json, usual: string | undefined, seen: Seen): void => {
  if (typeof value === "string") return readAddress(value, {}, usual, seen)
  if (!isJsonObject(value)) return readPlain(value, seen)
  const isPlainText = value["type"] === "text"
  for (const [name, member] of Object.entries(value)) {
    seen.characters += name.length
    if (member === undefined) continue
    if (name === "content") readContent(member, seen)
    else if (typeof member !== "string") readMedia(member, usual, seen)
    else if (carrying.has(name) && !isPlainText) readData(member, value, usual, seen)
    else if (pointing.has(name) && !isPlainText) readAddress(member, value, usual, seen)
    else readText(member, seen)
  }
}

/** Members that hold content again: those of messages and contents, and of the answers of functions. */
const within: ReadonlySet<string> = new Set(["content", "parts", "functionResponse", "function_response"])

/** Counts messages, content parts, or text; the content of a part may be parts again. */
const readContent = (value: Json, seen: Seen): void => {
  if (Array.isArray(value)) for (const item of value) readContent(item, seen)
  else if (!isJsonObject(value)) readPlain(value, seen)
  else {
    const media = holdersOf(value)
    for (const [name, member] of Object.entries(value)) {
      seen.characters += name.length
      if (member === undefined) continue
      if (media.has(name)) readMedia(member, usualTypes.get(name), seen)
      else if (within.has(name)) readContent(member, seen)
      else readPlain(member, seen)
    }
  }
}

/** Tokens of a prompt, and those of them that are sound, which some models price higher. */
export interface PromptTokens {
  readonly tokens: number
  readonly audio: number
}

const tokensOf = (input: Json, read: (input: Json, seen: Seen) => void): PromptTokens => {
  const seen: Seen = { characters: 0, tokens: 0, audio: 0 }
  read(input, seen)
  return { tokens: seen.tokens + tokensOfCharacters(seen.characters), audio: seen.audio }
}

/**
 * The tokens of messages or of parts: a quarter of the characters, and one for each character of a dense script. A
 * number counts one, because it may be a token itself. Media count 258 for each 128 KiB or address. Names count as
 * text.
 */
export const estimatePrompt = (input: Json): PromptTokens => tokensOf(input, readContent)

/** The same as one number. */
export const estimateTokens = (input: Json): number => estimatePrompt(input).tokens

/** The tokens of JSON without media, such as schemas of tools. */
export const estimateTextTokens = (input: Json): number => tokensOf(input, readPlain).tokens

// What data in base64 are by their first bytes: media with a known beginning, text, or neither.

/** `unknown`: neither the beginning of a known format nor text, as raw samples of sound are. */
type MediaKind = "media" | "sound" | "text" | "unknown"

const headBytes = 48
/** Base64 may be broken into lines. */
const headCharacters = 96

/** The first that fits counts. Frames of MPEG audio and AAC begin with eleven set bits, as the mark of a JPEG does. */
const beginnings: ReadonlyArray<readonly [RegExp, MediaKind]> = [
  [/^\x89PNG\r\n\x1a\n/, "media"],
  [/^\xff\xd8\xff/, "media"],
  [/^GIF8[79]a/, "media"],
  [/^(?:II\*\0|MM\0\*)/, "media"],
  [/^%PDF-/, "media"],
  [/^RIFF[^]{4}(?:WEBP|AVI )/, "media"],
  [/^RIFF[^]{4}WAVE/, "sound"],
  [/^FORM[^]{4}AIF[FC]/, "sound"],
  [/^(?:ID3|fLaC|OggS|#!AMR)/, "sound"],
  [/^\xff[\xe0-\xff]/, "sound"],
  [/^[^]{4}ftypM4[AB]/, "sound"],
  [/^[^]{4}ftyp/, "media"],
  // Matroska and WebM, MPEG streams, Flash, Windows Media.
  [/^\x1a\x45\xdf\xa3/, "media"],
  [/^\0\0\x01[\xb0-\xbf]/, "media"],
  [/^FLV\x01/, "media"],
  [/^\x30\x26\xb2\x75/, "media"]
]

/** Control characters that no text has. */
// oxlint-disable-next-line no-control-regex
const binary = /[\0-\x08\x0b\x0e-\x1a\x1c-\x1f]/

/** Of base64, or of a data URI; without `base64` its data are text. */
export const mediaKindOf = (data: string): MediaKind => {
  let from = 0
  if (/^data:/i.test(data.slice(0, 5))) {
    const comma = data.slice(0, longestLabel).indexOf(",")
    if (comma < 0 || !/;\s*base64\s*$/i.test(data.slice(0, comma))) return "text"
    from = comma + 1
  }
  const head = Buffer.from(data.slice(from, from + headCharacters), "base64").toString("latin1", 0, headBytes)
  const known = beginnings.find(([pattern]) => pattern.test(head))?.[1]
  return known ?? (binary.test(head) ? "unknown" : "text")
}
