// From path and bytes of a call in one of Google's own dialects to the request of its operation.
// It must not depend on keys, accounts, or how bytes are received.
import * as Result from "effect/Result"
import type { HeaderRecord } from "../../api/Headers.ts"
import type { BodyInvalid, UnsupportedOperation } from "../../domain/GatewayError.ts"
import { readNativeModel } from "../../domain/native/nativeModel.ts"
import type { NativeCall } from "../../domain/native/nativePath.ts"
import { readNativeQuery } from "../../domain/native/nativeQuery.ts"
import { builtInModels } from "../../domain/models/modelTable.ts"
import { parseFamily, parseModelRef } from "../../domain/ModelRef.ts"
import { resolveModelName } from "../../domain/serve/modelNames.ts"
import type { NativeOperation } from "../../domain/operations.ts"
import type { JsonLimits } from "../../domain/text/json.ts"
import type { MessagesRequest } from "../../translate/messages-to-claude.ts"
import { readNativeBody } from "../../translate/native/nativeBody.ts"
import type { NativeRequest } from "../../translate/native/nativeRequest.ts"
import { nativeServingHeaders } from "../request/nativeContext.ts"

type Fault = BodyInvalid | UnsupportedOperation

/** The model of the path without slug and prefix; undefined where it cannot be read. */
const pathModelId = (model: string): string | undefined =>
  Result.getOrElse(
    Result.flatMap(parseModelRef(model), ({ rest }) => Result.map(parseFamily(rest), ({ modelId }) => modelId)),
    () => undefined
  )

/** The operation that a call ends in; texts are embedded by predict as well. */
export const operationOf = ({ model, verb }: NativeCall): NativeOperation | "messages" | "messagesCountTokens" => {
  switch (verb) {
    case "generateContent":
    case "streamGenerateContent":
      return "nativeContent"
    case "countTokens":
    case "computeTokens":
      return "nativeCount"
    case "embedContent":
    case "batchEmbedContents":
      return "nativeEmbeddings"
    case "predict": {
      const id = pathModelId(model)
      const isEmbedding = id !== undefined && builtInModels.find(id).record.family === "embedding"
      return isEmbedding ? "nativeEmbeddings" : "nativePredictions"
    }
    case "rawPredict":
    case "streamRawPredict":
      return "messages"
    case "countMessages":
      return "messagesCountTokens"
  }
}

/** A request in Gemini's dialect. */
export const readNative = (
  call: NativeCall,
  query: string,
  headers: HeaderRecord,
  bytes: Uint8Array,
  limits: JsonLimits
): Result.Result<NativeRequest, Fault> =>
  Result.flatMap(readNativeQuery(query, call), ({ framing, ignored, upstream }) =>
    Result.flatMap(readNativeModel(call, call.model), ({ modelId, rest }) =>
      Result.map(readNativeBody(call.verb, { form: call.form, rest, modelId }, bytes, limits), (body) => ({
        verb: call.verb,
        form: call.form,
        version: call.version,
        model: call.model,
        modelId,
        stream: call.verb === "streamGenerateContent",
        framing,
        query: upstream,
        headers: nativeServingHeaders(headers, call),
        bytes: body.bytes,
        ignored
      }))
    )
  )

const noModel = { rest: "", modelId: "" }

/** Each provider of the AI SDK names it in its user agent. */
const aiSdk = /(^|\s)ai-sdk\//

/** A request of Claude's clients that speak to Vertex AI; a count names its model in the body (N802). */
export const readRawMessages = (
  call: NativeCall,
  query: string,
  headers: HeaderRecord,
  bytes: Uint8Array,
  limits: JsonLimits
): Result.Result<MessagesRequest, Fault> =>
  Result.flatMap(readNativeQuery(query, call), () =>
    Result.flatMap(readNativeBody(call.verb, { form: call.form, ...noModel }, bytes, limits), (body) => {
      const model = body.model ?? call.model
      // The router resolves the operator's names; here the suffix of a long context alone is no part of the id.
      return Result.map(readNativeModel(call, resolveModelName(model, {}).model), () => ({
        model,
        stream: call.verb === "streamRawPredict",
        betas: body.betas,
        bytes: body.bytes,
        version: undefined,
        isRaw: true,
        ...(aiSdk.test(headers["user-agent"] ?? "") ? { hidesVertexEvents: true } : {})
      }))
    })
  )
