// Anthropic messages, and their count, with a Claude model on Vertex AI: bodies and answers go as their own bytes.
// It must not know configs, tokens or HTTP of our own side.
import * as Result from "effect/Result"
import { type GatewayError, UnsupportedOperation } from "../domain/GatewayError.ts"
import { decodeUtf8, parseExactJsonText } from "../domain/text/json.ts"
import type { LimitValues } from "../domain/Limits.ts"
import { noRedaction } from "../domain/text/redaction.ts"
import {
  countedBody,
  failureFromMessages,
  messagesBody,
  type MessagesRequest,
  messageStream,
  type PassedReply,
  usageOfReply
} from "../translate/messages-to-claude.ts"
import { betaHeader } from "../translate/shared/claude/betas.ts"
import { machine } from "../translate/Translator.ts"
import { acceptedJson, ended, ownedBy, type Prepared } from "../upstream/Prepared.ts"
import { callInput } from "./callInput.ts"
import type { AttemptContext, Prepare } from "./Provider.ts"
import { type Route, type RouteOf, targetModel, type TargetModel } from "./Route.ts"

type Operation = "messages" | "messagesCountTokens"

/** The chat route that takes what this one does not (T1903). */
const instead: Readonly<Record<Operation, string>> = {
  messages: "/v1/chat/completions",
  messagesCountTokens: "/v1/chat/completions/count_tokens"
}

const needsClaude = (operation: Operation, { account, modelId }: AttemptContext): Result.Result<never, GatewayError> =>
  Result.fail(
    new UnsupportedOperation({
      message: `"${modelId}" on ${account.slug} is not a Claude model of Vertex AI, and this route takes no other: use ${instead[operation]}.`
    })
  )

const claudeOf = (operation: Operation, context: AttemptContext): Result.Result<TargetModel, GatewayError> =>
  Result.flatMap(targetModel(context.modelId, context.account), (model) =>
    model.family === "claude" ? Result.succeed(model) : needsClaude(operation, context)
  )

/** What a client asks of a provider without Claude. */
export const withoutClaude =
  <Op extends Operation>(operation: Op): Prepare<Op> =>
  (_request, context) =>
    needsClaude(operation, context)

interface Passing<Chunk> {
  readonly operation: Operation
  readonly request: MessagesRequest
  readonly attempt: AttemptContext
  readonly model: TargetModel
  readonly route: Route
  readonly limits: LimitValues
  readonly bytes: Uint8Array
  readonly chunks: Prepared<PassedReply, Chunk>["chunks"]
}

const passing = <Chunk>({
  operation,
  request,
  attempt,
  model,
  route,
  limits,
  bytes,
  chunks
}: Passing<Chunk>): Result.Result<Prepared<PassedReply, Chunk>, GatewayError> => {
  const { headers, origin, target, url } = callInput(operation, attempt, model, route, limits)
  const failing = { slug: target.slug, origin, failure: failureFromMessages }
  return Result.map(betaHeader(attempt.request.betas, request.betas), (betas) => ({
    target,
    method: "POST",
    url,
    headers: { "content-type": "application/json", ...headers, ...betas },
    bytes,
    /** Only a dry run looks at it. */
    get body() {
      return Result.getOrElse(parseExactJsonText(decodeUtf8(bytes) ?? ""), () => null)
    },
    ignored: [],
    reply: (status, replyHeaders, reply, redaction) =>
      Result.map(acceptedJson(failing, { status, headers: replyHeaders, bytes: reply, redaction }), (body) => ({
        bytes: reply,
        contentType: replyHeaders["content-type"] ?? "application/json",
        usage: usageOfReply(body)
      })),
    chunks
  }))
}

export const claudeMessages =
  (routeOf: RouteOf, limits: LimitValues): Prepare<"messages"> =>
  (request, attempt) =>
    Result.flatMap(claudeOf("messages", attempt), (model) =>
      Result.flatMap(routeOf(attempt.account, model, attempt.stream ? ":streamRawPredict" : ":rawPredict"), (route) =>
        passing({
          operation: "messages",
          request,
          attempt,
          model,
          route,
          limits,
          bytes: messagesBody(request),
          chunks: (_headers, redaction = noRedaction) =>
            ownedBy(attempt.account.origin, machine(messageStream(limits, redaction)))
        })
      )
    )

/** The URL names an operation where the model stands, and the body the model (table 13). */
export const claudeMessagesCount =
  (routeOf: RouteOf, limits: LimitValues): Prepare<"messagesCountTokens"> =>
  (request, attempt) =>
    Result.flatMap(claudeOf("messagesCountTokens", attempt), (model) =>
      Result.flatMap(routeOf(attempt.account, { ...model, modelId: "count-tokens" }, ":rawPredict"), (route) =>
        passing({
          operation: "messagesCountTokens",
          request,
          attempt,
          model,
          route,
          limits,
          bytes: countedBody(request, model.modelId),
          chunks: () => ended
        })
      )
    )
