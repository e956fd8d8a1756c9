// Text of an upstream fit for a caller: public text, and without the places inside a provider's or an operator's network.
// It must not know which message it ends up in.
import { publicText } from "./publicText.ts"

/** Names of internal networks, any host with a port, files of a machine; each pattern has bounds. */
const places: ReadonlyArray<readonly [RegExp, string]> = [
  [
    /\b[\w-]{1,63}(\.[\w-]{1,63}){0,8}\.(cluster|corp|home\.arpa|internal|intranet|lan|local|localdomain|svc)\b(:\d+)?/gi,
    "[upstream]"
  ],
  [/\b[\w-]{1,63}(\.[\w-]{1,63}){0,8}\.[a-z][\w-]{0,62}:\d{2,5}\b/gi, "[upstream]"],
  [/(?<![\w.:/-])\/(app|etc|home|mnt|opt|proc|root|run|srv|tmp|usr|var)\/[^\s"'<>:]{1,1024}/g, "[path]"]
]

/** At most so many bytes of it; four times as many letters are searched. */
export const upstreamText = (text: string, mostBytes = 2_048): string =>
  publicText(
    places.reduce((left, [pattern, put]) => left.replace(pattern, put), text.slice(0, 4 * mostBytes)),
    mostBytes
  )
