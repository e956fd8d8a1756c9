// A request in one of Google's own dialects: the facts of its path, and its body as bytes.
// It must not know accounts, keys or HTTP.
import type { NativeForm, NativeVerb } from "../../domain/native/nativePath.ts"
import { decodeUtf8, isJsonObject, type Json, type JsonObject, parseExactJsonText } from "../../domain/text/json.ts"
import * as Result from "effect/Result"

export interface NativeRequest {
  readonly verb: NativeVerb
  /** Which product's dialect the client speaks. */
  readonly form: NativeForm
  /** The version of the path. */
  readonly version: string
  /** The model as the path names it, slug included. */
  readonly model: string
  /** Without slug and prefix. */
  readonly modelId: string
  readonly stream: boolean
  readonly framing: "sse" | "array"
  /** Parameters for an upstream of the same product, from `?` on. */
  readonly query: string
  /** Headers by which a client of Vertex AI chooses how its request is served. */
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Uint8Array
  /** Members of a config that have no effect on a native body. */
  readonly ignored: ReadonlyArray<string>
}

/** The body as JSON with exact numbers, for what has to look at all of it. */
export const parsedBody = (bytes: Uint8Array): JsonObject => {
  const body: Json = Result.getOrElse(parseExactJsonText(decodeUtf8(bytes) ?? ""), () => null)
  return isJsonObject(body) ? body : {}
}
