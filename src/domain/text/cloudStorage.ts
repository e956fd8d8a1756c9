// Parses addresses of Cloud Storage objects and checks them against allowed prefixes.
// It must not know which request names the object, or for what purpose.

const scheme = /^gs:\/\//i
const bucketGrammar = /^[a-z0-9][a-z0-9._-]{1,220}$/

/** Hosts that serve objects as `/bucket/path`, and the suffix of hosts that are named after a bucket. */
const hosts = new Set(["storage.googleapis.com", "storage.cloud.google.com"])
const hostEnd = ".storage.googleapis.com"
/** Other Google hosts that may serve objects; their names do not reveal the bucket. */
const akin = /(^|\.)(googleapis\.com|cloud\.google\.com)$/

/** Readers interpret these differently: `..` and `.` segments, plain or encoded, and control characters. */
const ambiguous = /[\x00-\x1f\x7f\\]|%(2e|2f|5c)|(^|\/)\.{1,2}(\/|$)/i

/** `bucket/path` without trailing slashes; undefined for text that readers may resolve to different objects. */
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

/**
 * The `bucket/path` of a `gs://` or https address. Empty when the bucket is unknown, undefined when the address is
 * outside Cloud Storage.
 */
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

/** Whether an object is one of the prefixes or below one. Prefixes end at a path segment. */
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
