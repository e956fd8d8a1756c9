// From the providers of a configuration, and the variables everyone has, to accounts.
// It must not know how accounts are used; a credential's text never enters a fault.
import * as Result from "effect/Result"
import { faultAt, type Fault, shown } from "../../domain/faults.ts"
import { isJsonObject, type Json, parseJsonText } from "../../domain/text/json.ts"
import { type BuiltInKind, builtInKinds, type Credentials, type ProviderAccount } from "../../domain/ProviderAccount.ts"
import {
  type FieldFault,
  type ProviderField,
  readAccount,
  serviceAccount,
  type WrittenCredentials,
  writtenCredentials
} from "../../domain/settings/readAccount.ts"
import type { ProviderEntry, SettingsFile } from "../../domain/settings/Settings.ts"
import type { Environment } from "./substitute.ts"

/** Text of a credential file: its path as written, and whose words it stands in. The failure is one sentence. */
export type FileText = (path: string, writtenIn: "file" | "environment") => Result.Result<string, string>

/** One provider to be: its fields, and for each where it was written. */
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

const declared = (entry: ProviderEntry, index: number): Source => ({
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

/** A built-in slug with what the environment adds: `GATEWAY_*` wins over the file, everybody's variables fill its gaps. */
const withEnvironment = (source: Source, kind: BuiltInKind, env: Environment): Source => {
  const names = new Map<ProviderField, string>()
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
    fault: (field, message, below) => {
      const name = names.get(field)
      return name === undefined ? source.fault(field, message, below) : { path: name, message, at: undefined }
    }
  }
}

const sources = (entries: ReadonlyArray<ProviderEntry>, env: Environment): ReadonlyArray<Source> => {
  const own = entries.map((entry, index) => {
    const source = declared(entry, index)
    return entry.slug === entry.provider ? withEnvironment(source, entry.provider, env) : source
  })
  const missing = builtInKinds.filter((kind) => !entries.some((entry) => entry.slug === kind))
  return [...own, ...missing.map((kind) => withEnvironment(declared({ slug: kind, provider: kind }, -1), kind, env))]
}

/** A credential file is opened here; all else stands in the entry. */
const opened =
  (fileText: FileText, writtenIn: "file" | "environment") =>
  (written: WrittenCredentials, kind: BuiltInKind): Result.Result<Credentials, string> => {
    const file =
      written.type === "service_account" && kind === "vertex-ai" && written.json === undefined
        ? written.file
        : undefined
    if (file === undefined) return writtenCredentials(written, kind)
    const json = Result.flatMap(fileText(file, writtenIn), (text) =>
      Result.mapError(parseJsonText(text), () => "the credential file does not hold JSON")
    )
    return Result.flatMap(json, (value) =>
      writtenIn === "environment" && isUserCredential(value)
        ? Result.succeed({ _tag: "ApplicationDefault" })
        : serviceAccount(value)
    )
  }

/** What `gcloud auth application-default login` writes: no key of its own, but what GOOGLE_APPLICATION_CREDENTIALS may name. */
const isUserCredential = (value: Json): boolean => isJsonObject(value) && value["type"] === "authorized_user"

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
    if (accounts.some((one) => one.slug === slug)) faults.push(source.fault("slug", `${shown(slug)} is declared twice`))
    const writtenIn = source.fromEnvironment.has("credentials") ? "environment" : "file"
    const read = readAccount(source.entry, source.fault, opened(fileText, writtenIn))
    faults.push(...read.faults)
    accounts.push(read.account)
  }
  return { accounts, faults }
}
