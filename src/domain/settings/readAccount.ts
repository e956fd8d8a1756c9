// Turns a provider entry of the configuration file or the store into a provider account, or lists its faults.
// It must not know where the entry was written. Faults never contain the text of a credential.
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { isStoragePrefix } from "../text/cloudStorage.ts"
import { editDistance, type Fault, faultAt, type FaultPath, hint, nearest, quoteValue, unreadName } from "../faults.ts"
import { isJsonObject, type Json, parseJsonText } from "../text/json.ts"
import type { AccountTls } from "./network.ts"
import { isEndpointId, isSlug } from "../ModelRef.ts"
import {
  type BuiltInKind,
  type Credentials,
  isProject,
  isRegion,
  type ProviderAccount,
  type ProviderEntry,
  requestTypeHeader
} from "../ProviderAccount.ts"
import { impersonationUrl, isServiceAccount, namesAddresses, parseCredential } from "./credentialFile.ts"

export type ProviderField = keyof ProviderEntry

/** Makes a fault at a field of the entry; the caller adds the path of the entry. */
export type FieldFault = (field: ProviderField, message: string, below?: FaultPath) => Fault

const urlFault = (text: string): string | undefined => {
  const url = URL.parse(text)
  return url !== null &&
    (url.protocol === "https:" || url.protocol === "http:") &&
    url.username === "" &&
    url.password === "" &&
    url.search === "" &&
    url.hash === ""
    ? undefined
    : "expected an http or https URL without user, query or fragment"
}

const versionGrammar = /^v\d{1,2}([a-z]{1,10}\d{0,2})?$/
const hostGrammar = /^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/
const cloudOnly: ReadonlyArray<ProviderField> = [
  "project_id",
  "region",
  "endpoints",
  "projects",
  "regions",
  "gcs",
  "request_type",
  "token_url"
]

/** A prefix of a project or region, with the final `*` that matches any rest. */
const patternGrammar = /^[a-z0-9.:-]*\*$/

const regionTextFault = (region: string): string | undefined => {
  const rest = regionFault(region)
  return rest === undefined ? undefined : `${quoteValue(region)} is not a region${rest}`
}

/** Checks the lists of what a request may name: projects, regions, Cloud Storage prefixes. */
const listFaults = ({ gcs, projects, regions }: ProviderEntry, fault: FieldFault): ReadonlyArray<Fault> => {
  const each = (
    list: ReadonlyArray<string> | undefined,
    field: ProviderField,
    below: FaultPath,
    judge: (text: string) => string | undefined
  ) =>
    (list ?? []).flatMap((one, index) => {
      const message = judge(one)
      return message === undefined ? [] : [fault(field, message, [...below, index])]
    })
  const prefixFault = (text: string) =>
    isStoragePrefix(text) ? undefined : `${quoteValue(text)} is no prefix such as gs://bucket or gs://bucket/folder`
  return [
    ...each(projects, "projects", [], (one) => (patternGrammar.test(one) ? undefined : projectFault(one))),
    ...each(regions, "regions", [], (one) => (patternGrammar.test(one) ? undefined : regionTextFault(one))),
    ...each(gcs?.read, "gcs", ["read"], prefixFault),
    ...each(gcs?.write, "gcs", ["write"], prefixFault)
  ]
}

const projectFault = (id: string) =>
  isProject(id) ? undefined : `${quoteValue(id)} is not a Google Cloud project id or number`

/** Checks the fields that become part of URLs and headers. */
const fieldFaults = (entry: ProviderEntry, fault: FieldFault): ReadonlyArray<Fault> => {
  const faults: Array<Fault> = []
  const check = <F extends ProviderField>(
    field: F,
    judge: (value: NonNullable<ProviderEntry[F]>) => string | undefined
  ) => {
    const value = entry[field]
    const message = value === undefined || value === null ? undefined : judge(value)
    if (message !== undefined) faults.push(fault(field, message))
  }
  check("slug", (slug) =>
    isSlug(slug) ? undefined : `${quoteValue(slug)} is not a slug: lower-case letters, digits and "-", at most 63`
  )
  check("project_id", projectFault)
  check("quota_project", projectFault)
  check("region", regionTextFault)
  check("api_version", (version) =>
    versionGrammar.test(version) ? undefined : `${quoteValue(version)} is not an API version such as v1 or v1beta`
  )
  check("base_url", urlFault)
  check("token_url", urlFault)
  if (entry.provider === "google") {
    for (const field of cloudOnly) check(field, () => "has no meaning for provider google; it belongs to vertex-ai")
  }
  for (const [name, endpoint] of Object.entries(entry.endpoints ?? {})) {
    if (!isEndpointId(name))
      faults.push(fault("endpoints", 'is not an endpoint id: letters, digits and "-", at most 63', [name]))
    if (endpoint.host !== undefined && !hostGrammar.test(endpoint.host)) {
      faults.push(fault("endpoints", `${quoteValue(endpoint.host)} is not a host name`, [name, "host"]))
    }
  }
  return [...faults, ...listFaults(entry, fault)]
}

export type WrittenCredentials = NonNullable<ProviderEntry["credentials"]>

/** The content of a credential file as one text. */
export const readCredentialText = (text: string, what: string): Result.Result<Credentials, string> =>
  Result.flatMap(
    Result.mapError(parseJsonText(text), () => `${what} does not hold JSON`),
    parseCredential
  )

type WrittenFile = Extract<WrittenCredentials, { readonly type: "service_account" | "external_account" | "user" }>
type WrittenImpersonation = Extract<WrittenCredentials, { readonly type: "impersonated" }>

/** Reads what has the form of a credential file. */
export type ReadFile = (written: WrittenFile) => Result.Result<Credentials, string>

/** The content in the entry itself. */
const readContent = (written: WrittenFile, isOperators: boolean): Result.Result<Credentials, string> => {
  const { file, json, type } = written
  if (json !== undefined && file !== undefined) return Result.fail("give file or json, not both")
  if (isUnread(written)) return Result.succeed({ _tag: "ApplicationDefault" })
  if (json === undefined) {
    return Result.fail(
      file === undefined
        ? `type ${type} needs file or json`
        : "a file is read for the configuration file only; give the key file's content as json"
    )
  }
  const read =
    typeof json === "string"
      ? Result.mapError(parseJsonText(json), () => "json does not hold JSON")
      : Result.succeed(json)
  return Result.flatMap(read, (content) =>
    isOperators || !namesAddresses(content)
      ? parseCredential(content)
      : Result.fail("a credential that names files or addresses is taken from the configuration file only")
  )
}

/** Content that the operator of the machine wrote; it may name files and addresses. */
export const operatorsContent: ReadFile = (written) => readContent(written, true)

const readImpersonation = (
  { delegates = [], lifetime, scopes, service_account: account, source = "application_default" }: WrittenImpersonation,
  readFile: ReadFile
): Result.Result<Credentials, string> => {
  const wrong = [account, ...delegates].find((one) => one !== unreadName && !isServiceAccount(one))
  if (wrong !== undefined) return Result.fail(`${quoteValue(wrong)} is not the address of a service account`)
  const base: Result.Result<Credentials, string> =
    source === "application_default" ? Result.succeed({ _tag: "ApplicationDefault" }) : readFile(source)
  return Result.map(base, (source) => ({
    _tag: "Impersonated",
    source,
    impersonation: {
      url: impersonationUrl(account),
      delegates: delegates.map((one) => `projects/-/serviceAccounts/${one}`),
      ...(scopes === undefined ? {} : { scopes }),
      lifetimeSeconds: lifetime
    },
    quotaProject: undefined
  }))
}

/** True where a part of the credential could not be read; that part has its own fault. */
export const isUnread = ({ file, json }: { readonly file?: string; readonly json?: Json }): boolean =>
  file === unreadName ||
  json === unreadName ||
  (isJsonObject(json) && Object.values(json).some((member) => member === unreadName))

/** Reads credentials; the reader of the configuration file alone opens a `file`. */
export const writtenCredentials = (
  written: WrittenCredentials,
  kind: BuiltInKind,
  readFile: ReadFile = (one) => readContent(one, false)
): Result.Result<Credentials, string> => {
  if (kind === "google" && written.type !== "api_key") {
    return Result.fail(`type ${written.type} has no meaning for provider google; use api_key`)
  }
  switch (written.type) {
    case "api_key":
      return Result.succeed({ _tag: "ApiKey", key: Redacted.make(written.key) })
    case "access_token":
      return Result.succeed({ _tag: "AccessToken", token: Redacted.make(written.token) })
    case "application_default":
      return Result.succeed({ _tag: "ApplicationDefault" })
    case "impersonated":
      return readImpersonation(written, readFile)
    case "service_account":
    case "external_account":
    case "user":
      return readFile(written)
  }
}

const credentialsOf = (
  entry: ProviderEntry,
  fault: FieldFault,
  read: (written: WrittenCredentials, kind: BuiltInKind) => Result.Result<Credentials, string>
): Result.Result<Credentials | undefined, Fault> => {
  if (entry.api_key !== undefined) {
    return entry.credentials === undefined
      ? Result.succeed({ _tag: "ApiKey", key: Redacted.make(entry.api_key) })
      : Result.fail({ ...fault("credentials", "give api_key or credentials, not both"), isOfCredential: true })
  }
  return entry.credentials === undefined
    ? Result.succeed(undefined)
    : Result.mapError(read(entry.credentials, entry.provider), (message) => ({
        ...fault("credentials", message),
        isOfCredential: true
      }))
}

/** Reads `tls`; the reader of the configuration file alone does. */
type ReadTls = (tls: NonNullable<ProviderEntry["tls"]>) => {
  readonly value: AccountTls | undefined
  readonly faults: ReadonlyArray<Fault>
}

const tlsOf = (entry: ProviderEntry, fault: FieldFault, readTls: ReadTls | undefined): ReturnType<ReadTls> => {
  if (entry.tls === undefined) return { value: undefined, faults: [] }
  return (
    readTls?.(entry.tls) ?? {
      value: undefined,
      faults: [fault("tls", "is read for the configuration file only, because it names files")]
    }
  )
}

/** The account and its faults. With a faulty credential the account has none. */
export const readAccount = (
  entry: ProviderEntry,
  fault: FieldFault,
  read = writtenCredentials,
  readTls?: ReadTls
): { readonly account: ProviderAccount; readonly faults: ReadonlyArray<Fault> } => {
  const { api_key: _key, credentials: _written, endpoints = {}, provider, tls: _files, ...record } = entry
  const credential = credentialsOf(entry, fault, read)
  const credentials = Result.getOrUndefined(credential)
  const tls = tlsOf(entry, fault, readTls)
  const project = record.project_id ?? (credentials?._tag === "ServiceAccount" ? credentials.key.projectId : undefined)
  return {
    account: {
      ...record,
      ...(project === undefined ? {} : { project_id: project }),
      kind: provider,
      credentials,
      origin: "stored",
      endpoints,
      ...(record.request_type === undefined ? {} : { servingHeaders: { [requestTypeHeader]: record.request_type } }),
      ...(tls.value === undefined ? {} : { tls: tls.value })
    },
    faults: [...fieldFaults(entry, fault), ...tls.faults, ...(Result.isFailure(credential) ? [credential.failure] : [])]
  }
}

/** The fault of a single entry: the path starts at its field. */
export const entryFault: FieldFault = (field, message, below = []) => faultAt([field, ...below], message)

// Checks the name of a Vertex AI region and suggests the nearest known one for a misspelling.

/** Regions that served Vertex AI when this was written. Source: Vertex AI locations page. */
const regions = [
  "us-central1",
  "us-east1",
  "us-east4",
  "us-east5",
  "us-south1",
  "us-west1",
  "us-west2",
  "us-west3",
  "us-west4",
  "northamerica-northeast1",
  "northamerica-northeast2",
  "southamerica-east1",
  "southamerica-west1",
  "europe-central2",
  "europe-north1",
  "europe-southwest1",
  "europe-west1",
  "europe-west2",
  "europe-west3",
  "europe-west4",
  "europe-west6",
  "europe-west8",
  "europe-west9",
  "europe-west12",
  "asia-east1",
  "asia-east2",
  "asia-northeast1",
  "asia-northeast2",
  "asia-northeast3",
  "asia-south1",
  "asia-southeast1",
  "asia-southeast2",
  "australia-southeast1",
  "australia-southeast2",
  "africa-south1",
  "me-central1",
  "me-central2",
  "me-west1"
]
const multiRegions = ["global", "us", "eu"]
const areaOf = (region: string): string => region.replace(/\d+$/, "")
const areas = [...new Set(regions.map(areaOf))]

/** Undefined for a valid region; else the end of the sentence `"x" is not a region`. */
export const regionFault = (text: string): string | undefined => {
  if (multiRegions.includes(text)) return undefined
  const area = areaOf(text)
  const number = text.slice(area.length)
  const misspelt = !areas.includes(area) && areas.some((one) => editDistance(one, area) === 1)
  if (isRegion(text) && text.includes("-") && number !== "" && !misspelt) return undefined
  const known = [...multiRegions, ...regions]
  const near = misspelt ? nearest(`${area}${number === "" ? "1" : number}`, known) : nearest(text, known)
  return near === undefined ? ", such as us-central1, global, us or eu" : hint(near, known)
}
