// A prepared upstream call: URL, headers, body, and how to read the response. It has no credential and does no I/O.
// Must not know the client's HTTP request or any account secret.
import * as Result from "effect/Result"
import type { Labels } from "../domain/settings/attribution.ts"
import type { RequestFault } from "../domain/GatewayError.ts"
import type { LimitValues } from "../domain/Limits.ts"
import { ProviderError, type Reason } from "../domain/ProviderError.ts"
import type { AttemptTarget } from "../domain/RequestContext.ts"
import type { Json } from "../domain/text/json.ts"
import { noRedaction, type Redaction } from "../domain/text/redaction.ts"
import { withOrigin } from "../translate/shared/reply/upstreamError.ts"
import { eventFold, noStream, type StreamReader, streamReader } from "../translate/StreamReader.ts"
import type {
  Adjustment,
  Fold,
  HopTranslation,
  StreamFailed,
  TranslateContext,
  Translator,
  Unary
} from "../translate/Translator.ts"
import { hasShape } from "../wire/hasShape.ts"
import type { Usage } from "../wire/openai/ChatReply.ts"
import { badReply, failedReply, type RawResponse, readSuccessJson, withAbsence } from "./readReply.ts"

export interface Target extends AttemptTarget {
  /** `family/kind`: the issuer of the signatures in its responses. */
  readonly issuer: string
  /** The operator's labels, for a call that takes some; undefined for none. */
  readonly labels?: Labels | undefined
}

export interface Prepared<Out, Chunk> {
  readonly target: Target
  readonly method: "POST"
  readonly url: string
  /** Never contains a credential. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Json
  /** Sent instead of the printed `body`, where the text must stay as the client wrote it. */
  readonly bytes?: Uint8Array
  readonly ignored: ReadonlyArray<string>
  /** Parameters whose value was changed; undefined for none. */
  readonly adjusted?: ReadonlyArray<Adjustment> | undefined
  /** The body without thought signatures, for one more try where the upstream refuses those of another issuer. */
  readonly unsigned?: () => Json
  /** The further calls of a request that its upstream takes in pieces. */
  readonly split?: Split<Out>
  /** The further hops of an answer that is longer than one request gives; undefined: it is not continued. */
  readonly hops?: Hops<Out>
  /** Set where the request came in another dialect than that of the translator. */
  readonly translated?: TranslatedCall<Out, Chunk>
  /** Reads a complete response of any status. `redaction` applies to the texts of errors only. */
  readonly reply: (
    status: number,
    headers: Readonly<Record<string, string>>,
    bytes: Uint8Array,
    redaction?: Redaction
  ) => Result.Result<Out, ProviderError>
  /** Makes the reader of a 200 stream. */
  readonly chunks: (headers: Readonly<Record<string, string>>, redaction?: Redaction) => StreamReader<Chunk>
}

/** A call by an inner translation. */
export interface TranslatedCall<Out, Chunk> {
  /** The name of the inner pair. */
  readonly pair: string
  /** How the call is answered without signatures; undefined: its answers have none. */
  readonly unsigned?: () => Pick<Prepared<Out, Chunk>, "reply" | "chunks">
}

/** How a long answer is had in several calls, one after the other. */
export interface Hops<Out> {
  /** Most calls of one answer. */
  readonly most: number
  /** The first call, for a complete answer. */
  readonly first: Prepared<Hop<Out>, never>
  /** The body of the next call; for streams, whose readers give the token. */
  readonly body: (token: string) => Json
}

/** What a call of a long answer gave, together with the calls before it. */
export interface Hop<Out> {
  /** Undefined: the answer is over. */
  readonly next: Prepared<Hop<Out>, never> | undefined
  /** The upstream's counts of all calls so far. */
  readonly usage: Usage
  readonly answer: (isInterrupted: boolean) => Result.Result<Out, ProviderError>
}

/** The further calls of one request, and how the responses become one. `join` gets the first response too, in order. */
export interface Split<Out> {
  readonly calls: ReadonlyArray<Prepared<Out, never>>
  /** Number of concurrent calls. */
  readonly concurrency: number
  /** True for a failure that the other calls make up for. Without it every failure fails the request. */
  readonly isSpared?: (reason: Reason) => boolean
  join(outs: ReadonlyArray<Out>): Out
}

export interface PrepareInput<Translate, Req> {
  readonly translator: Translate
  readonly request: Req
  readonly context: TranslateContext
  readonly target: Target
  readonly url: string
  /** Fixed headers of the route; headers of the body are added. */
  readonly headers: Readonly<Record<string, string>>
  /** The owner of the credential, for the wording of a refusal. */
  readonly origin: "caller" | "stored"
  readonly limits: Pick<LimitValues, "eventBytes">
  /** Most calls of one answer that may be longer than one request gives; undefined: one call. */
  readonly hops?: number | undefined
}

/** Translates a request and closes over how its response is read. The types of body and event end here. */
export const prepare = <Req, Body, Reply, Event, Out, Chunk, State>(
  input: PrepareInput<Translator<Req, Body, Reply, Event, Out, Chunk, State>, Req>
): Result.Result<Prepared<Out, Chunk>, RequestFault> =>
  Result.map(
    preparedBody(input, (headers, redaction = noRedaction) =>
      readerOf(input.translator.stream(input.context, input.request, headers), input.limits, input.origin, redaction)
    ),
    ([call, body]) => {
      const { hops: most, translator } = input
      const { hops } = translator
      if (most === undefined || hops === undefined) return call
      return {
        ...call,
        hops: {
          most,
          first: hopCall(input, hops, call, body, []),
          body: (token) => asJson(hops.body(body, token))
        }
      }
    }
  )

/** A function of its own: a closure next to `input` would keep the request for as long as the stream is open. */
const readerOf = <State, Chunk>(
  fold: Fold<State, Json, Chunk | StreamFailed>,
  { eventBytes }: Pick<LimitValues, "eventBytes">,
  origin: "caller" | "stored",
  redaction: Redaction
): StreamReader<Chunk> => streamReader(eventFold(fold, { eventBytes, redaction }), origin)

/** One call of a long answer; `before` are the replies of the calls before it. */
const hopCall = <Req, Body, Reply, Out>(
  input: PrepareInput<Unary<Req, Body, Reply, Out>, Req>,
  hops: HopTranslation<Req, Body, Reply, Out>,
  call: Prepared<unknown, unknown>,
  body: Body,
  before: ReadonlyArray<Reply>
): Prepared<Hop<Out>, never> => ({
  target: call.target,
  method: call.method,
  url: call.url,
  headers: call.headers,
  ignored: call.ignored,
  body: asJson(body),
  reply: (status, headers, bytes, redaction) =>
    Result.map(readJsonReply(input, { status, headers, bytes, redaction }), (reply): Hop<Out> => {
      const replies = [...before, reply]
      const token = hops.token(reply)
      return {
        next: token === undefined ? undefined : hopCall(input, hops, call, hops.body(body, token), replies),
        usage: hops.usage(replies),
        answer: (isInterrupted) =>
          Result.mapError(
            hops.join(replies, input.context, input.request, isInterrupted),
            (reason) =>
              new ProviderError({
                slug: input.target.slug,
                reason: withOrigin(reason, input.origin),
                upstreamStatus: status
              })
          )
      }
    }),
  chunks: () => noStream
})

/** The same for an operation without streams. */
export const prepareUnary = <Req, Body, Reply, Out>(
  input: PrepareInput<Unary<Req, Body, Reply, Out>, Req>
): Result.Result<Prepared<Out, never>, RequestFault> =>
  Result.map(
    preparedBody(input, () => noStream),
    ([call]) => call
  )

/** The call, and its body in the translator's own type. */
const preparedBody = <Req, Body, Reply, Out, Chunk>(
  input: PrepareInput<Unary<Req, Body, Reply, Out>, Req>,
  chunks: Prepared<Out, Chunk>["chunks"]
): Result.Result<readonly [Prepared<Out, Chunk>, Body], RequestFault> =>
  Result.map(input.translator.request(input.request, input.context), ({ adjusted, body, headers, ignored }) => [
    {
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
    },
    body
  ])

/** Translators build their bodies of JSON values only; their tests hold them to it. */
const asJson = (body: unknown): Json => body as Json

const checks = new WeakMap<object, (input: unknown) => boolean>()

/**
 * True when the JSON has the shape of a reply. Reply schemas transform nothing, so a check is enough and the JSON is not
 * copied. One compiled check per translator.
 */
const isReply = <Req, Body, Reply, Out>(
  input: unknown,
  { reply }: Unary<Req, Body, Reply, Out>
): input is Reply & Json => {
  const compiled = checks.get(reply)
  if (compiled !== undefined) return compiled(input)
  const check = hasShape(reply)
  checks.set(reply, check)
  return check(input)
}

/** The reply of a successful response, of the shape that the translator reads. */
const readJsonReply = <Req, Body, Reply, Out>(
  { context, request, translator, target, origin }: PrepareInput<Unary<Req, Body, Reply, Out>, Req>,
  answer: RawResponse
): Result.Result<Reply & Json, ProviderError> => {
  const { createdSeconds, target: model } = context
  const failure = withAbsence(translator.failure, { kind: model.kind, record: model.record, createdSeconds })
  const passesNumbers = translator.passesNumbers?.(request, context) ?? false
  const body = readSuccessJson(
    { slug: target.slug, origin, failure },
    passesNumbers ? { ...answer, passesNumbers } : answer
  )
  return Result.flatMap(body, (reply: unknown) =>
    isReply(reply, translator)
      ? Result.succeed(reply)
      : failedReply(
          target.slug,
          answer.status,
          badReply("unreadable", "The upstream answered with JSON of a shape that cannot be read.")
        )
  )
}

const readReply = <Req, Body, Reply, Out>(
  input: PrepareInput<Unary<Req, Body, Reply, Out>, Req>,
  answer: RawResponse
): Result.Result<Out, ProviderError> => {
  const { translator, request, context, target, origin } = input
  const { headers, redaction = noRedaction, status } = answer
  return Result.flatMap(readJsonReply(input, answer), (reply) => {
    const out = translator.response(reply, context, request, headers)
    if (Result.isSuccess(out)) return Result.succeed(out.success)
    const redacted: unknown = redaction.json(reply)
    const again = isReply(redacted, translator) ? translator.response(redacted, context, request, headers) : out
    const reason = Result.isFailure(again) && again.failure._tag === out.failure._tag ? again.failure : out.failure
    return failedReply(target.slug, status, withOrigin(reason, origin))
  })
}

/** What makes a call whose body goes to the upstream as bytes; `json` parses them where they are shown or changed. */
type PassedFacts<Out, Chunk> = Omit<Prepared<Out, Chunk>, "method" | "body" | "bytes" | "split" | "hops"> & {
  readonly bytes: Uint8Array
  readonly json: () => Json
}

/**
 * A class, because V8 makes a new hidden class for each object literal with a getter. Those keep all that the getter
 * reaches until the next full collection: with 3.6 KB of each request kept, collections took 15 us of a message instead
 * of 3.
 */
export class PassedCall<Out, Chunk> implements Prepared<Out, Chunk> {
  readonly target: Prepared<Out, Chunk>["target"]
  readonly method = "POST"
  readonly url: string
  readonly headers: Prepared<Out, Chunk>["headers"]
  readonly bytes: Uint8Array
  readonly ignored: ReadonlyArray<string>
  declare readonly adjusted?: Prepared<Out, Chunk>["adjusted"]
  declare readonly unsigned?: () => Json
  readonly reply: Prepared<Out, Chunk>["reply"]
  readonly chunks: Prepared<Out, Chunk>["chunks"]
  readonly #json: () => Json

  constructor({
    adjusted,
    bytes,
    chunks,
    headers,
    ignored,
    json,
    reply,
    target,
    unsigned,
    url
  }: PassedFacts<Out, Chunk>) {
    this.target = target
    this.url = url
    this.headers = headers
    this.bytes = bytes
    this.ignored = ignored
    if (adjusted !== undefined) this.adjusted = adjusted
    if (unsigned !== undefined) this.unsigned = unsigned
    this.reply = reply
    this.chunks = chunks
    this.#json = json
  }

  get body(): Json {
    return this.#json()
  }
}
