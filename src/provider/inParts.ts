// One request as several upstream calls: each part is prepared like a request of its own.
// It must not depend on how a request is cut or what its answers are.
import * as Result from "effect/Result"
import { readEach } from "../domain/text/readEach.ts"
import type { GatewayError } from "../domain/GatewayError.ts"
import type { Parts } from "../translate/Translator.ts"
import type { Prepared, Split } from "../upstream/Prepared.ts"

/** The first part that cannot be prepared refuses the whole request; the others go along with the first one. */
export const inParts = <Part, Out>(
  [first, ...rest]: Parts<Part>,
  prepare: (part: Part) => Result.Result<Prepared<Out, never>, GatewayError>,
  split: Omit<Split<Out>, "calls">
): Result.Result<Prepared<Out, never>, GatewayError> => {
  const head = prepare(first)
  if (Result.isFailure(head) || rest.length === 0) return head
  return Result.map(readEach(rest, prepare), (calls) => ({ ...head.success, split: { ...split, calls } }))
}
