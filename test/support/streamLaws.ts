// Laws of each recorded stream: any cut of its bytes gives the same chunks (L6), and a truncated one ends after a prefix (L7).
// Must not depend on a translator.
import { isDeepStrictEqual } from "node:util"
import { type Fold, isStreamFailed, runFold } from "../../src/translate/Translator.ts"
import { sseEvents } from "../../src/wire/frames.ts"
import type { ChatChunk, ChunkChoice } from "../../src/wire/openai/ChatReply.ts"
import { sample } from "./release.ts"
import { boundaries, cutAt, isChunk, type Output } from "./streams.ts"

const frames = sseEvents({ eventBytes: 24 * 1024 * 1024 })

/** Where two pieces of the bytes, cut there, are read as other frames than the whole is. */
const cutsOfBytesThatTell = (bytes: Uint8Array): ReadonlyArray<number> => {
  const read = (pieces: Iterable<Uint8Array>): string => JSON.stringify(runFold(frames, pieces))
  const wanted = read([bytes])
  return sample(boundaries(bytes), 20).filter((at) => read(cutAt(bytes, at)) !== wanted)
}

/** The same within each line, read from the state before it: what follows depends only on the state after the line. */
const cutsOfLinesThatTell = (bytes: Uint8Array): ReadonlyArray<number> => {
  const cuts = new Set(boundaries(bytes))
  const telling: Array<number> = []
  let state = frames.initial()
  for (let from = 0, to = 0; from < bytes.length; from = to) {
    to = bytes.indexOf(0x0a, from) + 1 || bytes.length
    const whole = frames.step(state, bytes.slice(from, to))
    for (let at = from + 1; at < to; at++) {
      if (!cuts.has(at)) continue
      const [between, first] = frames.step(state, bytes.slice(from, at))
      const [after, second] = frames.step(between, bytes.slice(at, to))
      if (!isDeepStrictEqual([after, [...first, ...second]], whole)) telling.push(at)
    }
    state = whole[0]
  }
  return telling
}

/**
 * Where two pieces of the bytes, cut there, give other outputs than the whole. All that follows the frames is folds over
 * frames, which see no bytes, so the whole stream is read for few cuts.
 */
export const cutsThatTell = (
  run: (pieces: Iterable<Uint8Array>) => unknown,
  bytes: Uint8Array
): ReadonlyArray<number> => {
  const read = (pieces: Iterable<Uint8Array>): string => JSON.stringify(run(pieces))
  const wanted = read([bytes])
  const cuts = sample(boundaries(bytes, 2_000), 20)
  return [
    ...cuts.filter((at) => read(cutAt(bytes, at)) !== wanted),
    ...cutsOfBytesThatTell(bytes),
    ...cutsOfLinesThatTell(bytes)
  ]
}

/**
 * The places where an end of the bytes is unlawful. Lawful are the first deltas of the whole and one output after them: the
 * usage after a finish, else a failure. `isDelta` may leave out deltas that an early end changes.
 */
export const unlawfulEnds = <State>(
  fold: Fold<State, Uint8Array, Output>,
  bytes: Uint8Array,
  isDelta: (choice: ChunkChoice) => boolean = ({ finish_reason }) => finish_reason === null
): ReadonlyArray<number> => {
  const deltasOf = (outputs: ReadonlyArray<Output>): ReadonlyArray<ChatChunk> =>
    outputs.filter(isChunk).filter(({ choices }) => choices.some(isDelta))
  const isEnd = (output: Output): boolean => isStreamFailed(output) || output.choices.length === 0
  const isFinish = ({ choices }: ChatChunk): boolean => choices.some(({ finish_reason }) => finish_reason !== null)
  const whole = runFold(fold, [bytes])
  const deltas = deltasOf(whole)
  const places = boundaries(bytes, 4_000)
  const readInOnePiece = new Set(sample(places, 20))
  const before: Array<Output> = []
  let now = fold.initial()
  let from = 0
  return places.filter((at) => {
    const [next, outputs] = fold.step(now, bytes.slice(from, at))
    const isPrefix = isDeepStrictEqual(outputs, whole.slice(before.length, before.length + outputs.length))
    before.push(...outputs)
    now = next
    from = at
    const last = fold.onHalt(now)
    const cut = [...before, ...last]
    const sent = deltasOf(before).length
    const more = deltasOf(last)
    const isLawful =
      isPrefix &&
      isDeepStrictEqual(more, deltas.slice(sent, sent + more.length)) &&
      isDeepStrictEqual(cut.filter(isEnd), cut.slice(-1)) &&
      cut.slice(-1).every(isChunk) === cut.filter(isChunk).some(isFinish) &&
      (!readInOnePiece.has(at) || isDeepStrictEqual(cut, runFold(fold, [bytes.slice(0, at)])))
    return !isLawful
  })
}
