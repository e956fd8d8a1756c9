// From the providers of a configuration, and the variables everyone has, to accounts.
// It must not know how accounts are used; a credential's text never enters a fault.
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { parseServiceAccount } from "../auth/serviceAccountKey.ts"
import { isJsonObject, type Json, parseJsonText } from "../domain/json.ts"
import { isEndpointId, isSlug } from "../domain/ModelRef.ts"
import { type Credentials, type EndpointFacts, isProject, type ProviderAccount, type ProviderKind } from "../domain/ProviderAccount.ts"
import type { ProviderEntry, SettingsFile } from "../domain/Settings.ts"
import { regionFault } from "./regions.ts"
import { faultAt, type Fault, shown } from "../domain/faults.ts"
import type { Environment } from "./substitute.ts"

/** Text of a credential file: its path as written, and whose words it stands in. The failure is one sentence. */
export type FileText = (path: string, writtenIn: "file" | "environment") => Result.Result<string, string>

type Field = keyof ProviderEntry

/** One provider to be: its fields, and for each where it was written. */
interface Source {
  readonly entry: ProviderEntry
  readonly where: (field: Field) => (message: string) => Fault
  readonly fromEnvironment: ReadonlySet<Field>
}

const variables: Readonly<Record<ProviderKind, ReadonlyArray<readonly [field: "api_key" | "project_id" | "region" | "credentials" | "base_url" | "token_url", name: string, wins: boolean]>>> = {
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

const builtIn: ReadonlyArray<ProviderKind> = ["vertex-ai", "google"]

const declared = (entry: ProviderEntry, index: number): Source => ({
  entry,
  where: (field) => (message) => faultAt(["providers", index, field], message),
  fromEnvironment: new Set()
})

const withField = (entry: ProviderEntry, field: (typeof variables)[ProviderKind][number][0], value: string): ProviderEntry =>
  field === "credentials" ? { ...entry, credentials: { type: "service_account", file: value } } : { ...entry, [field]: value }

const hasCredential = (entry: ProviderEntry): boolean => entry.api_key !== undefined || entry.credentials !== undefined

/** A built-in slug with what the environment adds: `GATEWAY_*` wins over the file, everybody's variables fill its gaps. */
const withEnvironment = (source: Source, kind: ProviderKind, env: Environment): Source => {
  const names = new Map<Field, string>()
  let entry = source.entry
  for (const [field, name, wins] of variables[kind]) {
    const value = Object.hasOwn(env, name) ? env[name] : undefined
    const credential = field === "api_key" || field === "credentials"
    const taken = credential ? hasCredential(entry) : entry[field] !== undefined
    if (value === undefined || value === "" || (taken && !wins)) continue
    entry = withField(entry, field, value)
    names.set(field, name)
  }
  return {
    entry,
    fromEnvironment: new Set(names.keys()),
    where: (field) => {
      const name = names.get(field)
      return name === undefined ? source.where(field) : (message) => ({ path: name, message, at: undefined })
    }
  }
}

const sources = (entries: ReadonlyArray<ProviderEntry>, env: Environment): ReadonlyArray<Source> => {
  const own = entries.map((entry, index) => {
    const source = declared(entry, index)
    return entry.slug === entry.provider ? withEnvironment(source, entry.provider, env) : source
  })
  const missing = builtIn.filter((kind) => !entries.some((entry) => entry.slug === kind))
  return [...own, ...missing.map((kind) => withEnvironment(declared({ slug: kind, provider: kind }, -1), kind, env))]
}

const urlFault = (text: string): string | undefined => {
  const url = URL.parse(text)
  return url !== null && (url.protocol === "https:" || url.protocol === "http:") && url.username === "" &&
      url.password === "" && url.search === "" && url.hash === ""
    ? undefined
    : "expected an http or https URL without user, query or fragment"
}

const versionGrammar = /^v\d{1,2}([a-z]{1,10}\d{0,2})?$/
const hostGrammar = /^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/
const cloudOnly: ReadonlyArray<Field> = ["project_id", "region", "endpoints", "token_url"]

/** Faults of the fields that end up in URLs and headers. */
const fieldFaults = ({ entry, where }: Source): ReadonlyArray<Fault> => {
  const faults: Array<Fault> = []
  const check = <F extends Field>(field: F, fault: (value: NonNullable<ProviderEntry[F]>) => string | undefined) => {
    const value = entry[field]
    const message = value === undefined || value === null ? undefined : fault(value)
    if (message !== undefined) faults.push(where(field)(message))
  }
  check("slug", (slug) => isSlug(slug) ? undefined : `${shown(slug)} is not a slug: lower-case letters, digits and "-", at most 63`)
  check("project_id", (id) => isProject(id) ? undefined : `${shown(id)} is not a Google Cloud project id or number`)
  check("quota_project", (id) => isProject(id) ? undefined : `${shown(id)} is not a Google Cloud project id or number`)
  check("region", (region) => {
    const rest = regionFault(region)
    return rest === undefined ? undefined : `${shown(region)} is not a region${rest}`
  })
  check("api_version", (version) => versionGrammar.test(version) ? undefined : `${shown(version)} is not an API version such as v1 or v1beta`)
  check("base_url", urlFault)
  check("token_url", urlFault)
  if (entry.provider === "google") {
    for (const field of cloudOnly) check(field, () => "has no meaning for provider google; it belongs to vertex-ai")
  }
  for (const [name, endpoint] of Object.entries(entry.endpoints ?? {})) {
    const place = where("endpoints")("").at ?? []
    if (!isEndpointId(name)) faults.push(faultAt([...place, name], "is not an endpoint id: letters, digits and \"-\", at most 63"))
    if (endpoint.host !== undefined && !hostGrammar.test(endpoint.host)) {
      faults.push(faultAt([...place, name, "host"], `${shown(endpoint.host)} is not a host name`))
    }
  }
  return faults
}

const serviceAccount = (json: Json): Result.Result<Credentials, string> =>
  Result.map(parseServiceAccount(json), (key) => ({ _tag: "ServiceAccount", key }))

type Stored = NonNullable<ProviderEntry["credentials"]>

const storedCredentials = (
  stored: Stored,
  kind: ProviderKind,
  fileText: FileText,
  writtenIn: "file" | "environment"
): Result.Result<Credentials, string> => {
  if (kind === "google" && stored.type !== "api_key") {
    return Result.fail(`type ${stored.type} has no meaning for provider google; use api_key`)
  }
  switch (stored.type) {
    case "api_key":
      return Result.succeed({ _tag: "ApiKey", key: Redacted.make(stored.key) })
    case "access_token":
      return Result.succeed({ _tag: "AccessToken", token: Redacted.make(stored.token) })
    case "application_default":
      return Result.succeed({ _tag: "ApplicationDefault" })
    case "service_account": {
      if (stored.json !== undefined && stored.file !== undefined) return Result.fail("give file or json, not both")
      if (stored.json !== undefined) return serviceAccount(stored.json)
      if (stored.file === undefined) return Result.fail("type service_account needs file or json")
      const json = Result.flatMap(fileText(stored.file, writtenIn), (text) =>
        Result.mapError(parseJsonText(text), () => "the credential file does not hold JSON"))
      return Result.flatMap(json, (value) =>
        writtenIn === "environment" && isUserCredential(value) ? Result.succeed({ _tag: "ApplicationDefault" }) : serviceAccount(value))
    }
  }
}

/** What `gcloud auth application-default login` writes: no key of its own, but what GOOGLE_APPLICATION_CREDENTIALS may name. */
const isUserCredential = (value: Json): boolean => isJsonObject(value) && value["type"] === "authorized_user"

const credentialsOf = (source: Source, fileText: FileText): Result.Result<Credentials | undefined, Fault> => {
  const { entry, fromEnvironment, where } = source
  if (entry.api_key !== undefined) {
    return entry.credentials === undefined
      ? Result.succeed({ _tag: "ApiKey", key: Redacted.make(entry.api_key) })
      : Result.fail(where("api_key")("give api_key or credentials, not both"))
  }
  if (entry.credentials === undefined) return Result.succeed(undefined)
  const writtenIn = fromEnvironment.has("credentials") ? "environment" : "file"
  return Result.mapError(
    storedCredentials(entry.credentials, entry.provider, fileText, writtenIn),
    where("credentials")
  )
}

const endpointFacts = (entry: ProviderEntry): Readonly<Record<string, EndpointFacts>> =>
  Object.fromEntries(Object.entries(entry.endpoints ?? {}).map(([name, one]) =>
    [name, { dialect: one.dialect, host: one.host, model: one.model }]))

const account = (entry: ProviderEntry, credentials: Credentials | undefined): ProviderAccount => ({
  slug: entry.slug,
  kind: entry.provider,
  projectId: entry.project_id ?? (credentials?._tag === "ServiceAccount" ? credentials.key.projectId : undefined),
  region: entry.region,
  credentials,
  origin: "stored",
  endpoints: endpointFacts(entry),
  models: entry.models,
  apiVersion: entry.api_version,
  quotaProject: entry.quota_project,
  baseUrl: entry.base_url,
  tokenUrl: entry.token_url
})

/** The accounts in the order of the file, built-in slugs that it does not declare last; and every fault. */
export const readAccounts = (
  file: SettingsFile,
  env: Environment,
  fileText: FileText
): { readonly accounts: ReadonlyArray<ProviderAccount>; readonly faults: ReadonlyArray<Fault> } => {
  const accounts: Array<ProviderAccount> = []
  const faults: Array<Fault> = []
  for (const source of sources(file.providers ?? [], env)) {
    const { slug } = source.entry
    if (accounts.some((one) => one.slug === slug)) faults.push(source.where("slug")(`${shown(slug)} is declared twice`))
    faults.push(...fieldFaults(source))
    const credentials = credentialsOf(source, fileText)
    if (Result.isFailure(credentials)) faults.push(credentials.failure)
    accounts.push(account(source.entry, Result.isSuccess(credentials) ? credentials.success : undefined))
  }
  return { accounts, faults }
}
