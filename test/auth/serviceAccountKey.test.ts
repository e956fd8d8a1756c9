// Tests the reader of service-account key files: the accepted files, and the error of every other.
// Must not depend on the token exchange.
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { generateKeyPairSync } from "node:crypto"
import { describe, expect, it } from "vitest"
import { parseServiceAccount } from "../../src/domain/settings/credentialFile.ts"
import { keyA, keyFile } from "./keys.ts"

const pemOf = (json: unknown): string => Redacted.value(Result.getOrThrow(parseServiceAccount(json)).privateKey)
const sentence = (json: unknown): string => Result.merge(Result.map(parseServiceAccount(json), () => "taken"))

describe("service-account key files", () => {
  it("service-account key: accepts Google's file and leaves token_uri out of the result (T2205)", () => {
    const key = Result.getOrThrow(parseServiceAccount(keyFile()))
    expect({ ...key, privateKey: String(key.privateKey) }).toStrictEqual({
      clientEmail: "robot@sim-project.iam.gserviceaccount.com",
      privateKeyId: "0123456789abcdef",
      privateKey: "<redacted:private key>",
      projectId: "sim-project"
    })
    expect(pemOf(keyFile())).toBe(keyA.privatePem)
  })

  it("service-account key: accepts CRLF, the two characters \\n and missing line ends at the edges (T2205)", () => {
    const forms = [
      keyA.privatePem.replaceAll("\n", "\r\n"),
      keyA.privatePem.replaceAll("\n", "\\n"),
      keyA.privatePem.replaceAll("\n", "\\r\\n"),
      `\n ${keyA.privatePem.trim()}`
    ]
    expect(forms.map((pem) => pemOf(keyFile(pem)))).toStrictEqual(forms.map(() => keyA.privatePem))
  })

  const rsa = (modulusLength: number) => generateKeyPairSync("rsa", { modulusLength }).privateKey
  const ec = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
  const pkcs8 = { type: "pkcs8", format: "pem" } as const
  const cases: ReadonlyArray<readonly [string, unknown, string]> = [
    ["no object", [], "The service-account key must be a JSON object, the key file as Google Cloud made it."],
    ["no type", {}, 'The service-account key has no "type": "service_account".'],
    [
      "TH8 a type that can name URLs",
      { ...keyFile(), type: "external_account", credential_source: { url: "http://trap.invalid" } },
      'Credentials of type "external_account" are not taken; the key file of a service account (type "service_account") is.'
    ],
    [
      "TH8 another universe",
      { ...keyFile(), universe_domain: "trap.invalid" },
      "Only universe_domain googleapis.com is supported."
    ],
    ["no mail", { ...keyFile(), client_email: "" }, 'The service-account key has no "client_email".'],
    ["no key id", { ...keyFile(), private_key_id: 7 }, 'The service-account key has no "private_key_id".'],
    ["no key", { ...keyFile(), private_key: null }, 'The service-account key has no "private_key".'],
    ["no PEM", keyFile("hello"), "The private_key of the service account is not PEM text."],
    [
      "PKCS#1",
      keyFile(String(rsa(2048).export({ type: "pkcs1", format: "pem" }))),
      'The private_key of the service account is "RSA PRIVATE KEY"; an unencrypted PKCS#8 key ("PRIVATE KEY") is needed.'
    ],
    [
      "encrypted",
      keyFile(String(rsa(2048).export({ ...pkcs8, cipher: "aes-256-cbc", passphrase: "x" }))),
      'The private_key of the service account is "ENCRYPTED PRIVATE KEY"; an unencrypted PKCS#8 key ("PRIVATE KEY") is needed.'
    ],
    ["EC", keyFile(String(ec.export(pkcs8))), "The private_key of the service account is not an RSA key."],
    [
      "a short key",
      keyFile(String(rsa(1024).export(pkcs8))),
      "The private_key of the service account is an RSA key of less than 2048 bits."
    ],
    [
      "bytes that are no key",
      keyFile("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----"),
      "The private_key of the service account is not a PKCS#8 key."
    ]
  ]
  for (const [name, json, said] of cases)
    it(`service-account key: refuses ${name} (T2205)`, () => expect(sentence(json)).toBe(said))

  it("service-account key: a key cut at any place is refused without an exception (T2205)", () => {
    const pem = keyA.privatePem
    const taken = Array.from({ length: pem.length - 1 }, (_, i) => i).filter(
      (i) => sentence(keyFile(pem.slice(0, i))) === "taken"
    )
    expect(taken).toStrictEqual([])
  })
})
