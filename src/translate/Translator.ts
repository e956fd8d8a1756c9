// What a translator is: four pure functions and a fold, and how folds become machines.
// It must not know any dialect.
import type * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type { RequestFault } from "../domain/GatewayError.ts"
import type { Json } from "../domain/text/json.ts"
import type { ProviderKind } from "../domain/ProviderAccount.ts"
import type { Reason } from "../domain/ProviderError.ts"
import type { Usage } from "../wire/openai/ChatReply.ts"
import type { ModelFacts } from "./shared/google/modelFacts.ts"

/** A thought signature with the backend that made it, e.g. `gemini/google`. */
export interface KnownSignature {
  readonly issuer: string
  readonly signature: string
}

/** What became of media behind an address whose upstream takes bytes only. */
export type FetchedMedia =
  /** Bytes in base64; the type is what the host says. */
  | { readonly _tag: "Fetched"; readonly contentType: string | undefined; readonly data: string }
  | { readonly _tag: "Failed"; readonly message: string }
  /** The request is shown only; to be sent it would be fetched. */
  | { readonly _tag: "Shown" }

/** Everything a translation may depend on besides the body: values and pure functions only. */
export interface TranslateContext {
  /** `chatcmpl-<uuid>`, the same on every chunk. */
  readonly id: string
  readonly createdSeconds: number
  /** The model as the client wrote it. */
  readonly model: string
  readonly target: {
    readonly kind: ProviderKind
    readonly family: "gemini" | "claude" | "openai" | "predict"
    /** Without slug and prefix. */
    readonly modelId: string
    readonly facts: ModelFacts
    /** `family/kind`, the issuer of signatures of this target. */
    readonly issuer: string
  }
  readonly strict: boolean
  readonly betas: ReadonlyArray<string>
  /** What schemas may copy when their references are resolved, if four times the request is less. */
  readonly schemaCopyBytes: number
  /** `call-<uuid>` of the n-th call of this answer. */
  readonly callId: (n: number) => string
  /** What the signature memory knows of a call of the history. */
  readonly signature: (callId: string) => KnownSignature | undefined
  /** What was fetched from an address; undefined for what was not asked for. */
  readonly media: (url: string) => FetchedMedia | undefined
}

/** An error inside a 200 stream: data to the machine, a failure to the shell. Nothing follows it. */
export interface StreamFailed {
  readonly _tag: "StreamFailed"
  readonly reason: Reason
}
export const streamFailed = (reason: Reason): StreamFailed => ({ _tag: "StreamFailed", reason })
export const isStreamFailed = (value: unknown): value is StreamFailed =>
  typeof value === "object" && value !== null && "_tag" in value && value._tag === "StreamFailed"

/** A parameter that is sent with another value than asked. */
export interface Adjustment {
  readonly param: string
  readonly asked: string
  readonly sent: string
  /** The values the model takes, for a refusal. */
  readonly takes: ReadonlyArray<string>
}

/** An adjustment as headers and dry runs name it. */
export const adjustmentText = ({ asked, param, sent }: Adjustment): string => `${param}=${asked}>${sent}`

/** The upstream body of a request, upstream headers the body implies, and the parameters that have no place in it. */
export interface Translated<Body> {
  readonly body: Body
  readonly headers: Readonly<Record<string, string>>
  readonly ignored: ReadonlyArray<string>
  /** Undefined: everything in the body is as it was asked. */
  readonly adjusted?: ReadonlyArray<Adjustment> | undefined
}

/** What a request is cut into where its upstream takes it in several calls: at least one part, in order. */
export type Parts<Req> = readonly [Req, ...ReadonlyArray<Req>]

export interface Unary<Req, Body, Reply, Out> {
  readonly name: string
  readonly reply: Schema.Codec<Reply, Json>
  readonly request: (request: Req, context: TranslateContext) => Result.Result<Translated<Body>, RequestFault>
  readonly response: (reply: Reply, context: TranslateContext, request: Req) => Result.Result<Out, Reason>
  /** Total: every status, any body. `body` is parsed JSON when it parses, else the text. */
  readonly failure: (
    status: number,
    headers: Readonly<Record<string, string>>,
    body: Json | string,
    origin: "caller" | "stored"
  ) => Reason
}

export interface Translator<Req, Body, Reply, Event, Out, Chunk, State> extends Unary<Req, Body, Reply, Out> {
  readonly event: Schema.Codec<Event, Json>
  /** A fold over the parsed JSON of events; it decodes them itself with `event`. */
  readonly stream: (context: TranslateContext, request: Req) => Fold<State, Json, Chunk | StreamFailed>
}

/** How far a stream has come, for the charge of one that is cut. */
export interface Progress {
  /** Whether the upstream's last counts have come; undefined: they come with the end of the stream. */
  readonly isCounted: boolean | undefined
  /** Output characters of a stream that passes as bytes. `Reply.ts` counts those of chunks. */
  readonly characters: number
}

export const noProgress: Progress = { isCounted: undefined, characters: 0 }

/** A pure left fold that answers outputs; `onHalt` gives what is owed when the input ends. */
export interface Fold<State, In, Out> {
  readonly initial: () => State
  readonly step: (state: State, input: In) => readonly [State, ReadonlyArray<Out>]
  readonly onHalt: (state: State) => ReadonlyArray<Out>
  /** What the upstream has counted so far; asked once, when the stream is over or was left. */
  readonly usage?: (state: State) => Usage | undefined
  /** Read together with `usage`. */
  readonly progress?: (state: State) => Progress
}

/** A fold with its state closed over. */
export interface Machine<In, Out> {
  /** All steps at once: what one network read holds, without a machine in between for each event. */
  readonly steps: (inputs: ReadonlyArray<In>) => Stepped<In, Out>
  readonly halt: () => ReadonlyArray<Out>
  /** What the upstream has counted so far. */
  readonly usage: () => Usage | undefined
  readonly progress: () => Progress
}

/** The machine that goes on, and what came out. */
type Stepped<In, Out> = readonly [Machine<In, Out>, ReadonlyArray<Out>]

/** A class: a machine is made for every read of every stream, and shares its methods where an object would hold new ones. */
class Folding<State, In, Out> implements Machine<In, Out> {
  private readonly fold: Fold<State, In, Out>
  private readonly state: State

  constructor(fold: Fold<State, In, Out>, state: State) {
    this.fold = fold
    this.state = state
  }

  steps(inputs: ReadonlyArray<In>): Stepped<In, Out> {
    let { state } = this
    const out: Array<Out> = []
    for (const input of inputs) {
      const [next, some] = this.fold.step(state, input)
      state = next
      for (const one of some) out.push(one)
    }
    return [new Folding(this.fold, state), out]
  }

  halt(): ReadonlyArray<Out> {
    return this.fold.onHalt(this.state)
  }

  usage(): Usage | undefined {
    return this.fold.usage?.(this.state)
  }

  progress(): Progress {
    return this.fold.progress?.(this.state) ?? noProgress
  }
}

export const machine = <State, In, Out>(fold: Fold<State, In, Out>): Machine<In, Out> =>
  new Folding(fold, fold.initial())

class Composed<A, B, C> implements Machine<A, C> {
  private readonly first: Machine<A, B>
  private readonly second: Machine<B, C>

  constructor(first: Machine<A, B>, second: Machine<B, C>) {
    this.first = first
    this.second = second
  }

  steps(inputs: ReadonlyArray<A>): Stepped<A, C> {
    const [first, between] = this.first.steps(inputs)
    const [second, out] = this.second.steps(between)
    return [new Composed(first, second), out]
  }

  halt(): ReadonlyArray<C> {
    const [last, out] = this.second.steps(this.first.halt())
    return [...out, ...last.halt()]
  }

  usage(): Usage | undefined {
    return this.second.usage()
  }

  progress(): Progress {
    return this.second.progress()
  }
}

/** Feeds every output of the first machine to the second; halting the first flushes into the second, then halts it. */
export const compose = <A, B, C>(first: Machine<A, B>, second: Machine<B, C>): Machine<A, C> =>
  new Composed(first, second)

/** Runs a machine over all inputs and halts it. */
export const runMachine = <In, Out>(start: Machine<In, Out>, inputs: Iterable<In>): ReadonlyArray<Out> => {
  const [last, out] = start.steps([...inputs])
  return [...out, ...last.halt()]
}

/** What a chat pair does with one known parameter of the request. */
export type ParamRule =
  | { readonly kind: "mapped"; readonly to: string }
  | { readonly kind: "ignored"; readonly why: string }
  | { readonly kind: "silent"; readonly why: string }
