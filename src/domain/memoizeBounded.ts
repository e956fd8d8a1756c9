// Caches the results of a pure function of text, such as parsing a model id, within a fixed bound.
// It must not know what the function computes.

/** Clients choose the texts, so the cache is bounded. A full cache is cleared. */
const most = 512
/** Results for longer texts are not cached. */
const longest = 1024

/** Returns cached results. `work` must be pure, and callers must not change its results. */
export const memoizeBounded = <A>(work: (text: string) => A): ((text: string) => A) => {
  const known = new Map<string, A>()
  return (text) => {
    const met = known.get(text)
    if (met !== undefined) return met
    const answer = work(text)
    if (text.length > longest) return answer
    if (known.size >= most) known.clear()
    known.set(text, answer)
    return answer
  }
}
