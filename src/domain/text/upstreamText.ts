// Redacts upstream error text for callers: public text without internal host names and file paths.
// It must not know which message contains the text.
import { publicText } from "./publicText.ts"

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
