// Which account serves a model that names none: the operator's default for it, else the only account that can.
// It must not know requests. An account that cannot serve the model is no choice, also where it is the only one.
import * as Result from "effect/Result"
import { allows, type GatewayKey } from "../GatewayKey.ts"
import { type ModelFamily, parseFamily } from "../ModelRef.ts"
import { type BuiltInKind, isBuiltIn, type ProviderAccount } from "../ProviderAccount.ts"
import type { ServingDefaults } from "./Serving.ts"

export interface AccountChoice {
  /** Without slug. */
  readonly model: string
  readonly accounts: ReadonlyArray<ProviderAccount>
  readonly key: Pick<GatewayKey, "providers">
  readonly defaults: ServingDefaults
  /** On native paths: the kind of the path, and the operator's slug for it. */
  readonly native?: { readonly kind: BuiltInKind; readonly slug: string | undefined } | undefined
  /** The request brings a credential, so an account needs none of its own. */
  readonly isCarried: boolean
}

/** No account was chosen. */
export interface Undecided {
  readonly _tag: "Undecided"
  /** Slugs the request could name: those that can serve the model, else all of the key. */
  readonly known: ReadonlyArray<string>
  /** The operator's setting that would choose; undefined for endpoints, which no setting covers. */
  readonly setting: string | undefined
}

const familyOf = (model: string): ModelFamily | undefined =>
  Result.match(parseFamily(model), { onFailure: () => undefined, onSuccess: ({ family }) => family })

/** Whether an account can serve a model. Claude, open models and endpoints live on Vertex AI; a provider of an application decides for itself. */
export const canServe = (
  account: Pick<ProviderAccount, "kind" | "models" | "endpoints" | "credentials">,
  model: string
): boolean => {
  if (!allows(account.models, model)) return false
  const family = familyOf(model)
  if (family === undefined || !isBuiltIn(account.kind)) return family !== undefined
  if (family === "endpoint") {
    return (
      account.kind === "vertex-ai" &&
      (hasEndpoints(account) ? Object.hasOwn(account.endpoints, endpointId(model)) : true)
    )
  }
  // An API key reaches Gemini alone on Vertex AI (T2108).
  const isExpress = account.kind === "vertex-ai" && account.credentials?._tag === "ApiKey"
  return family === "gemini" || (account.kind === "vertex-ai" && !isExpress)
}

const hasEndpoints = ({ endpoints }: Pick<ProviderAccount, "endpoints">): boolean => Object.keys(endpoints).length > 0
const endpointId = (model: string): string => model.slice("endpoints.".length)

const settingOf = ({ model, native }: AccountChoice): string | undefined => {
  if (native !== undefined) return `native.${native.kind === "google" ? "google" : "vertex"}`
  const family = familyOf(model)
  return family === "endpoint" ? undefined : `defaults.${family ?? "gemini"}`
}

const defaultOf = ({ defaults, model, native }: AccountChoice): string | undefined => {
  if (native?.slug !== undefined) return native.slug
  const family = familyOf(model)
  return family === undefined || family === "endpoint" ? undefined : defaults[family]
}

/** The only one of a list, by slug. */
const only = (accounts: ReadonlyArray<ProviderAccount>): string | undefined =>
  accounts.length === 1 ? accounts[0]?.slug : undefined

/**
 * The slug that serves, in this order: the operator's default, the only account of the path's kind, the only account. A
 * default that this key may not use is passed over, so that the key's own accounts are asked.
 */
export const chooseAccount = (choice: AccountChoice): Result.Result<string, Undecided> => {
  const { accounts, isCarried, key, model, native } = choice
  const mine = accounts.filter(({ slug }) => allows(key.providers, slug))
  const preferred = defaultOf(choice)
  if (preferred !== undefined && mine.some(({ slug }) => slug === preferred)) return Result.succeed(preferred)
  const able = mine.filter((account) => canServe(account, model))
  const stored = able.filter(({ credentials }) => credentials !== undefined)
  const ofKind = stored.filter(({ kind }) => kind === native?.kind)
  const builtIn = able.find(({ kind, slug }) => isCarried && kind === native?.kind && slug === kind)
  const chosen = native === undefined ? only(stored) : (only(ofKind) ?? builtIn?.slug ?? only(stored))
  const known = stored.length === 0 ? mine : stored
  return chosen === undefined
    ? Result.fail({ _tag: "Undecided", known: known.map(({ slug }) => slug), setting: settingOf(choice) })
    : Result.succeed(chosen)
}
