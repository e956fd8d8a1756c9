// The usual refusal of a request, in short.
// It must not know any parameter.
import * as Result from "effect/Result"
import { BodyInvalid } from "../../domain/GatewayError.ts"

/** A request refused at `param`, with a stable code and a message that says how to mend it. */
export const invalid = (param: string, code: string, message: string): Result.Result<never, BodyInvalid> =>
  Result.fail(new BodyInvalid({ code, param, message }))
