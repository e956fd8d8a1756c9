// After a refusal with a known text, changes the call and makes it again. Only a success teaches later requests.
// It must not depend on how a call is made, or on what a lesson changes.
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { GatewayError } from "../domain/GatewayError.ts"
import type { Operation } from "../domain/operations.ts"
import type { RequestContext } from "../domain/RequestContext.ts"
import type { LearnedRemedies } from "../state/LearnedRemedies.ts"
import type { Lesson } from "../translate/healing/lessons.ts"
import { type Attempt, withLessons } from "./Attempts.ts"
import { type HealScope, learnableLessons, lessonsOf, withHint } from "./heal.ts"

/** The calls that may still follow, the lessons of the refused ones, and those of them that changed a call. */
interface Healing {
  readonly left: number
  readonly lessons: ReadonlyArray<Lesson>
  readonly applied: ReadonlyArray<Lesson>
}

type Call<Op extends Operation, A, R> = (attempt: Attempt<Op>) => Effect.Effect<A, GatewayError, R>

/** A call that its upstream has refused. */
interface Refused<Op extends Operation> {
  readonly attempt: Attempt<Op>
  readonly scope: HealScope
  readonly error: GatewayError
}

/**
 * The answer of the first changed call that succeeds, after at most `heals` changes. A refusal that teaches nothing new
 * ends the request as it is.
 */
export const healRefused = <Op extends Operation, A, R>(
  learned: LearnedRemedies["Service"],
  context: Pick<RequestContext, "recorder" | "startedMillis">,
  { attempt, error: refusal, scope }: Refused<Op>,
  call: Call<Op, A, R>,
  heals: number
): Effect.Effect<A, GatewayError, R> => {
  const { learns } = attempt
  const healed = ({ applied, lessons }: Pick<Healing, "applied" | "lessons">) => {
    context.recorder?.healed(lessons.map(({ row }) => row))
    return learns === undefined ? Effect.void : learned.learn(learns, learnableLessons(applied))
  }
  const after = (
    refused: Attempt<Op>,
    error: GatewayError,
    { applied, left, lessons }: Healing
  ): Effect.Effect<A, GatewayError, R> => {
    if (left === 0) return Effect.fail(withHint(scope, error))
    const fresh = lessonsOf(scope, error, refused.prepared).filter(
      ({ row, value }) => !lessons.some((before) => before.row === row && before.value === value)
    )
    if (fresh.length === 0) return Effect.fail(withHint(scope, error))
    // Earlier lessons name further values that the model refuses.
    const known = learns === undefined ? [] : learned.recall(learns, context.startedMillis)
    const changed = withLessons(refused, [...known, ...fresh])
    if (Result.isFailure(changed)) return Effect.fail(changed.failure)
    const { applied: used, attempt: next } = changed.success
    if (used.length === 0) return Effect.fail(error)
    const now = {
      left: left - 1,
      lessons: [...lessons, ...fresh],
      applied: [...applied, ...fresh.filter((lesson) => used.includes(lesson))]
    }
    return Effect.matchEffect(call(next), {
      onFailure: (again) => after(next, again, now),
      onSuccess: (answer) => Effect.as(healed(now), answer)
    })
  }
  return after(attempt, refusal, { left: heals, lessons: [], applied: [] })
}
