// The ETag of a kept entry, and the condition of If-Match (RFC 9110).
// It must not depend on the kind of the entry.

interface Versioned {
  readonly version: number
  readonly createdMillis: number
}

/** An entry that was removed and made again has another tag than before. */
export const entityTag = ({ createdMillis, version }: Versioned): string => `"${version}-${createdMillis.toString(36)}"`

/** A weak tag never matches: a change is made from one exact version. */
const strongTags = /(?:^|,)\s*("[^"]*")\s*(?=,|$)/g

/** Whether an entry is one that If-Match names; undefined where the header is not sent. */
export const matching = (ifMatch: string | undefined): ((entry: Versioned) => boolean) | undefined => {
  if (ifMatch === undefined) return undefined
  if (ifMatch.trim() === "*") return () => true
  const tags = new Set([...ifMatch.matchAll(strongTags)].map(([, tag]) => tag))
  return (entry) => tags.has(entityTag(entry))
}
