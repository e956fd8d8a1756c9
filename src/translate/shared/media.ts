// Media of a request: where it is or what its bytes are, and of which type.
// It must not know any provider's field names. Nothing is ever fetched here.
import * as Result from "effect/Result"
import { BodyInvalid } from "../../domain/GatewayError.ts"
import type { ProviderKind } from "../../domain/ProviderAccount.ts"
import { isPublicHost } from "./publicHost.ts"
import { isReadable, mimeOfMagic, mimeOfPath, mimeOfRiff, normaliseMime } from "./mime.ts"

/** Media as the client gave it; `path` is the parameter a fault names. */
export interface MediaSource {
  readonly path: string
  /** A URL of any accepted form, or bare base64. */
  readonly url: string
  readonly declaredType: string | undefined
  readonly filename: string | undefined
}

export type Media =
  | { readonly _tag: "Inline"; readonly mimeType: string; readonly data: string }
  /** `mimeType` is undefined only for Files API URLs, whose resource knows its type. */
  | { readonly _tag: "Remote"; readonly mimeType: string | undefined; readonly uri: string }

type Read<A> = Result.Result<A, BodyInvalid>

const fault = (source: MediaSource, code: string, message: string): Read<never> =>
  Result.fail(new BodyInvalid({ code, param: source.path, message }))

const supported = "png, jpeg, webp, heic, heif, wav, mp3, aiff, aac, ogg, flac, pcm, m4a, mp4, mpeg, mov, avi, webm, wmv, pdf and text documents"

/** Reads one source for a provider; both take other addresses. */
export const readMedia = (source: MediaSource, kind: ProviderKind): Read<Media> => {
  const { url } = source
  const scheme = url.slice(0, 8).toLowerCase()
  if (scheme.startsWith("data:")) return readDataUri(source, kind)
  if (scheme.startsWith("gs://")) return readCloudStorage(source, kind)
  if (scheme.startsWith("https://")) return readHttps(source, kind)
  if (/^files\/[A-Za-z0-9-]{1,64}$/.test(url)) return readHttps({ ...source, url: `https://${filesHost}/v1beta/${url}` }, kind)
  if (url.length > 64 && !url.slice(0, 64).includes(":")) return readBareBase64(source, kind)
  return fault(source, "invalid_media_url", "Media is a data URI, an https URL with a file extension, a gs:// URI, a Files API URL or a YouTube link.")
}

const settle = (source: MediaSource, kind: ProviderKind, mime: string): Read<string> => {
  if (!isReadable(mime)) return fault(source, "unsupported_media_type", `Models do not read this media type. Readable are ${supported}.`)
  return Result.succeed(mime === "audio/opus" && kind === "google" ? "audio/ogg" : mime)
}

const declared = (source: MediaSource): string | undefined =>
  (source.declaredType === undefined ? undefined : normaliseMime(source.declaredType)) ??
  (source.filename === undefined ? undefined : mimeOfPath(source.filename))

const inline = (source: MediaSource, kind: ProviderKind, mime: string | undefined, payload: string): Read<Media> => {
  const data = normaliseBase64(payload)
  if (data === undefined) return fault(source, "invalid_base64", "The data is not base64: it is empty, or holds characters or padding base64 does not have.")
  if (mime === undefined) return fault(source, "invalid_media_url", "The type of this base64 data cannot be told; send it as data:<type>;base64,...")
  return Result.flatMap(settle(source, kind, mime), (mimeType): Read<Media> =>
    mimeType === "text/plain" && !isUtf8(data)
      ? fault(source, "invalid_base64", "The text document is not UTF-8.")
      : Result.succeed({ _tag: "Inline", mimeType, data }))
}

/** By index, not by pattern: the payload may be megabytes. */
const readDataUri = (source: MediaSource, kind: ProviderKind): Read<Media> => {
  const comma = source.url.indexOf(",")
  const label = comma < 0 ? "" : source.url.slice(5, comma)
  if (!/;\s*base64\s*$/i.test(label.slice(-16))) {
    return fault(source, "invalid_base64", "A data URI must read data:<type>;base64,<data>.")
  }
  const type = label.slice(0, label.indexOf(";"))
  const mime = declared(source) ?? normaliseMime(type)
  if (mime === undefined) return fault(source, "unsupported_media_type", `The data URI names no media type. Readable are ${supported}.`)
  return inline(source, kind, mime, source.url.slice(comma + 1))
}

const readBareBase64 = (source: MediaSource, kind: ProviderKind): Read<Media> =>
  inline(source, kind, declared(source) ?? mimeOfMagic(source.url) ?? mimeOfRiff(source.url.slice(0, 16)), source.url)

const readCloudStorage = (source: MediaSource, kind: ProviderKind): Read<Media> => {
  if (kind !== "vertex-ai") {
    return fault(source, "invalid_media_url", "gs:// URIs work on vertex-ai only; use the Files API or a data URI.")
  }
  const [bucket = "", ...path] = source.url.slice(5).split("/")
  if (!/^[a-z0-9][a-z0-9._-]{1,220}$/.test(bucket) || path.join("") === "" || path.includes("..")) {
    return fault(source, "invalid_media_url", "A gs:// URI must read gs://<bucket>/<path>.")
  }
  return remote(source, kind, declared(source) ?? mimeOfPath(source.url))
}

const filesHost = "generativelanguage.googleapis.com"
const videoHosts = new Set(["youtube.com", "www.youtube.com", "m.youtube.com", "music.youtube.com"])

const isVideoSite = ({ hostname, pathname, searchParams }: URL): boolean =>
  (videoHosts.has(hostname) && ((pathname === "/watch" && searchParams.get("v") !== null) || /^\/(shorts|live|embed)\/[\w-]+/.test(pathname))) ||
  (hostname === "youtu.be" && /^\/[\w-]+/.test(pathname))

const readHttps = (source: MediaSource, kind: ProviderKind): Read<Media> => {
  const url = URL.parse(source.url)
  if (url === null || url.username !== "" || url.password !== "" || url.port !== "" || !isPublicHost(url, source.url)) {
    return fault(source, "invalid_media_url", "The media URL must be a public https address without user name and port.")
  }
  if (url.hostname === filesHost && /^\/v1(beta)?\/files\/[^/]+$/.test(url.pathname)) {
    if (kind !== "google") return fault(source, "invalid_media_url", "Files API URLs work on google only; use gs:// or a data URI.")
    const mime = source.declaredType === undefined ? undefined : normaliseMime(source.declaredType)
    return mime === undefined
      ? Result.succeed({ _tag: "Remote", mimeType: undefined, uri: source.url })
      : remote(source, kind, mime)
  }
  if (isVideoSite(url)) return Result.succeed({ _tag: "Remote", mimeType: "video/mp4", uri: source.url })
  return remote(source, kind, declared(source) ?? mimeOfPath(decoded(url.pathname)))
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
    ? fault(source, "unknown_media_type", "The type of this URL cannot be told from its extension; add mime_type beside url.")
    : Result.map(settle(source, kind, mime), (mimeType) => ({ _tag: "Remote", mimeType, uri: source.url }))

/** The same text when it is base64; URL-safe letters and missing padding are repaired; undefined when it is none. */
export const normaliseBase64 = (text: string): string | undefined => {
  let end = text.length
  while (end > 0 && text.charCodeAt(end - 1) === 61) end--
  if (end === 0 || text.length - end > 2 || end % 4 === 1) return undefined
  let isUrlSafe = false
  for (let at = 0; at < end; at++) {
    const kind = alphabet[text.charCodeAt(at)] ?? 0
    if (kind === 0) return undefined
    if (kind === 2) isUrlSafe = true
  }
  if (!isUrlSafe && text.length % 4 === 0) return text
  const plain = text.slice(0, end).replaceAll("-", "+").replaceAll("_", "/")
  return plain + "=".repeat((4 - (end % 4)) % 4)
}

/** 1: standard letter, 2: URL-safe letter, 0: none. */
const alphabet = new Uint8Array(128)
for (const letter of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") alphabet[letter.charCodeAt(0)] = 1
for (const letter of "-_") alphabet[letter.charCodeAt(0)] = 2

const utf8 = new TextDecoder("utf-8", { fatal: true })
const isUtf8 = (base64: string): boolean => {
  try {
    utf8.decode(Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)))
    return true
  } catch {
    return false
  }
}
