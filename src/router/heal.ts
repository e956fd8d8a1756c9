// Changes a refused attempt by the lessons of its refusal, and a new attempt by the lessons of its model.
// It must not depend on where lessons are kept, or on how an attempt is called.
import * as Result from "effect/Result"
import { BodyInvalid, type GatewayError } from "../domain/GatewayError.ts"
import type { ModelRecord } from "../domain/models/ModelRecord.ts"
import type { Operation } from "../domain/operations.ts"
import { withReason } from "../domain/ProviderError.ts"
import { isJsonObject, type Json, type JsonObject } from "../domain/text/json.ts"
import { editTopLevel } from "../domain/text/topMembers.ts"
import { operationRules } from "../operations/operationRules.ts"
import { applyLessons, type HealedCall, joinAdjusted, LazyCall } from "../translate/healing/applyLessons.ts"
import { betasNotOffered } from "../translate/healing/claudeRemedies.ts"
import type { Lesson } from "../translate/healing/lessons.ts"
import { readLessons, refusalHint, type RefusedCall } from "../translate/healing/refusals.ts"
import { type Hop, type Hops, PassedCall, type Prepared } from "../upstream/Prepared.ts"

/** What healing reads of an attempt: its dialect and the facts about its model. */
export interface HealScope extends RefusedCall {
  readonly record: ModelRecord
}

/** Undefined for operations and dialects without known refusals. */
export const healScope = (
  operation: Operation,
  { target: { issuer }, translated }: Pick<Prepared<unknown, unknown>, "target" | "translated">,
  record: ModelRecord
): HealScope | undefined => {
  const { healed } = operationRules[operation]
  const native = healed === "own" && translated === undefined
  const [dialect] = issuer.split("/", 1)
  return healed === undefined || (dialect !== "gemini" && dialect !== "claude")
    ? undefined
    : { dialect, native, record }
}

/**
 * The lessons of a failure; none for anything but a 400 of the upstream with a known text in its own words. A refusal that
 * names a field of the request by path is about what the client wrote there.
 */
const lessonsOf = (
  scope: HealScope,
  error: GatewayError,
  call: Pick<Prepared<unknown, unknown>, "body" | "headers" | "target">
): ReadonlyArray<Lesson> => {
  if (error._tag !== "ProviderError" || error.upstreamStatus !== 400) return []
  const { reason } = error
  const isAboutModel =
    reason._tag === "SignatureRejected" || (reason._tag === "InvalidRequest" && reason.param === undefined)
  return isAboutModel ? readLessons(scope, reason.message, call) : []
}

/** The failure with a sentence about what helps, where one is known. */
const withHint = ({ native }: HealScope, error: GatewayError): GatewayError => {
  if (error._tag !== "ProviderError" || native || error.upstreamStatus === undefined) return error
  const hint = refusalHint(error.upstreamStatus, error.reason.message)
  return hint === undefined ? error : withReason(error, { ...error.reason, message: `${error.reason.message} ${hint}` })
}

/** True for a call that ends with a user turn of the gateway: its signatures fit no history that the client has (M-303). */
const hasInsertedTurn = ({ adjusted = [] }: Pick<Prepared<unknown, unknown>, "adjusted">): boolean =>
  adjusted.some(({ param, sent }) => param === "messages" && sent === "continue")

/** True for a call whose answers the client gets without signatures; an answer in another dialect is made without them. */
export const givesUnsigned = (prepared: Prepared<unknown, unknown>): boolean =>
  prepared.translated === undefined && hasInsertedTurn(prepared)

/** What facts teach of a call before it is made. */
export const knownLessons = (
  { dialect }: HealScope,
  { headers, target }: Pick<Prepared<unknown, unknown>, "headers" | "target">
): ReadonlyArray<Lesson> => (dialect === "claude" && target.kind === "vertex-ai" ? betasNotOffered(headers) : noLessons)

const noLessons: ReadonlyArray<Lesson> = []

/** The changed calls of one target so far. */
export interface Healing {
  /** The calls that may still follow. */
  readonly left: number
  /** The lessons of the refused calls, and those of them that changed a call. */
  readonly lessons: ReadonlyArray<Lesson>
  readonly applied: ReadonlyArray<Lesson>
}

/** What of an attempt its lessons read and change. */
interface HealableAttempt<Out, Chunk> {
  readonly request: object
  readonly prepared: Prepared<Out, Chunk>
  readonly ignored: ReadonlyArray<string>
  readonly scope: HealScope | undefined
}

/** The parts of an attempt that lessons change. */
type Change<Out, Chunk> = Pick<HealableAttempt<Out, Chunk>, "ignored" | "prepared">

/** Changes an attempt by lessons; `applied` are those that changed it. */
export const withLessons = <Out, Chunk>(
  { ignored, prepared, request, scope }: HealableAttempt<Out, Chunk>,
  lessons: ReadonlyArray<Lesson>
): Result.Result<{ readonly change: Change<Out, Chunk>; readonly applied: ReadonlyArray<Lesson> }, BodyInvalid> =>
  scope === undefined || lessons.length === 0
    ? Result.succeed({ change: { ignored, prepared }, applied: [] })
    : Result.map(healPrepared(prepared, scope, request, lessons), ({ applied, prepared: changed }) => ({
        change: { prepared: changed, ignored: joinNames(ignored, changed.ignored) },
        applied
      }))

/**
 * The change of a refused call after which it is made again; a failure where there is none. A refusal that teaches nothing new
 * ends the calls of the target as it is.
 */
export const healRefused = <Out, Chunk>(
  attempt: HealableAttempt<Out, Chunk>,
  error: GatewayError,
  { applied, left, lessons }: Healing,
  /** Earlier lessons name further values that the model refuses. */
  earlier: () => ReadonlyArray<Lesson>
): Result.Result<{ readonly change: Change<Out, Chunk>; readonly healing: Healing }, GatewayError> => {
  const { prepared, scope } = attempt
  if (scope === undefined) return Result.fail(error)
  const fresh =
    left === 0
      ? []
      : lessonsOf(scope, error, prepared).filter(
          ({ row, value }) => !lessons.some((before) => before.row === row && before.value === value)
        )
  if (fresh.length === 0) return Result.fail(withHint(scope, error))
  return Result.flatMap(withLessons(attempt, [...earlier(), ...fresh]), ({ applied: used, change }) =>
    used.length === 0
      ? Result.fail<GatewayError>(error)
      : Result.succeed({
          change,
          healing: {
            left: left - 1,
            lessons: [...lessons, ...fresh],
            applied: [...applied, ...fresh.filter((lesson) => used.includes(lesson))]
          }
        })
  )
}

/** A call after its lessons; `applied` is empty when none of them is about it. */
interface HealedPrepared<Out, Chunk> {
  readonly prepared: Prepared<Out, Chunk>
  readonly applied: ReadonlyArray<Lesson>
}

/** Changes a call by lessons. A fault refuses the request without a call. */
export const healPrepared = <Out, Chunk>(
  prepared: Prepared<Out, Chunk>,
  { native, record }: HealScope,
  request: object,
  lessons: ReadonlyArray<Lesson>
): Result.Result<HealedPrepared<Out, Chunk>, BodyInvalid> => {
  let parsed: JsonObject | undefined
  const body = (): JsonObject => (parsed ??= isJsonObject(prepared.body) ? prepared.body : {})
  const { headers } = prepared
  const healed = applyLessons(
    new LazyCall({ record, headers, thinkingParam: native ? "thinking" : thinkingParam(request) }, body),
    lessons
  )
  if (healed instanceof BodyInvalid) return Result.fail(healed)
  return Result.succeed(
    healed.applied.length === 0
      ? { prepared, applied: [] }
      : { prepared: withChanges(prepared, healed, body), applied: healed.applied }
  )
}

const thinkingParam = (request: object): string =>
  "bytes" in request || ("thinking" in request && request.thinking !== undefined && request.thinking !== null)
    ? "thinking"
    : "reasoning_effort"

/** Both lists, each name once. */
const joinNames = (before: ReadonlyArray<string>, after: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...before,
  ...after.filter((param) => !before.includes(param))
]

/** A native body keeps the bytes of its unchanged members, and is parsed only when it is shown. */
const withChanges = <Out, Chunk>(
  before: Prepared<Out, Chunk>,
  { adjusted, body, headers, ignored }: HealedCall,
  bodyBefore: () => JsonObject
): Prepared<Out, Chunk> => {
  const { bytes, hops, method, split, target, translated, url } = before
  const shared = {
    target,
    url,
    headers,
    ignored: joinNames(before.ignored, ignored),
    adjusted: adjusted.length === 0 ? before.adjusted : joinAdjusted(before.adjusted ?? [], adjusted),
    ...(hasInsertedTurn({ adjusted }) && translated?.unsigned !== undefined
      ? translated.unsigned()
      : { reply: before.reply, chunks: before.chunks }),
    ...(translated === undefined ? {} : { translated })
  }
  if (bytes !== undefined) {
    const edited = body === undefined ? bytes : editTopLevel(bytes, editsOf(bodyBefore(), body))
    return new PassedCall({ ...shared, bytes: edited, json: () => body ?? before.body })
  }
  return {
    ...shared,
    method,
    body: body ?? before.body,
    ...(split === undefined ? {} : { split }),
    ...(hops === undefined
      ? {}
      : {
          hops: withLaterChanges(hops, headers, (later) =>
            body === undefined ? later : rebased(later, bodyBefore(), body)
          )
        })
  }
}

/** The later calls of a long answer, also where the lessons changed headers only. */
const withLaterChanges = <Out>(
  { body, first, most }: Hops<Out>,
  headers: Readonly<Record<string, string>>,
  change: (body: Json) => Json
): Hops<Out> => ({
  most,
  first: withHopChanges(first, headers, change),
  body: (token) => change(body(token))
})

/** The body of a later call on the changed body of the first: its own members are those that differ from the first. */
const rebased = (later: Json, before: JsonObject, after: JsonObject): Json =>
  isJsonObject(later)
    ? { ...after, ...Object.fromEntries(Object.entries(later).filter(([name, value]) => before[name] !== value)) }
    : later

/** Each call of a long answer has the same changes. */
const withHopChanges = <Out>(
  call: Prepared<Hop<Out>, never>,
  headers: Readonly<Record<string, string>>,
  change: (body: Json) => Json
): Prepared<Hop<Out>, never> => ({
  ...call,
  headers,
  body: change(call.body),
  reply: (...answer) =>
    Result.map(call.reply(...answer), (hop) => ({
      ...hop,
      next: hop.next === undefined ? undefined : withHopChanges(hop.next, headers, change)
    }))
})

/** The JSON text of each top-level member that differs; undefined for one that is gone. */
const editsOf = (before: JsonObject, after: JsonObject): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(
    Object.keys({ ...before, ...after })
      .filter((name) => before[name] !== after[name])
      .map((name) => [name, after[name] === undefined ? undefined : JSON.stringify(after[name])])
  )
