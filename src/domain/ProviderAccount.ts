// Provider accounts: the schema of an entry as it is written, the account that calls use, and the credentials a request carries.
// It must not know how an entry becomes an account, or how a credential is exchanged or sent.
import type * as Redacted from "effect/Redacted"
import type { ModelTable } from "./models/modelTable.ts"
import type { AccountTls } from "./settings/network.ts"
import type { ServingRules } from "./serving.ts"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { nonEmptyText, nonEmptyTexts } from "./config/configured.ts"

/** The built-in providers: `vertex-ai` is Google Vertex AI, `google` the Gemini Developer API. */
export const builtInKinds = ["vertex-ai", "google"] as const
export type BuiltInKind = (typeof builtInKinds)[number]
export const isBuiltIn = (kind: ProviderKind): kind is BuiltInKind => builtInKinds.some((one) => one === kind)

/** A built-in kind, or the name of a provider that an embedding application adds. */
export type ProviderKind = BuiltInKind | (string & {})

/** A value for every built-in kind, and optionally for added ones. */
export type PerKind<A> = Readonly<Record<BuiltInKind, A>> & { readonly [kind: string]: A | undefined }

/** The grammars of regions and projects are closed because both enter URLs. */
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

/** The login of a user, as `gcloud auth application-default login` keeps it. */
export interface UserLogin {
  readonly clientId: string
  readonly clientSecret: Redacted.Redacted<string>
  readonly refreshToken: Redacted.Redacted<string>
  readonly quotaProject: string | undefined
}

/** Where a workload outside of Google finds the token that proves its identity. */
export interface SubjectSource {
  readonly at: { readonly file: string } | { readonly url: string; readonly headers: Readonly<Record<string, string>> }
  /** The member of a JSON document that has the token; undefined: the whole text is the token. */
  readonly field: string | undefined
}

/** A call of generateAccessToken. cloud.google.com/iam/docs/reference/credentials/rest */
export interface Impersonation {
  readonly url: string
  readonly delegates: ReadonlyArray<string>
  /** Undefined: those of Google Cloud. */
  readonly scopes?: ReadonlyArray<string> | undefined
  readonly lifetimeSeconds: number | undefined
}

/** Client id and secret of a workforce application. */
export interface TokenClient {
  readonly id: string
  readonly secret: Redacted.Redacted<string>
}

/** Workload or workforce identity federation. cloud.google.com/iam/docs/workload-identity-federation */
export interface Federation {
  readonly audience: string
  readonly subjectTokenType: string
  readonly tokenUrl: string
  readonly subject: SubjectSource
  readonly client: TokenClient | undefined
  readonly userProject: string | undefined
  readonly impersonation: Impersonation | undefined
  readonly quotaProject: string | undefined
}

/** The login of a user of a workforce pool. */
export interface FederatedLogin {
  readonly tokenUrl: string
  readonly client: TokenClient
  readonly refreshToken: Redacted.Redacted<string>
  readonly quotaProject: string | undefined
}

/** What authenticates the gateway upstream. */
export type Credentials =
  | { readonly _tag: "ApiKey"; readonly key: Redacted.Redacted<string> }
  | { readonly _tag: "AccessToken"; readonly token: Redacted.Redacted<string> }
  | { readonly _tag: "ServiceAccount"; readonly key: ServiceAccountKey }
  | { readonly _tag: "AuthorizedUser"; readonly user: UserLogin }
  | { readonly _tag: "Federated"; readonly federation: Federation }
  | { readonly _tag: "FederatedUser"; readonly user: FederatedLogin }
  | {
      readonly _tag: "Impersonated"
      /** The credential that may act as the service account. */
      readonly source: Credentials
      readonly impersonation: Impersonation
      readonly quotaProject: string | undefined
    }
  | {
      readonly _tag: "ApplicationDefault"
      /** That of the user's login in use. */
      readonly quotaProject?: string | undefined
    }

/** A self-deployed endpoint: its dialect, host, and served model name. */
export interface EndpointFacts {
  readonly dialect: "openai" | "gemini" | "predict"
  readonly host?: string | undefined
  readonly model?: string | undefined
}

/** Fields of an account as they are written. One that is undefined counts as absent. */
type AccountRecord = {
  readonly [Field in (typeof accountFields)[number]]?: ProviderEntry[Field] | undefined
}

/** The record of an account, with what follows from it. */
export interface ProviderAccount extends AccountRecord {
  readonly slug: string
  readonly kind: ProviderKind
  readonly credentials: Credentials | undefined
  /** The owner of the credential; decides which error the caller gets when the upstream rejects it. */
  readonly origin: "caller" | "stored"
  /** The gateway key whose request carried the credential. */
  readonly carriedBy?: string
  readonly endpoints: Readonly<Record<string, EndpointFacts>>
  /** The Cloud Storage objects that a request may name under the stored credential: any to read, none to write unless set. */
  readonly gcs?:
    | { readonly read?: ReadonlyArray<string> | undefined; readonly write?: ReadonlyArray<string> | undefined }
    | undefined
  /** Sent with every call to Vertex AI, by lower-case names: which throughput serves it. */
  readonly servingHeaders?: Readonly<Record<string, string>> | undefined
  /** Operator only: certificates of the host. */
  readonly tls?: AccountTls | undefined
}

/** An immutable view of all accounts. */
export interface CatalogView {
  /** The account of a slug, or undefined. */
  readonly resolve: (slug: string) => ProviderAccount | undefined
  /** All accounts in the order of declaration, the two built-in slugs last. */
  readonly list: () => ReadonlyArray<ProviderAccount>
  /** Facts about models, with those that the operator states. */
  readonly models: ModelTable
  /** What the operator sets for models without a slug; without it nothing. */
  readonly serving?: ServingRules | undefined
}

/** A stored account with these facts and no others. */
export const providerAccount = (
  facts: Pick<ProviderAccount, "slug" | "kind"> & Partial<ProviderAccount>
): ProviderAccount => ({ credentials: undefined, origin: "stored", endpoints: {}, ...facts })

/** Bought throughput (`dedicated`) or on demand. cloud.google.com/vertex-ai/generative-ai/docs/provisioned-throughput */
export const requestTypes = ["dedicated", "shared"] as const
export type RequestType = (typeof requestTypes)[number]
export const requestTypeHeader = "x-vertex-ai-llm-request-type"

/** The account with further headers of its own; the later ones win. */
export const withServing = (
  account: ProviderAccount,
  headers: Readonly<Record<string, string>> | undefined
): ProviderAccount =>
  headers === undefined || account.kind !== "vertex-ai"
    ? account
    : { ...account, servingHeaders: { ...account.servingHeaders, ...headers } }

/** Credentials that came with the request; they take precedence over the stored ones. */
export interface CarriedCredentials {
  /** The value of `Authorization` without a `Bearer ` prefix, never the gateway key. */
  readonly authorization: Redacted.Redacted<string> | undefined
  readonly googApiKey: Redacted.Redacted<string> | undefined
  readonly vertexProjectId: string | undefined
  readonly vertexRegion: string | undefined
  /** Project and region are those of the path, which count only with a credential of the request. */
  readonly isPathPlace?: true
  readonly vertexServiceAccountJson: Redacted.Redacted<string> | undefined
}

/** Of every request that brings none, so that what follows from a request without credentials is kept. */
export const nothingCarried: CarriedCredentials = {
  authorization: undefined,
  googApiKey: undefined,
  vertexProjectId: undefined,
  vertexRegion: undefined,
  vertexServiceAccountJson: undefined
}

// The schema of a provider entry, in the configuration file and in the store: account, credentials, endpoints.

/** Any of Google's credential files; the `type` in the file decides how it is read. */
const fileFields = {
  file: Schema.optionalKey(
    nonEmptyText.annotate({
      description:
        "Path, relative to the configuration file, of a key file, the login of gcloud, or the file of workload identity federation or impersonation."
    })
  ),
  json: Schema.optionalKey(
    Schema.Union([Schema.JsonObject, nonEmptyText]).annotate({
      description: "The content of the file itself, as a mapping or as one text."
    })
  )
}

const credentialFiles = [
  Schema.Struct({ type: Schema.Literal("service_account"), ...fileFields }),
  Schema.Struct({ type: Schema.Literal("external_account"), ...fileFields }),
  Schema.Struct({ type: Schema.Literal("user"), ...fileFields })
] as const

const impersonated = Schema.Struct({
  type: Schema.Literal("impersonated"),
  service_account: nonEmptyText.annotate({ description: "The service account that Vertex AI is called as." }),
  source: Schema.optionalKey(
    Schema.Union([Schema.Literal("application_default"), ...credentialFiles]).annotate({
      description: "What may act as it, by the role Service Account Token Creator; application_default unless set."
    })
  ),
  delegates: Schema.optionalKey(
    nonEmptyTexts.annotate({ description: "Service accounts between both, in the order of the chain." })
  ),
  scopes: Schema.optionalKey(
    nonEmptyTexts.annotate({ description: "Scopes of the token; cloud-platform unless set." })
  ),
  lifetime: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 600, maximum: 43_200 })).annotate({
      description: "Seconds that a token lives, 600 to 43200; 3600 unless set."
    })
  )
})

const credentials = Schema.Union([
  ...credentialFiles,
  impersonated,
  Schema.Struct({
    type: Schema.Literal("access_token"),
    token: nonEmptyText.annotate({ description: "An access token; it lives for an hour." })
  }),
  Schema.Struct({ type: Schema.Literal("application_default") }),
  Schema.Struct({
    type: Schema.Literal("api_key"),
    key: nonEmptyText.annotate({ description: "An API key, of Vertex AI in express mode for one." })
  })
])

/** Certificates of one host, by files. */
export const tlsFiles = Schema.Struct({
  ca_file: Schema.optionalKey(
    nonEmptyText.annotate({ description: "PEM file of a further authority, relative to the configuration file." })
  ),
  cert_file: Schema.optionalKey(
    nonEmptyText.annotate({ description: "PEM file of the client's certificate; needs key_file." })
  ),
  key_file: Schema.optionalKey(nonEmptyText.annotate({ description: "PEM file of its private key." })),
  server_name: Schema.optionalKey(
    nonEmptyText.annotate({ description: "Name in the host's certificate, where the address has another." })
  )
})

const endpoint = Schema.Struct({
  dialect: Schema.Literals(["openai", "gemini", "predict"]).annotate({ description: "What the endpoint speaks." }),
  host: Schema.optionalKey(nonEmptyText.annotate({ description: "Host of a dedicated endpoint." })),
  model: Schema.optionalKey(nonEmptyText.annotate({ description: "Name under which the endpoint serves its model." }))
})

/** An account as it is written down. */
export const ProviderEntry = Schema.Struct({
  slug: nonEmptyText.annotate({ description: "Name of the account, written @slug/ before a model." }),
  provider: Schema.Literals(["vertex-ai", "google"]).annotate({
    description: "Vertex AI or the Gemini Developer API."
  }),
  api_key: Schema.optionalKey(
    nonEmptyText.annotate({ description: "Key of the Gemini API; write ${NAME} and keep it out of the file." })
  ),
  project_id: Schema.optionalKey(
    nonEmptyText.annotate({ description: "Google Cloud project; that of the service account unless set." })
  ),
  region: Schema.optionalKey(nonEmptyText.annotate({ description: "A region, global, us or eu." })),
  credentials: Schema.optionalKey(
    credentials.annotate({ description: "As whom Vertex AI is called; without any, requests bring their own." })
  ),
  endpoints: Schema.optionalKey(
    Schema.Record(Schema.String, endpoint).annotate({
      description: "Endpoints you deployed, by the id in their model names."
    })
  ),
  models: Schema.optionalKey(
    nonEmptyTexts.annotate({ description: "Model ids on offer; a * at the end stands for any rest." })
  ),
  api_version: Schema.optionalKey(
    nonEmptyText.annotate({ description: "v1 or v1beta1, for one; what each operation needs unless set." })
  ),
  quota_project: Schema.optionalKey(
    nonEmptyText.annotate({ description: "Project that is billed in place of the one that is called." })
  ),
  projects: Schema.optionalKey(
    nonEmptyTexts.annotate({
      description:
        "Further projects that a request may name under the stored credential; a * at the end stands for any rest. None unless set."
    })
  ),
  regions: Schema.optionalKey(
    nonEmptyTexts.annotate({
      description:
        "Further regions that a request may name under the stored credential; a * at the end stands for any rest. None unless set."
    })
  ),
  gcs: Schema.optionalKey(
    Schema.Struct({
      read: Schema.optionalKey(
        nonEmptyTexts.annotate({ description: "Prefixes gs://bucket/path of the objects; any object unless set." })
      ),
      write: Schema.optionalKey(
        nonEmptyTexts.annotate({ description: "Prefixes under which pictures may be stored; none unless set." })
      )
    }).annotate({ description: "What of Cloud Storage a request may name under the stored credential." })
  ),
  request_type: Schema.optionalKey(
    Schema.Literals(requestTypes).annotate({
      description:
        "The throughput that serves requests: dedicated (bought, never beyond it) or shared (on demand only). Bought first and then on demand unless set."
    })
  ),
  base_url: Schema.optionalKey(nonEmptyText.annotate({ description: "Replaces scheme and host of the provider." })),
  tls: Schema.optionalKey(
    tlsFiles.annotate({ description: "Certificates of the host of base_url; in the configuration file only." })
  ),
  token_url: Schema.optionalKey(nonEmptyText.annotate({ description: "Replaces the token endpoint." }))
})

export type ProviderEntry = typeof ProviderEntry.Type

/** The fields of an entry that its account has unchanged. */
export const accountFields = Struct.keys(
  Struct.omit(ProviderEntry.fields, ["slug", "provider", "api_key", "credentials", "endpoints", "gcs", "tls"])
)
