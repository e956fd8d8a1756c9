// Generates service-account key files for one test run.
// Must not depend on a test.
import { generateKeyPairSync } from "node:crypto"
import * as Result from "effect/Result"
import type { ProviderAccount, ServiceAccountKey } from "../../src/domain/ProviderAccount.ts"
import { parseServiceAccount } from "../../src/domain/settings/credentialFile.ts"
import { vertexAccount } from "../support/account.ts"

const pair = (): { readonly privatePem: string; readonly publicPem: string } => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
  return {
    privatePem: String(privateKey.export({ type: "pkcs8", format: "pem" })),
    publicPem: String(publicKey.export({ type: "spki", format: "pem" }))
  }
}
export const keyA = pair()
export const keyB = pair()

export const keyFile = (privatePem = keyA.privatePem) => ({
  type: "service_account",
  project_id: "sim-project",
  private_key_id: "0123456789abcdef",
  private_key: privatePem,
  client_email: "robot@sim-project.iam.gserviceaccount.com",
  client_id: "1",
  token_uri: "https://trap.invalid/token"
})

export const keyOf = (privatePem = keyA.privatePem): ServiceAccountKey =>
  Result.getOrThrow(parseServiceAccount(keyFile(privatePem)))

export const account = (some: Partial<ProviderAccount> = {}): ProviderAccount => ({
  ...vertexAccount,
  slug: "vertex",
  project_id: "sim-project",
  credentials: { _tag: "ServiceAccount", key: keyOf() },
  ...some
})
