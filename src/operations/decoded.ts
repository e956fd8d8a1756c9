// What operations share whose bodies are decoded by a schema, and whose answers are values of ours.
// It must not depend on what a body or an answer is about.
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { decodeNumbers } from "../domain/faults.ts"
import type { BodyInvalid } from "../domain/GatewayError.ts"
import type { LimitValues } from "../domain/Limits.ts"
import { type Json, type JsonObject, parseExactJsonText } from "../domain/text/json.ts"
import type { BodyRules, Recorded } from "./rules.ts"

/** A decoded body is what its JSON text was. */
const asJson = (request: object): JsonObject => request as JsonObject

export const decodedBody = <Request extends { readonly model: string }>(
  schema: Schema.Codec<Request, unknown>,
  check: (request: Request, limits: LimitValues) => Result.Result<Request, BodyInvalid>,
  spelled: (body: JsonObject) => Result.Result<JsonObject, BodyInvalid> = Result.succeed
): BodyRules<Request> => {
  const decode = Schema.decodeUnknownResult(schema)
  return {
    labels: true,
    params: asJson,
    revise: (request, edit, limits) =>
      Result.flatMap(spelled(edit(asJson(request))), (edited) =>
        Result.flatMap(decodeNumbers(decode, edited), (read) => check(read, limits))
      )
  }
}

/** The JSON of a text that was written here. */
export const writtenJson = (text: string): Json => Result.getOrElse(parseExactJsonText(text), () => null)

/** Our own text of a value of ours is that value. */
// What is read was written by the same functions, so casts replace a check.
export const recordedJson = <Out, Chunk>(): Recorded<Out, Chunk> => ({
  write: (out) => JSON.stringify(out),
  read: (text) => writtenJson(text) as Out,
  piece: (chunk) => `${JSON.stringify(chunk)}\n`,
  chunks: (pieces) =>
    pieces
      .split("\n")
      .slice(0, -1)
      // As above.
      .map((piece) => writtenJson(piece) as Chunk)
})
