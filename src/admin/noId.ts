// Texts that no entry has as its id, so that no store is asked for them.
// It must not know what ids of a kind look like.

/** Ids of every kind are shorter. */
export const longestId = 256

/** A control character, which a database may refuse to look for. */
// oxlint-disable-next-line no-control-regex
const unspeakable = /[\u0000-\u001f\u007f]/

/** True for a text that no entry has as its id. */
export const isNoId = (text: string): boolean => text.length > longestId || unspeakable.test(text)
