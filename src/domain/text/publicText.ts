// Redacts foreign text for display: removes credentials, internal addresses, file paths, queries and control characters.
// It must not know which message contains the text, or routes.

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

// Redacts upstream error text for callers: public text without internal host names and file paths.

/** Names of internal networks, any host with a port, file paths; each pattern is bounded. */
const places: ReadonlyArray<readonly [RegExp, string]> = [
  [
    /\b[\w-]{1,63}(\.[\w-]{1,63}){0,8}\.(cluster|corp|home\.arpa|internal|intranet|lan|local|localdomain|svc)\b(:\d+)?/gi,
    "[upstream]"
  ],
  [/\b[\w-]{1,63}(\.[\w-]{1,63}){0,8}\.[a-z][\w-]{0,62}:\d{2,5}\b/gi, "[upstream]"],
  [/(?<![\w.:/-])\/(app|etc|home|mnt|opt|proc|root|run|srv|tmp|usr|var)\/[^\s"'<>:]{1,1024}/g, "[path]"]
]

/** At most `mostBytes` bytes; four times as many characters are searched. */
export const upstreamText = (text: string, mostBytes = 2_048): string =>
  publicText(
    places.reduce((left, [pattern, put]) => left.replace(pattern, put), text.slice(0, 4 * mostBytes)),
    mostBytes
  )

// Takes queries out of text before it is logged, traced or shown: on native routes a query may hold a key.

/** A request target without its query and fragment. */
export const queryless = (target: string): string => {
  const at = target.search(/[?#]/)
  return at < 0 ? target : target.slice(0, at)
}

/** Parameters that hold a credential, wherever in a text they stand: `?key=`, `&access_token=`, encoded or not. */
const credentials =
  /((?:[?&]|%3f|%26|\b)(?:key|api[_-]?key|access[_-]?token|auth[_-]?token)(?:=|%3d))[^\s&#"'<>\\)\]}]+/gi

/** The text with the values of credential parameters replaced. */
export const withoutQueryKeys = (text: string): string =>
  /=|%3d/i.test(text) ? text.replace(credentials, "$1[redacted]") : text
