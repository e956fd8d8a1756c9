// Media of a request: where it is or what its bytes are, and of which type.
// It must not know any provider's field names. Nothing is ever fetched here.
import * as Result from "effect/Result"
import { BodyInvalid } from "../../../domain/GatewayError.ts"
import type { ProviderKind } from "../../../domain/ProviderAccount.ts"
import { isUtf8, normaliseBase64 } from "./base64.ts"
import { isPublicHost } from "./publicHost.ts"
import { anyBytes, isReadable, mimeOfMagic, mimeOfPath, normaliseMime, plainText } from "./mime.ts"

/** Media as the client gave it; `path` is the parameter a fault names. */
export interface MediaSource {
  readonly path: string
  /** A URL of any accepted form or, when long enough, bare base64. */
  readonly url: string
  /** True where the field holds data: what is no data URI is base64 then, however short. */
  readonly isData: boolean
  /** What the client says the type is, full or as a bare extension; wins over every other sign. */
  readonly declaredType: string | undefined
  /** Tells the type when nothing else does. */
  readonly filename: string | undefined
}

export interface InlineMedia {
  readonly _tag: "Inline"
  readonly mimeType: string
  /** Base64, standard alphabet, padded. */
  readonly data: string
}

export type Media =
  | InlineMedia
  /** `mimeType` is undefined only for Files API URLs, whose resource knows its type. */
  | { readonly _tag: "Remote"; readonly mimeType: string | undefined; readonly uri: string }

type Read<A> = Result.Result<A, BodyInvalid>

/** A refusal of this source. */
export const mediaFault = (source: MediaSource, code: string, message: string): Read<never> =>
  Result.fail(new BodyInvalid({ code, param: source.path, message }))

const supported =
  "png, jpeg, webp, heic, heif, wav, mp3, aiff, aac, ogg, flac, pcm, m4a, mp4, mpeg, mov, avi, webm, wmv, pdf and text documents"

/** Reads one source for a Google product; both take other addresses. */
export const readMedia = (source: MediaSource, kind: ProviderKind): Read<Media> => {
  if (isInline(source)) {
    return Result.flatMap(readInline(source), (media): Read<Media> =>
      Result.flatMap(settle(source, kind, media.mimeType), (mimeType): Read<Media> =>
        mimeType === plainText && !isUtf8(media.data) ? notUtf8(source) : Result.succeed({ ...media, mimeType })
      )
    )
  }
  const { url } = source
  const scheme = url.slice(0, 8).toLowerCase()
  if (!hasKnownType(source)) return unknownType(source)
  if (scheme.startsWith("gs://")) return readCloudStorage(source, kind)
  if (scheme.startsWith("https://")) return readHttps(source, kind)
  if (isFileId(url)) return readHttps({ ...source, url: `https://${filesHost}/v1beta/${url}` }, kind)
  return mediaFault(
    source,
    "invalid_media_url",
    "Media is a data URI, an https URL with a file extension, a gs:// URI, a Files API URL or a YouTube link."
  )
}

/** True when the bytes themselves stand in the request: a data URI or, where no scheme is, base64. */
export const isInline = ({ url, isData }: MediaSource): boolean =>
  isData ||
  url.slice(0, 5).toLowerCase() === "data:" ||
  (url.length > 64 && !url.slice(0, 64).includes(":") && !isFileId(url))

/** Reads media that stand in the request, of whatever type. */
export const readInline = (source: MediaSource): Read<InlineMedia> => {
  if (!hasKnownType(source)) return unknownType(source)
  return source.url.slice(0, 5).toLowerCase() === "data:" ? readDataUri(source) : readBase64(source)
}

const hasKnownType = ({ declaredType }: MediaSource): boolean =>
  declaredType === undefined || normaliseMime(declaredType) !== undefined

const unknownType = (source: MediaSource): Read<never> =>
  mediaFault(
    source,
    "unsupported_media_type",
    "The type given beside the media is none; write it as image/png is written."
  )

/** A text document whose bytes are not UTF-8. */
export const notUtf8 = (source: MediaSource): Read<never> =>
  mediaFault(source, "invalid_base64", "The text document is not UTF-8.")

const settle = (source: MediaSource, kind: ProviderKind, mime: string): Read<string> => {
  if (!isReadable(mime))
    return mediaFault(
      source,
      "unsupported_media_type",
      `Models do not read this media type. Readable are ${supported}.`
    )
  return Result.succeed(mime === "audio/opus" && kind === "google" ? "audio/ogg" : mime)
}

/** The declared type, else what the media says itself, else what the file name tells. */
const typeOf = ({ declaredType, filename }: MediaSource, own: string | undefined): string | undefined => {
  const signs = [
    declaredType === undefined ? undefined : normaliseMime(declaredType),
    own,
    filename === undefined ? undefined : mimeOfPath(filename)
  ]
  const given = signs.filter((sign) => sign !== undefined)
  return given.find((sign) => sign !== anyBytes) ?? given[0]
}

const inline = (source: MediaSource, mimeType: string | undefined, payload: string): Read<InlineMedia> => {
  const data = normaliseBase64(payload)
  if (data === undefined)
    return mediaFault(
      source,
      "invalid_base64",
      "The data is not base64: it is empty, or holds characters or padding base64 does not have."
    )
  return mimeType === undefined
    ? mediaFault(
        source,
        "invalid_media_url",
        "The type of this base64 data cannot be told; send it as data:<type>;base64,..."
      )
    : Result.succeed({ _tag: "Inline", mimeType, data })
}

/** By index, not by pattern: the payload may be megabytes. */
const readDataUri = (source: MediaSource): Read<InlineMedia> => {
  const comma = source.url.indexOf(",")
  const label = comma < 0 ? "" : source.url.slice(5, comma)
  if (!/;[ \t]*base64[ \t]*$/i.test(label.slice(-16))) {
    return mediaFault(source, "invalid_base64", "A data URI must read data:<type>;base64,<data>.")
  }
  const mime = typeOf(source, normaliseMime(label.slice(0, label.indexOf(";"))))
  if (mime === undefined)
    return mediaFault(
      source,
      "unsupported_media_type",
      "The data URI names no media type; write data:<type>;base64,<data>."
    )
  return inline(source, mime, source.url.slice(comma + 1))
}

const readBase64 = (source: MediaSource): Read<InlineMedia> => {
  const head = normaliseBase64(source.url.slice(0, 16))
  return inline(source, typeOf(source, undefined) ?? (head === undefined ? undefined : mimeOfMagic(head)), source.url)
}

const readCloudStorage = (source: MediaSource, kind: ProviderKind): Read<Media> => {
  if (kind !== "vertex-ai") {
    return mediaFault(
      source,
      "invalid_media_url",
      "gs:// URIs work on vertex-ai only; use the Files API or a data URI."
    )
  }
  if (!isCloudStorageUri(source.url)) {
    return mediaFault(source, "invalid_media_url", "A gs:// URI must read gs://<bucket>/<path>.")
  }
  return remote(source, kind, typeOf(source, mimeOfPath(source.url)))
}

/** `gs://<bucket>/<path>`, whatever lies there. */
export const isCloudStorageUri = (uri: string): boolean => {
  const [bucket = "", ...path] = uri.slice(5).split("/")
  const isPath = path.join("") !== "" && !path.includes("..") && !unprintable.test(uri)
  return uri.slice(0, 5).toLowerCase() === "gs://" && isPath && /^[a-z0-9][a-z0-9._-]{1,220}$/.test(bucket)
}

/** URL parsers drop or turn these, and a third slash, so that we would judge another text than the upstream gets. */
const unprintable = /[\x00-\x1f\x7f\\]/

const filesHost = "generativelanguage.googleapis.com"
const isFileId = (text: string): boolean => /^files\/[A-Za-z0-9-]{1,64}$/.test(text)
const isFileUrl = ({ hostname, pathname }: URL): boolean =>
  hostname === filesHost && /^\/v1(beta)?\/files\/[^/]+$/.test(pathname)

/** True for `files/<id>` and for the URL of such a file. */
export const namesFile = (text: string): boolean => {
  const url = URL.parse(text)
  return isFileId(text) || (url !== null && url.protocol === "https:" && isFileUrl(url))
}

const videoHosts = new Set(["youtube.com", "www.youtube.com", "m.youtube.com", "music.youtube.com"])

const isVideoSite = ({ hostname, pathname, searchParams }: URL): boolean =>
  (videoHosts.has(hostname) &&
    ((pathname === "/watch" && searchParams.get("v") !== null) || /^\/(shorts|live|embed)\/[\w-]+/.test(pathname))) ||
  (hostname === "youtu.be" && /^\/[\w-]+/.test(pathname))

/** Of an https URL: undefined unless its address is public, without user name and port. */
const publicUrl = (text: string): URL | undefined => {
  const url = unprintable.test(text) || text[8] === "/" ? null : URL.parse(text)
  const isPlain = url?.username === "" && url.password === "" && url.port === ""
  return url !== null && isPlain && isPublicHost(url, text) ? url : undefined
}

/** True for what any upstream that reads media by itself may be given: data, and addresses no Google service stands behind. */
export const isPlainMedia = (text: string): boolean => text.slice(0, 5).toLowerCase() === "data:" || isPublicMedia(text)

/** True for public https addresses that anybody can read; those of the Files API and the video site are Google's alone. */
export const isPublicMedia = (text: string): boolean => {
  const url = text.slice(0, 8).toLowerCase() === "https://" ? publicUrl(text) : undefined
  return url !== undefined && !isFileUrl(url) && !isVideoSite(url)
}

const readHttps = (source: MediaSource, kind: ProviderKind): Read<Media> => {
  const url = publicUrl(source.url)
  if (url === undefined) {
    return mediaFault(
      source,
      "invalid_media_url",
      "The media URL must be a public https address without user name and port."
    )
  }
  if (isFileUrl(url)) {
    if (kind !== "google")
      return mediaFault(source, "invalid_media_url", "Files API URLs work on google only; use gs:// or a data URI.")
    const mime = typeOf(source, undefined)
    return mime === undefined
      ? Result.succeed({ _tag: "Remote", mimeType: undefined, uri: source.url })
      : remote(source, kind, mime)
  }
  if (isVideoSite(url)) return Result.succeed({ _tag: "Remote", mimeType: "video/mp4", uri: source.url })
  return remote(source, kind, typeOf(source, mimeOfUrl(url)))
}

const mimeOfUrl = ({ pathname }: URL): string | undefined => mimeOfPath(decoded(pathname))

/** The type that is claimed for what lies behind a public address: the declared one, else by extension. */
export const claimedType = (source: MediaSource): string | undefined => {
  const url = publicUrl(source.url)
  return typeOf(source, url === undefined ? undefined : mimeOfUrl(url))
}

const decoded = (path: string): string => {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

const remote = (source: MediaSource, kind: ProviderKind, mime: string | undefined): Read<Media> =>
  mime === undefined
    ? unknownUrl(source)
    : Result.map(settle(source, kind, mime), (mimeType) => ({ _tag: "Remote", mimeType, uri: source.url }))

/** An address that nothing tells the type of. */
export const unknownUrl = (source: MediaSource): Read<never> =>
  mediaFault(
    source,
    "unknown_media_type",
    "The type of this URL cannot be told from its extension; add mime_type beside url."
  )
