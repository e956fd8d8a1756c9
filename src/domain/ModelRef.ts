// Reads the `model` field: provider slug, family by prefix and model id; and chooses the account of a model that names none.
// It must not know URLs or requests. No other file reads model prefixes.
import * as Result from "effect/Result"
import { BodyInvalid, UnsupportedOperation } from "./GatewayError.ts"
import { printable } from "./text/printable.ts"
import { memoizeBounded } from "./collections.ts"
import { isClaudeName } from "./models/modelName.ts"
import { allows, type GatewayKey } from "./GatewayKey.ts"
import { type BuiltInKind, isBuiltIn, type ProviderAccount } from "./ProviderAccount.ts"
import type { ServingDefaults } from "./serving.ts"

/** `endpoint` is a self-deployed endpoint; its account defines the dialect. */
type ModelFamily = "gemini" | "claude" | "openai" | "endpoint"

export interface ModelRef {
  /** From the `@slug/` prefix; undefined when the field has none. */
  readonly slug: string | undefined
  /** The field without its slug. */
  readonly rest: string
}

export interface FamilyRef {
  readonly family: ModelFamily
  /** The id as the provider spells it, without any family prefix. */
  readonly modelId: string
}

const slugGrammar = /^[a-z0-9][a-z0-9-]{0,62}$/
const endpointGrammar = /^[A-Za-z0-9][A-Za-z0-9-]{0,62}$/
/**
 * Publishers, dots and one `@version`. It excludes `..`, empty segments and every character with a meaning in a URL.
 */
const modelGrammar = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}(@[A-Za-z0-9._-]{1,64})?$/

const invalid = (message: string, code = "invalid_model") =>
  Result.fail(new BodyInvalid({ code, param: "model", message }))

/** True for text that may be a catalog slug. */
export const isSlug = (text: string): boolean => slugGrammar.test(text)

/** True for text that may be the id of a self-deployed endpoint. */
export const isEndpointId = (text: string): boolean => endpointGrammar.test(text)

/** Splits `@slug/model` at the first `/`; the rest may contain `/` and `@`. */
export const parseModelRef: (model: string) => Result.Result<ModelRef, BodyInvalid> = memoizeBounded((model) => {
  if (!model.startsWith("@")) return Result.succeed({ slug: undefined, rest: model })
  const slash = model.indexOf("/")
  if (slash < 0) return invalid('model names a provider but no model; write "@slug/model".')
  const slug = model.slice(1, slash)
  const rest = model.slice(slash + 1)
  if (!isSlug(slug))
    return invalid('The provider slug before "/" is not valid: lower-case letters, digits and "-", at most 63.')
  return rest === ""
    ? invalid('model names a provider but no model; write "@slug/model".')
    : Result.succeed({ slug, rest })
})

const families: ReadonlyArray<readonly [prefix: string, family: ModelFamily, keep: string]> = [
  ["anthropic.", "claude", ""],
  ["anthropic/", "claude", ""],
  ["endpoints.", "endpoint", ""],
  ["meta.", "openai", "meta/"],
  ["meta/", "openai", "meta/"],
  ["models/", "gemini", ""],
  ["google/", "gemini", ""]
]

/** True for a word before `/` that names a family, whatever accounts are called. */
export const isFamilyWord = (word: string): boolean => families.some(([prefix]) => prefix === `${word}/`)

/** Publishers whose models Vertex AI serves by rawPredict in a dialect of their own (T2017). */
const unserved = /^(mistralai|ai21)[./]/

/** A publisher's model as Vertex AI names the resource; `publisher/model` means the same. */
const asResource = /^publishers\/([a-z0-9-]{1,63})\/models\//

/** Accepts both spellings of a Claude date: Vertex AI writes it after `@`, Anthropic after `-` (T1802). */
const dated = (id: string): string => id.replace(/^([^@]*)-(\d{8})$/, "$1@$2")

/** Reads the family prefix of a model without slug and checks the id against a closed grammar. */
export const parseFamily: (model: string) => Result.Result<FamilyRef, BodyInvalid | UnsupportedOperation> =
  memoizeBounded((model) => {
    const rest = model.replace(asResource, "$1/")
    const publisher = unserved.exec(rest)?.[1]
    if (publisher !== undefined) {
      return Result.fail(
        new UnsupportedOperation({
          message: `Models of ${publisher} speak a dialect of their own, which is not offered; deployed to an endpoint they are written "endpoints.<id>".`
        })
      )
    }
    if (rest.startsWith("projects/")) {
      return invalid(
        'Full resource names are not taken: project and location come from the credential, endpoints are written "endpoints.<id>".'
      )
    }
    const prefixed = families.find(([prefix]) => rest.startsWith(prefix))
    const id = prefixed === undefined ? rest : rest.slice(prefixed[0].length)
    if (prefixed?.[1] === "endpoint") {
      return isEndpointId(id)
        ? Result.succeed({ family: "endpoint", modelId: id })
        : invalid('After "endpoints." comes one endpoint id: letters, digits and "-", at most 63.', "invalid_endpoint")
    }
    if (!modelGrammar.test(id) || id.includes("..") || id.includes("//") || id.endsWith("/")) {
      return invalid(
        `"${printable(rest)}" is not a model id: letters, digits, ".", "_", "-", "/" and one "@version" are allowed.`
      )
    }
    if (prefixed === undefined && id.includes("/")) return Result.succeed({ family: "openai", modelId: id })
    const family = prefixed?.[1] ?? (isClaudeName(id) ? "claude" : "gemini")
    return Result.succeed({ family, modelId: family === "claude" ? dated(id) : `${prefixed?.[2] ?? ""}${id}` })
  })

/**
 * The id by which a model is priced, counted and listed, for every spelling of it. An invalid id is returned unchanged.
 */
export const modelIdOf = (model: string): string =>
  Result.match(parseFamily(model), { onFailure: () => model, onSuccess: ({ modelId }) => modelId })

/** The same for a model as clients write it, where the slug of a provider may come first. */
export const writtenModelId = (model: string): string => modelIdOf(model.replace(/^@[^/]*\//, ""))

// Which account serves a model that names none: the operator's default for it, else the only account that can.

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
