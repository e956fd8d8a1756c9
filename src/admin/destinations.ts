// Checks the hosts to which an account of the admin API may send its credential.
// Must not know how a request is sent; must not resolve names.
import { type Fault, faultAt } from "../domain/faults.ts"
import type { ProviderEntry } from "../domain/settings/ProviderEntry.ts"

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
  const own =
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
    return own && !isLoopback(host)
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
