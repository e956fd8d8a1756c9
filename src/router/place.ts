// Where a target is called: the project and region of its account, of the config, or of the request.
// It must not know whose credential goes there, or how a URL is made of a place.
import { lists } from "../domain/GatewayKey.ts"
import type { CarriedCredentials, ProviderAccount } from "../domain/ProviderAccount.ts"

/** Where a place is written, and what allows it. */
const parts = [
  {
    field: "projectId",
    list: "projects",
    written: "vertexProjectId",
    header: "x-gateway-vertex-project-id",
    member: "vertex_project_id"
  },
  {
    field: "region",
    list: "regions",
    written: "vertexRegion",
    header: "x-gateway-vertex-region",
    member: "vertex_region"
  }
] as const

interface Placed {
  readonly account: ProviderAccount
  /** Headers and members of an inline config that name another place than the one that counts. */
  readonly ignored: ReadonlyArray<string>
}

const nothing: ReadonlyArray<string> = []

/**
 * The config's word wins over the header's. A config of the operator is obeyed; the request, and a config that came with it, only
 * where `isFree` says that no stored credential would follow, or the account lists the place.
 */
export const placed = (
  account: ProviderAccount,
  byRequest: CarriedCredentials,
  config: { readonly of: CarriedCredentials; readonly isInline: boolean } | undefined,
  isFree: boolean
): Placed => {
  if (account.kind === "google") return { account, ignored: nothing }
  const isUnsaid = parts.every(({ written }) => byRequest[written] === undefined && config?.of[written] === undefined)
  if (isUnsaid) return { account, ignored: nothing }
  const place: { -readonly [Field in "projectId" | "region"]: string | undefined } = {
    projectId: account.projectId,
    region: account.region
  }
  const ignored: Array<string> = []
  for (const { field, header, list, member, written } of parts) {
    const said = [
      { name: member, value: config?.of[written], isObeyed: config?.isInline === false },
      { name: header, value: byRequest[written], isObeyed: false }
    ]
    const counting = said.find(
      ({ isObeyed, value }) => value !== undefined && (isObeyed || isFree || lists(account[list], value))
    )
    if (counting !== undefined) place[field] = counting.value
    ignored.push(...said.flatMap(({ name, value }) => (value === undefined || value === place[field] ? [] : [name])))
  }
  return { account: { ...account, ...place }, ignored }
}
