// Reads provider accounts and how other hosts are reached, from the configuration and from well-known variables.
// Must not know how accounts or connections are used. Credentials and the address of a proxy never enter a fault.
import * as Result from "effect/Result"
import { type Fault, faultAt, type FaultPath, quoteValue, unreadName } from "../../domain/faults.ts"
import {
  type BuiltInKind,
  builtInKinds,
  type Credentials,
  type ProviderAccount,
  type ProviderEntry
} from "../../domain/ProviderAccount.ts"
import {
  type FieldFault,
  isUnread,
  operatorsContent,
  type ProviderField,
  readAccount,
  readCredentialText,
  type WrittenCredentials,
  writtenCredentials
} from "../../domain/settings/readAccount.ts"
import type { SettingsFile } from "../../domain/settings/settingsFile.ts"
import { isPair } from "./KeyPair.ts"
import type { Environment, FileText } from "./environment.ts"
import * as Redacted from "effect/Redacted"
import {
  type AccountTls,
  type NetworkSetting,
  parseProxy,
  type ServerTls,
  splitNoProxy
} from "../../domain/settings/network.ts"
import type { Settings } from "../../domain/settings/Settings.ts"

/** One provider entry, and for each field where it was written. */
interface Source {
  readonly entry: ProviderEntry
  readonly fault: FieldFault
  readonly fromEnvironment: ReadonlySet<ProviderField>
}

const variables: Readonly<
  Record<
    BuiltInKind,
    ReadonlyArray<
      readonly [
        field: "api_key" | "project_id" | "region" | "credentials" | "base_url" | "token_url",
        name: string,
        wins: boolean
      ]
    >
  >
> = {
  "vertex-ai": [
    ["project_id", "GOOGLE_CLOUD_PROJECT", false],
    ["region", "GOOGLE_CLOUD_LOCATION", false],
    ["credentials", "GOOGLE_APPLICATION_CREDENTIALS", false],
    ["base_url", "GATEWAY_VERTEX_BASE_URL", true],
    ["token_url", "GATEWAY_TOKEN_URL", true]
  ],
  google: [
    ["api_key", "GEMINI_API_KEY", false],
    ["api_key", "GOOGLE_API_KEY", false],
    ["base_url", "GATEWAY_GEMINI_BASE_URL", true]
  ]
}

const readEntry = (entry: ProviderEntry, index: number): Source => ({
  entry,
  fault: (field, message, below = []) => faultAt(["providers", index, field, ...below], message),
  fromEnvironment: new Set()
})

const withField = (
  entry: ProviderEntry,
  field: (typeof variables)[BuiltInKind][number][0],
  value: string
): ProviderEntry =>
  field === "credentials"
    ? { ...entry, credentials: { type: "service_account", file: value } }
    : { ...entry, [field]: value }

const hasCredential = (entry: ProviderEntry): boolean => entry.api_key !== undefined || entry.credentials !== undefined

/** A built-in slug with the environment applied: `GATEWAY_*` wins over the file, well-known variables fill its gaps. */
const withEnvironment = (source: Source, kind: BuiltInKind, env: Environment, gatewayOnly = false): Source => {
  const names = new Map<ProviderField, string>()
  let entry = source.entry
  for (const [field, name, wins] of variables[kind]) {
    const value = Object.hasOwn(env, name) ? env[name] : undefined
    const credential = field === "api_key" || field === "credentials"
    const taken = credential ? hasCredential(entry) : entry[field] !== undefined
    if (value === undefined || value === "" || ((taken || gatewayOnly) && !wins)) continue
    entry = withField(entry, field, value)
    names.set(field, name)
  }
  return {
    entry,
    fromEnvironment: new Set(names.keys()),
    fault: (field, message, below) => {
      const name = names.get(field)
      return name === undefined ? source.fault(field, message, below) : { path: name, message, at: undefined }
    }
  }
}

/**
 * The declared entries, then the built-in slugs that are not declared. One whose kind is declared under another slug
 * gets no credential and no place of the environment: it is there for requests that bring their own.
 */
const collectSources = (entries: ReadonlyArray<ProviderEntry>, env: Environment): ReadonlyArray<Source> => {
  const declared = entries.map((entry, index) => {
    const source = readEntry(entry, index)
    return entry.slug === entry.provider ? withEnvironment(source, entry.provider, env) : source
  })
  const missing = builtInKinds.filter((kind) => !entries.some((entry) => entry.slug === kind))
  return [
    ...declared,
    ...missing.map((kind) => {
      const isDeclared = entries.some(({ provider }) => provider === kind)
      return withEnvironment(readEntry({ slug: kind, provider: kind }, -1), kind, env, isDeclared)
    })
  ]
}

/** Reads the credential file of an entry. Everything else is in the entry. */
const openCredentialFile =
  (fileText: FileText, writtenIn: "file" | "environment") =>
  (written: WrittenCredentials, kind: BuiltInKind): Result.Result<Credentials, string> =>
    writtenCredentials(written, kind, (one) =>
      one.file === undefined || one.json !== undefined || isUnread(one)
        ? operatorsContent(one)
        : Result.flatMap(fileText(one.file, writtenIn), (text) => readCredentialText(text, "the credential file"))
    )

/** The accounts in file order, undeclared built-in slugs last, and every fault. */
export const readAccounts = (
  file: SettingsFile,
  env: Environment,
  fileText: FileText,
  pemText = fileText
): { readonly accounts: ReadonlyArray<ProviderAccount>; readonly faults: ReadonlyArray<Fault> } => {
  const accounts: Array<ProviderAccount> = []
  const faults: Array<Fault> = []
  for (const [index, source] of collectSources(file.providers ?? [], env).entries()) {
    const { slug } = source.entry
    if (accounts.some((one) => one.slug === slug))
      faults.push(source.fault("slug", `${quoteValue(slug)} is declared twice`))
    const writtenIn = source.fromEnvironment.has("credentials") ? "environment" : "file"
    const read = readAccount(source.entry, source.fault, openCredentialFile(fileText, writtenIn), (tls) =>
      readTls({ tls }, ["providers", index, "tls"], pemText)
    )
    faults.push(...read.faults)
    accounts.push(read.account)
  }
  return { accounts, faults }
}

// Reads how other hosts are reached, from the `network` section and from the variables that other programs read too.

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
  const variable = variableOf(env, ...names)
  if (variable === undefined) return { value: undefined, faults: [] }
  const [path, text] = variable
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
const readTls = (
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

/** The certificate of the gateway's own servers. */
const readServerTls = (
  tls: NonNullable<SettingsFile["server"]>["tls"],
  fileText: FileText
): Read<ServerTls | undefined> => {
  if (tls === undefined) return { value: undefined, faults: [] }
  const at: FaultPath = ["server", "tls"]
  const cert = pemFile(tls.cert_file, [...at, "cert_file"], fileText, certificate)
  const key = pemFile(tls.key_file, [...at, "key_file"], fileText, privateKey)
  const faults = [...cert.faults, ...key.faults]
  if (cert.value === undefined || key.value === undefined) return { value: undefined, faults }
  const isMatch = isPair(cert.value, key.value)
  if (isMatch === true)
    return { value: { cert: cert.value, key: Redacted.make(key.value, { label: "private key" }) }, faults }
  const message =
    isMatch === false
      ? "is not the key of the certificate in cert_file"
      : "does not fit cert_file: both are PEM, and the key has no passphrase"
  return { value: undefined, faults: [...faults, faultAt([...at, "key_file"], message)] }
}

/** The network of all hosts, and the certificates of Redis and of the gateway itself. */
export const readNetworks = (
  { network: section, redis, server }: SettingsFile,
  env: Environment,
  fileText: FileText
): Read<Pick<Settings, "network" | "redisTls" | "serverTls">> => {
  const network = readNetwork(section ?? {}, env, fileText)
  const serverTls = readServerTls(server?.tls, fileText)
  const redisTls = readTls({ tls: redis?.tls }, ["redis", "tls"], fileText)
  return {
    value: {
      ...(network.value === undefined ? {} : { network: network.value }),
      ...(redisTls.value === undefined ? {} : { redisTls: redisTls.value }),
      ...(serverTls.value === undefined ? {} : { serverTls: serverTls.value })
    },
    faults: [...network.faults, ...redisTls.faults, ...serverTls.faults]
  }
}
