// Types of a translator (request, response, failure, stream fold) and what reads a stream as a pure fold.
// Must not depend on a dialect.
import type * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type { RequestFault } from "../domain/GatewayError.ts"
import type { Json } from "../domain/text/json.ts"
import type { ProviderKind } from "../domain/ProviderAccount.ts"
import type { Reason } from "../domain/ProviderError.ts"
import type { ModelStatus, Usage } from "../wire/openai/ChatReply.ts"
import type { ModelRecord } from "../domain/models/ModelRecord.ts"
import type { ReadFailure } from "./shared/reply/upstreamError.ts"
import type { ModelFacts } from "./shared/gemini.ts"

/** A thought signature with the backend that made it, e.g. `gemini/google`. */
export interface KnownSignature {
  readonly issuer: string
  readonly signature: string
}

/** The outcome of fetching a media address for an upstream without URL support. */
export type FetchedMedia =
  /** Bytes in base64; the type is the host's `content-type`. */
  | { readonly _tag: "Fetched"; readonly contentType: string | undefined; readonly data: string }
  | { readonly _tag: "Failed"; readonly message: string }
  /** A dry run: the media would be fetched before sending. */
  | { readonly _tag: "Shown" }
  /** The gateway fetches media, and none at an address of this kind. */
  | { readonly _tag: "Unfetchable" }

/** Everything a translation may depend on in addition to the body: values and pure functions only. */
export interface TranslateContext {
  /** `chatcmpl-<uuid>`, equal on every chunk. */
  readonly id: string
  readonly createdSeconds: number
  /** The model in the client's spelling. */
  readonly model: string
  readonly target: {
    readonly kind: ProviderKind
    readonly family: "gemini" | "claude" | "openai" | "predict"
    /** Without slug and prefix. */
    readonly modelId: string
    /** All that is known of the model; of an unknown id that of the nearest one. */
    readonly record: ModelRecord
    readonly facts: ModelFacts
    /** `family/kind`, the issuer of this target's signatures. */
    readonly issuer: string
  }
  readonly strict: boolean
  /** True: answers list the order of blocks, calls and pictures. Chat clients never get that list. */
  readonly ordered?: boolean | undefined
  readonly betas: ReadonlyArray<string>
  /** The minimum copy allowance for resolving schema references; four times the request if that is more. */
  readonly schemaCopyBytes: number
  /** `call-<uuid>` of the n-th call of this answer. */
  readonly callId: (n: number) => string
  /** The stored signature of a call of the history. */
  readonly signature: (callId: string) => KnownSignature | undefined
  /** The fetched media of an address; undefined for other addresses. */
  readonly media: (url: string) => FetchedMedia | undefined
}

const nothing = (): undefined => undefined

/** The context of a stream that is open: what belongs to the request alone, fetched media for one, is let go. */
export const openContext = (context: TranslateContext): TranslateContext => ({
  ...context,
  signature: nothing,
  media: nothing
})

/** An error inside a 200 stream: a value for the reader, a failure for the caller. It is the last output. */
export interface StreamFailed {
  readonly _tag: "StreamFailed"
  readonly reason: Reason
}
const failures = new WeakSet<object>()

export const streamFailed = (reason: Reason): StreamFailed => {
  const failure: StreamFailed = { _tag: "StreamFailed", reason }
  failures.add(failure)
  return failure
}

/** True for what `streamFailed` has made: the event of an upstream may have its members. */
export const isStreamFailed = (value: unknown): value is StreamFailed =>
  typeof value === "object" && value !== null && "_tag" in value && failures.has(value)

/** A parameter that is sent with another value than requested. */
export interface Adjustment {
  readonly param: string
  readonly asked: string
  readonly sent: string
  /** The accepted values, for an error message. */
  readonly takes: ReadonlyArray<string>
  /** Words of the refusal when adjusting is forbidden; undefined: that of an unsupported parameter. */
  readonly refusal?: { readonly code: string; readonly param: string; readonly message: string } | undefined
}

/** An adjustment in the text form of headers and dry runs. */
export const adjustmentText = ({ asked, param, sent }: Pick<Adjustment, "asked" | "param" | "sent">): string =>
  `${param}=${asked}>${sent}`

/** The upstream body of a request, upstream headers the body implies, and the parameters without an equivalent. */
export interface Translated<Body> {
  readonly body: Body
  readonly headers: Readonly<Record<string, string>>
  readonly ignored: ReadonlyArray<string>
  /** Undefined: every value in the body is as requested. */
  readonly adjusted?: ReadonlyArray<Adjustment> | undefined
}

/** The parts of a request for an upstream that needs several calls: at least one part, in order. */
export type Parts<Req> = readonly [Req, ...ReadonlyArray<Req>]

export interface Unary<Req, Body, Reply, Out> {
  readonly name: string
  readonly reply: Schema.Codec<Reply, Json>
  /** True where `response` takes a `NumberList` for each long list of numbers. */
  readonly passesNumbers?: (request: Req, context: TranslateContext) => boolean
  readonly request: (request: Req, context: TranslateContext) => Result.Result<Translated<Body>, RequestFault>
  /** `headers` are those of the response; undefined where they are not at hand. */
  readonly response: (
    reply: Reply,
    context: TranslateContext,
    request: Req,
    headers?: Readonly<Record<string, string>>
  ) => Result.Result<Out, Reason>
  readonly failure: ReadFailure
}

export interface Translator<Req, Body, Reply, Event, Out, Chunk, State> extends Unary<Req, Body, Reply, Out> {
  readonly event: Schema.Codec<Event, Json>
  /**
   * A fold over the parsed JSON of events; it decodes them itself with `event`. It keeps no part of the request but what
   * the answer needs, because a stream may be open for minutes.
   */
  readonly stream: (
    context: TranslateContext,
    request: Req,
    headers?: Readonly<Record<string, string>>
  ) => Fold<State, Json, Chunk | StreamFailed>
  /** Only for upstreams that give a long answer in several hops. */
  readonly hops?: HopTranslation<Req, Body, Reply, Out>
}

/** How the hops of one answer are asked for and joined. */
export interface HopTranslation<Req, Body, Reply, Out> {
  /** The body of the next hop: that of the first, and the token. */
  readonly body: (body: Body, token: string) => Body
  /** Undefined: the answer is over. */
  readonly token: (reply: Reply) => string | undefined
  /** The upstream's counts of all hops. */
  readonly usage: (replies: ReadonlyArray<Reply>) => Usage
  /** One answer of the replies so far; `isInterrupted`: the rest could not be had. */
  readonly join: (
    replies: ReadonlyArray<Reply>,
    context: TranslateContext,
    request: Req,
    isInterrupted: boolean
  ) => Result.Result<Out, Reason>
}

/** The progress of a stream, for charging a stream that is cut, and what its upstream reported of its model. */
export interface Progress {
  /** Whether the upstream's last counts arrived; undefined: counts arrive with the end of the stream. */
  readonly isCounted: boolean | undefined
  /** Output characters of a stream that passes as bytes. `Reply.ts` counts those of chunks. */
  readonly characters: number
  /** Pictures or sound have passed, whose tokens do not follow from their bytes. */
  readonly hasMedia?: boolean | undefined
  /** What the upstream has reported of its model's life so far; undefined for nothing. */
  readonly modelStatus?: ModelStatus | undefined
}

export const noProgress: Progress = { isCounted: undefined, characters: 0 }

/** A pure left fold with outputs; `onHalt` emits the outputs due when the input ends. */
export interface Fold<State, In, Out> {
  readonly initial: () => State
  readonly step: (state: State, input: In) => readonly [State, ReadonlyArray<Out>]
  readonly onHalt: (state: State) => ReadonlyArray<Out>
  /** The upstream's counts so far; read once, when the stream is over or was left. */
  readonly usage?: (state: State) => Usage | undefined
  /** Read together with `usage`. */
  readonly progress?: (state: State) => Progress
  /** The next hop of an answer that stopped at the limit of one request; read at the end of the input. */
  readonly next?: (state: State) => { readonly token: string; readonly state: State } | undefined
}

/** All outputs of a fold for these inputs, and of their end. */
export const runFold = <State, In, Out>(fold: Fold<State, In, Out>, inputs: Iterable<In>): ReadonlyArray<Out> => {
  const out: Array<Out> = []
  let state = fold.initial()
  for (const input of inputs) {
    const [next, outputs] = fold.step(state, input)
    state = next
    for (const output of outputs) out.push(output)
  }
  return [...out, ...fold.onHalt(state)]
}

/** The treatment of one known request parameter by a translator pair. */
export type ParamRule =
  | { readonly kind: "mapped"; readonly to: string }
  | { readonly kind: "ignored"; readonly why: string }
  | { readonly kind: "silent"; readonly why: string }
