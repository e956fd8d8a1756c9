// Reads the entries of a list one by one into results, and stops at the first fault.
// Must not know what an entry is.
import * as Result from "effect/Result"

/** The entries after `read`, or the first fault; entries after that are not read. */
export const readEach = <Entry, A, E>(
  entries: ReadonlyArray<Entry>,
  read: (entry: Entry, index: number) => Result.Result<A, E>
): Result.Result<Array<A>, E> => {
  const out: Array<A> = []
  for (const [index, entry] of entries.entries()) {
    const result = read(entry, index)
    if (Result.isFailure(result)) return Result.fail(result.failure)
    out.push(result.success)
  }
  return Result.succeed(out)
}
