// Shortcuts through a translator without streams: a request to its checked body, a reply to its answer.
// Must not contain expected results.
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { expect } from "vitest"
import { type Json, parseExactJsonText } from "../../src/domain/text/json.ts"
import type { Reason } from "../../src/domain/ProviderError.ts"
import type { TranslateContext, Unary } from "../../src/translate/Translator.ts"
import { deepFreeze } from "./chat.ts"
import { schemaOracle } from "./shared.ts"

const files: Readonly<Record<string, string>> = {
  google: "google-generativelanguage-v1beta.schema.json",
  "vertex-ai": "google-aiplatform-v1.schema.json"
}

/** L12: the errors of a published schema; none, too, where the schemas are not at hand. */
export const schemaErrors = (file: string, entry: string, value: unknown): unknown => {
  const oracle = schemaOracle(file, entry)
  oracle?.(JSON.parse(JSON.stringify(value)))
  return oracle?.errors ?? null
}

/** `entry` is Google's schema of the bodies; self-deployed models publish none. */
export const drive = <Req, Body, Reply, Out>(pair: Unary<Req, Body, Reply, Out>, entry?: string) => {
  const decode = Schema.decodeUnknownResult(pair.reply)
  const respond = (reply: Json, context: TranslateContext, request: Req): Result.Result<Out, Reason> => {
    const read = Result.getOrThrow(decode(Result.getOrThrow(parseExactJsonText(JSON.stringify(reply)))))
    return pair.response(deepFreeze(read), deepFreeze(context), deepFreeze(request))
  }
  return {
    /** Body and ignored names; L8 and L9 by a second run over frozen input, L12, and L16 by a round trip through JSON. */
    sent: (
      request: Req,
      context: TranslateContext
    ): { readonly body: Body; readonly ignored: ReadonlyArray<string> } => {
      const run = () => Result.getOrThrow(pair.request(deepFreeze(request), deepFreeze(context)))
      const { body, headers, ignored } = run()
      expect(run()).toStrictEqual({ body, headers, ignored })
      expect(JSON.parse(JSON.stringify(body))).toStrictEqual(body)
      if (entry !== undefined) expect(schemaErrors(files[context.target.kind] ?? "", entry, body)).toBe(null)
      expect(headers).toStrictEqual({})
      return { body, ignored }
    },
    /** The code and place of what is wrong with a request. */
    fault: (request: Req, context: TranslateContext): readonly [code: string, param: string | null] | undefined => {
      const result = pair.request(deepFreeze(request), context)
      if (Result.isSuccess(result)) return undefined
      return result.failure._tag === "BodyInvalid"
        ? [result.failure.code, result.failure.param]
        : [result.failure._tag, null]
    },
    answer: (reply: Json, context: TranslateContext, request: Req): Out =>
      Result.getOrThrow(respond(reply, context, request)),
    reason: (reply: Json, context: TranslateContext, request: Req): Reason | undefined => {
      const result = respond(reply, context, request)
      return Result.isFailure(result) ? result.failure : undefined
    }
  }
}
