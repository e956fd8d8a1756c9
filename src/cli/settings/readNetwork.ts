// Reads how other hosts are reached, from the `network` section and from the variables that other programs read too.
// Must not know how a connection is made. The text of a proxy's address never enters a fault.
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { type Fault, faultAt, type FaultPath } from "../../domain/faults.ts"
import { type AccountTls, type NetworkSetting, parseProxy, splitNoProxy } from "../../domain/settings/network.ts"
import type { ProviderEntry } from "../../domain/settings/ProviderEntry.ts"
import type { Settings } from "../../domain/settings/Settings.ts"
import type { SettingsFile } from "../../domain/settings/settingsFile.ts"
import { unreadName } from "../../domain/text/nearest.ts"
import type { Environment, FileText } from "./substitute.ts"

interface Read<A> {
  readonly value: A
  readonly faults: ReadonlyArray<Fault>
}

/** The first variable that is set, in lower case before upper case, as curl reads them. */
const variableOf = (env: Environment, ...names: ReadonlyArray<string>): readonly [string, string] | undefined => {
  const name = names.flatMap((one) => [one.toLowerCase(), one]).find((one) => Object.hasOwn(env, one) && env[one])
  const value = name === undefined ? undefined : env[name]
  return name === undefined || value === undefined ? undefined : [name, value]
}

const proxyAt = (text: string, fault: (message: string) => Fault): Read<NetworkSetting["https"]> =>
  Result.match(parseProxy(text), {
    onFailure: (message) => ({ value: undefined, faults: text === unreadName ? [] : [fault(message)] }),
    onSuccess: (value) => ({ value, faults: [] })
  })

const proxyOfVariable = (env: Environment, ...names: ReadonlyArray<string>): Read<NetworkSetting["https"]> => {
  const found = variableOf(env, ...names)
  if (found === undefined) return { value: undefined, faults: [] }
  const [path, text] = found
  return proxyAt(text, (message) => ({ path, message, at: undefined }))
}

/** Reads a PEM file of the configuration; `kind` is the word that its lines have. */
const pemFile = (
  path: string | undefined,
  at: FaultPath,
  fileText: FileText,
  kind: RegExp
): Read<string | undefined> => {
  if (path === undefined || path === unreadName) return { value: undefined, faults: [] }
  const text = fileText(path, "file")
  if (Result.isFailure(text)) return { value: undefined, faults: [faultAt(at, text.failure)] }
  return kind.test(text.success)
    ? { value: text.success, faults: [] }
    : { value: undefined, faults: [faultAt(at, "the file holds no PEM of this kind")] }
}

const certificate = /-----BEGIN (TRUSTED )?CERTIFICATE-----/
const privateKey = /-----BEGIN [A-Z ]*PRIVATE KEY-----/

/** Undefined for a network without proxies and authorities of its own. */
const readNetwork = (
  { ca_file: caFile, no_proxy: noProxy, proxy }: NonNullable<SettingsFile["network"]>,
  env: Environment,
  fileText: FileText
): Read<NetworkSetting | undefined> => {
  const ca = pemFile(caFile, ["network", "ca_file"], fileText, certificate)
  const set =
    proxy === undefined || proxy === "off"
      ? undefined
      : proxyAt(proxy, (message) => faultAt(["network", "proxy"], message))
  const none: Read<undefined> = { value: undefined, faults: [] }
  const [https, http] =
    proxy === "off"
      ? [none, none]
      : set === undefined
        ? [proxyOfVariable(env, "HTTPS_PROXY", "ALL_PROXY"), proxyOfVariable(env, "HTTP_PROXY", "ALL_PROXY")]
        : [set, { ...set, faults: [] }]
  const value: NetworkSetting = {
    https: https.value,
    http: http.value,
    noProxy: noProxy ?? splitNoProxy(variableOf(env, "NO_PROXY")?.[1] ?? ""),
    ca: ca.value
  }
  const isPlain = value.https === undefined && value.http === undefined && value.ca === undefined
  return { value: isPlain ? undefined : value, faults: [...ca.faults, ...https.faults, ...http.faults] }
}

/** The certificates of an account; their files are read for the configuration file only. */
export const readTls = (
  { tls }: { readonly tls: ProviderEntry["tls"] | undefined },
  at: FaultPath,
  fileText: FileText
): Read<AccountTls | undefined> => {
  if (tls === undefined) return { value: undefined, faults: [] }
  const ca = pemFile(tls.ca_file, [...at, "ca_file"], fileText, certificate)
  const cert = pemFile(tls.cert_file, [...at, "cert_file"], fileText, certificate)
  const key = pemFile(tls.key_file, [...at, "key_file"], fileText, privateKey)
  const half =
    (tls.cert_file === undefined) === (tls.key_file === undefined)
      ? []
      : [faultAt(at, "needs cert_file and key_file together")]
  return {
    value: {
      ca: ca.value,
      cert: cert.value,
      key: key.value === undefined ? undefined : Redacted.make(key.value, { label: "private key" }),
      serverName: tls.server_name
    },
    faults: [...ca.faults, ...cert.faults, ...key.faults, ...half]
  }
}

/** The network of all hosts, and the certificates of Redis. */
export const readNetworks = (
  { network: section, redis }: SettingsFile,
  env: Environment,
  fileText: FileText
): Read<Pick<Settings, "network" | "redisTls">> => {
  const network = readNetwork(section ?? {}, env, fileText)
  const redisTls = readTls({ tls: redis?.tls }, ["redis", "tls"], fileText)
  return {
    value: {
      ...(network.value === undefined ? {} : { network: network.value }),
      ...(redisTls.value === undefined ? {} : { redisTls: redisTls.value })
    },
    faults: [...network.faults, ...redisTls.faults]
  }
}
