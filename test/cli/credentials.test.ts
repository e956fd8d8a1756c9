// Credentials of accounts on the command line: one that cannot be used, the login of a user, and keys as text.
// Must not call a provider.
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { startFakeGoogle } from "../support/fakeGoogle.ts"
import { commandLine, startCommand } from "../support/commandLine.ts"
import { geminiKey } from "../support/TestGateway.ts"
import { keyFile } from "../auth/keys.ts"

const login = {
  type: "authorized_user",
  client_id: "id",
  client_secret: "sekret",
  refresh_token: "sekret-token",
  quota_project_id: "my-billing"
}
const federated = { type: "external_account", credential_source: { file: "token" } }
const google = { slug: "google", provider: "google", api_key: geminiKey }
const cloud = { slug: "cloud", provider: "vertex-ai", project_id: "my-project", region: "global" }
const text = (...providers: ReadonlyArray<object>) => JSON.stringify({ providers })

const fault = 'Credentials of type "external_account": audience is missing.'

it("serve warns of a credential that it cannot use, serves the other accounts, and check fails", async () => {
  const env = {
    GATEWAY_API_KEY: "mgk_credentials00000000000000000000",
    GATEWAY_LIMITS_READY_DELAY_MILLIS: "0",
    GATEWAY_LIMITS_REFRESH_MILLIS: "20",
    GATEWAY_LOG_FORMAT: "json",
    GATEWAY_STORE_URL: "sqlite::memory:",
    GOOGLE_APPLICATION_CREDENTIALS: "wif.json",
    GOOGLE_CLOUD_LOCATION: "global",
    GOOGLE_CLOUD_PROJECT: "my-project"
  }
  const files = { "gateway.json": text(google), "wif.json": JSON.stringify(federated) }
  expect(await commandLine(["check"], env, { files })).toEqual({
    code: 2,
    out: "",
    err: `GOOGLE_APPLICATION_CREDENTIALS  ${fault}\n`
  })
  const gateway = startCommand(["serve", "--port", "0"], env, { files })
  const [, origin = ""] = await gateway.said(/API {6}(http:\S+)\/v1/)
  const [warning] = await gateway.said(/"msg":"An account has no credential: .*/)
  expect(JSON.parse(`{${warning}`)).toEqual({
    msg: `An account has no credential: GOOGLE_APPLICATION_CREDENTIALS  ${fault}`
  })
  const answer = await fetch(`${origin}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-gateway-api-key": env.GATEWAY_API_KEY },
    body: JSON.stringify({ model: "@vertex-ai/gemini-2.5-flash", messages: [{ role: "user", content: "Hi" }] })
  })
  expect(answer.status).toBe(401)

  // The configuration may change around the fault, and a change that adds one is refused.
  writeFileSync(join(gateway.folder, "gateway.json"), text(google, { ...google, slug: "second" }))
  await gateway.said(/"msg":"The configuration was reloaded from gateway.json: accounts changed\."/)
  writeFileSync(
    join(gateway.folder, "gateway.json"),
    text(google, { ...cloud, credentials: { type: "service_account", file: "gone.json" } })
  )
  await gateway.said(/"msg":"gateway\.json:1:\d+ {2}providers\[1\]\.credentials {2}the credential file does not exist"/)
  await gateway.said(/"msg":"The configuration has faults; the one in use stays\."/)
  expect((await gateway.stop()).code).toBe(0)
})

it("a login of gcloud is a credential of an account, and bills its own project unless the account names one", async () => {
  const headersOf = async (fields: object, env: Readonly<Record<string, string>> = {}) => {
    const files = { "gateway.json": text({ ...cloud, ...fields }), "login.json": JSON.stringify(login) }
    const stdin = JSON.stringify({ model: "gemini-2.5-flash", messages: [{ role: "user", content: "Hello" }] })
    const { err, out } = await commandLine(["explain", "--provider", "cloud"], env, { files, stdin })
    expect(err).toBe("")
    const { headers }: { readonly headers: object } = JSON.parse(out)
    return headers
  }
  const plain = { "content-type": "application/json", authorization: "Bearer <redacted>" }
  const billed = { ...plain, "x-goog-user-project": "my-billing" }
  const byFile = { credentials: { type: "service_account", file: "login.json" } }
  const ambient = { credentials: { type: "application_default" } }
  const named = { GOOGLE_APPLICATION_CREDENTIALS: "login.json" }
  expect(await headersOf(byFile)).toEqual(billed)
  expect(
    await headersOf({ credentials: { type: "service_account", json: "${LOGIN}" } }, { LOGIN: JSON.stringify(login) })
  ).toEqual(billed)
  expect(await headersOf({ ...byFile, quota_project: "other-billing" })).toEqual({
    ...plain,
    "x-goog-user-project": "other-billing"
  })
  expect(await headersOf(ambient, named)).toEqual(billed)
  expect(await headersOf({ credentials: { type: "service_account", json: keyFile() } })).toEqual(plain)
})

it("serve calls Vertex AI by identity federation, by application default credentials and by a file (K1)", async () => {
  const fake = await startFakeGoogle()
  const wif = {
    ...federated,
    audience: "//iam.googleapis.com/projects/123456/locations/global/workloadIdentityPools/pool/providers/own",
    subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
    credential_source: { file: "subject" },
    service_account_impersonation_url: `${fake.origin}/v1/projects/-/serviceAccounts/x@y.iam.gserviceaccount.com:generateAccessToken`,
    token_url: `${fake.origin}/v1/token`,
    quota_project_id: "my-billing"
  }
  const accounts = text(
    { ...cloud, base_url: fake.origin, credentials: { type: "application_default" } },
    { ...cloud, slug: "filed", base_url: fake.origin, credentials: { type: "external_account", file: "wif.json" } }
  )
  const env = {
    GATEWAY_API_KEY: "mgk_credentials00000000000000000000",
    GATEWAY_STORE_URL: "sqlite::memory:",
    GOOGLE_APPLICATION_CREDENTIALS: "wif.json"
  }
  const files = { "gateway.json": accounts, "wif.json": JSON.stringify(wif), subject: "sekret-subject" }
  const gateway = startCommand(["serve", "--port", "0"], env, { files })
  const [, origin = ""] = await gateway.said(/API {6}(http:\S+)\/v1/)
  const ask = async (slug: string) => {
    const answer = await fetch(`${origin}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-gateway-api-key": env.GATEWAY_API_KEY },
      body: JSON.stringify({ model: `@${slug}/gemini-2.5-flash`, messages: [{ role: "user", content: "Hi" }] })
    })
    return answer.status
  }
  expect([await ask("cloud"), await ask("cloud"), await ask("filed")]).toEqual([200, 200, 200])
  const token = ["POST /v1/token", undefined]
  const impersonation = [
    "POST /v1/projects/-/serviceAccounts/x@y.iam.gserviceaccount.com:generateAccessToken",
    "Bearer federated-token"
  ]
  const call = [
    "POST /v1/projects/my-project/locations/global/publishers/google/models/gemini-2.5-flash:generateContent",
    "Bearer impersonated-token"
  ]
  expect(fake.asked.map(({ authorization, line }) => [line, authorization])).toEqual([
    token,
    impersonation,
    call,
    call,
    token,
    impersonation,
    call
  ])
  const ended = await gateway.stop()
  await fake.close()
  expect(ended.code).toBe(0)
  expect(`${ended.out}${ended.err}`).not.toMatch(/sekret|impersonated-token|federated-token/)
})
