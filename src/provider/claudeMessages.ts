// Anthropic messages, and their count, with a Claude model on Vertex AI: bodies and answers pass as their own bytes.
// It must not depend on configs, tokens or HTTP of our own side.
import * as Result from "effect/Result"
import { type GatewayError, UnsupportedOperation } from "../domain/GatewayError.ts"
import type { LimitValues } from "../domain/Limits.ts"
import { type Operation, operations } from "../domain/operations.ts"
import { otherModelsHint } from "../domain/serving.ts"
import { decodeUtf8, type Json, parseExactJsonText } from "../domain/text/json.ts"
import { noRedaction } from "../domain/text/redaction.ts"
import { withoutOwnMarks } from "../translate/messages-to-chat/marks.ts"
import {
  countedBody,
  failureFromMessages,
  isMessage,
  isMessageCount,
  messagesBody,
  type MessagesRequest,
  messageStream,
  type PassedReply,
  usageOfReply
} from "../translate/messages-to-claude.ts"
import { betaHeader } from "../translate/shared/claude.ts"
import { noStream, streamReader } from "../translate/StreamReader.ts"
import { PassedCall, type Prepared } from "../upstream/Prepared.ts"
import { badReply, failedReply, readSuccessJson, withAbsence } from "../upstream/readReply.ts"
import { callInput, targetFacts } from "./callInput.ts"
import type { AttemptContext, Prepare } from "./Provider.ts"
import { type Route, type RouteOf, targetModel, type TargetModel } from "./route.ts"

type Native = Extract<Operation, "messages" | "messagesCountTokens">

/** The chat route that takes what this one does not (T1903). */
const instead: Readonly<Record<Native, string>> = {
  messages: operations.chat.path,
  messagesCountTokens: operations.countTokens.path
}

const needsClaude = (operation: Native, { account, modelId }: AttemptContext): Result.Result<never, GatewayError> =>
  Result.fail(
    new UnsupportedOperation({
      message: `"${modelId}" on ${account.slug} is not a Claude model of Vertex AI, and this route takes no other: use ${instead[operation]}. ${otherModelsHint}`
    })
  )

const claudeOf = (operation: Native, context: AttemptContext): Result.Result<TargetModel, GatewayError> =>
  Result.flatMap(targetModel(context.modelId, context.account), (model) =>
    model.family === "claude" ? Result.succeed(model) : needsClaude(operation, context)
  )

/** Bodies of a 200 that cannot be an answer of the route are refused; the bytes of others pass unread. */
const isAnswer: Readonly<Record<Native, (body: Json) => boolean>> = {
  messages: isMessage,
  messagesCountTokens: isMessageCount
}

const wrongShape = badReply("unreadable", "The upstream answered with JSON that does not have the shape of an answer.")

/** What a client asks of a provider without Claude. */
export const withoutClaude =
  <Op extends Native>(operation: Op): Prepare<Op> =>
  (_request, context) =>
    needsClaude(operation, context)

interface Passthrough<Chunk> {
  readonly operation: Native
  /** As the client sent it. */
  readonly given: MessagesRequest
  readonly attempt: AttemptContext
  readonly model: TargetModel
  readonly route: Route
  readonly limits: LimitValues
  readonly bytesOf: (request: MessagesRequest) => Uint8Array
  readonly chunks: Prepared<PassedReply, Chunk>["chunks"]
}

/** The request as Claude takes it: without what this gateway put into answers of other models (D313). */
const unmarked = (given: MessagesRequest) => {
  const { adjusted, bytes } = withoutOwnMarks(given.bytes)
  return { request: bytes === given.bytes ? given : { ...given, bytes, spans: undefined }, adjusted }
}

const preparePassthrough = <Chunk>({
  operation,
  given,
  attempt,
  model,
  route,
  limits,
  bytesOf,
  chunks
}: Passthrough<Chunk>): Result.Result<Prepared<PassedReply, Chunk>, GatewayError> => {
  const { adjusted, request } = unmarked(given)
  const bytes = bytesOf(request)
  const factsNow = targetFacts(attempt, model)
  const { headers, origin, target, url } = callInput(operation, attempt, model, route, limits, factsNow)
  const asked = { kind: target.kind, record: factsNow.record, createdSeconds: attempt.request.createdSeconds }
  const failing = { slug: target.slug, origin, failure: withAbsence(failureFromMessages, asked) }
  return Result.map(
    betaHeader(attempt.request.betas, request.betas),
    (betas) =>
      new PassedCall({
        target,
        url,
        headers: { "content-type": "application/json", ...headers, ...betas },
        bytes,
        // Only a dry run looks at it.
        json: () => Result.getOrElse(parseExactJsonText(decodeUtf8(bytes) ?? ""), () => null),
        ignored: [],
        adjusted,
        reply: (status, replyHeaders, reply, redaction) =>
          Result.flatMap(readSuccessJson(failing, { status, headers: replyHeaders, bytes: reply, redaction }), (body) =>
            isAnswer[operation](body)
              ? Result.succeed({
                  bytes: reply,
                  contentType: replyHeaders["content-type"] ?? "application/json",
                  usage: usageOfReply(body)
                })
              : failedReply(target.slug, status, wrongShape)
          ),
        chunks
      })
  )
}

/** Clients of rawPredict expect them, except the AI SDK, whose parser ends at an event that it does not know. */
const keepsVertexEvents = ({ hidesVertexEvents, isRaw }: MessagesRequest): boolean =>
  isRaw === true && hidesVertexEvents !== true

export const claudeMessages =
  (routeOf: RouteOf, limits: LimitValues): Prepare<"messages"> =>
  (given, attempt) =>
    Result.flatMap(claudeOf("messages", attempt), (model) =>
      Result.flatMap(routeOf(attempt.account, model, attempt.stream ? ":streamRawPredict" : ":rawPredict"), (route) =>
        preparePassthrough({
          operation: "messages",
          given,
          attempt,
          model,
          route,
          limits,
          bytesOf: (request) => messagesBody(request, attempt.request.anthropicVersion),
          chunks: (_headers, redaction = noRedaction) =>
            streamReader(messageStream(limits, redaction, keepsVertexEvents(given)), attempt.account.origin)
        })
      )
    )

/** The URL has `count-tokens` instead of the model, and the body names the model (table 13). */
export const claudeMessagesCount =
  (routeOf: RouteOf, limits: LimitValues): Prepare<"messagesCountTokens"> =>
  (given, attempt) =>
    Result.flatMap(claudeOf("messagesCountTokens", attempt), (model) =>
      Result.flatMap(routeOf(attempt.account, { ...model, modelId: "count-tokens" }, ":rawPredict"), (route) =>
        preparePassthrough({
          operation: "messagesCountTokens",
          given,
          attempt,
          model,
          route,
          limits,
          bytesOf: (request) => countedBody(request, model.modelId, attempt.request.anthropicVersion),
          chunks: () => noStream
        })
      )
    )
