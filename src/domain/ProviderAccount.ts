// An account: one slug of the catalog, its provider, where it lives and the credential stored with it.
// It must not know how a credential is exchanged or sent.
import type * as Redacted from "effect/Redacted"

/** The providers this gateway brings: `vertex-ai` is Google Vertex AI, `google` the Gemini Developer API. */
export const builtInKinds = ["vertex-ai", "google"] as const
export type BuiltInKind = (typeof builtInKinds)[number]
export const isBuiltIn = (kind: ProviderKind): kind is BuiltInKind => builtInKinds.some((one) => one === kind)

/** One of these, or the name under which an application adds a provider of its own. */
export type ProviderKind = BuiltInKind | (string & {})

/** Something for every built-in kind, and perhaps for others. */
export type PerKind<A> = Readonly<Record<BuiltInKind, A>> & { readonly [kind: string]: A | undefined }

/** Texts that may name a region or a project, and so may enter a URL. */
const regionGrammar = /^[a-z]{2,20}(-[a-z]{2,20}){0,3}\d{0,2}$/
const projectGrammar =
  /^([a-z][a-z0-9-]{4,28}[a-z0-9]|[a-z0-9][a-z0-9.-]{0,100}:[a-z][a-z0-9-]{4,28}[a-z0-9]|\d{4,20})$/

export const isRegion = (text: string): boolean => regionGrammar.test(text)
export const isProject = (text: string): boolean => projectGrammar.test(text)

/** A service-account key; the private key is PKCS#8 PEM. */
export interface ServiceAccountKey {
  readonly clientEmail: string
  readonly privateKeyId: string
  readonly privateKey: Redacted.Redacted<string>
  readonly projectId: string | undefined
}

/** What proves who we are upstream. */
export type Credentials =
  | { readonly _tag: "ApiKey"; readonly key: Redacted.Redacted<string> }
  | { readonly _tag: "AccessToken"; readonly token: Redacted.Redacted<string> }
  | { readonly _tag: "ServiceAccount"; readonly key: ServiceAccountKey }
  | { readonly _tag: "ApplicationDefault" }

/** A self-deployed endpoint whose dialect, host or served model name must be told. */
export interface EndpointFacts {
  readonly dialect: "openai" | "gemini" | "predict"
  readonly host: string | undefined
  readonly model: string | undefined
}

/** Prefixes `gs://bucket/path`. */
export interface StorageLists {
  /** Undefined: any object. */
  readonly read: ReadonlyArray<string> | undefined
  /** Undefined: none. */
  readonly write: ReadonlyArray<string> | undefined
}

export interface ProviderAccount {
  readonly slug: string
  readonly kind: ProviderKind
  readonly projectId: string | undefined
  readonly region: string | undefined
  readonly credentials: Credentials | undefined
  /** Who the credential belongs to; decides how a refusal is told. */
  readonly origin: "caller" | "stored"
  /** The gateway key whose request brought the credential. */
  readonly carriedBy?: string
  readonly endpoints: Readonly<Record<string, EndpointFacts>>
  readonly models: ReadonlyArray<string> | undefined
  readonly apiVersion: string | undefined
  readonly quotaProject: string | undefined
  /** Places besides its own to which a request may lead the stored credential, `*` at the end for any rest; undefined: none. */
  readonly projects?: ReadonlyArray<string> | undefined
  readonly regions?: ReadonlyArray<string> | undefined
  /** What of Cloud Storage a request may name under the stored credential. */
  readonly gcs?: StorageLists | undefined
  /** Operator only: replaces scheme and host of the provider. */
  readonly baseUrl: string | undefined
  /** Operator only: replaces the token endpoint. */
  readonly tokenUrl: string | undefined
}

/** The accounts as they were at one moment. */
export interface CatalogView {
  /** The account under a slug, or undefined when there is none. */
  readonly resolve: (slug: string) => ProviderAccount | undefined
  /** All accounts in the order they were declared, the two built-in slugs last. */
  readonly list: () => ReadonlyArray<ProviderAccount>
}

/** A stored account that is no more than what is said of it. */
export const providerAccount = (
  facts: Pick<ProviderAccount, "slug" | "kind"> & Partial<ProviderAccount>
): ProviderAccount => ({
  projectId: undefined,
  region: undefined,
  credentials: undefined,
  origin: "stored",
  endpoints: {},
  models: undefined,
  apiVersion: undefined,
  quotaProject: undefined,
  baseUrl: undefined,
  tokenUrl: undefined,
  ...facts
})

/** Credentials that came with the request; they win over the stored ones. */
export interface CarriedCredentials {
  /** The value of `Authorization` without a `Bearer ` prefix, never the gateway key. */
  readonly authorization: Redacted.Redacted<string> | undefined
  readonly googApiKey: Redacted.Redacted<string> | undefined
  readonly vertexProjectId: string | undefined
  readonly vertexRegion: string | undefined
  readonly vertexServiceAccountJson: Redacted.Redacted<string> | undefined
}
