// What the rest of the gateway asks of an operation, whichever it is: one value per operation has it all.
// It must not depend on a provider, a route, or the fields of a body.
import type * as Result from "effect/Result"
import type { AnswerFault } from "../domain/config/GatewayConfig.ts"
import type { BodyInvalid } from "../domain/GatewayError.ts"
import type { LimitValues } from "../domain/Limits.ts"
import type { ModelTable } from "../domain/models/modelTable.ts"
import type { Operation } from "../domain/operations.ts"
import type { JsonObject } from "../domain/text/json.ts"
import type { Usage } from "../domain/Usage.ts"
import type { AttemptContext, Operations } from "../provider/Provider.ts"
import type { SignedCall } from "../translate/shared/chat-request/signatures.ts"

/** The body of a request as configs see it. */
export interface BodyRules<Request> {
  /** Whether its dialect has attribution labels. */
  readonly labels: boolean
  /** What conditions and estimates read. */
  readonly params: (request: Request) => JsonObject
  /** The request with the edited body, which must be as sound as one that a client sends. */
  readonly revise: (
    request: Request,
    edit: (body: JsonObject) => JsonObject,
    limits: LimitValues
  ) => Result.Result<Request, BodyInvalid>
}

/** The prompt of a body. */
export interface ExpectedPrompt {
  readonly input: number
  readonly audioInput: number
  /** It continues a cached content, which is not in these counts. */
  readonly isCached: boolean
}

/** What an estimate of usage depends on next to the body. */
export interface EstimateContext {
  /** Usage of the prompt alone. */
  readonly read: Usage
  /** The output of a request without a bound. */
  readonly usualOutput: number
  readonly modelId: string
  readonly models: ModelTable
}

/** The probable usage of a request before it is sent. */
export interface UsageEstimate {
  readonly prompt: (body: JsonObject) => ExpectedPrompt
  readonly usage: (body: JsonObject, context: EstimateContext) => Usage
}

/** Answers as text, for the cache. `read` takes only text of `write`. */
export interface Recorded<Out, Chunk> {
  readonly write: (out: Out) => string
  readonly read: (text: string) => Out
  /** A whole stream is the pieces of its chunks, one after the other. */
  readonly piece: (chunk: Chunk) => string
  readonly chunks: (pieces: string) => ReadonlyArray<Chunk>
  /** True for an answer, or the chunk of one, that must not be kept; undefined: all are kept. */
  readonly isPart?: (value: Out | Chunk) => boolean
}

/** What is known of an answer that a config may replace: `undefined` as long as nothing of it decides. */
export type Verdict = AnswerFault | "content" | undefined

export const faultOfVerdict = (verdict: Verdict): AnswerFault | undefined =>
  verdict === "content" ? undefined : verdict

/** Judges an answer that a config may replace by that of another target: a refusal, an empty answer, or one that stands. */
export interface Judges<Out, Chunk> {
  readonly whole: (out: Out) => Verdict
  readonly chunk: (chunk: Chunk) => Verdict
}

/** The call signatures that a request's history needs, and those that an answer contains. */
export interface SignatureExtractors<Op extends Operation> {
  /** Ids of the calls of a request's history, as far as its target is served by a chat. */
  readonly history: (
    request: Operations[Op]["request"],
    target: Pick<AttemptContext, "account" | "modelId" | "request">
  ) => ReadonlyArray<string>
  readonly reply?: (reply: Operations[Op]["out"]) => ReadonlyArray<SignedCall>
  /** Of the chunks of one network read; nearly always empty. */
  readonly chunks?: (chunks: ReadonlyArray<Operations[Op]["chunk"]>) => ReadonlyArray<SignedCall>
}

export interface OperationRules<Op extends Operation> {
  readonly body: BodyRules<Operations[Op]["request"]>
  /** Undefined for an operation that is free. */
  readonly estimate: UsageEstimate | undefined
  readonly recorded: Recorded<Operations[Op]["out"], Operations[Op]["chunk"]>
  /** Undefined where an answer cannot be a refusal. */
  readonly judges?: Judges<Operations[Op]["out"], Operations[Op]["chunk"]>
  /** Undefined for an operation without signatures. */
  readonly signatures?: SignatureExtractors<Op>
  /** Which body is healed after a refusal: that of the translator, or the client's own. Undefined: none is. */
  readonly healed?: "translated" | "own"
  /** True where answers name the model that gave them, so that they teach where a moving name leads (M-111). */
  readonly namesModel?: true
  /** True where an answer may be made and billed although its call failed (N603). */
  readonly billsFailed?: true
}
