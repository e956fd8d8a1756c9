// Ids of responses and of their items: one number, so that an item leads to its response without an index.
// It must not know where the number comes from.

const responseForm = /^resp_[0-9a-f]{32}$/
const itemForm = /^(?:msg|rs|fc|ctc|ws|ci|ig)_([0-9a-f]{32})[0-9a-f]{4}$/

/** The first position of input items that came without an id. */
export const inputPositions = 0x80_00

const digits = 4

/** `resp_` and the 32 hex digits of a request's own id. */
export const responseIdOf = (seed: string): string => `resp_${seed.replaceAll("-", "").toLowerCase()}`

export const isResponseId = (id: string): boolean => responseForm.test(id)

/** The number of a response, from its id. */
export const numberOf = (responseId: string): string => responseId.slice("resp_".length)

export type ItemPrefix = "msg" | "rs" | "fc" | "ctc" | "ws" | "ci" | "ig"

/** The id of the item at this position of a response. */
export const itemId = (prefix: ItemPrefix, responseId: string, position: number): string =>
  `${prefix}_${numberOf(responseId)}${position.toString(16).padStart(digits, "0")}`

/** The response an item of ours belongs to; undefined for an id of another maker. */
export const responseOfItem = (id: string): string | undefined => {
  const number = itemForm.exec(id)?.[1]
  return number === undefined ? undefined : `resp_${number}`
}
