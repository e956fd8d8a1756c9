import { createSign, generateKeyPairSync } from "node:crypto"
import { describe, expect, it } from "vitest"
import { asking, place } from "../asking.ts"

const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
const account = {
  clientEmail: "demo@test-project.iam.gserviceaccount.com",
  privateKeyId: "key-1",
  publicKeyPem: publicKey.export({ type: "spki", format: "pem" }).toString(),
  projectId: "test-project"
}
const now = 1_800_000_000_000
const clock = { millis: now }
const { ask } = asking({ serviceAccounts: [account], projects: ["test-project"], now: () => clock.millis })

const hello = { contents: [{ role: "user", parts: [{ text: "Hello" }] }] }
const json = async (path: string, body: unknown, headers: Record<string, string>) => {
  const answer = await ask(path, body, headers)
  return { status: answer.status, body: answer.json() }
}

describe("simulated token endpoint", () => {
  const segment = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")
  const seconds = now / 1000
  const claims = {
    iss: account.clientEmail,
    sub: account.clientEmail,
    aud: "https://oauth2.googleapis.com/token",
    scope: "https://www.googleapis.com/auth/cloud-platform",
    iat: seconds - 30,
    exp: seconds + 3000
  }
  const assertion = (changes: Record<string, unknown> = {}, header: Record<string, unknown> = {}) => {
    const signed = `${segment({ alg: "RS256", typ: "JWT", kid: "key-1", ...header })}.${segment({ ...claims, ...changes })}`
    return `${signed}.${createSign("RSA-SHA256").update(signed).sign(privateKey).toString("base64url")}`
  }
  const exchange = (jwt: string, grant = "urn:ietf:params:oauth:grant-type:jwt-bearer") =>
    json("/token", new URLSearchParams({ grant_type: grant, assertion: jwt }).toString(), {
      "content-type": "application/x-www-form-urlencoded"
    })

  it("token endpoint: issues a token that Vertex AI accepts until it expires", async () => {
    const { status, body } = await exchange(assertion())
    expect([status, body]).toEqual([
      200,
      { access_token: expect.stringMatching(/^ya29\./), expires_in: 3599, token_type: "Bearer" }
    ])
    const call = () =>
      json(`${place}/publishers/google/models/gemini-2.5-flash:generateContent`, hello, {
        authorization: `Bearer ${body.access_token}`
      })
    expect((await call()).status).toBe(200)
    clock.millis = now + 3_600_000
    expect((await call()).status).toBe(401)
    clock.millis = now
  })
  it("token endpoint: refuses what Google refuses", async () => {
    const refusals = [
      await exchange(assertion(), "refresh_token"),
      await exchange("nonsense"),
      await exchange(`${assertion().slice(0, -8)}AAAAAAAA`),
      await exchange(assertion({ iss: "nobody" })),
      await exchange(assertion({ aud: "https://example.com" })),
      await exchange(assertion({ exp: seconds - 1 })),
      await exchange(assertion({ exp: seconds + 5000 })),
      await exchange(assertion({ scope: "email" })),
      await exchange(assertion({}, { kid: "other" })),
      await exchange(assertion({}, { alg: "HS256" }))
    ]
    expect(refusals.map(({ status, body }) => [status, body.error])).toEqual([
      [400, "unsupported_grant_type"],
      [400, "invalid_request"],
      [400, "invalid_grant"],
      [400, "invalid_grant"],
      [400, "invalid_grant"],
      [400, "invalid_grant"],
      [400, "invalid_grant"],
      [400, "invalid_scope"],
      [400, "invalid_grant"],
      [400, "invalid_grant"]
    ])
  })
})
