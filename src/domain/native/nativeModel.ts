// The model of a native call as the router takes it: slug, id and family, and the number of its endpoint.
// It must not know accounts. Rules: N102, N107, N108, T2102.
import * as Result from "effect/Result"
import { BodyInvalid, UnsupportedOperation } from "../GatewayError.ts"
import { type FamilyRef, parseFamily, parseModelRef } from "../ModelRef.ts"
import type { NativeCall } from "./nativePath.ts"

export interface NativeModel extends FamilyRef {
  readonly slug: string | undefined
  /** Without slug, as lists of keys and accounts name it. */
  readonly rest: string
}

/** Verbs of the dialect that each family speaks on these routes. */
const speaks = (verb: NativeCall["verb"], family: FamilyRef["family"]): boolean => {
  const isRaw = verb === "rawPredict" || verb === "streamRawPredict" || verb === "countMessages"
  return isRaw ? family === "claude" : family === "gemini" || family === "endpoint"
}

/** The refusal of a model whose dialect the verb is not (N106, N804). */
const otherDialect = ({ verb }: NativeCall, model: string): Result.Result<never, UnsupportedOperation> =>
  Result.fail(
    new UnsupportedOperation({
      message: `"${model.slice(0, 64)}" is not served by ${verb}: Gemini is called by generateContent, Claude by rawPredict below publishers/anthropic or by /v1/messages, every model by /v1/chat/completions.`
    })
  )

/** Reads a model by itself; `text` may carry a slug. */
export const readNativeModel = (
  call: NativeCall,
  text: string
): Result.Result<NativeModel, BodyInvalid | UnsupportedOperation> =>
  Result.flatMap(parseModelRef(text), ({ rest, slug }) =>
    // Full resource names and tuned models are no place for a stored credential.
    /^(projects|tunedModels|locations)\//.test(rest)
      ? Result.fail(
          new BodyInvalid({
            code: "invalid_model",
            param: "model",
            message:
              "Full resource names are not taken: project and location come from the credential, endpoints are written endpoints/{id}."
          })
        )
      : Result.flatMap(parseFamily(rest), (ref): Result.Result<NativeModel, UnsupportedOperation> =>
          speaks(call.verb, ref.family) ? Result.succeed({ ...ref, slug, rest }) : otherDialect(call, rest)
        )
  )
