// Accounts and request contexts for tests.
// Must not depend on a test.
import * as Redacted from "effect/Redacted"
import { type ProviderAccount, providerAccount } from "../../src/domain/ProviderAccount.ts"
import type { RequestContext } from "../../src/domain/RequestContext.ts"

export const googleAccount = providerAccount({
  slug: "google",
  kind: "google",
  credentials: { _tag: "ApiKey", key: Redacted.make("test-api-key") }
})

export const vertexAccount: ProviderAccount = {
  ...googleAccount,
  slug: "vertex-ai",
  kind: "vertex-ai",
  project_id: "test-project",
  region: "us-central1",
  credentials: { _tag: "AccessToken", token: Redacted.make("test-token") }
}

export const requestContext: RequestContext = {
  requestId: "request-1",
  traceId: "0123456789abcdef0123456789abcdef",
  createdSeconds: 1_700_000_000,
  startedMillis: 1_700_000_000_000,
  deadlineMillis: undefined,
  key: { id: "key-1", name: "test", scopes: ["inference"] },
  config: undefined,
  configId: undefined,
  providerHeader: undefined,
  carried: {
    authorization: undefined,
    googApiKey: undefined,
    vertexProjectId: undefined,
    vertexRegion: undefined,
    vertexServiceAccountJson: undefined
  },
  strict: true,
  dryRun: false,
  unsupported: "ignore",
  metadata: {},
  betas: [],
  cache: undefined,
  idSeed: "00000000-0000-7000-8000-000000000000",
  recorder: undefined
}
