// The model and the account that a request means: aliases resolved, and an account for a model without a slug.
// It must not depend on configs, or on whether the account may be called.
import * as Result from "effect/Result"
import { carriesCredential } from "../../auth/carried.ts"
import { type BodyInvalid, ProviderMissing } from "../../domain/GatewayError.ts"
import { allows, type GatewayKey } from "../../domain/GatewayKey.ts"
import { isFamilyWord, type ModelRef, parseModelRef } from "../../domain/ModelRef.ts"
import type { CarriedCredentials, CatalogView } from "../../domain/ProviderAccount.ts"
import { chooseAccount, type AccountChoice } from "../../domain/serve/chooseAccount.ts"
import { resolveModelName } from "../../domain/serve/modelNames.ts"
import { noServing } from "../../domain/serve/Serving.ts"

/** A slug, and where it was written. */
export interface Named {
  readonly slug: string
  readonly param: "model" | "x-gateway-provider" | "x-gateway-config"
}

/** A model as a request or a config writes it, its alias resolved. */
export interface ReadModel {
  readonly ref: ModelRef
  /** Flags that the name asks for. */
  readonly betas: ReadonlyArray<string>
}

export const readModel = (
  written: string,
  catalog: CatalogView,
  key: Pick<GatewayKey, "providers">
): Result.Result<ReadModel, BodyInvalid> => {
  const { betas, model } = resolveModelName(written, (catalog.serving ?? noServing).aliases)
  return Result.map(parseModelRef(model), (ref) => ({ ref: withSlug(ref, catalog, key), betas }))
}

/** Without the `@` a slug of the key's own accounts counts too (N1207), unless it is the word of a family. */
const withSlug = (ref: ModelRef, catalog: CatalogView, key: Pick<GatewayKey, "providers">): ModelRef => {
  const slash = ref.slug === undefined ? ref.rest.indexOf("/") : -1
  if (slash < 0) return ref
  const slug = ref.rest.slice(0, slash)
  const rest = ref.rest.slice(slash + 1)
  const isOwn = rest !== "" && !isFamilyWord(slug) && allows(key.providers, slug)
  return isOwn && catalog.resolve(slug) !== undefined ? { slug, rest } : ref
}

/** The parts of a request that decide who serves a model without a slug. */
interface Asking {
  readonly key: GatewayKey
  readonly carried: CarriedCredentials
  /** The dialect of a native path; undefined elsewhere. */
  readonly native?: AccountChoice["native"]
}

/**
 * The account that serves a model without a slug. The only account that the key may use is called for any model, so
 * that its own refusal states why it cannot serve.
 */
export const unnamed = (
  modelId: string,
  catalog: CatalogView,
  { carried, key, native }: Asking
): Result.Result<Named, ProviderMissing> => {
  const accounts = catalog.list()
  const { defaults } = catalog.serving ?? noServing
  const isCarried = native !== undefined && carriesCredential({ kind: native.kind }, carried)
  const chosen = chooseAccount({
    model: modelId,
    accounts,
    key,
    defaults,
    isCarried,
    ...(native === undefined ? {} : { native })
  })
  if (Result.isSuccess(chosen)) return Result.succeed({ slug: chosen.success, param: "model" })
  const [only, ...others] = accounts.filter(
    ({ credentials, slug }) => credentials !== undefined && allows(key.providers, slug)
  )
  const { known, setting } = chosen.failure
  return only !== undefined && others.length === 0
    ? Result.succeed({ slug: only.slug, param: "model" })
    : Result.fail(new ProviderMissing({ known, ...(setting === undefined ? {} : { setting }) }))
}
