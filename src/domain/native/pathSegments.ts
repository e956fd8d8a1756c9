// Splits the path of a request into percent-decoded segments, with the tolerance that base URLs of SDKs need.
// It must not know routes.

const version = /^v1(alpha|beta1?)?$/

/** A decoded segment that a URL or a second decoding would read in another way. */
// oxlint-disable-next-line no-control-regex
const unsound = /[\u0000-\u001f\u007f-\u009f\\?#]|%[0-9a-f]{2}/i

const decoded = (text: string): string | undefined => {
  if (!text.includes("%")) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** True for `v1`, `v1beta`, `v1beta1` and `v1alpha`. */
export const isVersion = (segment: string | undefined): boolean => segment !== undefined && version.test(segment)

/**
 * The segments of a path without its query, or undefined where a path has no single reading. An encoded slash separates
 * segments too: AnthropicVertex encodes the one between slug and model. Slashes are tolerated twice at the beginning and
 * once at the end.
 */
export const pathSegments = (path: string): ReadonlyArray<string> | undefined => {
  const trimmed = path.replace(/^\/{1,2}/, "").replace(/\/$/, "")
  if (trimmed === "") return []
  const whole = decoded(trimmed)
  if (whole === undefined || unsound.test(whole)) return undefined
  const segments = whole.split("/")
  if (segments.some((segment) => /^\.{0,2}(:|$)/.test(segment))) return undefined
  // The version of the SDK's own path counts where a base URL has one already.
  return isVersion(segments[0]) && isVersion(segments[1]) ? segments.slice(1) : segments
}
