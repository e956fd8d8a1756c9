// Reads media of a request (data URI, base64, gs://, https, Files API) and determines their MIME type; checks public hosts (SSRF).
// Must not depend on a provider's field names and must not fetch. Hosts are checked by spelling alone, without DNS.
import * as Result from "effect/Result"
import { BodyInvalid } from "../../../domain/GatewayError.ts"
import type { ProviderKind } from "../../../domain/ProviderAccount.ts"
import { base64OfText, isUtf8, normaliseBase64 } from "./base64.ts"
import {
  anyBytes,
  isReadable,
  mayBegin,
  mimeOfMagic,
  mimeOfPath,
  normaliseMime,
  officeEnding,
  plainText
} from "./mime.ts"

/** Media in the client's form; `path` is the parameter for error messages. */
export interface MediaSource {
  readonly path: string
  /** A URL of any accepted form or, when long enough, bare base64. */
  readonly url: string
  /** True for data fields: every value except a data URI is base64 there, of any length. */
  readonly isData: boolean
  /** The type the client declares, full or as a bare extension; only the bytes may contradict it. */
  readonly declaredType: string | undefined
  /** The type's last source, after all others. */
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
  /** `mimeType` is undefined only for Files API URLs: the file resource has its own type. */
  | { readonly _tag: "Remote"; readonly mimeType: string | undefined; readonly uri: string }

/** The upstream that reads the media. */
export interface MediaReader {
  readonly kind: ProviderKind
  /** Endings of the office files that the model reads; undefined for none. */
  readonly officeFiles?: ReadonlySet<string>
}

type Read<A> = Result.Result<A, BodyInvalid>

/** Refuses this media source. */
export const mediaFault = (source: MediaSource, code: string, message: string): Read<never> =>
  Result.fail(new BodyInvalid({ code, param: source.path, message }))

const supported =
  "png, jpeg, webp, heic, heif, wav, mp3, aiff, aac, ogg, flac, pcm, m4a, mp4, mpeg, mov, avi, webm, wmv, pdf and text documents"

/** Reads one source for a Google product; the two products accept different addresses. */
export const readMedia = (source: MediaSource, reader: MediaReader): Read<Media> => {
  if (isInline(source)) {
    return Result.flatMap(readInline(source), (media): Read<Media> =>
      Result.flatMap(settle(source, reader, media.mimeType), (mimeType): Read<Media> =>
        mimeType === plainText && !isUtf8(media.data) ? notUtf8(source) : Result.succeed({ ...media, mimeType })
      )
    )
  }
  const { url } = source
  const scheme = url.slice(0, 8).toLowerCase()
  if (!hasKnownType(source)) return unknownType(source)
  if (scheme.startsWith("gs://")) return readCloudStorage(source, reader)
  if (scheme.startsWith("https://")) return readHttps(source, reader)
  if (isFileId(url)) return readHttps({ ...source, url: `https://${filesHost}/v1beta/${url}` }, reader)
  return mediaFault(
    source,
    "invalid_media_url",
    "Media is a data URI, an https URL with a file extension, a gs:// URI, a Files API URL or a YouTube link."
  )
}

/** True when the request contains the bytes: a data URI, or base64 without a scheme. */
export const isInline = ({ url, isData }: MediaSource): boolean =>
  isData ||
  url.slice(0, 5).toLowerCase() === "data:" ||
  (url.length > 64 && !url.slice(0, 64).includes(":") && !isFileId(url))

/** Reads media inside the request, of any type. */
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
    "The type given with the media is none; write it as image/png is written."
  )

/** Refuses a text document that is not valid UTF-8. */
export const notUtf8 = (source: MediaSource): Read<never> =>
  mediaFault(source, "invalid_base64", "The text document is not UTF-8.")

const settle = (source: MediaSource, reader: MediaReader, mime: string): Read<string> => {
  if (!isReadable(mime) && reader.officeFiles?.has(officeEnding(mime) ?? "") !== true)
    return mediaFault(
      source,
      "unsupported_media_type",
      `Models do not read this media type. Readable are ${supported}.`
    )
  return Result.succeed(mime === "audio/opus" && reader.kind === "google" ? "audio/ogg" : mime)
}

/** The type: declared, else from the media, else from the file name. */
const typeOf = ({ declaredType, filename }: MediaSource, namedType: string | undefined): string | undefined => {
  const signs = [
    declaredType === undefined ? undefined : normaliseMime(declaredType),
    namedType,
    filename === undefined ? undefined : mimeOfPath(filename)
  ]
  const given = signs.filter((sign) => sign !== undefined)
  return given.find((sign) => sign !== anyBytes) ?? given[0]
}

const inline = (source: MediaSource, claimed: string | undefined, payload: string): Read<InlineMedia> => {
  const data = normaliseBase64(payload.includes("%") ? decoded(payload) : payload)
  if (data === undefined)
    return mediaFault(
      source,
      "invalid_base64",
      "The data is not base64: it is empty, or holds characters or padding base64 does not have."
    )
  const mimeType = typeByBytes(claimed, data)
  return mimeType === undefined
    ? mediaFault(
        source,
        "invalid_media_url",
        "The type of this base64 data cannot be determined; send it as data:<type>;base64,..."
      )
    : Result.succeed({ _tag: "Inline", mimeType, data })
}

/** The type that the first bytes show decides, since upstreams refuse another one. */
const typeByBytes = (claimed: string | undefined, data: string): string | undefined => {
  const magicType = mimeOfMagic(data)
  if (magicType === undefined || (claimed !== undefined && mayBegin(claimed, magicType))) return claimed
  return claimed === plainText && isUtf8(data) ? claimed : magicType
}

/** Splits by index instead of a pattern: the payload may be megabytes. */
const readDataUri = (source: MediaSource): Read<InlineMedia> => {
  const comma = source.url.indexOf(",")
  const label = comma < 0 ? "" : source.url.slice(5, comma)
  const payload = source.url.slice(comma + 1)
  const mime = typeOf(source, normaliseMime(label.split(";", 1)[0] ?? ""))
  if (!/;[ \t]*base64[ \t]*$/i.test(`;${label}`.slice(-16))) {
    const isText = comma >= 0 && payload !== "" && (mime === plainText || label === "")
    if (isText) return Result.succeed({ _tag: "Inline", mimeType: plainText, data: base64OfText(decoded(payload)) })
    // Some clients leave `;base64` out: the bytes of a known type show it.
    return bareType(payload) === undefined
      ? mediaFault(source, "invalid_base64", "A data URI must read data:<type>;base64,<data>.")
      : inline(source, mime, payload)
  }
  if (mime === undefined && bareType(payload) === undefined)
    return mediaFault(
      source,
      "unsupported_media_type",
      "The data URI names no media type; write data:<type>;base64,<data>."
    )
  return inline(source, mime, payload)
}

/** The type that the first letters of base64 show; white space may stand before and between them. */
const bareType = (payload: string): string | undefined => {
  const head = normaliseBase64(
    payload
      .slice(0, 64)
      .replaceAll(/[\t\n\f\r ]/g, "")
      .slice(0, 16)
  )
  return head === undefined ? undefined : mimeOfMagic(head)
}

const readBase64 = (source: MediaSource): Read<InlineMedia> =>
  inline(source, typeOf(source, undefined) ?? bareType(source.url), source.url)

const readCloudStorage = (source: MediaSource, reader: MediaReader): Read<Media> => {
  if (reader.kind !== "vertex-ai") {
    return mediaFault(
      source,
      "invalid_media_url",
      "gs:// URIs work on vertex-ai only; use the Files API or a data URI."
    )
  }
  if (!isCloudStorageUri(source.url)) {
    return mediaFault(source, "invalid_media_url", "A gs:// URI must read gs://<bucket>/<path>.")
  }
  return remote(source, reader, typeOf(source, mimeOfPath(source.url)))
}

/** Matches `gs://<bucket>/<path>`; does not check that the object exists. */
export const isCloudStorageUri = (uri: string): boolean => {
  const [bucket = "", ...path] = uri.slice(5).split("/")
  const isPath = path.join("") !== "" && !path.includes("..") && !unprintable.test(uri)
  return uri.slice(0, 5).toLowerCase() === "gs://" && isPath && /^[a-z0-9][a-z0-9._-]{1,220}$/.test(bucket)
}

/**
 * URL parsers drop or convert these characters and a third slash: the check would see another text than the upstream.
 */
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

/** Parses an https URL; undefined unless the host is public and the URL has neither user name nor port. */
const publicUrl = (text: string): URL | undefined => {
  const url = unprintable.test(text) || text[8] === "/" ? null : URL.parse(text)
  const isPlain = url?.username === "" && url.password === "" && url.port === ""
  return url !== null && isPlain && isPublicHost(url, text) ? url : undefined
}

/**
 * True for media that any upstream with URL support accepts: data URIs and public addresses outside Google's services.
 */
export const isPlainMedia = (text: string): boolean => text.slice(0, 5).toLowerCase() === "data:" || isPublicMedia(text)

/** True for public https addresses; Files API and YouTube URLs work with Google only. */
export const isPublicMedia = (text: string): boolean => {
  const url = text.slice(0, 8).toLowerCase() === "https://" ? publicUrl(text) : undefined
  return url !== undefined && !isFileUrl(url) && !isVideoSite(url)
}

const readHttps = (source: MediaSource, reader: MediaReader): Read<Media> => {
  const url = publicUrl(source.url)
  if (url === undefined) {
    return mediaFault(
      source,
      "invalid_media_url",
      "The media URL must be a public https address without user name and port."
    )
  }
  if (isFileUrl(url)) {
    if (reader.kind !== "google")
      return mediaFault(source, "invalid_media_url", "Files API URLs work on google only; use gs:// or a data URI.")
    const mime = typeOf(source, undefined)
    return mime === undefined
      ? Result.succeed({ _tag: "Remote", mimeType: undefined, uri: source.url })
      : remote(source, reader, mime)
  }
  if (isVideoSite(url)) return Result.succeed({ _tag: "Remote", mimeType: "video/mp4", uri: source.url })
  return remote(source, reader, typeOf(source, mimeOfUrl(url)))
}

const mimeOfUrl = ({ pathname }: URL): string | undefined => mimeOfPath(decoded(pathname))

/** The claimed type of a public address: declared, else by extension. */
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

const remote = (source: MediaSource, reader: MediaReader, mime: string | undefined): Read<Media> =>
  mime === undefined
    ? unknownUrl(source)
    : Result.map(settle(source, reader, mime), (mimeType) => ({ _tag: "Remote", mimeType, uri: source.url }))

/** Refuses an address without any sign of its type. */
export const unknownUrl = (source: MediaSource): Read<never> =>
  mediaFault(
    source,
    "unknown_media_type",
    "The type of this URL cannot be determined from its extension; add mime_type next to url."
  )

// Checks that a URL's host or an IP address is public (SSRF protection), by spelling alone, without DNS.

const localNames = /(^|\.)(localhost|local|internal|localdomain|home\.arpa)$/

/** False for loopback, private, link-local, metadata and other non-global hosts, and for disguised addresses. */
const isPublicHost = (url: URL, text: string): boolean => {
  const host = url.hostname.toLowerCase().replace(/\.$/, "")
  if (host.startsWith("[")) return isGlobalV6(host.slice(1, -1))
  const parts = host.split(".")
  if (parts.length === 4 && parts.every((part) => /^\d{1,3}$/.test(part))) {
    // The parser turns 0x7f.1 and circled digits into dotted form; only a literal dotted address passes.
    return isGlobalV4(parts.map(Number)) && text.toLowerCase().startsWith(`https://${host}`)
  }
  return parts.length > 1 && !localNames.test(host)
}

/**
 * True for a public Internet address in any spelling; false for all other addresses and for texts that are not
 * addresses.
 */
export const isGlobalAddress = (text: string): boolean => {
  const host = text.includes(":") ? `[${text}]` : text
  const url = /^(\[[\da-f:.]+\]|[\d.]+)$/i.test(host) ? URL.parse(`https://${host}`) : null
  return url !== null && isPublicHost(url, `https://${host}`)
}

const isGlobalV4 = ([a = 0, b = 0, c = 0]: ReadonlyArray<number>): boolean =>
  !(
    a === 0 ||
    a === 10 ||
    a === 127 ||
    a >= 224 ||
    (a === 100 && b >= 64 && b <= 127) ||
    (a === 169 && b === 254) ||
    (a === 172 && b >= 16 && b <= 31) ||
    (a === 192 && b === 168) ||
    (a === 192 && b === 0 && (c === 0 || c === 2)) ||
    (a === 192 && b === 88 && c === 99) ||
    (a === 198 && (b === 18 || b === 19)) ||
    (a === 198 && b === 51 && c === 100) ||
    (a === 203 && b === 0 && c === 113)
  )

/**
 * Global unicast is 2000::/3. Excluded: 2001::/23 (protocols), 6to4 and Teredo (embed other addresses), two blocks for
 * documentation.
 */
const isGlobalV6 = (address: string): boolean =>
  /^[23][0-9a-f]{3}:/.test(address) &&
  !/^(2002:|2001:db8:|2001:(1?[0-9a-f]{1,2})?:|3fff:([0-9a-f]{1,3})?:)/.test(address)
