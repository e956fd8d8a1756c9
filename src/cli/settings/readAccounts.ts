// Reads provider accounts from the configuration and from the well-known environment variables.
// Must not know how accounts are used. A credential's text never enters a fault.
import * as Result from "effect/Result"
import { faultAt, type Fault, quoteValue } from "../../domain/faults.ts"
import { type BuiltInKind, builtInKinds, type Credentials, type ProviderAccount } from "../../domain/ProviderAccount.ts"
import {
  type FieldFault,
  type ProviderField,
  isUnread,
  operatorsContent,
  readAccount,
  readCredentialText,
  type WrittenCredentials,
  writtenCredentials
} from "../../domain/settings/readAccount.ts"
import type { ProviderEntry } from "../../domain/settings/ProviderEntry.ts"
import type { SettingsFile } from "../../domain/settings/settingsFile.ts"
import { readTls } from "./readNetwork.ts"
import type { Environment, FileText } from "./substitute.ts"

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
  const own = entries.map((entry, index) => {
    const source = readEntry(entry, index)
    return entry.slug === entry.provider ? withEnvironment(source, entry.provider, env) : source
  })
  const missing = builtInKinds.filter((kind) => !entries.some((entry) => entry.slug === kind))
  return [
    ...own,
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
