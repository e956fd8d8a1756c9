// Addresses of Cloud Storage: which object one means, and whether it lies under one of some prefixes.
// It must not know who asks for the object, or what for.

const scheme = /^gs:\/\//i
const bucketGrammar = /^[a-z0-9][a-z0-9._-]{1,220}$/

/** Hosts that serve objects under their bucket and path, and the end of those that are named after a bucket. */
const hosts = new Set(["storage.googleapis.com", "storage.cloud.google.com"])
const hostEnd = ".storage.googleapis.com"
/** Others of Google may serve objects as well, of buckets that their names do not show. */
const akin = /(^|\.)(googleapis\.com|cloud\.google\.com)$/

/** Readers differ in what they make of these: `..` and `.` as a segment, in plain or encoded form, and control characters. */
const ambiguous = /[\x00-\x1f\x7f\\]|%(2e|2f|5c)|(^|\/)\.{1,2}(\/|$)/i

/** `bucket/path` without the slashes at its end; undefined for what several readers could take for several objects. */
const plainPath = (path: string): string | undefined => {
  const bare = path.replace(/\/+$/, "")
  return bucketGrammar.test(bare.split("/", 1)[0] ?? "") && !ambiguous.test(bare) ? bare : undefined
}

/** True for `gs://bucket` and `gs://bucket/path`. */
export const isStoragePrefix = (text: string): boolean =>
  text.startsWith("gs://") && plainPath(text.slice(5)) !== undefined

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The text after `gs://`, also of the https address of an object; empty where the bucket is unknown, undefined for what names no object of Cloud Storage. */
export const storageObject = (address: string): string | undefined => {
  const text = address.trim()
  if (scheme.test(text)) return text.slice(5)
  const url = /^https?:/i.test(text) ? URL.parse(text) : null
  if (url === null) return undefined
  const path = decoded(url.pathname)
  const host = url.hostname.toLowerCase().replace(/\.$/, "")
  if (hosts.has(host)) return path.slice(1)
  if (host.endsWith(hostEnd)) return host.slice(0, -hostEnd.length) + path
  return akin.test(host) ? "" : undefined
}

/** Whether an object lies under a prefix: at it, or below its last segment. */
export const isWithin = (prefixes: ReadonlyArray<string>, object: string): boolean => {
  const path = plainPath(object)
  return (
    path !== undefined &&
    prefixes.some((prefix) => {
      const above = plainPath(prefix.slice(5))
      return above !== undefined && (path === above || path.startsWith(`${above}/`))
    })
  )
}
