// How many tokens a request will probably have, guessed from its body before anybody has counted.
// It must not know dialects or models: it reads strings, numbers and media wherever they stand.
import { isJsonObject, type Json } from "./json.ts"

/** What a picture, or a part of one, costs where pictures are counted by tiles. */
const tileTokens = 258
/** Media of this many bytes are about one tile, a second of video, or eight of sound. */
const tileBytes = 128 * 1024
const charactersPerToken = 4

interface Seen {
  characters: number
  tokens: number
}

/** Scripts without spaces, where nearly every character is a token: kana, ideographs, Hangul, full-width forms. */
const isDense = (unit: number): boolean =>
  unit >= 0x2e80 && (unit <= 0x9fff || (unit >= 0xac00 && unit <= 0xd7ff) || (unit >= 0xf900 && unit <= 0xfaff) || (unit >= 0xff00 && unit <= 0xffef))

/** Ideographs and emoji beyond the first plane are two units; the first of them counts. */
const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

const readText = (text: string, seen: Seen): void => {
  let dense = 0
  let silent = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (isHighSurrogate(unit) || isDense(unit)) dense++
    else if (isLowSurrogate(unit)) silent++
  }
  seen.tokens += dense
  seen.characters += text.length - dense - silent
}

/** Base64 has four characters for three bytes. */
const tilesOf = (base64: string): number => Math.max(1, Math.ceil((base64.length * 3) / 4 / tileBytes))

/** Names under which the dialects carry media as base64, and under which they point to them. */
const carrying: ReadonlySet<string> = new Set(["data", "file_data", "bytesBase64Encoded"])
const pointing: ReadonlySet<string> = new Set(["url", "file_uri", "file_id", "image_url", "gcsUri"])

const readString = (text: string, name: string, seen: Seen): void => {
  if (carrying.has(name) || text.startsWith("data:")) seen.tokens += tileTokens * tilesOf(text)
  else if (pointing.has(name)) seen.tokens += tileTokens
  else readText(text, seen)
}

const read = (value: Json, name: string, seen: Seen): void => {
  if (typeof value === "string") readString(value, name, seen)
  else if (typeof value === "number") seen.tokens++
  else if (Array.isArray(value)) for (const item of value) read(item, name, seen)
  else if (isJsonObject(value)) {
    for (const [key, member] of Object.entries(value)) {
      seen.characters += key.length
      if (member !== undefined) read(member, key, seen)
    }
  }
}

/**
 * Tokens of this input: a quarter of its characters, every character of a dense script, one a number (which may be a
 * token itself), 258 for 128 KiB of media or a pointer to some. Names count as text: schemas of tools are made of them.
 */
export const estimateTokens = (input: Json): number => {
  const seen: Seen = { characters: 0, tokens: 0 }
  read(input, "", seen)
  return seen.tokens + Math.ceil(seen.characters / charactersPerToken)
}
