// Redacts foreign text for display: removes credentials, internal addresses and control characters, and cuts it.
// It must not know which message contains the text.

/** Bytes searched beyond the requested size, because a redaction shortens the text. */
const margin = 2_048
/** A run of fewer than 512 such characters before the cut may be the beginning of a secret. */
const broken = /(?<![\w.+@:/~=-])[\w.+@:/~=-]{1,511}$/
const hidden = "[redacted]"

/** Documentation links stay; any other address may be the upstream's own. */
const manuals =
  /^https?:\/\/(ai\.google\.dev|cloud\.google\.com|docs\.cloud\.google\.com|developers\.google\.com|developers\.generativeai\.google|docs\.anthropic\.com)(\/[^\s?#"'<>]*)?/

/**
 * Patterns read each run of characters once: a pattern with an unbounded prefix matches at the start of a run only.
 * Order: private keys, keys of Google, of this gateway and of others, access tokens; then addresses, projects and email
 * addresses.
 */
const secrets: ReadonlyArray<readonly [RegExp, string]> = [
  [/-----BEGIN[\s\S]*?(-----END[A-Z ]*-----|$)/g, hidden],
  [/AIza[\w-]+/g, hidden],
  [/ya29\.[\w.-]+/g, hidden],
  [/mgk_[\w-]+/g, hidden],
  [/\bsk-[\w-]{8,}/g, hidden],
  [/eyJ[\w-]{8,}(\.[\w-]*)*/g, hidden],
  [/\bBearer\s+[\w.~+/=-]+/gi, hidden],
  [/\b(https?|wss?|grpc):\/\/[^\s"'<>]+/gi, "[link]"],
  [/\bprojects\/(?!\[redacted\])[^\s/"',;:)\]]+/g, "projects/[redacted]"],
  [/\b(project(?:_number|_id|-id)?(?:[:=]\s?|\s+)["']?)(\d{5,}|[a-z][a-z0-9]*[0-9-][a-z0-9-]*)/gi, `$1${hidden}`],
  [/(?<![\w.+-])[\w.+-]+@[\w-]+(\.[\w-]+)+/g, hidden],
  [/(?<![\w.-])[\w.-]*\.(googleapis\.com|google\.internal|goog)(:\d+)?(\/[^\s"'<>]*)?/gi, "[upstream]"],
  [/\b\d{1,3}(\.\d{1,3}){3}(:\d+)?\b/g, "[upstream]"],
  [/\blocalhost(:\d+)?\b/gi, "[upstream]"]
]

/**
 * Redacted text of at most `mostBytes` bytes. Longer text is cut before the search, and the word at the cut is dropped.
 */
export const publicText = (text: string, mostBytes = 2_048): string => {
  // oxlint-disable-next-line no-control-regex
  const printable = cutText(text, mostBytes + margin)
    .toWellFormed()
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ")
  const pieces = printable.split(/(https?:\/\/[^\s"'<>]+)/)
  const shown = pieces.map(
    (piece) => manuals.exec(piece)?.[0] ?? secrets.reduce((left, [pattern, put]) => left.replace(pattern, put), piece)
  )
  return cutBytes(shown.join("").trim(), mostBytes)
}

const cutText = (text: string, longest: number): string =>
  text.length <= longest ? text : text.slice(0, longest).replace(broken, "")

const encoder = new TextEncoder()

const cutBytes = (text: string, mostBytes: number): string => {
  if (text.length * 3 <= mostBytes || encoder.encode(text).length <= mostBytes) return text
  const { read } = encoder.encodeInto(text, new Uint8Array(mostBytes))
  return text.slice(0, read)
}
