// The account that a model means, and where it is called: aliases, slugs, projects and regions.
// It must not depend on configs, or on whether the account may be called.
import * as Result from "effect/Result"
import { carriesCredential } from "../../auth/carried.ts"
import { BodyInvalid, type GatewayError, ProviderMissing } from "../../domain/GatewayError.ts"
import { allows, type GatewayKey, lists } from "../../domain/GatewayKey.ts"
import { type AccountChoice, chooseAccount, isFamilyWord, type ModelRef, parseModelRef } from "../../domain/ModelRef.ts"
import type { CarriedCredentials, CatalogView, ProviderAccount } from "../../domain/ProviderAccount.ts"
import { noServing, resolveModelName } from "../../domain/serving.ts"
import { quoteValue } from "../../domain/faults.ts"

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
interface AccountQuestion {
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
  { carried, key, native }: AccountQuestion
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

// Where a target is called: the project and region of its account, of the config, or of the request.

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
export const withPlace = (
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
