// The body of each operation for configs: its checks, the parameters that conditions read, and a target's edits.
// It must not depend on accounts, or on how a call is made.
import * as Result from "effect/Result"
import { BodyInvalid } from "../domain/GatewayError.ts"
import { decodeUtf8, isJsonObject, type Json, type JsonObject, parseExactJsonText } from "../domain/text/json.ts"
import type { LimitValues } from "../domain/Limits.ts"
import { parseModelRef } from "../domain/ModelRef.ts"
import { refusedKeysOf } from "../domain/config/configured.ts"
import { memoizeBounded } from "../domain/collections.ts"
import { numberOf } from "../translate/shared/chat-request/paramReader.ts"
import { ChatRequest } from "../wire/openai/Chat.ts"
import { innerFault } from "../translate/shared/chat-request/toolCalls.ts"
import * as Schema from "effect/Schema"
import { decodeNumbers, renderPath } from "../domain/faults.ts"
import { editTopLevel } from "../domain/text/topMembers.ts"
import { type Operation, type OperationPath, operations } from "../domain/operations.ts"
import type { Operations } from "../provider/Provider.ts"
import { chatBody } from "../translate/chatBody.ts"
import { type MessagesRequest, readCountRequest, readMessagesRequest } from "../translate/messages-to-claude.ts"
import { type NativeRequest, overriddenBody, parsedBody } from "../translate/native/nativeBody.ts"
import { EmbeddingsRequest } from "../wire/openai/Embeddings.ts"
import { ImagesRequest } from "../wire/openai/Images.ts"
import { applyEdits, type Edits, mergeDeep } from "../domain/config/edits.ts"
import type { ConfigTarget } from "../domain/config/GatewayConfig.ts"
import type { ProviderKind } from "../domain/ProviderAccount.ts"

const invalid = (code: string, param: string, message: string) => Result.fail(new BodyInvalid({ code, param, message }))

const longestModel = 256
const unprintable = /[^\x20-\x7e]/

/** What `model` must be on every route. */
export const checkModel: (model: string) => Result.Result<unknown, BodyInvalid> = memoizeBounded((model) => {
  if (model.trim() === "")
    return invalid("invalid_model", "model", 'model is empty; name one, for example "@google/gemini-3.8-flash".')
  if (model.length > longestModel || unprintable.test(model)) {
    return invalid("invalid_model", "model", `model is at most ${longestModel} printable ASCII characters.`)
  }
  return parseModelRef(model)
})

/** What `labels` may not have, whatever provider reads them; their form is checked where they are read. */
const labelsFault = (labels: unknown): Result.Result<never, BodyInvalid> | undefined => {
  const [key] = isJsonObject(labels) ? refusedKeysOf(labels) : []
  return key === undefined ? undefined : invalid("invalid_key", `labels.${key}`, `labels may not use the key "${key}".`)
}

/** What a request for anything but a chat must be. */
export const checkLabelled = <Request extends { readonly model: string; readonly labels?: unknown }>(
  request: Request
): Result.Result<Request, BodyInvalid> =>
  labelsFault(request.labels) ?? Result.map(checkModel(request.model), () => request)

export const checkChat = (
  request: ChatRequest,
  { jsonValues, messages: most }: LimitValues
): Result.Result<ChatRequest, BodyInvalid> => {
  const { messages, seed } = request
  if (messages.length === 0) return invalid("empty_array", "messages", "messages is empty; send at least one message.")
  if (messages.length > most) {
    return invalid("array_too_long", "messages", `messages has more than ${most} entries.`)
  }
  if (seed !== undefined && seed !== null && numberOf(seed) === undefined)
    return invalid("invalid_type", "seed", "seed has the wrong type: expected number.")
  const inner = innerFault(request, jsonValues)
  return inner === undefined ? checkLabelled(request) : Result.fail(inner)
}

// The body of each operation for configs: the parameters that conditions read, and how an edited body is read again.

export interface Body<Request> {
  readonly path: OperationPath
  /** Whether its dialect has attribution labels. */
  readonly labels: boolean
  readonly params: (request: Request) => JsonObject
  /** The request with the edited body, which must be as sound as one that a client sends. */
  readonly revise: (
    request: Request,
    edit: (body: JsonObject) => JsonObject,
    limits: LimitValues
  ) => Result.Result<Request, BodyInvalid>
}

/** A decoded body is what its JSON text was. */
const asJson = (request: object): JsonObject => request as JsonObject

const decodedBody = <Request extends { readonly model: string }>(
  path: Body<Request>["path"],
  schema: Schema.Codec<Request, unknown>,
  check: (request: Request, limits: LimitValues) => Result.Result<Request, BodyInvalid>,
  spelled: (body: JsonObject) => Result.Result<JsonObject, BodyInvalid> = Result.succeed
): Body<Request> => {
  const decode = Schema.decodeUnknownResult(schema)
  return {
    path,
    labels: true,
    params: asJson,
    revise: (request, edit, limits) =>
      Result.flatMap(spelled(edit(asJson(request))), (edited) =>
        Result.flatMap(decodeNumbers(decode, edited), (read) => check(read, limits))
      )
  }
}

/** A config may spell parameters as a client may. */
const inChatsWords = (edited: JsonObject): Result.Result<JsonObject, BodyInvalid> =>
  Result.map(chatBody(edited), ({ body }) => body)

const namesModel = <Request extends { readonly model: string }>(
  request: Request
): Result.Result<Request, BodyInvalid> => Result.map(checkModel(request.model), () => request)

const nativeBody = ({ bytes }: MessagesRequest): JsonObject => {
  const body: Json = Result.getOrElse(parseExactJsonText(decodeUtf8(bytes) ?? ""), () => null)
  return isJsonObject(body) ? body : {}
}

/** Only edited members are written again; the rest stays as the client wrote it (T1901, T1912). */
const nativeMessages = (
  path: Body<MessagesRequest>["path"],
  read: typeof readMessagesRequest
): Body<MessagesRequest> => ({
  path,
  labels: false,
  params: nativeBody,
  revise: (request, edit) => {
    const before = nativeBody(request)
    const after = edit({ ...before, model: request.model })
    const changed = Object.keys({ ...before, ...after }).filter((key) => key !== "model" && before[key] !== after[key])
    const edits = changed.map(
      (key) => [key, after[key] === undefined ? undefined : JSON.stringify(after[key])] as const
    )
    return Result.flatMap(
      read(after, edits.length === 0 ? request.bytes : editTopLevel(request.bytes, Object.fromEntries(edits))),
      (revised) => namesModel(revised)
    )
  }
})

const noMembers: JsonObject = {}

/** Configs are in chat's words: of a native body only `google` and labels are edited, the rest is named (N601). */
const googleBody = (path: Body<NativeRequest>["path"]): Body<NativeRequest> => ({
  path,
  labels: true,
  params: ({ bytes, model }) => ({ ...parsedBody(bytes), model }),
  revise: (request, edit) => {
    const { google, labels, ...others } = edit(noMembers)
    return Result.succeed({
      ...request,
      bytes: overriddenBody(
        request.bytes,
        isJsonObject(google) ? google : noMembers,
        isJsonObject(labels) ? labels : undefined
      ),
      ignored: [...request.ignored, ...Object.keys(others).map((name) => `override_params.${name}`)]
    })
  }
})

export const bodies: { readonly [Op in Operation]: Body<Operations[Op]["request"]> } = {
  chat: decodedBody(operations.chat.path, ChatRequest, checkChat, inChatsWords),
  countTokens: decodedBody(operations.countTokens.path, ChatRequest, checkChat, inChatsWords),
  embeddings: decodedBody(operations.embeddings.path, EmbeddingsRequest, checkLabelled),
  images: decodedBody(operations.images.path, ImagesRequest, checkLabelled),
  messages: nativeMessages(operations.messages.path, readMessagesRequest),
  messagesCountTokens: nativeMessages(operations.messagesCountTokens.path, readCountRequest),
  nativeContent: googleBody(operations.nativeContent.path),
  nativeEmbeddings: googleBody(operations.nativeEmbeddings.path),
  nativePredictions: googleBody(operations.nativePredictions.path),
  nativeCount: googleBody(operations.nativeCount.path)
}

// A request with the defaults, overrides and drops of one target of a config, applied before the translation.

const noEdits: Edits = { defaults: {}, overrides: {}, drops: [] }

/** Labels of a config are defaults for those of the request; only Vertex AI has labels. */
const editsFor = <Request>(
  { edits, labels }: ConfigTarget,
  kind: ProviderKind,
  body: Body<Request>
): Edits | undefined => {
  if (labels === undefined || kind !== "vertex-ai" || !body.labels) return edits
  const { defaults, ...others } = edits ?? noEdits
  return { ...others, defaults: mergeDeep({ labels: { ...labels } }, defaults) }
}

/** The fault as one of the config: the request was valid before its edits. */
const configFault = (target: ConfigTarget, { message }: BodyInvalid): BodyInvalid => {
  const where = renderPath(target.at)
  return new BodyInvalid({
    code: "invalid_config",
    param: "x-gateway-config",
    message: `The request is not valid with the parameters that ${where === "" ? "the config" : `${where} of the config`} sets: ${message}`
  })
}

/** The request for a target; the given one stays as it is, for the next target begins with it again. */
export const withOverrides = <Op extends Operation>(
  operation: Op,
  request: Operations[Op]["request"],
  target: ConfigTarget,
  kind: ProviderKind,
  limits: LimitValues
): Result.Result<Operations[Op]["request"], BodyInvalid> => {
  const body: Body<Operations[Op]["request"]> = bodies[operation]
  const edits = editsFor(target, kind, body)
  if (edits === undefined) return Result.succeed(request)
  return Result.mapError(
    body.revise(request, (json) => applyEdits(json, edits), limits),
    (fault) => configFault(target, fault)
  )
}
