// Where an account that is written over HTTP may send its credential.
// It must not know how a request is sent; no name is looked up.
import { type Fault, faultAt } from "../domain/faults.ts"
import type { ProviderEntry } from "../domain/settings/Settings.ts"

const urls = ["base_url", "token_url"] as const

/** Addresses and names under which clouds tell a machine its own secrets, and addresses that mean no host. */
const isMachinesOwn = (host: string): boolean =>
  /^(169\.254\.|0\.)/.test(host) ||
  /^\[(fe[89ab][0-9a-f]:|fd00:ec2:|::ffff:a9fe:|::\])/.test(host) ||
  /^(metadata|metadata\.google\.internal|instance-data|instance-data\.ec2\.internal)\.?$/.test(host)

const isLoopback = (host: string): boolean => /^(127\.|localhost$|\[::1\]$)/.test(host)

/** The host as it will be dialled; undefined for what is no URL, which is judged elsewhere. */
const hostOf = (url: string | undefined): string | undefined =>
  url === undefined ? undefined : URL.parse(url)?.hostname.toLowerCase()

/** Whose a dedicated host is cannot be seen of its name, so it is for the configuration file. */
const ambientRule = ([field]: ReadonlyArray<string>): string =>
  field === "endpoints"
    ? "declare a dedicated endpoint of application_default in the configuration file"
    : "application_default goes with Google's own hosts only"

/** What is wrong with the destinations of an entry. */
export const destinationFaults = (entry: ProviderEntry): ReadonlyArray<Fault> => {
  const own = entry.credentials?.type === "application_default"
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

/** A credential nobody can read must not be readable by sending it to a host of one's own: where the destination changes, it is named again. */
export const movesCredential = (before: ProviderEntry, after: ProviderEntry): ReadonlyArray<Fault> => {
  const changed = [
    ...(["provider", ...urls] as const).filter((name) => before[name] !== after[name]),
    ...(hostsOf(before) === hostsOf(after) ? [] : ["endpoints"])
  ]
  return changed.map((name) => faultAt([name], "changes where the credential is sent; send the credential as well"))
}
