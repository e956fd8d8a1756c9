// Tests the tokens of federated identities and of impersonated service accounts, against a Google on loopback.
// Must not leave the machine.
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { ExternalAccountClient } from "google-auth-library"
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, beforeEach } from "vitest"
import { TokenProvider } from "../../src/auth/TokenProvider.ts"
import type { Credentials, ProviderAccount } from "../../src/domain/ProviderAccount.ts"
import { parseCredential } from "../../src/domain/settings/credentialFile.ts"
import { entryFault, readAccount } from "../../src/domain/settings/readAccount.ts"
import type { Json } from "../../src/domain/text/json.ts"
import { Transport } from "../../src/upstream/Transport.ts"
import { type Asked, type FakeGoogle, startFakeGoogle } from "../support/fakeGoogle.ts"
import { account } from "./keys.ts"

let google: FakeGoogle
let before = 0
const asked = (): ReadonlyArray<Asked> => google.asked.slice(before)
beforeAll(async () => {
  google = await startFakeGoogle()
})
beforeEach(() => {
  before = google.asked.length
})
afterAll(() => google.close())

const folder = mkdtempSync(join(tmpdir(), "federated-"))
const subjectFile = join(folder, "subject")
writeFileSync(subjectFile, "subject-of-file\n")

const audience = "//iam.googleapis.com/projects/123456/locations/global/workloadIdentityPools/pool/providers/own"
const robot = "robot@my-project.iam.gserviceaccount.com"
const actAs = (name = robot) => `${google.origin}/v1/projects/-/serviceAccounts/${name}:generateAccessToken`

const federated = (some: Readonly<Record<string, Json>> = {}) => ({
  type: "external_account",
  audience,
  subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
  token_url: `${google.origin}/v1/token`,
  credential_source: { file: subjectFile },
  ...some
})

const user = () => ({
  type: "external_account_authorized_user",
  client_id: "client",
  client_secret: "sekret-client",
  refresh_token: "sekret-refresh",
  token_url: `${google.origin}/v1/oauthtoken`
})

const credentialOf = (json: Json): Credentials => Result.getOrThrow(parseCredential(json))
const withCredential = (json: Json): ProviderAccount => account({ credentials: credentialOf(json) })

const bearer = (of: ProviderAccount) =>
  Effect.map(
    Effect.flatMap(TokenProvider, (tokens) => tokens.authorization(of)),
    ({ authorization }) => (authorization === undefined ? "" : Redacted.value(authorization))
  )
const layer = (credentialsFile?: string) =>
  TokenProvider.layerWith({ credentialsFile }).pipe(Layer.provide(Transport.layer))
const run = <A, E>(work: Effect.Effect<A, E, TokenProvider>, credentialsFile?: string): Promise<A> =>
  Effect.runPromise(Effect.provide(work, layer(credentialsFile)))

const exchange = (subject: string, more: Readonly<Record<string, string>> = {}) => ({
  grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
  audience,
  scope: "https://www.googleapis.com/auth/cloud-platform",
  requested_token_type: "urn:ietf:params:oauth:token-type:access_token",
  subject_token: subject,
  subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
  ...more
})
const fields = (one: Asked | undefined) => Object.fromEntries(new URLSearchParams(one?.body))

it("federation: exchanges the token of a file once for all that wait (K1)", async () => {
  const of = withCredential(federated())
  expect(await run(Effect.all([bearer(of), bearer(of), bearer(of)], { concurrency: 3 }))).toEqual([
    "Bearer federated-token",
    "Bearer federated-token",
    "Bearer federated-token"
  ])
  expect(asked().map(({ authorization, line }) => [line, authorization])).toEqual([["POST /v1/token", undefined]])
  expect(fields(asked()[0])).toEqual(exchange("subject-of-file"))
})

it("federation: sends the same exchange as google-auth-library (K1)", async () => {
  const file = join(folder, "one-line")
  writeFileSync(file, "subject")
  const written = federated({ credential_source: { file } })
  await run(bearer(withCredential(written)))
  const client = ExternalAccountClient.fromJSON(written)
  await client?.getAccessToken()
  const [ours, theirs] = asked()
  expect(fields(ours)).toEqual(fields(theirs))
})

it("federation: reads a token from an address and a member of JSON, and acts as a service account (K1)", async () => {
  const source = {
    url: `${google.origin}/identity`,
    headers: { Authorization: "Bearer machine" },
    format: { type: "json", subject_token_field_name: "value" }
  }
  const of = withCredential(
    federated({
      credential_source: source,
      service_account_impersonation_url: actAs(),
      service_account_impersonation: { token_lifetime_seconds: 900 }
    })
  )
  expect(await run(bearer(of))).toBe("Bearer impersonated-token")
  expect(asked().map(({ authorization, line }) => [line, authorization])).toEqual([
    ["GET /identity", "Bearer machine"],
    ["POST /v1/token", undefined],
    [`POST /v1/projects/-/serviceAccounts/${robot}:generateAccessToken`, "Bearer federated-token"]
  ])
  expect(fields(asked()[1])).toEqual(exchange("subject-of-url"))
  expect(JSON.parse(asked()[2]?.body ?? "")).toEqual({
    delegates: [],
    scope: ["https://www.googleapis.com/auth/cloud-platform"],
    lifetime: "900s"
  })
})

it("federation: names client or project of a workforce pool (K1)", async () => {
  const workforce = "//iam.googleapis.com/locations/global/workforcePools/pool/providers/own"
  await run(bearer(withCredential(federated({ audience: workforce, workforce_pool_user_project: "my-billing" }))))
  await run(bearer(withCredential(federated({ client_id: "client", client_secret: "sekret" }))))
  expect(fields(asked()[0])).toEqual({
    ...exchange("subject-of-file"),
    audience: workforce,
    options: '{"userProject":"my-billing"}'
  })
  expect(asked()[1]?.authorization).toBe(`Basic ${Buffer.from("client:sekret").toString("base64")}`)
})

it("federation: renews the login of a user of a workforce pool (K1)", async () => {
  expect(await run(bearer(withCredential(user())))).toBe("Bearer federated-token")
  expect(asked()).toEqual([
    {
      line: "POST /v1/oauthtoken",
      authorization: `Basic ${Buffer.from("client:sekret-client").toString("base64")}`,
      body: "grant_type=refresh_token&refresh_token=sekret-refresh"
    }
  ])
})

it("impersonation: follows a chain of sources, and application default credentials (K1, K2)", async () => {
  const chain = {
    type: "impersonated_service_account",
    service_account_impersonation_url: actAs("last@my-project.iam.gserviceaccount.com"),
    delegates: ["projects/-/serviceAccounts/middle@my-project.iam.gserviceaccount.com"],
    source_credentials: {
      type: "impersonated_service_account",
      service_account_impersonation_url: actAs("first@my-project.iam.gserviceaccount.com"),
      source_credentials: user()
    }
  }
  expect(await run(bearer(withCredential(chain)))).toBe("Bearer impersonated-token")
  const steps = [
    ["POST /v1/oauthtoken", `Basic ${Buffer.from("client:sekret-client").toString("base64")}`],
    [
      "POST /v1/projects/-/serviceAccounts/first@my-project.iam.gserviceaccount.com:generateAccessToken",
      "Bearer federated-token"
    ],
    [
      "POST /v1/projects/-/serviceAccounts/last@my-project.iam.gserviceaccount.com:generateAccessToken",
      "Bearer impersonated-token"
    ]
  ]
  expect(asked().map(({ authorization, line }) => [line, authorization])).toEqual(steps)
  expect(JSON.parse(asked()[2]?.body ?? "")).toMatchObject({
    delegates: ["projects/-/serviceAccounts/middle@my-project.iam.gserviceaccount.com"],
    lifetime: "3600s"
  })
  const file = join(folder, "chain.json")
  writeFileSync(file, JSON.stringify(chain))
  const ambient = account({
    credentials: {
      _tag: "Impersonated",
      source: { _tag: "ApplicationDefault" },
      impersonation: { url: actAs("own@my-project.iam.gserviceaccount.com"), delegates: [], lifetimeSeconds: 600 },
      quotaProject: undefined
    }
  })
  expect(await run(bearer(ambient), file)).toBe("Bearer impersonated-token")
  expect(
    asked()
      .slice(3)
      .map(({ line }) => line)
  ).toEqual([
    ...steps.map(([line]) => line),
    "POST /v1/projects/-/serviceAccounts/own@my-project.iam.gserviceaccount.com:generateAccessToken"
  ])
  expect(JSON.parse(asked()[6]?.body ?? "")).toMatchObject({ lifetime: "600s" })
})

const refusal = (json: Json) => run(Effect.map(Effect.flip(bearer(withCredential(json))), ({ reason }) => reason))

it("federation: quotes no identity token, client secret or login in an error (K1)", async () => {
  expect(
    await refusal(federated({ token_url: `${google.origin}/refused/token`, client_id: "c", client_secret: "sekret" }))
  ).toEqual({
    _tag: "CredentialsRejected",
    origin: "stored",
    upstreamCode: "invalid_grant",
    message: expect.stringMatching(
      /^The token endpoint refused the credential \(invalid_grant: The request grant_type=.*&subject_token=\[redacted\]&.* is refused\.\)\.$/
    )
  })
  expect(await refusal({ ...user(), token_url: `${google.origin}/refused/token` })).toMatchObject({
    message:
      "The token endpoint refused the credential (invalid_grant: The request grant_type=refresh_token&refresh_token=[redacted] is refused.)."
  })
  expect(await refusal(federated({ credential_source: { file: join(folder, "gone") } }))).toEqual({
    _tag: "CredentialsRejected",
    origin: "stored",
    message: "The file of the identity token cannot be read."
  })
})

it("federation: a file that cannot be used is refused with the member at fault (K1)", () => {
  const faultOf = (json: Json) => Result.merge(Result.map(parseCredential(json), () => "taken"))
  const refused = (text: string) => `Credentials of type "external_account": ${text}`
  const unread =
    "credential_source has neither a file nor an http or https url; programs, certificates and AWS are not taken."
  expect(
    [
      federated({ audience: "" }),
      federated({ token_url: "http://sts.example/v1/token" }),
      federated({ token_url: "https://user:sekret@sts.example/v1/token" }),
      federated({ credential_source: { executable: { command: "/bin/sekret" } } }),
      federated({ credential_source: { environment_id: "aws1", url: "http://169.254.169.254/" } }),
      federated({ credential_source: { file: "x", format: { type: "json" } } }),
      federated({ workforce_pool_user_project: "no project" }),
      federated({
        service_account_impersonation_url: actAs(),
        service_account_impersonation: { token_lifetime_seconds: 1 }
      }),
      { type: "impersonated_service_account", source_credentials: { type: "external_account" } }
    ].map(faultOf)
  ).toEqual([
    refused("audience is missing."),
    refused("token_url is not an https URL."),
    refused("token_url is not an https URL."),
    refused(unread),
    refused(unread),
    refused("credential_source.format has no subject_token_field_name."),
    refused("workforce_pool_user_project is not a Google Cloud project id or number."),
    refused("token_lifetime_seconds is not a number from 600 to 43200."),
    'Credentials of type "impersonated_service_account": source_credentials: Credentials of type "external_account": audience is missing.'
  ])
})

it("federation: an account of the admin API names no file and no address (K1)", () => {
  const json = {
    type: "impersonated_service_account",
    service_account_impersonation_url: "https://trap.example/x:generateAccessToken",
    source_credentials: user()
  }
  const faultsOf = (content: Parameters<typeof readAccount>[0]["credentials"]) =>
    readAccount(
      { slug: "v", provider: "vertex-ai", ...(content === undefined ? {} : { credentials: content }) },
      entryFault
    ).faults.map(({ message }) => message)
  const refused = "a credential that names files or addresses is taken from the configuration file only"
  expect([federated(), user(), json].map((content) => faultsOf({ type: "external_account", json: content }))).toEqual([
    [refused],
    [refused],
    [refused]
  ])
  expect(
    faultsOf({ type: "impersonated", service_account: robot, source: { type: "user", json: JSON.stringify(json) } })
  ).toEqual([refused])
  expect(faultsOf({ type: "impersonated", service_account: robot })).toEqual([])
})
