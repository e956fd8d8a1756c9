// Builds the refusal of an invalid request parameter.
// Must not name a parameter.
import * as Result from "effect/Result"
import { BodyInvalid } from "../../domain/GatewayError.ts"

/** Refuses a request at `param`, with a stable code and a message that explains how to correct the request. */
export const invalid = (param: string, code: string, message: string): Result.Result<never, BodyInvalid> =>
  Result.fail(new BodyInvalid({ code, param, message }))
