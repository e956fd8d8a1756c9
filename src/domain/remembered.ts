// A pure function of text that need not be worked out anew for every request: the same few model ids come again and again.
// It must not know what is worked out.

/** Clients choose the texts, so what is kept is bounded; when it is full, all is forgotten. */
const most = 512
/** Longer texts are not kept. */
const longest = 1024

/** Answers the texts it has met from memory. `work` must be pure and its answers never changed. */
export const remembered = <A>(work: (text: string) => A): ((text: string) => A) => {
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
