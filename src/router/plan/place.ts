// Where a target is called: the project and region of its account, of the config, or of the request.
// It must not depend on whose credential goes there, or on how a URL is built.
import { quoteValue } from "../../domain/faults.ts"
import { BodyInvalid, type GatewayError } from "../../domain/GatewayError.ts"
import { lists } from "../../domain/GatewayKey.ts"
import type { CarriedCredentials, ProviderAccount } from "../../domain/ProviderAccount.ts"

/** Where a place is written, and what allows it. */
const parts = [
  {
    field: "projectId",
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

const nothing: ReadonlyArray<string> = []

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
  if (account.kind === "google") return { account, ignored: nothing }
  const isUnsaid = parts.every(({ written }) => byRequest[written] === undefined && config?.of[written] === undefined)
  if (isUnsaid) return { account, ignored: nothing }
  const place: { -readonly [Field in "projectId" | "region"]: string | undefined } = {
    projectId: account.projectId,
    region: account.region
  }
  const ignored: Array<string> = []
  for (const { field, header, list, member, path, written } of parts) {
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
  const part = parts.find(({ header }) => header === fault.param)
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
