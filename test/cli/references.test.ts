// Tests secrets by reference: a file, a variable or a version in Secret Manager in the place of a text.
// Must not call a host beyond this machine.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { substitute } from "../../src/cli/settings/environment.ts"
import { readConfiguration } from "../../src/cli/settings/LoadSettings.ts"
import type { Json } from "../../src/domain/text/json.ts"
import { type FakeGoogle, startFakeGoogle } from "../support/fakeGoogle.ts"

const references = {
  fileText: (path: string) =>
    path === "/run/secrets/key" ? Result.succeed("of-file\r\n") : Result.fail("does not exist"),
  secretText: (name: string) => Result.succeed(`of-${name}`)
}
const read = (value: Json) => substitute(value, { KEY: "of-variable", EMPTY: "" }, references)

describe("references in place of a text", () => {
  it("references: a variable, a file without its line end, and a version of a secret (K6)", () => {
    const value = {
      providers: [{ api_key: { env: "KEY" } }, { api_key: { file: "/run/secrets/key" } }],
      redis: { url: { secret: "projects/p/secrets/redis" } },
      store: { url: { secret: "projects/p/secrets/store/versions/7" } }
    }
    expect(read(value)).toEqual({
      value: {
        providers: [{ api_key: "of-variable" }, { api_key: "of-file" }],
        redis: { url: "of-projects/p/secrets/redis/versions/latest" },
        store: { url: "of-projects/p/secrets/store/versions/7" }
      },
      faults: []
    })
  })

  it("references: a fault has its place and no value (K6)", () => {
    const value = {
      keys: [{ key: { env: "EMPTY" } }, { key: { file: "/none" } }, { key: { secret: "redis" } }]
    }
    const unread = { key: "\u0000" }
    expect(read(value)).toEqual({
      value: { keys: [unread, unread, unread] },
      faults: [
        { path: "keys[0].key", message: "the environment variable EMPTY is not set", at: ["keys", 0, "key"] },
        { path: "keys[1].key", message: "does not exist", at: ["keys", 1, "key"] },
        {
          path: "keys[2].key",
          message: "expected projects/PROJECT/secrets/SECRET, or that with /versions/VERSION",
          at: ["keys", 2, "key"]
        }
      ]
    })
  })

  it.each<Json>([
    { providers: [{ credentials: { file: "./service-account.json" } }] },
    { configs: { a: { override_params: { metadata: { env: "KEY" } } } } },
    { prompts: [{ messages: [{ content: { file: "a" } }] }] },
    { providers: [{ headers: { env: "a", file: "b" } }] }
  ])("references: %j has none (K6)", (value) => {
    expect(read(value)).toEqual({ value, faults: [] })
  })
})

describe("Secret Manager", () => {
  let google: FakeGoogle
  let folder: string
  beforeAll(async () => {
    google = await startFakeGoogle()
    folder = mkdtempSync(join(tmpdir(), "gateway-references-"))
    const login = {
      type: "external_account",
      audience: "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/p",
      subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
      token_url: `${google.origin}/v1/token`,
      credential_source: { file: join(folder, "subject") }
    }
    writeFileSync(join(folder, "subject"), "subject-of-file")
    writeFileSync(join(folder, "login.json"), JSON.stringify(login))
    vi.stubEnv("GOOGLE_APPLICATION_CREDENTIALS", join(folder, "login.json"))
    vi.stubEnv("CLOUDSDK_API_ENDPOINT_OVERRIDES_SECRETMANAGER", `${google.origin}/`)
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    rmSync(folder, { recursive: true })
    await google.close()
  })

  const reading = (secret: string) => {
    const file = join(folder, "gateway.yaml")
    writeFileSync(file, `providers:\n  - { slug: gemini, provider: google, api_key: { secret: ${secret} } }\n`)
    return Effect.runPromise(readConfiguration({ config: file, flags: {} }))
  }

  it("Secret Manager: the login of the machine reads the latest version, and workers get it with the files (K6)", async () => {
    const { copy, outcome } = await reading("projects/p/secrets/gemini-key")
    const keyOf = (loaded: typeof outcome) => {
      const { credentials } = Result.getOrThrow(loaded).settings.accounts.find(({ slug }) => slug === "gemini") ?? {}
      return credentials?._tag === "ApiKey" ? Redacted.value(credentials.key) : undefined
    }
    const asked = google.asked.map(({ authorization, line }) => [line, authorization])
    expect(asked).toEqual([
      ["POST /v1/token", undefined],
      ["GET /v1/projects/p/secrets/gemini-key/versions/latest:access", "Bearer federated-token"]
    ])
    const ofWorker = await Effect.runPromise(readConfiguration({ config: undefined, flags: {}, copy }))
    expect([keyOf(outcome), keyOf(ofWorker.outcome), google.asked.length]).toEqual([
      "AIza-of-secret-manager",
      "AIza-of-secret-manager",
      2
    ])
  })

  it("Secret Manager: without a credential file the metadata server that the environment names is asked (K1 K6)", async () => {
    vi.stubEnv("GOOGLE_APPLICATION_CREDENTIALS", "")
    vi.stubEnv("CLOUDSDK_CONFIG", folder)
    vi.stubEnv("GCE_METADATA_HOST", google.origin.replace("http://", ""))
    const before = google.asked.length
    const { outcome } = await reading("projects/p/secrets/gemini-key/versions/3")
    vi.stubEnv("GOOGLE_APPLICATION_CREDENTIALS", join(folder, "login.json"))
    expect(google.asked.slice(before).map(({ authorization, line }) => [line, authorization])).toEqual([
      ["GET /computeMetadata/v1/instance/service-accounts/default/token", undefined],
      ["GET /v1/projects/p/secrets/gemini-key/versions/3:access", "Bearer metadata-token"]
    ])
    expect(Result.getOrThrow(outcome).settings.metadataUrl).toBe(google.origin)
  })

  it("Secret Manager: a secret that cannot be read is a fault at its line (K6)", async () => {
    const { outcome } = await reading("projects/p/secrets/none")
    expect(Result.isFailure(outcome) ? outcome.failure : "").toBe(
      `${join(folder, "gateway.yaml")}:2:39  providers[0].api_key  the secret cannot be read: Secret Manager answered 400`
    )
  })
})
