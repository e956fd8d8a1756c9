// Refuses `__proto__`, `constructor` and `prototype` as keys that clients or operators choose (B20, TH13).
// It must not know which records use the check. Tool parameters and unknown fields are data and may use these names.
const refused: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"])

/** True for a name that records refuse. */
export const isRefusedKey = (key: string): boolean => refused.has(key)

/** The refused keys of a record. */
export const refusedKeysOf = (record: object): ReadonlyArray<string> => Object.keys(record).filter(isRefusedKey)
