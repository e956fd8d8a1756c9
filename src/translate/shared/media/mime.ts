// MIME types of media: aliases, file extensions, magic bytes, text types, unreadable types.
// Must not depend on URLs or providers' fields.

/** Aliases from clients, mapped to the spelling sent upstream. */
const aliases: Readonly<Record<string, string>> = {
  "image/jpg": "image/jpeg",
  "image/pjpeg": "image/jpeg",
  "image/x-png": "image/png",
  "audio/x-wav": "audio/wav",
  "audio/wave": "audio/wav",
  "audio/vnd.wave": "audio/wav",
  "audio/x-aac": "audio/aac",
  "audio/x-flac": "audio/flac",
  "audio/x-m4a": "audio/m4a",
  "audio/x-aiff": "audio/aiff",
  "audio/l16": "audio/pcm",
  "video/quicktime": "video/mov",
  "video/x-msvideo": "video/avi",
  "video/x-ms-wmv": "video/wmv",
  "video/mpg": "video/mpeg",
  "video/mpegps": "video/mpeg",
  "application/x-pdf": "application/pdf"
}

/** Office files, which few models read (M-711). */
const officeTypes: Readonly<Record<string, string>> = {
  doc: "application/msword",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  dotx: "application/vnd.openxmlformats-officedocument.wordprocessingml.template",
  xls: "application/vnd.ms-excel",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  ppt: "application/vnd.ms-powerpoint",
  pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  odt: "application/vnd.oasis.opendocument.text",
  ods: "application/vnd.oasis.opendocument.spreadsheet",
  odp: "application/vnd.oasis.opendocument.presentation"
}
const officeEndings: ReadonlyMap<string, string> = new Map(
  Object.entries(officeTypes).map(([ending, type]) => [type, ending])
)
/** `docx` of such a file's type; undefined for every other type. */
export const officeEnding = (mime: string): string | undefined => officeEndings.get(mime)

const byExtension: Readonly<Record<string, string>> = {
  ...officeTypes,
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  jfif: "image/jpeg",
  webp: "image/webp",
  heic: "image/heic",
  heif: "image/heif",
  gif: "image/gif",
  avif: "image/avif",
  wav: "audio/wav",
  mp3: "audio/mp3",
  aiff: "audio/aiff",
  aif: "audio/aiff",
  aac: "audio/aac",
  ogg: "audio/ogg",
  oga: "audio/ogg",
  opus: "audio/opus",
  flac: "audio/flac",
  pcm: "audio/pcm",
  m4a: "audio/m4a",
  mpga: "audio/mpga",
  weba: "audio/webm",
  mp4: "video/mp4",
  m4v: "video/mp4",
  mpeg: "video/mpeg",
  mpg: "video/mpeg",
  mov: "video/mov",
  avi: "video/avi",
  webm: "video/webm",
  wmv: "video/wmv",
  "3gp": "video/3gpp",
  flv: "video/x-flv",
  pdf: "application/pdf",
  svg: "image/svg+xml",
  bmp: "image/bmp",
  tif: "image/tiff",
  tiff: "image/tiff",
  zip: "application/zip"
}

const textExtensions = new Set(
  (
    "txt text log html htm css csv tsv md markdown json jsonl xml yaml yml toml ini rtf py js mjs cjs ts tsx jsx java c h cc cpp hpp cs go rs rb php " +
    "swift kt scala sh bash sql r lua pl tex vue svelte proto graphql"
  ).split(" ")
)

/** All text types are sent as this type. */
export const plainText = "text/plain"
/** Carries no information about the bytes; any other sign of their type is better. */
export const anyBytes = "application/octet-stream"

/** Formats of `input_audio`. */
const audioFormats: Readonly<Record<string, string>> = {
  mp3: "audio/mp3",
  wav: "audio/wav",
  opus: "audio/opus",
  ogg: "audio/ogg",
  flac: "audio/flac",
  pcm: "audio/pcm",
  pcm16: "audio/pcm",
  aac: "audio/aac",
  "x-aac": "audio/aac",
  m4a: "audio/m4a",
  "x-m4a": "audio/m4a",
  mpeg: "audio/mpeg",
  mpga: "audio/mpga",
  mp4: "audio/mp4",
  webm: "audio/webm",
  aiff: "audio/aiff"
}
export const audioFormatNames: ReadonlyArray<string> = Object.keys(audioFormats)
export const mimeOfAudioFormat = (format: string): string | undefined =>
  Object.hasOwn(audioFormats, format) ? audioFormats[format] : undefined

/** Image types no model reads. Outside image, audio and video, models read pdf and text only. */
const refused = new Set(["image/svg+xml", "image/bmp", "image/x-ms-bmp", "image/tiff"])
const textual =
  /^application\/((x-)?(json|yaml|javascript|typescript|python|sh|toml|sql)|xml|rtf|[a-z0-9.-]+\+(json|xml|yaml))$/

/** The type by the extension of a file name or URL path. */
export const mimeOfPath = (path: string): string | undefined => {
  const name = path.slice(path.lastIndexOf("/") + 1)
  const dot = name.lastIndexOf(".")
  return dot < 0 ? undefined : mimeOfExtension(name.slice(dot + 1))
}
export const mimeOfExtension = (extension: string): string | undefined => {
  const lower = extension.toLowerCase()
  if (textExtensions.has(lower)) return plainText
  return Object.hasOwn(byExtension, lower) ? byExtension[lower] : undefined
}

/** Normalises a declared type, full or as a bare extension: no parameters, one spelling, text/plain for all text. */
export const normaliseMime = (declared: string): string | undefined => {
  const semicolon = declared.indexOf(";")
  const type = (semicolon < 0 ? declared : declared.slice(0, semicolon)).replace(/^[ \t]+|[ \t]+$/g, "").toLowerCase()
  if (!type.includes("/")) return mimeOfExtension(type)
  if (!/^[a-z0-9][a-z0-9.+-]{0,60}\/[a-z0-9][a-z0-9.+-]{0,60}$/.test(type)) return undefined
  if (type.startsWith("text/") || textual.test(type)) return plainText
  return Object.hasOwn(aliases, type) ? aliases[type] : type
}

/** False for types no model reads; the upstream judges unlisted image, audio and video types. */
export const isReadable = (mime: string): boolean =>
  !refused.has(mime) && (mime === plainText || mime === "application/pdf" || /^(image|audio|video)\//.test(mime))

/** The type by at most the first twelve bytes, for base64 without a label. */
export const mimeOfMagic = (base64: string): string | undefined => {
  const head = atob(base64.slice(0, Math.min(16, base64.length - (base64.length % 4))))
  return magic.find(([pattern]) => pattern.test(head))?.[1]
}

/** RIFF and ISO media files have their type after the length of their first box. */
const magic: ReadonlyArray<readonly [RegExp, string]> = [
  [/^\x89PNG\r\n\x1a\n/, "image/png"],
  [/^\xff\xd8\xff/, "image/jpeg"],
  [/^GIF8/, "image/gif"],
  [/^%PDF-/, "application/pdf"],
  [/^RIFF[^]{4}WEBP/, "image/webp"],
  [/^RIFF[^]{4}WAVE/, "audio/wav"],
  [/^[^]{4}ftyp(heic|heix|hevc|mif1)/, "image/heic"],
  [/^[^]{4}ftypavif/, "image/avif"],
  [/^[^]{4}ftypM4A/, "audio/m4a"],
  [/^[^]{4}ftyp(isom|iso[2-9]|mp4[12]|avc1)/, "video/mp4"],
  [/^\x1a\x45\xdf\xa3/, "video/webm"],
  [/^OggS/, "audio/ogg"],
  [/^fLaC/, "audio/flac"],
  [/^ID3/, "audio/mp3"]
]

/** Types whose files begin as those of another type: containers hold sound and pictures alike. */
const alike: ReadonlyMap<string, RegExp> = new Map([
  ["image/heic", /^image\/hei[cf]/],
  ["audio/mp3", /^audio\/(mp3|mpeg|mpga)$/],
  ["audio/ogg", /^(audio|video)\/(ogg|opus|vorbis)$/],
  ["audio/m4a", /^(audio|video)\//],
  ["video/mp4", /^(audio|video)\//],
  ["video/webm", /^(audio|video)\//]
])

/** Whether a file of the type may begin with the first bytes of the type found. */
export const mayBegin = (mime: string, magicType: string): boolean =>
  mime === magicType || alike.get(magicType)?.test(mime) === true
