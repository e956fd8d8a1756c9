// The prompt of the gateway that a request of the Responses API names, rendered, and what its key is granted with it.
// It must not depend on the rest of the request. Rule: R228.
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { Prompts } from "../../../catalog/Prompts.ts"
import { BodyInvalid, type BodyTooLarge, type GatewayError, RecordUnknown } from "../../../domain/GatewayError.ts"
import { isJsonObject, type Json, jsonObjectOf } from "../../../domain/text/json.ts"
import { Limits } from "../../../domain/Limits.ts"
import type { RequestContext } from "../../../domain/RequestContext.ts"
import { checkChat } from "../../../router/bodies/bodyChecks.ts"
import type { RenderedPrompt } from "../../../translate/responses-to-chat/facts.ts"
import { ChatRequest } from "../../../wire/openai/Chat.ts"
import { bodyDecoder } from "../../request/ReadBody.ts"
import { granting, promptOf } from "../findPrompt.ts"
import { promptBody } from "../promptBody.ts"

interface Prompted {
  readonly prompt: RenderedPrompt | undefined
  readonly context: RequestContext
}

type ReadPrompt = (
  given: Readonly<Record<string, unknown>> | undefined,
  context: RequestContext
) => Result.Result<Prompted, GatewayError>

const invalid = (param: string, code: string, message: string) => Result.fail(new BodyInvalid({ code, param, message }))

/** `id`, or `id@version`. */
const referenceOf = ({ id, version }: Readonly<Record<string, unknown>>): Result.Result<string, BodyInvalid> => {
  if (typeof id !== "string" || id === "") return invalid("prompt.id", "invalid_type", "prompt.id must be a string.")
  if (version === undefined || version === null) return Result.succeed(id)
  return typeof version === "string" || typeof version === "number"
    ? Result.succeed(`${id}@${version}`)
    : invalid("prompt.version", "invalid_type", "prompt.version must be a string.")
}

const variablesOf = (variables: unknown): Result.Result<Json, BodyInvalid> => {
  if (variables === undefined || variables === null) return Result.succeed({})
  if (!isJsonObject(variables))
    return invalid("prompt.variables", "invalid_type", "prompt.variables must be an object of texts.")
  const other = Object.entries(variables).find(([, value]) => typeof value !== "string")
  return other === undefined
    ? Result.succeed(variables)
    : invalid(`prompt.variables.${other[0]}`, "invalid_type", "A variable of a prompt must be a string.")
}

/** The variables stand inside `prompt` here. */
const withinPrompt = <E extends BodyInvalid | BodyTooLarge>(fault: E | BodyInvalid): E | BodyInvalid =>
  fault._tag === "BodyInvalid" && fault.param?.startsWith("variables") === true
    ? new BodyInvalid({ code: fault.code, param: `prompt.${fault.param}`, message: fault.message })
    : fault

/** Built once per route. */
export const promptReader: Effect.Effect<ReadPrompt, never, Prompts> = Effect.gen(function* () {
  const prompts = yield* Prompts
  const limits = yield* Limits
  const decode = bodyDecoder(ChatRequest, checkChat)
  return (given, context) =>
    given === undefined
      ? Result.succeed({ prompt: undefined, context })
      : Result.gen(function* () {
          const reference = yield* referenceOf(given)
          const variables = yield* variablesOf(given["variables"])
          const ready = promptOf(prompts, reference, context.key)
          if (ready === undefined)
            return yield* Result.fail(new RecordUnknown({ kind: "prompt", id: reference.slice(0, 256) }))
          const body = yield* Result.mapError(promptBody(ready, { variables }, limits), withinPrompt)
          const chat = yield* decode(body, limits)
          const { messages, model, ...parameters } = chat
          return {
            prompt: { messages, model, parameters: jsonObjectOf(parameters) },
            context: granting(context, ready, reference)
          }
        })
})
