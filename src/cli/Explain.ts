// `explain`: prints the upstream request of a chat or responses request on stdin, or the facts about a model. Sends nothing.
// Must not translate; the service's own dry run answers.
import { text } from "node:stream/consumers"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { operations } from "../domain/operations.ts"
import { writtenModelId } from "../domain/ModelRef.ts"
import { explainModel, modelTable } from "../domain/models/modelTable.ts"
import { isJsonObject, type JsonObject, parseJsonText } from "../domain/text/json.ts"
import { commandFailure, type Failure, renderJson, usageFailure } from "./Output.ts"
import * as Result from "effect/Result"
import { Gateway } from "../Gateway.ts"
import { HttpApi } from "../http/HttpApi.ts"
import { makeKey } from "../keys/GatewayKeys.ts"
import { loadForCommand } from "./settings/LoadSettings.ts"
import { withoutAbsentStore } from "./doctor/LocalChecks.ts"

export interface ExplainOptions {
  readonly config: string | undefined
  /** Slug for a model that names no provider. */
  readonly provider: string | undefined
  /** The model whose facts are printed instead of a request. */
  readonly model: string | undefined
}

const readStdin: Effect.Effect<string, Failure> = Effect.suspend(() =>
  process.stdin.isTTY
    ? Effect.fail(usageFailure("explain reads a chat request on stdin: model-gateway explain < request.json"))
    : Effect.tryPromise({ try: () => text(process.stdin), catch: () => commandFailure("stdin cannot be read") })
)

/** A request with items and without messages is one of the Responses API. */
const pathOf = (body: string): string => {
  const json = Result.getOrUndefined(parseJsonText(body))
  return isJsonObject(json) && json["messages"] === undefined && json["input"] !== undefined
    ? "/v1/responses"
    : operations.chat.path
}

const errorText = (body: JsonObject): string => {
  const error = body["error"]
  const message = isJsonObject(error) ? error["message"] : undefined
  return typeof message === "string" ? message : "the request could not be explained"
}

export const explain = Effect.fn("Cli.explain")(function* (options: ExplainOptions): Effect.fn.Return<void, Failure> {
  const loaded = yield* loadForCommand({ config: options.config, flags: {} })
  if (options.model !== undefined) {
    const facts = explainModel(modelTable(loaded.settings.models ?? {}), writtenModelId(options.model))
    return yield* Console.log(renderJson(facts))
  }
  const settings = withoutAbsentStore(loaded.settings)
  const body = yield* readStdin
  const key = makeKey()
  const services = Gateway.layerServices({
    ...settings,
    keys: [{ name: "explain", key: Redacted.make(key), scopes: ["inference", "admin"] }]
  })
  const web = HttpApi.webHandler(services)
  const headers: Record<string, string> = {
    "content-type": "application/json",
    "x-gateway-api-key": key,
    "x-gateway-dry-run": "true",
    ...(options.provider === undefined ? {} : { "x-gateway-provider": options.provider })
  }
  const answer = yield* Effect.tryPromise({
    try: async () => {
      const response = await web.handler(
        new Request(`http://localhost${pathOf(body)}`, { method: "POST", headers, body })
      )
      return { status: response.status, body: await response.text() }
    },
    catch: () => commandFailure("the request could not be explained")
  }).pipe(Effect.ensuring(Effect.promise(() => web.dispose())))
  const json = Result.getOrUndefined(parseJsonText(answer.body))
  if (!isJsonObject(json)) return yield* commandFailure("the request could not be explained")
  if (answer.status !== 200) return yield* commandFailure(errorText(json))
  yield* Console.log(renderJson(json))
})
