// Keeps the plans of requests without a config, which follow from catalog, key and model alone.
// It must not depend on what a plan is for. A new catalog has no kept plans, and a key that changed is another key.
import type * as Result from "effect/Result"
import type { GatewayKey } from "../../domain/GatewayKey.ts"
import { memoizeBounded } from "../../domain/memoizeBounded.ts"
import { type CatalogView, nothingCarried } from "../../domain/ProviderAccount.ts"
import type { RequestContext } from "../../domain/RequestContext.ts"
import { type Plan, type PlanFault, planOne } from "./plan.ts"

type PlanOfModel = (model: string) => Result.Result<Plan, PlanFault>

const known = new WeakMap<CatalogView, WeakMap<object, PlanOfModel>>()

/** Stands for every key that may use all providers and models. */
const unlisted = {}

/** Undefined for a request whose plan follows from more than these. Only the view of one request is immutable. */
export const knownPlan = (
  { carried, catalog, config, grantedModel, key, native, providerHeader }: RequestContext,
  model: string
): Result.Result<Plan, PlanFault> | undefined => {
  if (catalog === undefined || config !== undefined || carried !== nothingCarried) return undefined
  if (grantedModel !== undefined || native !== undefined || providerHeader !== undefined) return undefined
  let ofCatalog = known.get(catalog)
  if (ofCatalog === undefined) known.set(catalog, (ofCatalog = new WeakMap()))
  const lists = key.providers === undefined && key.models === undefined ? unlisted : key
  let planOf = ofCatalog.get(lists)
  if (planOf === undefined) ofCatalog.set(lists, (planOf = plansOf(catalog, key)))
  return planOf(model)
}

const plansOf = (catalog: CatalogView, key: GatewayKey): PlanOfModel =>
  memoizeBounded((model) => planOne({ model, header: undefined, key, carried: nothingCarried }, catalog))
