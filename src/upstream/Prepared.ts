// An upstream call made ready: URL, headers, body, and how to read the answer. No credential, no I/O.
// It must not know the client's HTTP or any account secret.
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { RequestFault } from "../domain/GatewayError.ts"
import { decodeUtf8, isJsonObject, type Json, parseExactJsonText } from "../domain/text/json.ts"
import type { LimitValues } from "../domain/Limits.ts"
import type { ProviderKind } from "../domain/ProviderAccount.ts"
import { ProviderError, Reason } from "../domain/ProviderError.ts"
import { noRedaction, type Redaction } from "../domain/text/redaction.ts"
import { jsonEvents } from "../translate/jsonEvents.ts"
import { statusInside } from "../translate/shared/reply/upstreamError.ts"
import {
  type Adjustment,
  compose,
  isStreamFailed,
  type Machine,
  machine,
  noProgress,
  type StreamFailed,
  streamFailed,
  type TranslateContext,
  type Translator,
  type Unary
} from "../translate/Translator.ts"

/** The operations of the service. */
export type OperationName = "chat" | "messages" | "embeddings" | "images" | "countTokens" | "messagesCountTokens"

export interface Target {
  readonly slug: string
  readonly kind: ProviderKind
  readonly modelId: string
  readonly operation: OperationName
  readonly optionIndex: number
  /** `family/kind`, whose signatures its answers carry. */
  readonly issuer: string
}

export interface Prepared<Out, Chunk> {
  readonly target: Target
  readonly method: "POST"
  readonly url: string
  /** Never a credential. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Json
  /** What to send in the place of the printed body, where its text must stay as the client wrote it. */
  readonly bytes?: Uint8Array
  readonly ignored: ReadonlyArray<string>
  /** Parameters with another value than asked; undefined for none. */
  readonly adjusted?: ReadonlyArray<Adjustment> | undefined
  /** The rest of a request that its upstream takes in pieces. */
  readonly split?: Split<Out>
  /** Reads a complete answer of any status. What an error quotes goes through `redaction`, an answer does not. */
  readonly reply: (
    status: number,
    headers: Readonly<Record<string, string>>,
    bytes: Uint8Array,
    redaction?: Redaction
  ) => Result.Result<Out, ProviderError>
  /** From network bytes of a 200 stream to chunks. */
  readonly chunks: (
    headers: Readonly<Record<string, string>>,
    redaction?: Redaction
  ) => Machine<Uint8Array, Chunk | StreamFailed>
}

/** The further calls of one request, and how all answers, in order and the first included, become one. */
export interface Split<Out> {
  readonly calls: ReadonlyArray<Prepared<Out, never>>
  /** How many calls run at once. */
  readonly concurrency: number
  /** Failures of a call that the others make up for; unless said, any failure is that of the whole. */
  readonly isSpared?: (reason: Reason) => boolean
  join(outs: ReadonlyArray<Out>): Out
}

export interface PrepareInput<Translate, Req> {
  readonly translator: Translate
  readonly request: Req
  readonly context: TranslateContext
  readonly target: Target
  readonly url: string
  /** Fixed headers of the route; those the body implies are added. */
  readonly headers: Readonly<Record<string, string>>
  /** Whose credential it is, for the wording of a refusal. */
  readonly origin: "caller" | "stored"
  readonly limits: Pick<LimitValues, "eventBytes">
}

/** Translates a request and closes over how its answer is read; the types of body and event end here. */
export const prepare = <Req, Body, Reply, Event, Out, Chunk, State>(
  input: PrepareInput<Translator<Req, Body, Reply, Event, Out, Chunk, State>, Req>
): Result.Result<Prepared<Out, Chunk>, RequestFault> =>
  prepared(input, (_headers, redaction = noRedaction) =>
    compose(
      machine(jsonEvents(input.limits)),
      ownedBy(input.origin, throughFailure(machine(input.translator.stream(input.context, input.request)), redaction))
    )
  )

/** The same for an operation that has no streams. */
export const prepareUnary = <Req, Body, Reply, Out>(
  input: PrepareInput<Unary<Req, Body, Reply, Out>, Req>
): Result.Result<Prepared<Out, never>, RequestFault> => prepared(input, () => ended)

const prepared = <Req, Body, Reply, Out, Chunk>(
  input: PrepareInput<Unary<Req, Body, Reply, Out>, Req>,
  chunks: Prepared<Out, Chunk>["chunks"]
): Result.Result<Prepared<Out, Chunk>, RequestFault> =>
  Result.map(input.translator.request(input.request, input.context), ({ adjusted, body, headers, ignored }) => ({
    target: input.target,
    method: "POST",
    url: input.url,
    headers: { "content-type": "application/json", ...input.headers, ...headers },
    body: asJson(body),
    ignored,
    adjusted,
    reply: (status, replyHeaders, bytes, redaction) =>
      readReply(input, { status, headers: replyHeaders, bytes, redaction }),
    chunks
  }))

/** Translators build their bodies of JSON values only; their tests hold them to it. */
const asJson = (body: unknown): Json => body as Json

/** Translators do not know whose credential went out: an error inside a 200 is worded as if it were ours. */
const owned = (reason: Reason, origin: "caller" | "stored"): Reason =>
  reason._tag === "CredentialsRejected" ? { ...reason, origin } : reason

/** Nothing follows a failure of a stream, so that it is the last output. */
export const ownedBy = <In, Chunk>(
  origin: "caller" | "stored",
  inner: Machine<In, Chunk | StreamFailed>
): Machine<In, Chunk | StreamFailed> => {
  if (origin === "stored") return inner
  const outputs = (some: ReadonlyArray<Chunk | StreamFailed>): ReadonlyArray<Chunk | StreamFailed> => {
    const last = some.at(-1)
    return isStreamFailed(last) ? [...some.slice(0, -1), streamFailed(owned(last.reason, origin))] : some
  }
  return {
    steps: (inputs) => {
      const [then, some] = inner.steps(inputs)
      return [ownedBy(origin, then), outputs(some)]
    },
    halt: () => outputs(inner.halt()),
    usage: () => inner.usage(),
    progress: () => inner.progress()
  }
}

const isReason = Schema.is(Reason)

/** A failure of the framing passes by the translator, and ends it. */
const throughFailure = <Chunk>(
  inner: Machine<Json, Chunk | StreamFailed>,
  redaction: Redaction
): Machine<Json | StreamFailed, Chunk | StreamFailed> => ({
  steps: (inputs) => {
    const at = inputs.findIndex(isFailure)
    const some = events(at < 0 ? inputs : inputs.slice(0, at))
    const [next, out] = inner.steps(some)
    const last = out.at(-1)
    const shown = isStreamFailed(last) ? [...out.slice(0, -1), failedAgain(inner, some, redaction, last)] : out
    const failure = inputs[at]
    return isFailure(failure)
      ? [{ ...ended, usage: () => next.usage(), progress: () => next.progress() }, [...shown, failure]]
      : [throughFailure(next, redaction), shown]
  },
  halt: () => inner.halt(),
  usage: () => inner.usage(),
  progress: () => inner.progress()
})

/** Machines are pure: the failure is read once more, of the same events without what must not be shown. */
const failedAgain = <Chunk>(
  inner: Machine<Json, Chunk | StreamFailed>,
  some: ReadonlyArray<Json>,
  redaction: Redaction,
  first: StreamFailed
): StreamFailed => {
  const again = inner.steps(some.map((event) => redaction.json(event)))[1].at(-1)
  return isStreamFailed(again) && again.reason._tag === first.reason._tag ? again : first
}

/** The check of the reason keeps an event of the upstream that looks like a failure of ours apart. */
const isFailure = (input: unknown): input is StreamFailed => isStreamFailed(input) && isReason(input.reason)

/** Inputs known to hold no failure. */
const events = (inputs: ReadonlyArray<Json | StreamFailed>): ReadonlyArray<Json> => inputs as ReadonlyArray<Json>

/** Takes everything and answers nothing: a stream that has failed, or an operation without streams. */
export const ended: Machine<unknown, never> = {
  steps: () => [ended, []],
  halt: () => [],
  usage: () => undefined,
  progress: () => noProgress
}

const checks = new WeakMap<object, (input: unknown) => boolean>()

/**
 * True when JSON has the shape of a reply: replies are their own JSON, nothing in them is transformed, so a look is
 * enough and nothing is copied. One compiled check per translator.
 */
const isReply = <Req, Body, Reply, Out>(input: unknown, { reply }: Unary<Req, Body, Reply, Out>): input is Reply => {
  const known = checks.get(reply)
  if (known !== undefined) return known(input)
  const check = Schema.is(reply)
  checks.set(reply, check)
  return check(input)
}

/** An answer as it came, and what its errors must not show. */
interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Uint8Array
  readonly redaction: Redaction | undefined
}

const readReply = <Req, Body, Reply, Out>(
  { translator, request, context, target, origin }: PrepareInput<Unary<Req, Body, Reply, Out>, Req>,
  answer: Answer
): Result.Result<Out, ProviderError> => {
  const { redaction = noRedaction, status } = answer
  const body = acceptedJson({ slug: target.slug, origin, failure: translator.failure }, answer)
  if (Result.isFailure(body)) return Result.fail(body.failure)
  const reply: unknown = body.success
  if (!isReply(reply, translator))
    return failed(
      target.slug,
      status,
      badReply("unreadable", "The upstream answered with JSON of a shape that cannot be read.")
    )
  const out = translator.response(reply, context, request)
  if (Result.isSuccess(out)) return Result.succeed(out.success)
  const hidden: unknown = redaction.json(body.success)
  const again = isReply(hidden, translator) ? translator.response(hidden, context, request) : out
  const reason = Result.isFailure(again) && again.failure._tag === out.failure._tag ? again.failure : out.failure
  return failed(target.slug, status, owned(reason, origin))
}

const failed = (slug: string, upstreamStatus: number, reason: Reason): Result.Result<never, ProviderError> =>
  Result.fail(new ProviderError({ slug, reason, upstreamStatus }))

/** How the failures of one call are worded. */
interface Failing {
  readonly slug: string
  readonly origin: "caller" | "stored"
  readonly failure: Unary<never, unknown, unknown, unknown>["failure"]
}

/** The JSON of an answer that is a success; everything else an upstream can send is a reason. */
export const acceptedJson = (
  { slug, origin, failure }: Failing,
  { bytes, headers, redaction = noRedaction, status }: Answer
): Result.Result<Json, ProviderError> => {
  const fail = (reason: Reason) => failed(slug, status, reason)
  if (status >= 300 && status < 400)
    return fail(badReply("redirect", "The upstream answered with a redirect, which is never followed."))
  const text = decodeUtf8(bytes)
  const json = text === undefined ? undefined : parseExactJsonText(text)
  const body = json !== undefined && Result.isSuccess(json) ? json.success : undefined
  const refused = (code: number, said: Json) =>
    fail(failure(code, redaction.headers(headers), redaction.json(said), origin))
  if (status < 200 || status >= 300) return refused(status, body ?? text ?? "")
  if (bytes.length === 0) return fail(badReply("empty", "The upstream answered without a body."))
  if (body === undefined)
    return fail(badReply("unreadable", "The upstream answered with something that is not JSON text."))
  const hidden = hiddenStatus(body)
  return hidden === undefined ? Result.succeed(body) : refused(hidden, body)
}

const badReply = (kind: "redirect" | "empty" | "unreadable", message: string): Reason => ({
  _tag: "BadReply",
  kind,
  message
})

/** The status of an error that came as the body of a 2xx, by itself or as the only item of an array; undefined when there is none. */
const hiddenStatus = (body: Json): number | undefined => {
  const whole: unknown = Array.isArray(body) && body.length === 1 ? body[0] : body
  return isJsonObject(whole) && isJsonObject(whole["error"]) ? statusInside(whole["error"]) : undefined
}
