// The schema of a provider entry, in the configuration file and in the store: account, credentials, endpoints.
// It must not know how an entry becomes an account, or how a credential is used.
import * as Schema from "effect/Schema"
import { requestTypes } from "../ProviderAccount.ts"
import { nonEmptyText, nonEmptyTexts } from "../config/configured.ts"

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
