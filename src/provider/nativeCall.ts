// A call in Google's own dialect: its bytes where the account is of the path's product, the crossed body where it is of the other.
// It must not depend on configs, tokens or HTTP of our own side. Rules: N202, N208-N210, N301, N501-N505.
import * as Result from "effect/Result"
import { readEach } from "../domain/faults.ts"
import { type GatewayError, UnsupportedOperation } from "../domain/GatewayError.ts"
import type { LimitValues } from "../domain/Limits.ts"
import type { ModelRecord } from "../domain/models/ModelRecord.ts"
import type { NativeOperation } from "../domain/operations.ts"
import { type BuiltInKind, isBuiltIn } from "../domain/ProviderAccount.ts"
import type { JsonObject } from "../domain/text/json.ts"
import { noRedaction, type Redaction } from "../domain/text/redaction.ts"
import type { PassedReply } from "../translate/messages-to-claude.ts"
import { withoutSignatures } from "../translate/native/crossing.ts"
import { crossCall, type CrossedCall, type CrossedCalls } from "../translate/native/crossVerbs.ts"
import { type NativeRequest, parsedBody, withModel } from "../translate/native/nativeBody.ts"
import { failureFromNative } from "../translate/native/nativeFailure.ts"
import { nativeCounts, type NativeEvent, readNativeReply } from "../translate/native/nativeReply.ts"
import { nativeStream } from "../translate/native/nativeStream.ts"
import { readModelStatus } from "../translate/shared/gemini.ts"
import { withOrigin } from "../translate/shared/reply/upstreamError.ts"
import { noStream, streamReader } from "../translate/StreamReader.ts"
import { PassedCall, type Prepared, type Target } from "../upstream/Prepared.ts"
import { failedReply, readSuccessJson, withAbsence } from "../upstream/readReply.ts"
import type { Usage } from "../wire/openai/ChatReply.ts"
import { targetFacts } from "./callInput.ts"
import type { AttemptContext, Prepare } from "./Provider.ts"
import { familyLacks, type RouteOf, targetModel, type TargetModel } from "./route.ts"

const kinds: Readonly<Record<NativeRequest["form"], BuiltInKind>> = { google: "google", vertex: "vertex-ai" }

/** How many calls of one crossed batch run concurrently. */
const concurrency = 8

const sharedRequestType = "x-vertex-ai-llm-shared-request-type"

/** Everything a native call is made of but its body. */
interface Sent<Chunk> {
  readonly request: NativeRequest
  readonly attempt: AttemptContext
  readonly model: TargetModel
  readonly target: Target
  readonly record: ModelRecord
  readonly routeOf: RouteOf
  readonly chunks: Prepared<PassedReply, Chunk>["chunks"]
  /** The model takes the documented word in the place of a signature. */
  readonly takesSentinel: boolean
}

type Made<Chunk> = Result.Result<Prepared<PassedReply, Chunk>, GatewayError>

/** The client's version counts where it is a preview of the product that answers. */
const versionOf = ({ form, version }: NativeRequest): string =>
  form === "google" ? (version === "v1alpha" ? version : "v1beta") : version === "v1beta1" ? version : "v1"

/** Whether a model takes a verb: endpoints speak what their account states. */
const takesVerb = (model: TargetModel, { verb }: NativeRequest): boolean =>
  model.family === "gemini" || (model.family === "predict" && verb === "predict")

const readReply =
  (
    { attempt, record, target }: Pick<Sent<never>, "attempt" | "record" | "target">,
    verb: NativeRequest["verb"],
    made: (bytes: Uint8Array, contentType: string, event?: NativeEvent) => PassedReply
  ): Prepared<PassedReply, never>["reply"] =>
  (status, headers, bytes, redaction: Redaction = noRedaction) => {
    const { origin } = attempt.account
    if (status < 200 || status >= 300 || bytes.length === 0) {
      const asked = { kind: target.kind, record, createdSeconds: attempt.request.createdSeconds }
      const failing = { slug: target.slug, origin, failure: withAbsence(failureFromNative, asked) }
      return Result.map(readSuccessJson(failing, { status, headers, bytes, redaction }), () => made(bytes, ""))
    }
    const read = readNativeReply(verb, bytes, redaction)
    return Result.isSuccess(read)
      ? Result.succeed(made(bytes, headers["content-type"] ?? "application/json", read.success))
      : failedReply(target.slug, status, withOrigin(read.failure, origin))
  }

const hasSignatures = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes("ought", 0, "latin1")

/** The body without signatures, where the history may hold those of the other product (N506). */
const unsigned = (
  { request, takesSentinel }: Pick<Sent<never>, "request" | "takesSentinel">,
  body: () => JsonObject
): Pick<Prepared<PassedReply, never>, "unsigned"> =>
  hasSignatures(request.bytes) ? { unsigned: () => withoutSignatures(body(), takesSentinel) } : {}

const passedReply =
  (verb: NativeRequest["verb"]) =>
  (bytes: Uint8Array, contentType: string, event?: NativeEvent): PassedReply => {
    const { images, usage } = nativeCounts(verb, bytes, event)
    const modelStatus = readModelStatus(event?.modelStatus)
    return { bytes, contentType, usage, modelStatus, ...(images === 0 ? {} : { images }) }
  }

/** An account of the path's product: the client's own bytes. */
const passThrough = <Chunk>(sent: Sent<Chunk>): Made<Chunk> => {
  const { attempt, chunks, model, request, routeOf, target } = sent
  const { account } = attempt
  const bytes =
    model.modelId === request.modelId ? request.bytes : withModel(request.verb, request.bytes, model.modelId)
  return Result.map(
    routeOf(account, model, `:${request.verb}${request.query}`, versionOf(request)),
    ({ headers, url }) =>
      new PassedCall({
        target,
        url,
        headers: { "content-type": "application/json", ...headers, ...request.headers },
        bytes,
        // Only a dry run and the check of named objects look at it.
        json: () => parsedBody(bytes),
        ...(attempt.mixesKinds === true ? unsigned(sent, () => parsedBody(bytes)) : {}),
        ignored: request.ignored,
        reply: readReply(sent, request.verb, passedReply(request.verb)),
        chunks
      })
  )
}

const encoder = new TextEncoder()

/** The counts of all calls together; undefined where one of them has none, so that the estimate stays charged. */
const summed = (usages: ReadonlyArray<Usage | undefined>): Usage | undefined => {
  const [only] = usages
  if (usages.length === 1) return only
  const prompts = usages.map((usage) => usage?.prompt_tokens ?? 0)
  if (prompts.includes(0)) return undefined
  const prompt = prompts.reduce((sum, tokens) => sum + tokens, 0)
  return { prompt_tokens: prompt, completion_tokens: 0, total_tokens: prompt }
}

/** The client's answer of the replies of all calls. */
const answered = (answer: NonNullable<CrossedCalls["answer"]>, outs: ReadonlyArray<PassedReply>): PassedReply => ({
  bytes: encoder.encode(JSON.stringify(answer(outs.map(({ bytes }) => parsedBody(bytes))))),
  contentType: "application/json",
  usage: summed(outs.map(({ usage }) => usage))
})

const crossedPart = <Chunk>(
  sent: Sent<Chunk>,
  { body, headers: ofBody, ignored, verb }: CrossedCall,
  reply: Prepared<PassedReply, never>["reply"]
): Made<Chunk> => {
  const { attempt, chunks, model, request, routeOf, target } = sent
  const query = request.stream && request.framing === "sse" ? "?alt=sse" : ""
  return Result.map(routeOf(attempt.account, model, `:${verb}${query}`), ({ headers, url }) => ({
    target,
    method: "POST",
    url,
    headers: { "content-type": "application/json", ...headers, ...ofBody },
    body,
    ...unsigned(sent, () => body),
    ignored: [...request.ignored, ...ignored],
    reply,
    chunks
  }))
}

const unique = (names: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(names)]

/** An account of the other product: the body in its words, in as many calls as it takes. */
const crossOver = <Chunk>(sent: Sent<Chunk>, kind: BuiltInKind): Made<Chunk> => {
  const { attempt, model, record, request } = sent
  const body: JsonObject = parsedBody(request.bytes)
  const to = {
    kind,
    mixesTools: sent.takesSentinel,
    sharedRequestType: request.headers[sharedRequestType]
  }
  return Result.flatMap(crossCall(request.verb, body, { id: model.modelId, record }, to), ({ answer, calls }) => {
    const prepared = readEach(calls, (call) => {
      const passed = passedReply(call.verb)
      const isAlone = answer !== undefined && calls.length === 1
      const made: typeof passed = isAlone
        ? (bytes, type, event) => answered(answer, [passed(bytes, type, event)])
        : passed
      return crossedPart(sent, call, readReply(sent, call.verb, made))
    })
    if (Result.isFailure(prepared)) return Result.fail(prepared.failure)
    const parts = prepared.success
    const [first, ...rest] = parts
    if (first === undefined) return familyLacks(attempt.account, model, sent.target.operation)
    const ignored = unique(parts.flatMap((part) => part.ignored))
    if (answer === undefined || rest.length === 0) return Result.succeed({ ...first, ignored })
    const others = rest.map((part) => ({ ...part, chunks: () => noStream }))
    return Result.succeed({
      ...first,
      ignored,
      split: { calls: others, concurrency, join: (outs: ReadonlyArray<PassedReply>) => answered(answer, outs) }
    })
  })
}

const otherKind = (attempt: AttemptContext): Result.Result<never, GatewayError> =>
  Result.fail(
    new UnsupportedOperation({
      message: `"${attempt.account.slug}" (${attempt.account.kind}) speaks no dialect of Google's: use /v1/chat/completions.`
    })
  )

const nativeCall = <Chunk>(
  operation: NativeOperation,
  request: NativeRequest,
  attempt: AttemptContext,
  routeOf: RouteOf,
  chunks: Prepared<PassedReply, Chunk>["chunks"]
): Made<Chunk> =>
  Result.flatMap(targetModel(attempt.modelId, attempt.account), (model) => {
    const { account, labels, optionIndex } = attempt
    const { kind, slug } = account
    if (!takesVerb(model, request)) return familyLacks(account, model, operation)
    if (!isBuiltIn(kind)) return otherKind(attempt)
    const issuer = `${model.family}/${kind}`
    const factsNow = targetFacts(attempt, model)
    const { ending, facts, record } = factsNow
    const target: Target = { slug, kind, modelId: model.modelId, issuer, operation, optionIndex, ending, labels }
    const takesSentinel = facts.sentinel
    const sent: Sent<Chunk> = { request, attempt, model, target, record, routeOf, chunks, takesSentinel }
    return kinds[request.form] === kind ? passThrough(sent) : crossOver(sent, kind)
  })

/** generateContent and streamGenerateContent. */
export const nativeContent =
  (routeOf: RouteOf, limits: LimitValues): Prepare<"nativeContent"> =>
  (request, attempt) =>
    nativeCall("nativeContent", request, attempt, routeOf, (_headers, redaction = noRedaction) =>
      streamReader(nativeStream(limits, redaction), attempt.account.origin)
    )

/** Verbs without streams. */
export const nativeUnary =
  <Op extends Exclude<NativeOperation, "nativeContent">>(operation: Op, routeOf: RouteOf): Prepare<Op> =>
  (request, attempt) =>
    nativeCall(operation, request, attempt, routeOf, () => noStream)
