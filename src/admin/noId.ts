// Recognizes texts that cannot be the id of a record, so that the store is not queried for them.
// Must not know what ids of a kind look like.

/** The longest id of any kind. */
export const longestId = 256

/** Control characters: PostgreSQL refuses NUL in a text. */
// oxlint-disable-next-line no-control-regex
const unspeakable = /[\u0000-\u001f\u007f]/

/** True for a text that cannot be an id. */
export const isNoId = (text: string): boolean => text.length > longestId || unspeakable.test(text)
