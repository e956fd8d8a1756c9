// `explain`: a chat request on stdin, the upstream request it becomes on stdout; nothing is sent.
// It must not know how that is found out: the service's own dry run answers.
import { text } from "node:stream/consumers"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { isJsonObject, type JsonObject, parseJsonText } from "../domain/text/json.ts"
import { visibleLines } from "../domain/text/printable.ts"
import * as Result from "effect/Result"
import { Gateway } from "../Gateway.ts"
import { HttpApi } from "../http/HttpApi.ts"
import { makeKey } from "../keys/KeyText.ts"
import { failed, type Failure, usage } from "./Failure.ts"
import { loadSettings } from "./settings/LoadSettings.ts"
import { withoutAbsentStore } from "./doctor/StoreChecks.ts"

export interface ExplainOptions {
  readonly config: string | undefined
  /** Slug for a model without one. */
  readonly provider: string | undefined
}

const readStdin: Effect.Effect<string, Failure> = Effect.suspend(() =>
  process.stdin.isTTY
    ? Effect.fail(usage("explain reads a chat request on stdin: model-gateway explain < request.json"))
    : Effect.tryPromise({ try: () => text(process.stdin), catch: () => failed("stdin cannot be read") })
)

const errorText = (body: JsonObject): string => {
  const error = body["error"]
  const message = isJsonObject(error) ? error["message"] : undefined
  return typeof message === "string" ? message : "the request could not be explained"
}

export const explain = Effect.fn("Cli.explain")(function* (options: ExplainOptions): Effect.fn.Return<void, Failure> {
  const loaded = yield* loadSettings({ config: options.config, flags: {} })
  const settings = withoutAbsentStore(loaded.settings)
  const body = yield* readStdin
  const key = makeKey()
  const services = Gateway.layerServices({
    ...settings,
    keys: [
      {
        name: "explain",
        key: Redacted.make(key),
        providers: undefined,
        models: undefined,
        scopes: ["inference", "admin"]
      }
    ]
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
        new Request("http://localhost/v1/chat/completions", { method: "POST", headers, body })
      )
      return { status: response.status, body: await response.text() }
    },
    catch: () => failed("the request could not be explained")
  }).pipe(Effect.ensuring(Effect.promise(() => web.dispose())))
  const json = Result.getOrUndefined(parseJsonText(answer.body))
  if (!isJsonObject(json)) return yield* failed("the request could not be explained")
  if (answer.status !== 200) return yield* failed(errorText(json))
  yield* Console.log(visibleLines(JSON.stringify(json, null, 2)))
})
