// Calls the router without HTTP and treats every failure; a tag that is left out does not compile.
// Runs on its own with a scripted network. Prints what each model gives.
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import {
  defaultLimits,
  errorFacts,
  type GatewayError,
  Gateway,
  providerAccount,
  ProviderRouter,
  requestContext
} from "model-gateway"
import { Transport } from "model-gateway/testing"

const App = Gateway.layerNoDeps({
  server: { host: "127.0.0.1", port: 0 },
  accounts: [
    providerAccount({ slug: "google", kind: "google", credentials: { _tag: "ApiKey", key: Redacted.make("test") } })
  ],
  keys: [],
  limits: { ...defaultLimits, retries: 0 }
}).pipe(Layer.provide(Transport.layerTest(({ url }) => ({ status: url.includes("busy") ? 429 : 500 }))))

/** For whom the failure is: the user, the operator, or a later try. */
type Verdict = "change the request" | "change the configuration" | "try later"
const change = () => Effect.succeed<Verdict>("change the request")
const configure = () => Effect.succeed<Verdict>("change the configuration")
const later = () => Effect.succeed<Verdict>("try later")

const ask = (model: string) =>
  Effect.gen(function* () {
    const router = yield* ProviderRouter
    const context = yield* requestContext({ key: "my-app" })
    const answer = yield* router.run("chat", { model, messages: [{ role: "user", content: "Hi" }] }, context)
    return answer.value.choices[0]?.message.content ?? ""
  })

/** The type has no error: every tag of the union is caught. */
const handled = (model: string): Effect.Effect<string, never, ProviderRouter> =>
  ask(model).pipe(
    Effect.tapError((error: GatewayError) => {
      const { code, headers, status, type } = errorFacts(error)
      return Effect.sync(() => console.log(`${error._tag}: ${status} ${type} ${code} ${JSON.stringify(headers)}`))
    }),
    Effect.catchTags({
      KeyMissing: configure,
      KeyInvalid: configure,
      ScopeMissing: configure,
      SessionRefused: change,
      PageRefused: change,
      ModelNotAllowed: configure,
      ModelNotPriced: configure,
      ObjectNotAllowed: configure,
      ProviderMissing: change,
      SlugUnknown: change,
      RecordUnknown: change,
      RecordInvalid: change,
      RecordRefused: change,
      RecordChanged: later,
      CredentialsMissing: configure,
      CredentialsInvalid: change,
      ContentTypeUnsupported: change,
      BodyTooLarge: change,
      BodyInvalid: change,
      UnsupportedParameter: change,
      UnsupportedOperation: change,
      RouteUnknown: change,
      MethodNotAllowed: change,
      UpgradeRequired: change,
      Busy: later,
      ConcurrencyReached: later,
      RateLimitReached: later,
      BudgetSpent: later,
      StoreUnavailable: later,
      Unexpected: later,
      ProviderError: ({ reason }) => (reason._tag === "CredentialsRejected" ? configure() : later()),
      AllTargetsFailed: later
    })
  )

const program = Effect.gen(function* () {
  for (const model of ["@google/busy", "@google/broken", "@elsewhere/model"])
    console.log(`${model}: ${yield* handled(model)}`)
})
await Effect.runPromise(Effect.provide(program, App))
