// Ids derived from one seed, so that the same request replayed gives the same bytes.
// It must not depend on where the seed comes from.

const tailDigits = 12
const tailSize = 16 ** tailDigits

/** `call-<uuid>` of the n-th call: the seed's last twelve hex digits count on. */
export const callIds =
  (seed: string) =>
  (n: number): string => {
    const head = seed.slice(0, -tailDigits)
    const tail = (Number.parseInt(seed.slice(-tailDigits), 16) + n + 1) % tailSize
    return `call-${head}${tail.toString(16).padStart(tailDigits, "0")}`
  }
