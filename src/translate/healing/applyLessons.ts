// Changes an upstream call by the lessons of its model: one remedy for each row.
// Must not depend on where lessons are kept.
import { BodyInvalid } from "../../domain/GatewayError.ts"
import type { JsonObject } from "../../domain/text/json.ts"
import type { Adjustment } from "../Translator.ts"
import {
  continuedMessage,
  firstVersion,
  freeToolChoice,
  lowEffort,
  otherThinking,
  quietThinking,
  withoutBeta,
  withoutExtraInput,
  withoutSampling,
  withoutThinkingBlocks
} from "./claudeRemedies.ts"
import {
  continuedTurn,
  largestBudget,
  leastThinking,
  levelToBudget,
  nearerLevel,
  oneCandidate,
  refusedToolsWithSchema,
  shorterAnswer,
  signedCalls,
  withoutLogprobs,
  withoutPenalties
} from "./geminiRemedies.ts"
import type { CallChange, HealableCall, HealRow, Lesson, Remedy } from "./lessons.ts"

const remedies: Readonly<Record<HealRow, Remedy>> = {
  H1: levelToBudget,
  H2: nearerLevel,
  H3: nearerLevel,
  H4: leastThinking,
  H5: largestBudget,
  H6: leastThinking,
  H7: continuedTurn,
  H8: withoutPenalties,
  H9: withoutLogprobs,
  H10: withoutLogprobs,
  H11: oneCandidate,
  H12: refusedToolsWithSchema,
  H13: signedCalls,
  H14: withoutSampling,
  H15: continuedMessage,
  H16: freeToolChoice,
  H17: lowEffort,
  H18: otherThinking,
  H19: quietThinking,
  H20: withoutBeta,
  H21: withoutExtraInput,
  H23: withoutThinkingBlocks,
  H24: firstVersion,
  H30: shorterAnswer
}

/** A call after its lessons. */
export interface HealedCall {
  /** Undefined: as it was. */
  readonly body: JsonObject | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly ignored: ReadonlyArray<string>
  readonly adjusted: ReadonlyArray<Adjustment>
  /** The lessons that changed the call. */
  readonly applied: ReadonlyArray<Lesson>
}

/** Two changes of one parameter become one: from the value that was asked for to the value that is sent. */
export const joinAdjusted = (
  before: ReadonlyArray<Adjustment>,
  after: ReadonlyArray<Adjustment>
): ReadonlyArray<Adjustment> => {
  const joined = [...before]
  for (const change of after) {
    const at = joined.findIndex(
      ({ asked, param, sent }) => param === change.param && (sent === change.asked || asked === change.asked)
    )
    const first = joined[at]
    if (first === undefined) joined.push(change)
    else joined[at] = { ...change, asked: first.asked }
  }
  return joined
}

/**
 * A call whose body is parsed when a remedy first reads it. A class, because an object with a getter of its own would
 * keep its request until the next full collection.
 */
export class LazyCall implements HealableCall {
  readonly record: HealableCall["record"]
  readonly headers: HealableCall["headers"]
  readonly thinkingParam: string
  readonly #read: () => JsonObject

  constructor({ headers, record, thinkingParam }: Omit<HealableCall, "body">, read: () => JsonObject) {
    this.record = record
    this.headers = headers
    this.thinkingParam = thinkingParam
    this.#read = read
  }

  get body(): JsonObject {
    return this.#read()
  }
}

const changed = (call: HealedCall, { adjusted = [], body, headers, ignored = [] }: CallChange, lesson: Lesson) => ({
  body: body ?? call.body,
  headers: headers ?? call.headers,
  ignored: [...call.ignored, ...ignored.filter((param) => !call.ignored.includes(param))],
  adjusted: joinAdjusted(call.adjusted, adjusted),
  applied: [...call.applied, lesson]
})

/** Applies each lesson once, in order. The first fault refuses the request. */
export const applyLessons = (call: HealableCall, lessons: ReadonlyArray<Lesson>): HealedCall | BodyInvalid => {
  let healed: HealedCall = { body: undefined, headers: call.headers, ignored: [], adjusted: [], applied: [] }
  for (const lesson of lessons) {
    const { body, headers } = healed
    const values = lessons.filter(({ row }) => row === lesson.row).map(({ value }) => value)
    const change = remedies[lesson.row](withChanges(call, body, headers), lesson.value, values)
    if (change instanceof BodyInvalid) return change
    if (change !== undefined) healed = changed(healed, change, lesson)
  }
  return healed
}

const withChanges = (
  call: HealableCall,
  body: JsonObject | undefined,
  headers: HealableCall["headers"]
): HealableCall => {
  const { record, thinkingParam } = call
  return new LazyCall({ record, thinkingParam, headers }, () => body ?? call.body)
}
