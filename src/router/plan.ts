// From a request to its target: which slug, which account, with whose credential.
// It must not know how a call is made or retried.
import * as Result from "effect/Result"
import type { CredentialsMissing, GatewayError } from "../domain/GatewayError.ts"
import { BodyInvalid, ModelNotAllowed, ProviderMissing, SlugUnknown } from "../domain/GatewayError.ts"
import { allows, type GatewayKey } from "../domain/GatewayKey.ts"
import { isSlug, type ModelRef, parseModelRef } from "../domain/ModelRef.ts"
import type { ProviderAccount } from "../domain/ProviderAccount.ts"


/** What the plan reads of the catalog. */
export interface CatalogView {
  readonly resolve: (slug: string) => ProviderAccount | undefined
  readonly list: () => ReadonlyArray<ProviderAccount>
}

export interface Planned {
  /** The catalog's account, before credentials of the request are laid over it. */
  readonly account: ProviderAccount
  /** The model without its slug. */
  readonly modelId: string
}

/** Why a plan fails; credentials are the next step's business. */
export type PlanFault = Exclude<GatewayError, CredentialsMissing>

/** Slug by prefix, else by header, else the only account with a credential that this key may use. */
const slugOf = (
  ref: ModelRef,
  header: string | undefined,
  catalog: CatalogView,
  key: GatewayKey
): Result.Result<{ slug: string; param: string }, PlanFault> => {
  if (ref.slug !== undefined) return Result.succeed({ slug: ref.slug, param: "model" })
  if (header !== undefined) {
    return isSlug(header)
      ? Result.succeed({ slug: header, param: "x-gateway-provider" })
      : Result.fail(new BodyInvalid({ code: "invalid_header", param: "x-gateway-provider", message: "x-gateway-provider takes one slug, with or without \"@\"." }))
  }
  const mine = catalog.list().filter((account) => allows(key.providers, account.slug))
  const stored = mine.filter((account) => account.credentials !== undefined)
  const only = stored[0]
  return stored.length === 1 && only !== undefined
    ? Result.succeed({ slug: only.slug, param: "model" })
    : Result.fail(new ProviderMissing({ known: mine.map((account) => account.slug) }))
}

/** Chooses the account of a request and checks that this key may use it. */
export const plan = (
  model: string,
  header: string | undefined,
  catalog: CatalogView,
  key: GatewayKey
): Result.Result<Planned, PlanFault> =>
  Result.flatMap(parseModelRef(model), (ref) =>
    Result.flatMap(slugOf(ref, header, catalog, key), ({ slug, param }): Result.Result<Planned, PlanFault> => {
      const known = catalog.list().map((account) => account.slug).filter((one) => allows(key.providers, one))
      const account = catalog.resolve(slug)
      if (account === undefined) return Result.fail(new SlugUnknown({ slug, param, known }))
      if (!allows(key.providers, slug)) {
        return Result.fail(new ModelNotAllowed({ message: `This key may not use the provider "${slug}".` }))
      }
      if (!allows(key.models, ref.rest)) {
        return Result.fail(new ModelNotAllowed({ message: "This key may not use the model asked for." }))
      }
      if (!allows(account.models, ref.rest)) {
        return Result.fail(new ModelNotAllowed({ message: `The provider "${slug}" does not offer the model asked for; GET /v1/models lists what it offers.` }))
      }
      return Result.succeed({ account, modelId: ref.rest })
    }))
