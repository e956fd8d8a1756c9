// Names that reach into an object's own nature; records whose keys clients or operators choose refuse them (B20, TH13).
// It must not know any record. Parameters of tools and unknown fields are data, and may have them.
const refused: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"])

/** True for a name that no such record may use. */
export const isRefusedKey = (key: string): boolean => refused.has(key)

/** The refused keys of a record. */
export const refusedKeysOf = (record: object): ReadonlyArray<string> => Object.keys(record).filter(isRefusedKey)
