// Makes embedding vectors: equal texts give equal vectors, texts with common words and letters lie closer than others.
// It must not depend on requests or models.

/** A seed from a feature: FNV-1a, then a final mix. */
const seedOf = (feature: string): number => {
  let hash = 0x811c9dc5
  for (let at = 0; at < feature.length; at++) hash = Math.imul(hash ^ feature.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b)
  // Never zero: zero stays zero under xorshift.
  return hash ^ (hash >>> 15) || 1
}

const mostFeatures = 512

/** Whole words and their three-letter pieces; the pieces keep inflected words near each other. */
const featuresOf = (text: string): ReadonlyMap<string, number> => {
  const features = new Map<string, number>()
  const add = (feature: string, weight: number) => {
    if (features.size < mostFeatures || features.has(feature))
      features.set(feature, (features.get(feature) ?? 0) + weight)
  }
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [text]
  for (const word of words) {
    add(`word ${word}`, 2)
    const padded = ` ${word} `
    for (let at = 0; at + 3 <= padded.length; at++) add(`piece ${padded.slice(at, at + 3)}`, 1)
  }
  return features
}

/**
 * The vector of a text in `size` dimensions, of length one. `marks` (a task type, a title) change it a little.
 * Each feature adds a direction that derives from its hash.
 */
export const embed = (text: string, size: number, marks: ReadonlyArray<string> = []): ReadonlyArray<number> => {
  const sum = new Float64Array(size)
  const features = [...featuresOf(text), ...marks.map((mark) => [`mark ${mark}`, 1.5] as const)]
  for (const [feature, weight] of features) {
    let state = seedOf(feature)
    for (let at = 0; at < size; at++) {
      state ^= state << 13
      state ^= state >>> 17
      state ^= state << 5
      sum[at] = (sum[at] ?? 0) + (weight * state) / 0x80000000
    }
  }
  const length = Math.hypot(...sum) || 1
  return Array.from(sum, (value) => Math.fround(value / length))
}

/** The first `dimensions` of a vector; as on the services, the rest is not scaled to length one. */
export const shorten = (vector: ReadonlyArray<number>, dimensions: number | undefined): ReadonlyArray<number> =>
  dimensions === undefined ? vector : vector.slice(0, dimensions)

/** The Gemini API and embedContent write about eight digits (recorded); predict writes all digits. */
export const eightDigits = (vector: ReadonlyArray<number>): ReadonlyArray<number> =>
  vector.map((value) => Number(value.toPrecision(8)))
