// The provider test of the admin API: counts tokens with the credential of an account, which is free.
// Must not know the gateway's HTTP, or how an error is reported.
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Catalog } from "../catalog/Catalog.ts"
import { type GatewayError, RecordUnknown } from "../domain/GatewayError.ts"
import { Limits } from "../domain/Limits.ts"
import { countsTokens, type ModelTable, probeModel } from "../domain/models/modelTable.ts"
import { type CatalogView, type ProviderAccount } from "../domain/ProviderAccount.ts"
import type { GatewayKey } from "../domain/GatewayKey.ts"
import { plainContext } from "../domain/RequestContext.ts"
import { ProviderRouter } from "../router/ProviderRouter.ts"
import type { ChatRequest } from "../wire/openai/Chat.ts"

/** The result of a test. */
export interface ProviderTested {
  readonly slug: string
  /** The model whose tokens were counted. */
  readonly model: string
  readonly durationMillis: number
  /** Undefined: the provider answered. */
  readonly error: GatewayError | undefined
}

const modelOf = ({ models: offered = [], region }: ProviderAccount, models: ModelTable): string =>
  offered.find((id) => !id.includes("*") && countsTokens(models, id)) ?? probeModel(models, region)

/** A catalog of this account alone, with every model: the test is about the credential, not the permitted models. */
const catalogOf = (account: ProviderAccount, models: ModelTable): CatalogView => {
  const open = { ...account, models: undefined }
  return { resolve: (slug: string) => (slug === open.slug ? open : undefined), list: () => [open], models }
}

const testKey: GatewayKey = { id: "provider-test", name: "provider-test", scopes: ["admin"] }

export class ProviderTest extends Context.Service<
  ProviderTest,
  {
    /** Calls the provider of a slug once. An error of the provider is a result, not a failure. */
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
          const model = modelOf(account, catalog.models)
          const started = yield* Clock.currentTimeMillis
          const body: ChatRequest = { model: `@${slug}/${model}`, messages: [{ role: "user", content: "Hello" }] }
          const context = {
            ...plainContext(requestId, started, testKey),
            deadlineMillis: started + limits.providerTestMillis,
            catalog: catalogOf(account, catalog.models)
          }
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
