// Cuts a list of inputs into calls, by their number and by an estimate of their tokens.
// It must not know what an input is made of, beyond its text.
import { charactersOf } from "../../domain/tokens/estimateTokens.ts"

/** What one call takes. */
export interface CallBounds {
  readonly inputsPerCall: number
  /** Undefined: no bound is known. */
  readonly tokensPerCall?: number | undefined
}

/** Estimated high, since a call above the bound is refused as a whole: three characters a token, and one token a word. */
const tokensOfText = (text: string): number =>
  Math.max(Math.ceil(charactersOf(text) / 3), text.match(/\S+/g)?.length ?? 0)

/** The inputs of each call, in order. An input that is too large alone is a call of its own. */
export const cutInputs = <A>(
  inputs: ReadonlyArray<A>,
  { inputsPerCall, tokensPerCall }: CallBounds,
  textOf: (input: A) => string
): ReadonlyArray<ReadonlyArray<A>> => {
  const calls: Array<Array<A>> = []
  let last: Array<A> = []
  let tokens = 0
  for (const input of inputs) {
    const added = tokensPerCall === undefined ? 0 : tokensOfText(textOf(input))
    if (last.length === 0 || last.length >= inputsPerCall || tokens + added > (tokensPerCall ?? tokens + added)) {
      last = []
      calls.push(last)
      tokens = 0
    }
    last.push(input)
    tokens += added
  }
  return calls
}
