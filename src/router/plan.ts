// From a request to its target: the account that its model means, where that is called, and with whose credential.
// It must not depend on configs, or on how a call is made.
import * as Result from "effect/Result"
import { carriesCredential } from "../auth/carried.ts"
import type { AnswerFault, ConfigTarget } from "../domain/config/GatewayConfig.ts"
import { quoteValue } from "../domain/faults.ts"
import {
  BodyInvalid,
  type CredentialsMissing,
  type GatewayError,
  ModelNotAllowed,
  ProviderMissing,
  SlugUnknown
} from "../domain/GatewayError.ts"
import { allows, type GatewayKey, lists } from "../domain/GatewayKey.ts"
import { type AccountChoice, chooseAccount, isFamilyWord, type ModelRef, parseModelRef } from "../domain/ModelRef.ts"
import type { CarriedCredentials, CatalogView, ProviderAccount } from "../domain/ProviderAccount.ts"
import { noServing, resolveModelName } from "../domain/serving.ts"

/** What the plan reads of a request. */
export interface Asked {
  readonly model: string
  /** The slug of the provider header. */
  readonly header: string | undefined
  readonly key: GatewayKey
  readonly carried: CarriedCredentials
  /** Undefined for a config that came with the request. */
  readonly configId?: string | undefined
  /** The config is that of the key, and the request named none. */
  readonly isKeyConfig?: boolean | undefined
  /** On paths of Google's dialects: the kind of the path, and the operator's slug for it. */
  readonly native?: AccountChoice["native"]
  /** The model of a prompt that is granted to the key. */
  readonly grantedModel?: string | undefined
}

/** Where a request continues after a failure. */
export interface FallbackEdge {
  /** The status codes of its failures; undefined: every failure that another target may not have. */
  readonly codes: ReadonlySet<number> | undefined
  /** The answers after which it is taken as well; undefined: none. */
  readonly answers?: ReadonlySet<AnswerFault> | undefined
  readonly to: number
}

export interface Planned {
  /** The catalog's account at the place where it is called, before carried credentials are applied. */
  readonly account: ProviderAccount
  /** The model without its slug. */
  readonly modelId: string
  /** Flags for Anthropic that the name of the model asks for. */
  readonly betas: ReadonlyArray<string>
  /** The credentials to apply to the account, and their origin: those of an operator's config are stored ones. */
  readonly carried: CarriedCredentials
  readonly origin: ProviderAccount["origin"]
  /** Names under which the request asks for a place that it does not get. */
  readonly ignored: ReadonlyArray<string>
  /** The target in the config; undefined without a config. */
  readonly target: ConfigTarget | undefined
  /** The innermost first; all lead onwards. */
  readonly edges: ReadonlyArray<FallbackEdge>
  /** The config has targets of several kinds of provider. */
  readonly mixesKinds?: boolean
}

/** The first target is the one that is called; the others wait for failures. */
export type Plan = readonly [Planned, ...ReadonlyArray<Planned>]

/** Why a plan fails; credentials are the next step's business. */
export type PlanFault = Exclude<GatewayError, CredentialsMissing>

export type PlanResult<A> = Result.Result<A, PlanFault>

export const noEdges: ReadonlyArray<FallbackEdge> = []

/** A slug, and where it was written. */
export interface NamedSlug {
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

/**
 * The account that serves a model without a slug. The only account that the key may use is called for any model, so
 * that its own refusal states why it cannot serve.
 */
export const slugOfModel = (
  modelId: string,
  catalog: CatalogView,
  { carried, key, native }: Pick<Asked, "carried" | "key" | "native">
): Result.Result<NamedSlug, ProviderMissing> => {
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

/** Where a place is written, and what allows it. */
const placeParts = [
  {
    field: "project_id",
    list: "projects",
    written: "vertexProjectId",
    header: "x-gateway-vertex-project-id",
    path: "project",
    member: "vertex_project_id"
  },
  {
    field: "region",
    list: "regions",
    written: "vertexRegion",
    header: "x-gateway-vertex-region",
    path: "location",
    member: "vertex_region"
  }
] as const

interface WithPlace {
  readonly account: ProviderAccount
  /** Headers and members of an inline config that name another place than the one that counts. */
  readonly ignored: ReadonlyArray<string>
}

const nothingIgnored: ReadonlyArray<string> = []

/**
 * The config's word wins over the header's. A config of the operator is obeyed; the request, and a config that came with it, only
 * where `isFree` (no stored credential would follow), or where the account lists the place.
 */
const withPlace = (
  account: ProviderAccount,
  byRequest: CarriedCredentials,
  config: { readonly of: CarriedCredentials; readonly isInline: boolean } | undefined,
  isFree: boolean
): WithPlace => {
  if (account.kind === "google") return { account, ignored: nothingIgnored }
  const isUnsaid = placeParts.every(
    ({ written }) => byRequest[written] === undefined && config?.of[written] === undefined
  )
  if (isUnsaid) return { account, ignored: nothingIgnored }
  const place: { -readonly [Field in "project_id" | "region"]: string | undefined } = {
    project_id: account.project_id,
    region: account.region
  }
  const ignored: Array<string> = []
  for (const { field, header, list, member, path, written } of placeParts) {
    const said = [
      { name: member, value: config?.of[written], isObeyed: config?.isInline === false },
      { name: byRequest.isPathPlace === true ? path : header, value: byRequest[written], isObeyed: false }
    ]
    const counting = said.find(
      ({ isObeyed, value }) =>
        value !== undefined && (isObeyed || isFree || (byRequest.isPathPlace !== true && lists(account[list], value)))
    )
    if (counting !== undefined) place[field] = counting.value
    ignored.push(...said.flatMap(({ name, value }) => (value === undefined || value === place[field] ? [] : [name])))
  }
  return { account: { ...account, ...place }, ignored }
}

/** A place that is none is a fault of the header; one that came in the path is a fault of the path. */
export const faultOfPlace = (
  fault: GatewayError,
  carried: CarriedCredentials,
  account: ProviderAccount
): GatewayError => {
  if (carried.isPathPlace !== true || fault._tag !== "BodyInvalid" || fault.code !== "invalid_header") return fault
  const part = placeParts.find(({ header }) => header === fault.param)
  const value = part === undefined ? undefined : carried[part.written]
  return part === undefined || value === undefined || account[part.field] !== value
    ? fault
    : new BodyInvalid({
        code: "invalid_value",
        param: part.path,
        message: fault.message.replace(
          /^The \w+ is/,
          () => `The path names the ${part.path} ${quoteValue(value)}, which is`
        )
      })
}

/** The slug the request itself names: by prefix, else by header. */
export const slugByRequest = (ref: ModelRef, header: string | undefined): NamedSlug | undefined =>
  ref.slug !== undefined
    ? { slug: ref.slug, param: "model" }
    : header === undefined
      ? undefined
      : { slug: header, param: "x-gateway-provider" }

/** What a key's lists do not bind: what a config or prompt that is granted to it names. */
interface Granted {
  readonly slug: boolean
  readonly model: boolean
}

/** The account of a slug, if this key may use it for this model and the account offers it. */
export const grantedAccount = (
  { slug, param }: NamedSlug,
  modelId: string,
  catalog: CatalogView,
  key: GatewayKey,
  granted: Granted
): PlanResult<ProviderAccount> => {
  const account = catalog.resolve(slug)
  if (account === undefined) {
    const known = catalog
      .list()
      .map(({ slug: offered }) => offered)
      .filter((offered) => allows(key.providers, offered))
    return Result.fail(new SlugUnknown({ slug, param, known }))
  }
  if (!granted.slug && !allows(key.providers, slug)) {
    return Result.fail(new ModelNotAllowed({ message: `This key may not use the provider "${slug}".` }))
  }
  if (!granted.model && !allows(key.models, modelId)) {
    return Result.fail(
      new ModelNotAllowed({
        message: `This key may not use the model "${modelId}"; GET /v1/models lists what it may call.`
      })
    )
  }
  return allows(account.models, modelId)
    ? Result.succeed(account)
    : Result.fail(
        new ModelNotAllowed({
          message: `The provider "${slug}" does not offer the model "${modelId}"; GET /v1/models lists what it offers.`
        })
      )
}

/** The target at its place. A stored credential, also one of an operator's config, goes where the request leads it only as far as its account allows. */
export const inPlace = (
  account: ProviderAccount,
  { betas, carried, modelId, origin, target, edges }: Omit<Planned, "account" | "ignored">,
  byRequest: CarriedCredentials,
  config: { readonly of: CarriedCredentials; readonly isInline: boolean } | undefined
): Planned => {
  const isFree = carriesCredential(account, carried) ? origin === "caller" : account.credentials === undefined
  const place = withPlace(account, byRequest, config, isFree)
  return { account: place.account, modelId, betas, carried, origin, ignored: place.ignored, target, edges }
}

/** The one target of a request without a config. */
export const planOne = (asked: Asked, catalog: CatalogView): PlanResult<Plan> => {
  const { carried, grantedModel, header, key, model } = asked
  const read = readModel(model, catalog, key)
  if (Result.isFailure(read)) return Result.fail(read.failure)
  const { betas, ref } = read.success
  const named = slugByRequest(ref, header)
  const modelId = ref.rest
  const chosen = named === undefined ? slugOfModel(modelId, catalog, asked) : Result.succeed(named)
  if (Result.isFailure(chosen)) return Result.fail(chosen.failure)
  const isGranted = model === grantedModel
  const account = grantedAccount(chosen.success, modelId, catalog, key, {
    slug: isGranted && ref.slug !== undefined,
    model: isGranted
  })
  return Result.isFailure(account)
    ? Result.fail(account.failure)
    : Result.succeed([
        inPlace(
          account.success,
          { modelId, betas, carried, origin: "caller", target: undefined, edges: noEdges },
          carried,
          undefined
        )
      ])
}
