// Refuses changes of records that would break other stored records, or send a credential to another host.
// Must not know whether HTTP or the command line asks for a change, nor how a request is sent; must not resolve names.
import * as HashMap from "effect/HashMap"
import * as Result from "effect/Result"
import { ConfigEntry, mergedAccounts, readStoredConfig } from "../catalog/mergedRecords.ts"
import { promptFaults } from "../catalog/mergedPrompts.ts"
import { RecordRefused } from "../domain/GatewayError.ts"
import type { LimitValues } from "../domain/Limits.ts"
import type { ConfigState } from "../store/ConfigSnapshot.ts"
import { newestById, newestIn, newestOf, type RecordKind, recordReader } from "../store/StoredRecord.ts"
import type { Kind } from "./Managed.ts"
import { secretSlugs } from "../domain/config/GatewayConfig.ts"
import type { ProviderAccount, ProviderEntry } from "../domain/ProviderAccount.ts"
import { type Fault, faultAt } from "../domain/faults.ts"

/** Stored keys that name one of these configs. */
const keysOf = (state: ConfigState, configs: ReadonlySet<unknown>): ReadonlyArray<string> =>
  newestOf(state.records.key)
    .filter(({ value: { config, revoked_at: revoked } }) => revoked === undefined && configs.has(config))
    .map(({ id }) => `key ${id}`)
    .toSorted()

/** The stored configs and prompts that may depend on a changed record. The smaller it is, the less a change costs. */
export interface Reach {
  readonly configs: Iterable<string>
  readonly prompts: Iterable<string>
}

/** All of a state, for a change of a provider. */
export const reachAll = ({ records }: ConfigState): Reach => ({
  configs: HashMap.keys(records.config),
  prompts: HashMap.keys(records.prompt)
})

/** The configs within reach that can be used, and the configs and prompts that cannot, as `config fast`. */
const readable = (state: ConfigState, { configs, prompts }: Reach, limits: LimitValues) => {
  const usable = new Set<string>()
  const ids = promptFaults(state, prompts, limits).map(({ id }) => id.replace(/@\d+$/, ""))
  const { accounts } = mergedAccounts(state)
  for (const id of configs) {
    const record = newestIn(state.records.config, id)
    const isRead = record !== undefined && Result.isSuccess(readStoredConfig(record, accounts, limits))
    if (record !== undefined && !isRead) ids.push(`config ${id}`)
    if (isRead || state.declared.configs?.[id] !== undefined) usable.add(id)
  }
  return { ids: new Set(ids), usable }
}

/** The largest number of records that the message names. */
const mostNamed = 10

export const brokenGuard =
  (
    kind: RecordKind,
    limits: LimitValues,
    reach: (state: ConfigState, changed: string) => Reach
  ): Kind<unknown>["guard"] =>
  (before, after, changed) => {
    const within = reach(before, changed)
    const [configs, prompts] = [[...within.configs], [...within.prompts]]
    const were = readable(before, { configs, prompts }, limits)
    const are = readable(after, { configs, prompts }, limits)
    const lost = new Set([...were.usable].filter((id) => !are.usable.has(id)))
    // Keys may be many; they are read only where a config is lost.
    const keys = lost.size === 0 ? [] : keysOf(after, lost)
    const broken = [...[...are.ids].toSorted(), ...keys].filter(
      (id) => !were.ids.has(id) && id !== `${kind} ${changed}`
    )
    const named = broken.slice(0, mostNamed).join(", ") + (broken.length > mostNamed ? ", ..." : "")
    return broken.length === 0
      ? undefined
      : new RecordRefused({
          code: "in_use",
          message: `Without the ${kind} "${changed}" as it is these would stop working: ${named}. Change them first.`
        })
  }

// Refuses a change of a provider that would send the credential of a config to another host.

const readConfigEntry = recordReader(ConfigEntry)

/** Configs with a credential for the account of a slug, including configs that cannot be used now. */
const credentialHolders = ({ declared, records }: ConfigState, slug: string): ReadonlyArray<string> => {
  const written = [
    ...Object.entries(declared.configs ?? {}).map(([id, { shown }]) => ({ id, config: shown })),
    // Masks are enough here, and the secrets may be unreadable.
    ...newestById(records.config).flatMap((record) => {
      const entry = readConfigEntry({ ...record, secret: undefined })
      return Result.isSuccess(entry) ? [{ id: record.id, config: entry.success.config }] : []
    })
  ]
  return [...new Set(written.flatMap(({ config, id }) => (secretSlugs(config).includes(slug) ? [id] : [])))]
}

/** The fields that decide where a credential is sent. */
const destinationOf = ({ base_url: baseUrl, endpoints, kind, token_url: tokenUrl }: ProviderAccount): string =>
  JSON.stringify([
    kind,
    baseUrl ?? "",
    tokenUrl ?? "",
    ...Object.values(endpoints)
      .flatMap(({ host }) => host ?? [])
      .toSorted()
  ])

const destination = (state: ConfigState, slug: string): string | undefined => {
  const account = mergedAccounts(state).accounts.find((one) => one.slug === slug)
  return account === undefined ? undefined : destinationOf(account)
}

/** A slug that is created again is another account, also with the same hosts. */
export const movedSecretsGuard: Kind<unknown>["guard"] = (before, after, changed) => {
  const now = destination(after, changed)
  if (now === undefined || now === destination(before, changed)) return undefined
  const named = credentialHolders(after, changed)
  return named.length === 0
    ? undefined
    : new RecordRefused({
        code: "credentials_would_move",
        message: `The change sends the credentials that these configs hold for "${changed}" elsewhere: ${named.join(", ")}. Take them out of the configs, change the provider, and send them again.`
      })
}

// Checks the hosts to which an account of the admin API may send its credential.

const urls = ["base_url", "token_url"] as const

/** Addresses and names of cloud metadata servers, which return a machine's secrets, and unspecified addresses. */
const isMachinesOwn = (host: string): boolean =>
  /^(169\.254\.|0\.)/.test(host) ||
  /^\[(fe[89ab][0-9a-f]:|fd00:ec2:|::ffff:a9fe:|::\])/.test(host) ||
  /^(metadata|metadata\.google\.internal|instance-data|instance-data\.ec2\.internal)\.?$/.test(host)

const isLoopback = (host: string): boolean => /^(127\.|localhost$|\[::1\]$)/.test(host)

/** The host that a request connects to; undefined for a malformed URL, which `readAccount` reports. */
const hostOf = (url: string | undefined): string | undefined =>
  url === undefined ? undefined : URL.parse(url)?.hostname.toLowerCase()

/** The name of a dedicated host does not show its owner, so such hosts belong in the configuration file. */
const ambientRule = ([field]: ReadonlyArray<string>): string =>
  field === "endpoints"
    ? "declare a dedicated endpoint of application_default in the configuration file"
    : "application_default goes with Google's own hosts only"

/** The faults in the destinations of an entry. */
export const destinationFaults = (entry: ProviderEntry): ReadonlyArray<Fault> => {
  const { credentials } = entry
  const isAmbient =
    credentials?.type === "application_default" ||
    (credentials?.type === "impersonated" && (credentials.source ?? "application_default") === "application_default")
  const named = [
    ...urls.map((name) => ({ at: [name], host: hostOf(entry[name]) })),
    ...Object.entries(entry.endpoints ?? {}).map(([name, { host }]) => ({
      at: ["endpoints", name, "host"],
      host: hostOf(host === undefined ? undefined : `https://${host}`)
    }))
  ]
  return named.flatMap(({ at, host }) => {
    if (host === undefined) return []
    if (isMachinesOwn(host)) return [faultAt(at, "is an address for a machine's own metadata; no provider lives there")]
    return isAmbient && !isLoopback(host)
      ? [faultAt(at, `would be sent the machine's own credential; ${ambientRule(at)}`)]
      : []
  })
}

const hostsOf = ({ endpoints = {} }: ProviderEntry): string =>
  Object.values(endpoints)
    .map(({ host }) => host ?? "")
    .filter((host) => host !== "")
    .toSorted()
    .join("\n")

/**
 * A changed destination needs the credential again. Otherwise an admin could read a stored credential at a host of
 * their own.
 */
export const movesCredential = (before: ProviderEntry, after: ProviderEntry): ReadonlyArray<Fault> => {
  const changed = [
    ...(["provider", ...urls] as const).filter((name) => before[name] !== after[name]),
    ...(hostsOf(before) === hostsOf(after) ? [] : ["endpoints"])
  ]
  return changed.map((name) => faultAt([name], "changes where the credential is sent; send the credential as well"))
}
