// What data in base64 are by their first bytes: media with a known beginning, text, or neither.
// It must not know declared types or what media cost.

/** `unknown`: neither the beginning of a known format nor text, as raw samples of sound are. */
export type MediaKind = "media" | "sound" | "text" | "unknown"

const headBytes = 48
/** Base64 may be broken into lines. */
const headCharacters = 96
const longestLabel = 256

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
