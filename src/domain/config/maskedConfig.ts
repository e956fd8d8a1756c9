// Masks the credentials in a config for display, and restores them when a masked config is saved again.
// It must not know which client reads a config or where configs are stored.
import { type Fault, faultAt, type FaultPath } from "../faults.ts"
import type { WrittenConfig } from "./GatewayConfig.ts"
import { isJsonObject } from "../text/json.ts"

const mark = "***"

/** The last 4 characters of a long secret identify it; of a shorter one they would reveal too much. */
const longSecret = 24

const isMask = (value: unknown): boolean => typeof value === "string" && value.startsWith(mark)

/** A mask stays as it is: older versions of a config are stored with masks only. */
export const maskedText = (secret: string): string =>
  isMask(secret) ? secret : secret.length < longSecret ? mark : mark + secret.slice(-4)

/** The fields that identify a service-account key. Every other field is masked. */
const open = new Set(["type", "project_id", "private_key_id", "client_email"])
type Account = NonNullable<WrittenConfig["vertex_service_account_json"]>
const maskedAccount = (account: Account): Account =>
  Object.fromEntries(Object.entries(account).map(([name, value]) => [name, open.has(name) ? value : mark]))

/** The config with its secrets masked. */
export const maskedConfig = (written: WrittenConfig): WrittenConfig => ({
  ...written,
  ...(written.api_key === undefined ? {} : { api_key: maskedText(written.api_key) }),
  ...(written.vertex_service_account_json === undefined
    ? {}
    : { vertex_service_account_json: maskedAccount(written.vertex_service_account_json) }),
  ...(written.targets === undefined ? {} : { targets: written.targets.map(maskedConfig) })
})

/** True when the config contains a secret. */
export const holdsSecrets = ({
  api_key: key,
  targets = [],
  vertex_service_account_json: account
}: WrittenConfig): boolean => key !== undefined || account !== undefined || targets.some(holdsSecrets)

/** Slugs of the accounts that receive a secret of the config, masked or not. */
export const secretSlugs = (config: WrittenConfig): ReadonlyArray<string> =>
  nodes(config).flatMap(
    ({ api_key: key, provider, vertex_service_account_json: account, virtual_key: named = provider }) =>
      named === undefined || (key === undefined && account === undefined) ? [] : [named.replace(/^@/, "")]
  )

const same = (one: Account, other: Account): boolean => JSON.stringify(one) === JSON.stringify(other)

/** Every node of a config, nested targets included. */
const nodes = (config: WrittenConfig): ReadonlyArray<WrittenConfig> => [
  config,
  ...(config.targets ?? []).flatMap(nodes)
]

/**
 * Replaces masks by the secrets of `before`, so that a config can be read, changed and saved. A mask is replaced only
 * by a secret of the same provider. Otherwise an editor without read access could redirect a secret to another
 * provider.
 */
export const unmaskedConfig = (
  written: WrittenConfig,
  before: WrittenConfig | undefined,
  at: FaultPath
): { readonly config: WrittenConfig; readonly faults: ReadonlyArray<Fault> } => {
  const known = before === undefined ? [] : nodes(before)
  const faults: Array<Fault> = []
  const fault = (place: FaultPath) => {
    faults.push(
      faultAt(
        place,
        "is how a credential is shown, and stands for none that this provider has here; write the credential itself"
      )
    )
  }
  const node = (one: WrittenConfig, here: FaultPath): WrittenConfig => {
    const kin = known.filter(({ provider, virtual_key: key }) => provider === one.provider && key === one.virtual_key)
    const { api_key: key, targets, vertex_service_account_json: account } = one
    const keyBefore = isMask(key)
      ? kin.find((other) => other.api_key !== undefined && maskedText(other.api_key) === key)?.api_key
      : key
    if (key !== undefined && keyBefore === undefined) fault([...here, "api_key"])
    const accountBefore =
      isJsonObject(account) && isMask(account["private_key"])
        ? kin.find(
            ({ vertex_service_account_json: other }) => other !== undefined && same(maskedAccount(other), account)
          )?.vertex_service_account_json
        : account
    if (account !== undefined && accountBefore === undefined) fault([...here, "vertex_service_account_json"])
    return {
      ...one,
      ...(keyBefore === undefined ? {} : { api_key: keyBefore }),
      ...(accountBefore === undefined ? {} : { vertex_service_account_json: accountBefore }),
      ...(targets === undefined
        ? {}
        : { targets: targets.map((target, index) => node(target, [...here, "targets", index])) })
    }
  }
  return { config: node(written, at), faults }
}
