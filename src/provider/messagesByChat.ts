// Anthropic's messages with models of other families: the request becomes a chat, and the answer of the chat a message.
// It must not depend on configs, tokens or HTTP of our own side. Rules: D101, D105, D501, D502.
import * as Result from "effect/Result"
import { estimateTextTokens, estimateTokens } from "../domain/estimateTokens.ts"
import { BodyInvalid, type GatewayError, UnsupportedOperation, UnsupportedParameter } from "../domain/GatewayError.ts"
import type { LimitValues } from "../domain/Limits.ts"
import type { ModelRecord } from "../domain/models/ModelRecord.ts"
import { type Operation, operations } from "../domain/operations.ts"
import { ProviderError, type Reason, withReason } from "../domain/ProviderError.ts"
import type { CarrierSealing } from "../domain/RequestContext.ts"
import type { JsonObject } from "../domain/text/json.ts"
import { type AnswerFacts, type MessagesChat, paramOf, type Plan } from "../translate/messages-to-chat/facts.ts"
import { messageIdOf } from "../translate/messages-to-chat/marks.ts"
import { historyCallIds } from "../translate/messages-to-chat/messages.ts"
import { requestToChat } from "../translate/messages-to-chat/request.ts"
import { messageFromChat } from "../translate/messages-to-chat/response.ts"
import type { MessagesRequest, PassedReply } from "../translate/messages-to-claude.ts"
import { parsedBody } from "../translate/native/nativeBody.ts"
import { signaturesOf, type SignedCall, withoutSignatures } from "../translate/shared/chat-request/signatures.ts"
import { innerFault } from "../translate/shared/chat-request/toolCalls.ts"
import type { Adjustment } from "../translate/Translator.ts"
import type { Hop, Prepared } from "../upstream/Prepared.ts"
import type { ChatChunk, ChatCompletion } from "../wire/openai/ChatReply.ts"
import { targetFacts } from "./callInput.ts"
import { MessageReader } from "./messagesByChatStream.ts"
import type { AttemptContext, Prepare, PreparedCall } from "./Provider.ts"
import { targetModel, type TargetModel } from "./route.ts"

/** The name of the inner translation, for dry runs. */
const pairName = "messages-to-chat"

type Native = Extract<Operation, "messages" | "messagesCountTokens">
type ChatOf = { readonly messages: "chat"; readonly messagesCountTokens: "countTokens" }

const parsed = new WeakMap<MessagesRequest, JsonObject>()

/** The body of a message, parsed once for all targets that need it. */
const bodyOf = (request: MessagesRequest): JsonObject => {
  const known = parsed.get(request)
  if (known !== undefined) return known
  const named = { ...parsedBody(request.bytes), model: request.model }
  parsed.set(request, named)
  return named
}

/** Pictures and sound have no place in a message. */
const answersInText = (
  { output }: ModelRecord,
  { account, modelId }: AttemptContext
): Result.Result<void, GatewayError> =>
  output === undefined || !output.some((kind) => kind === "image" || kind === "audio")
    ? Result.succeed(undefined)
    : Result.fail(
        new UnsupportedOperation({
          message: `"${modelId}" on ${account.slug} answers with ${output.join(" and ")}, and a message holds text only: use ${operations.chat.path}.`
        })
      )

/** The family of a target that is served by translation; undefined for Claude, whose bytes pass, and without permission. */
const translatedModel = ({
  account,
  modelId,
  request
}: Pick<AttemptContext, "account" | "modelId" | "request">): TargetModel | undefined => {
  if (request.otherModels === undefined) return undefined
  const model = targetModel(modelId, account)
  return Result.isSuccess(model) && model.success.family !== "claude" ? model.success : undefined
}

/** Ids of the calls in the history of a message, where its target is served by translation. */
export const translatedHistory = (
  request: MessagesRequest,
  target: Pick<AttemptContext, "account" | "modelId" | "request">
): ReadonlyArray<string> => (translatedModel(target) === undefined ? [] : historyCallIds(bodyOf(request)))

/** The text of a fault with the place in the message: errors of this dialect have no field for it. */
const placed = (message: string, param: string, ownParam: string): string => {
  const renamed = message.replaceAll(param, ownParam)
  return renamed.includes(ownParam) ? renamed : `${ownParam}: ${renamed}`
}

/** A fault of the chat, in the words of the message. */
const inOwnWords = (error: GatewayError, { paths }: Pick<Plan, "paths">): GatewayError => {
  const param = error._tag === "BodyInvalid" || error._tag === "UnsupportedParameter" ? error.param : null
  if (param === null) return error
  const ownParam = paramOf(paths, param)
  if (error._tag === "BodyInvalid")
    return new BodyInvalid({ code: error.code, param: ownParam, message: placed(error.message, param, ownParam) })
  return error._tag === "UnsupportedParameter"
    ? new UnsupportedParameter({ param: ownParam, message: placed(error.message, param, ownParam) })
    : error
}

const adjustedInOwnWords = ({ paths }: Pick<Plan, "paths">, adjustment: Adjustment): Adjustment => ({
  ...adjustment,
  param: paramOf(paths, adjustment.param)
})

const promptTooLong = "prompt is too long"

/** Claude Code makes its history shorter by these words. */
const reasonInOwnWords = (reason: Reason): Reason =>
  reason._tag === "ContextTooLong" && !reason.message.startsWith(promptTooLong)
    ? { ...reason, message: `${promptTooLong}: ${reason.message}` }
    : reason

const errorInOwnWords = (error: ProviderError): ProviderError => withReason(error, reasonInOwnWords(error.reason))

/** A made chat and the call that serves it. */
interface Inner<Op extends Native> {
  readonly made: MessagesChat
  readonly call: PreparedCall<ChatOf[Op]>
}

const prepareInner = <Op extends Native>(
  prepare: Prepare<ChatOf[Op]>,
  request: MessagesRequest,
  attempt: AttemptContext,
  model: TargetModel,
  { digest, unseal }: CarrierSealing,
  limits: LimitValues
): Result.Result<Inner<Op>, GatewayError> => {
  const { facts, record } = targetFacts(attempt, model)
  const fit = answersInText(record, attempt)
  if (Result.isFailure(fit)) return Result.fail(fit.failure)
  const made = requestToChat(bodyOf(request), {
    family: model.family,
    maxOutput: facts.longDecode === undefined ? record.max_output : undefined,
    unseal,
    digest
  })
  if (Result.isFailure(made)) return Result.fail(made.failure)
  const { chat, plan } = made.success
  const fault = innerFault(chat, limits.jsonValues)
  if (fault !== undefined) return Result.fail(inOwnWords(fault, plan))
  const context = { ...attempt.request, strict: false, ordered: true, betas: [], images: undefined }
  return Result.mapBoth(prepare(chat, { ...attempt, request: context }), {
    onFailure: (error) => inOwnWords(error, plan),
    onSuccess: (call) => ({ made: made.success, call })
  })
}

/** What of a call is the same for each answer. */
const outerCall = <Op extends Native>(operation: Op, { call, made }: Inner<Op>) => {
  const { body, headers, ignored, method, target, url, adjusted = [] } = call
  const { plan } = made
  const changes = [...made.adjusted, ...adjusted.map((adjustment) => adjustedInOwnWords(plan, adjustment))]
  return {
    target: { ...target, operation },
    method,
    url,
    headers,
    body,
    ignored: [...new Set([...made.ignored, ...ignored.map((name) => paramOf(plan.paths, name))])],
    adjusted: changes.length === 0 ? undefined : changes
  }
}

const encoder = new TextEncoder()

const passedJson = (answer: object, rest: Omit<PassedReply, "bytes" | "contentType">): PassedReply => ({
  bytes: encoder.encode(JSON.stringify(answer)),
  contentType: "application/json",
  ...rest
})

const signedCalls = ({ choices }: ChatCompletion): ReadonlyArray<SignedCall> =>
  choices.flatMap(({ message }) => signaturesOf(message))

/** A completion as the bytes of a message. */
const messageBytes = (
  completion: ChatCompletion,
  facts: AnswerFacts,
  slug: string,
  upstreamStatus: number
): Result.Result<PassedReply, ProviderError> =>
  Result.mapBoth(messageFromChat(completion, facts), {
    onFailure: (reason) => new ProviderError({ slug, reason, upstreamStatus }),
    onSuccess: (message) =>
      passedJson(message, {
        usage: completion.usage,
        signed: signedCalls(completion),
        ...(completion.model_status === undefined ? {} : { modelStatus: completion.model_status })
      })
  })

type Reply<Out> = Prepared<Out, never>["reply"]

const messageReply =
  (
    inner: Reply<ChatCompletion>,
    facts: AnswerFacts,
    slug: string,
    change: (chat: ChatCompletion) => ChatCompletion
  ): Reply<PassedReply> =>
  (status, ...rest) =>
    Result.flatMap(Result.mapError(inner(status, ...rest), errorInOwnWords), (completion) =>
      messageBytes(change(completion), facts, slug, status)
    )

/** The hops of a long answer, whose join is the message. */
const messageHop = (
  call: Prepared<Hop<ChatCompletion>, never>,
  facts: AnswerFacts
): Prepared<Hop<PassedReply>, never> => ({
  target: { ...call.target, operation: "messages" },
  method: call.method,
  url: call.url,
  headers: call.headers,
  body: call.body,
  ignored: call.ignored,
  reply: (...answer) =>
    Result.map(Result.mapError(call.reply(...answer), errorInOwnWords), ({ answer: whole, next, usage }) => ({
      next: next === undefined ? undefined : messageHop(next, facts),
      usage,
      answer: (isInterrupted) =>
        Result.flatMap(whole(isInterrupted), (completion) => messageBytes(completion, facts, call.target.slug, 200))
    })),
  chunks: call.chunks
})

/** How the call is answered; `isUnsigned`: its signatures fit no history that the client has (M-303). */
const answers = (
  call: Prepared<ChatCompletion, ChatChunk>,
  facts: AnswerFacts,
  isUnsigned: boolean
): Pick<PreparedCall<"messages">, "reply" | "chunks"> => {
  const { chunks, reply, target } = call
  return {
    reply: messageReply(reply, facts, target.slug, isUnsigned ? withoutSignatures : (chat) => chat),
    chunks: (headers, redaction) => MessageReader.of(chunks(headers, redaction), facts, isUnsigned, reasonInOwnWords)
  }
}

const messageByChat = (
  prepare: Prepare<"chat">,
  limits: LimitValues,
  request: MessagesRequest,
  attempt: AttemptContext,
  model: TargetModel,
  sealing: CarrierSealing
): Result.Result<PreparedCall<"messages">, GatewayError> =>
  Result.map(prepareInner<"messages">(prepare, request, attempt, model, sealing, limits), (inner) => {
    const { call, made } = inner
    const { paths: _paths, ...plan } = made.plan
    const facts: AnswerFacts = {
      id: messageIdOf(attempt.request.idSeed),
      plan,
      issuer: call.target.issuer,
      inputTokens: estimatedInput(bodyOf(request)),
      seal: sealing.seal,
      digest: sealing.digest,
      carrierBytes: limits.responseCarrierBytes
    }
    const { hops } = call
    return {
      ...outerCall("messages", inner),
      ...answers(call, facts, false),
      ...(hops === undefined ? {} : { hops: { ...hops, first: messageHop(hops.first, facts) } }),
      translated: { pair: pairName, unsigned: () => answers(call, facts, true) }
    }
  })

const estimatedInput = ({ messages = null, system = null, tools = null }: JsonObject): number =>
  estimateTokens(messages) + estimateTokens(system) + estimateTextTokens(tools)

/** Messages of Claude pass as their bytes; those of other models are translated where the request may reach them. */
export const withOtherModels =
  (claude: Prepare<"messages">, chat: Prepare<"chat">, limits: LimitValues): Prepare<"messages"> =>
  (request, attempt) => {
    const model = translatedModel(attempt)
    const { otherModels } = attempt.request
    return model === undefined || otherModels === undefined
      ? claude(request, attempt)
      : messageByChat(chat, limits, request, attempt, model, otherModels)
  }

/** The count of a message, by the counter of its model's family. */
export const withOtherCounts =
  (
    claude: Prepare<"messagesCountTokens">,
    count: Prepare<"countTokens">,
    limits: LimitValues
  ): Prepare<"messagesCountTokens"> =>
  (request, attempt) => {
    const model = translatedModel(attempt)
    const { otherModels } = attempt.request
    if (model === undefined || otherModels === undefined) return claude(request, attempt)
    return Result.map(
      prepareInner<"messagesCountTokens">(count, request, attempt, model, otherModels, limits),
      (inner): PreparedCall<"messagesCountTokens"> => ({
        ...outerCall("messagesCountTokens", inner),
        reply: (...answer) =>
          Result.map(Result.mapError(inner.call.reply(...answer), errorInOwnWords), ({ input_tokens }) =>
            passedJson({ input_tokens }, { usage: undefined })
          ),
        chunks: inner.call.chunks,
        translated: { pair: pairName }
      })
    )
  }
