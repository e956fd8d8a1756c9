// Whether a provider answers with the credential its account has: a count of tokens, which is free.
// It must not know HTTP of our own side, or how an error is told.
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Catalog } from "../catalog/Catalog.ts"
import { type GatewayError, RecordUnknown } from "../domain/GatewayError.ts"
import { Limits } from "../domain/Limits.ts"
import type { ProviderAccount } from "../domain/ProviderAccount.ts"
import type { RequestContext } from "../domain/RequestContext.ts"
import { ProviderRouter } from "../router/ProviderRouter.ts"
import type { ChatRequest } from "../wire/openai/Chat.ts"

/** What came of it. */
export interface ProviderTested {
  readonly slug: string
  /** Whose tokens were counted. */
  readonly model: string
  readonly durationMillis: number
  /** Undefined: the provider answered. */
  readonly error: GatewayError | undefined
}

/** Every account that reaches Google at all can count its tokens. */
const commonModel = "gemini-2.5-flash"

/** Families of which the provider counts tokens, as far as a name can tell; endpoints of one's own may be asleep. */
const countable = /^(gemini-[^*]*|anthropic\.[^*]*)$/

const modelOf = ({ models = [] }: ProviderAccount): string =>
  models.find((id) => countable.test(id) && !id.includes("image")) ?? commonModel

/** Alone, and with every model on offer: the account is tried, not what it may be used for. */
const only = (account: ProviderAccount) => {
  const open = { ...account, models: undefined }
  return { resolve: (slug: string) => (slug === open.slug ? open : undefined), list: () => [open] }
}

const nobody: RequestContext["carried"] = {
  authorization: undefined,
  googApiKey: undefined,
  vertexProjectId: undefined,
  vertexRegion: undefined,
  vertexServiceAccountJson: undefined
}

const contextOf = (
  account: ProviderAccount,
  requestId: string,
  nowMillis: number,
  timeoutMillis: number
): RequestContext => ({
  requestId,
  traceId: requestId,
  createdSeconds: Math.floor(nowMillis / 1000),
  startedMillis: nowMillis,
  deadlineMillis: nowMillis + timeoutMillis,
  key: { id: "provider-test", name: "provider-test", providers: undefined, models: undefined, scopes: [] },
  catalog: only(account),
  config: undefined,
  configId: undefined,
  providerHeader: undefined,
  carried: nobody,
  strict: true,
  dryRun: false,
  unsupported: "ignore",
  metadata: {},
  betas: [],
  cache: undefined,
  idSeed: requestId,
  observed: undefined
})

export class ProviderTest extends Context.Service<
  ProviderTest,
  {
    /** Calls the provider of a slug once; what goes wrong there is what came of it, not a failure. */
    readonly run: (slug: string, requestId: string) => Effect.Effect<ProviderTested, RecordUnknown>
  }
>()("gateway/admin/ProviderTest") {
  static readonly layer: Layer.Layer<ProviderTest, never, ProviderRouter | Catalog> = Layer.effect(
    ProviderTest,
    Effect.gen(function* () {
      const router = yield* ProviderRouter
      const catalog = yield* Catalog
      const limits = yield* Limits
      return {
        run: Effect.fnUntraced(function* (slug, requestId) {
          const account = catalog.resolve(slug)
          if (account === undefined) return yield* new RecordUnknown({ kind: "provider", id: slug.slice(0, 256) })
          const model = modelOf(account)
          const started = yield* Clock.currentTimeMillis
          const body: ChatRequest = { model: `@${slug}/${model}`, messages: [{ role: "user", content: "Hello" }] }
          const context = contextOf(account, requestId, started, limits.providerTestMillis)
          const error = yield* Effect.match(router.run("countTokens", body, context), {
            onFailure: (failure) => (failure._tag === "AllTargetsFailed" ? failure.last : failure),
            onSuccess: () => undefined
          })
          return { slug, model, durationMillis: (yield* Clock.currentTimeMillis) - started, error }
        })
      }
    })
  )
}
