// Ids that an answer gives: of the message, of calls whose own ids clients could not send back, of searches.
// It must not know where numbers come from. Rules: D308, D406.

/** `msg_` and the 32 hex digits of a request's own id. */
export const messageIdOf = (seed: string): string => `msg_${seed.replaceAll("-", "").toLowerCase()}`

const fitting = /^[A-Za-z0-9_-]{1,64}$/

/** The id of a call as the client gets it: the upstream's own, unless its form does not fit or the history has it. */
export const callIdOf = (
  own: string,
  place: string,
  taken: ReadonlySet<string>,
  digest: (text: string) => string
): string => (fitting.test(own) && !taken.has(own) ? own : `toolu_${digest(place)}`)

export const ownSearchPrefix = "srvtoolu_mg"

export const searchIdOf = (messageId: string, position: number): string =>
  `${ownSearchPrefix}${messageId.slice("msg_".length)}${position.toString(16)}`
