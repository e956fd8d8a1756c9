// How a choice ends: the upstream's word, what was seen of the answer, and OpenAI's word for both.
// It must not know whether the answer was streamed.
import * as Result from "effect/Result"
import type { Json, JsonObject } from "../../domain/text/json.ts"
import type { Reason } from "../../domain/ProviderError.ts"
import type { Candidate, GenerateContentReply } from "../../wire/google/GenerateContent.ts"
import type { Annotation, FinishReason } from "../../wire/openai/ChatReply.ts"
import type { Citation } from "../../wire/openai/Extensions.ts"
import { filterWords } from "../shared/google/filterWords.ts"
import { annotationsOf, citationsOf, groundingOf } from "./grounding.ts"
import type { PartsFacts, PartsState } from "./parts.ts"

/** What the events of a choice said beside its parts; the last word counts, citations add up. */
export interface EndState {
  readonly reason: string | undefined
  readonly message: string | undefined
  readonly ratings: ReadonlyArray<Json> | undefined
  readonly grounding: JsonObject | undefined
  readonly citations: ReadonlyArray<Citation>
}

export const noEnd: EndState = {
  reason: undefined,
  message: undefined,
  ratings: undefined,
  grounding: undefined,
  citations: []
}

export const readEnd = (state: EndState, candidate: Candidate): EndState => {
  const { finishReason, finishMessage, safetyRatings } = candidate
  const grounding = groundingOf(candidate)
  const citations = candidate.citationMetadata ? citationsOf(candidate) : []
  if (!finishReason && !finishMessage && !safetyRatings && grounding === undefined && citations.length === 0)
    return state
  return {
    reason: finishReason ? finishReason : state.reason,
    message: finishMessage ?? state.message,
    ratings: safetyRatings ?? state.ratings,
    grounding: grounding === undefined ? state.grounding : { ...state.grounding, ...grounding },
    citations: citations.length === 0 ? state.citations : [...state.citations, ...citations]
  }
}

/** The end of one choice: standard fields, and `extensions` of the choice. */
export interface End {
  readonly finish_reason: FinishReason
  readonly refusal: string | undefined
  readonly annotations: ReadonlyArray<Annotation>
  readonly extensions: {
    readonly native_finish_reason?: string
    readonly safetyRatings?: ReadonlyArray<Json>
    readonly groundingMetadata?: JsonObject
    readonly citations?: ReadonlyArray<Citation>
  }
}

/** Fails with the reason when the upstream's word means that there is no usable answer. `ratings` of the prompt stand in. */
export const endOf = (
  state: EndState,
  parts: PartsState,
  { keepsContent, legacy }: PartsFacts,
  ratings: ReadonlyArray<Json> | undefined
): Result.Result<End, Reason> =>
  Result.map(finishOf(state.reason, parts), (finish) => {
    const rated = state.ratings ?? ratings
    return {
      finish_reason: legacy && finish === "tool_calls" ? "function_call" : finish,
      refusal: finish === "content_filter" && parts.content === "" ? state.message : undefined,
      annotations: keepsContent ? annotationsOf(state.grounding, parts.content, parts.partStarts) : [],
      extensions: {
        ...(state.reason === undefined ? {} : { native_finish_reason: state.reason }),
        ...(rated === undefined ? {} : { safetyRatings: rated }),
        ...(state.grounding === undefined ? {} : { groundingMetadata: state.grounding }),
        ...(state.citations.length === 0 ? {} : { citations: state.citations })
      }
    }
  })

/** A prompt that was refused: there is feedback with a reason and no candidate. */
export const blockedEnd = (feedback: GenerateContentReply["promptFeedback"]): End | undefined =>
  !feedback?.blockReason && !feedback?.blockReasonMessage
    ? undefined
    : {
        finish_reason: "content_filter",
        refusal: feedback.blockReasonMessage ?? undefined,
        annotations: [],
        extensions: {
          ...(feedback.blockReason ? { native_finish_reason: feedback.blockReason } : {}),
          ...(feedback.safetyRatings ? { safetyRatings: feedback.safetyRatings } : {})
        }
      }

/** Gemini says STOP for calls too. Words we do not know count as OTHER. */
const finishOf = (word: string | undefined, parts: PartsState): Result.Result<FinishReason, Reason> => {
  const called = parts.calls > 0
  if (word === "STOP") return Result.succeed(called ? "tool_calls" : "stop")
  if (word === "MAX_TOKENS") return Result.succeed("length")
  if (word !== undefined && filterWords.has(word)) return Result.succeed("content_filter")
  if (word === "MISSING_THOUGHT_SIGNATURE") return Result.fail({ _tag: "SignatureRejected", message: signatureHint })
  if (word === "MALFORMED_FUNCTION_CALL" || word === "MALFORMED_RESPONSE") return fault("malformed_call", word)
  if (called) return Result.succeed("tool_calls")
  if (word === "UNEXPECTED_TOOL_CALL" || word === "TOO_MANY_TOOL_CALLS") return fault("malformed_call", word)
  return parts.content !== "" || parts.media ? Result.succeed("stop") : fault("no_content", word)
}

const signatureHint =
  "The upstream found a tool call without its thought signature. Send back function.thought_signature as it came, or start a new turn."

const fault = (kind: "malformed_call" | "no_content", word: string | undefined): Result.Result<never, Reason> =>
  Result.fail({
    _tag: "BadReply",
    kind,
    message:
      kind === "malformed_call"
        ? `The model made a tool call that cannot be used (${plain(word)}). Try again.`
        : `The model ended without an answer (${plain(word)}). Try again.`
  })

const plain = (word: string | undefined): string =>
  word === undefined ? "no reason given" : word.slice(0, 64).replace(/[^\w]/g, "_")
