// The body of each operation for configs: the parameters that conditions read, and how an edited body is read again.
// It must not depend on targets or on the contents of a config.
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { decodeNumbers } from "../../domain/text/bodyFault.ts"
import { editTopLevel } from "../../domain/text/editTopLevel.ts"
import type { BodyInvalid } from "../../domain/GatewayError.ts"
import { decodeUtf8, isJsonObject, type Json, type JsonObject, parseExactJsonText } from "../../domain/text/json.ts"
import type { LimitValues } from "../../domain/Limits.ts"
import { type Operation, type OperationPath, operations } from "../../domain/operations.ts"
import type { Operations } from "../../provider/Provider.ts"
import { chatBody } from "../../translate/chatBody.ts"
import { type MessagesRequest, readCountRequest, readMessagesRequest } from "../../translate/messages-to-claude.ts"
import { overriddenBody } from "../../translate/native/nativeBody.ts"
import { type NativeRequest, parsedBody } from "../../translate/native/nativeRequest.ts"
import { ChatRequest } from "../../wire/openai/Chat.ts"
import { EmbeddingsRequest } from "../../wire/openai/Embeddings.ts"
import { ImagesRequest } from "../../wire/openai/Images.ts"
import { checkChat, checkLabelled, checkModel } from "./bodyChecks.ts"

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

const decoded = <Request extends { readonly model: string }>(
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
const native = (path: Body<MessagesRequest>["path"], read: typeof readMessagesRequest): Body<MessagesRequest> => ({
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
const ofGoogle = (path: Body<NativeRequest>["path"]): Body<NativeRequest> => ({
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
  chat: decoded(operations.chat.path, ChatRequest, checkChat, inChatsWords),
  countTokens: decoded(operations.countTokens.path, ChatRequest, checkChat, inChatsWords),
  embeddings: decoded(operations.embeddings.path, EmbeddingsRequest, checkLabelled),
  images: decoded(operations.images.path, ImagesRequest, checkLabelled),
  messages: native(operations.messages.path, readMessagesRequest),
  messagesCountTokens: native(operations.messagesCountTokens.path, readCountRequest),
  nativeContent: ofGoogle(operations.nativeContent.path),
  nativeEmbeddings: ofGoogle(operations.nativeEmbeddings.path),
  nativePredictions: ofGoogle(operations.nativePredictions.path),
  nativeCount: ofGoogle(operations.nativeCount.path)
}
