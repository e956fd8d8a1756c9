// The body of each operation as a config meets it: what conditions may ask of it, and how an edited one is read again.
// It must not know targets or what a config says.
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { bodyFault } from "../domain/text/bodyFault.ts"
import { editTopLevel } from "../domain/text/editTopLevel.ts"
import type { BodyInvalid } from "../domain/GatewayError.ts"
import { decodeUtf8, isJsonObject, type Json, type JsonObject, parseExactJsonText } from "../domain/text/json.ts"
import type { LimitValues } from "../domain/Limits.ts"
import type { Operations } from "../provider/Provider.ts"
import { type MessagesRequest, readCounted, readMessages } from "../translate/messages-to-claude.ts"
import { ChatRequest } from "../wire/openai/Chat.ts"
import { EmbeddingsRequest } from "../wire/openai/Embeddings.ts"
import { ImagesRequest } from "../wire/openai/Images.ts"
import { checkChat, checkLabelled, checkModel } from "./bodyChecks.ts"

export interface Body<Request> {
  readonly path: `/v1/${string}`
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
  check: (request: Request, limits: LimitValues) => Result.Result<Request, BodyInvalid>
): Body<Request> => {
  const decode = Schema.decodeUnknownResult(schema)
  return {
    path,
    labels: true,
    params: asJson,
    revise: (request, edit, limits) => {
      const edited = edit(asJson(request))
      const read = decode(edited)
      return Result.isFailure(read) ? Result.fail(bodyFault(read.failure, edited)) : check(read.success, limits)
    }
  }
}

const namesModel = <Request extends { readonly model: string }>(
  request: Request
): Result.Result<Request, BodyInvalid> => Result.map(checkModel(request.model), () => request)

const nativeBody = ({ bytes }: MessagesRequest): JsonObject => {
  const body: Json = Result.getOrElse(parseExactJsonText(decodeUtf8(bytes) ?? ""), () => null)
  return isJsonObject(body) ? body : {}
}

/** Only what an edit changes is written anew: the rest stays as the client wrote it (T1901, T1912). */
const native = (path: Body<MessagesRequest>["path"], read: typeof readMessages): Body<MessagesRequest> => ({
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

export const bodies: { readonly [Op in keyof Operations]: Body<Operations[Op]["request"]> } = {
  chat: decoded("/v1/chat/completions", ChatRequest, checkChat),
  countTokens: decoded("/v1/chat/completions/count_tokens", ChatRequest, checkChat),
  embeddings: decoded("/v1/embeddings", EmbeddingsRequest, checkLabelled),
  images: decoded("/v1/images/generations", ImagesRequest, checkLabelled),
  messages: native("/v1/messages", readMessages),
  messagesCountTokens: native("/v1/messages/count_tokens", readCounted)
}
