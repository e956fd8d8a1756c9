// Tests the settings of how the gateway is served: base path, trusted proxies, certificate.
// Must not start a process.
import * as Result from "effect/Result"
import { expect, it } from "vitest"
import { readSettings } from "../../src/cli/settings/readSettings.ts"
import * as Redacted from "effect/Redacted"
import { makeCertificates } from "../support/certificates.ts"
import type { Json } from "../../src/domain/text/json.ts"

const read = (file: Json, env: Record<string, string> = {}) =>
  readSettings({ file, env, flags: {}, fileText: () => Result.fail("no file") })
const serverOf = (file: Json, env?: Record<string, string>) => Result.getOrThrow(read(file, env)).server

it.each([
  [{ server: { base_path: "/llm" } }, {}, "/llm"],
  [{ server: { base_path: "/a/b-c_d.~/" } }, {}, "/a/b-c_d.~"],
  [{ server: { base_path: "/" } }, {}, undefined],
  [null, {}, undefined],
  [{ server: { base_path: "/llm" } }, { GATEWAY_SERVER_BASE_PATH: "/other" }, "/other"]
])("server settings: the base path from file and variable (%#) (K23)", (file, env, basePath) => {
  expect(serverOf(file, env).basePath).toBe(basePath)
})

it.each(["llm", "//llm", "/llm//", "/a/../b", "/.", "/a b", "/a?b", "/a#b", "https://example.com/llm", "/%6c"])(
  "server settings: %s is no base path (K23)",
  (path) => {
    expect(read({ server: { base_path: path } })).toEqual(
      Result.fail([
        {
          path: "server.base_path",
          at: ["server", "base_path"],
          message: `"${path}" is not a path such as /llm, of letters, digits, and . _ ~ - in each segment`
        }
      ])
    )
  }
)

it("server settings: trusted proxies from file and variable (K23)", () => {
  const proxies = ["10.0.0.0/8", "192.0.2.7", "fd00::/8", "::1"]
  expect(serverOf({ server: { trusted_proxies: proxies } }).trustedProxies).toEqual(proxies)
  expect(serverOf(null, { GATEWAY_SERVER_TRUSTED_PROXIES: "10.0.0.0/8, ::1" }).trustedProxies).toEqual([
    "10.0.0.0/8",
    "::1"
  ])
  expect(serverOf(null).trustedProxies).toBeUndefined()
})

it.each([
  "proxy.example.com",
  "10.0.0.0/33",
  "10.0.0",
  "256.0.0.1",
  "fd00::/129",
  "1.2.3.4/",
  "10.0.0.0/8/8",
  "*",
  "unix",
  "::1%lo"
])("server settings: %s is no proxy to trust (K23)", (proxy) => {
  expect(read({ server: { trusted_proxies: [proxy] } })).toEqual(
    Result.fail([
      {
        path: "server.trusted_proxies[0]",
        at: ["server", "trusted_proxies", 0],
        message: `"${proxy}" is not an address, or a range such as 10.0.0.0/8`
      }
    ])
  )
})

const { good, host } = makeCertificates()
const files: Readonly<Record<string, string>> = {
  "a.crt": good.cert,
  "a.key": good.key,
  "b.key": host("localhost").key,
  "no.key": "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
}
const readTls = (cert: string, key: string) =>
  readSettings({
    file: { server: { tls: { cert_file: cert, key_file: key } } },
    env: {},
    flags: {},
    fileText: (path) =>
      files[path] === undefined ? Result.fail("the file does not exist") : Result.succeed(files[path])
  })

it("server settings: a certificate with its key (K23)", () => {
  const { serverTls } = Result.getOrThrow(readTls("a.crt", "a.key"))
  expect([serverTls?.cert, serverTls && Redacted.value(serverTls.key), JSON.stringify(serverTls?.key)]).toEqual([
    good.cert,
    good.key,
    '"<redacted:private key>"'
  ])
})

it.each([
  ["a.crt", "b.key", "key_file", "is not the key of the certificate in cert_file"],
  ["a.crt", "no.key", "key_file", "does not fit cert_file: both are PEM, and the key has no passphrase"],
  ["a.key", "a.key", "cert_file", "the file holds no PEM of this kind"],
  ["a.crt", "a.crt", "key_file", "the file holds no PEM of this kind"],
  ["a.crt", "gone.key", "key_file", "the file does not exist"]
])("server settings: %s with %s is a fault (K23)", (cert, key, member, message) => {
  expect(readTls(cert, key)).toEqual(
    Result.fail([{ path: `server.tls.${member}`, at: ["server", "tls", member], message }])
  )
})

it("server settings: TLS needs both files (K23)", () => {
  expect(Result.getFailure(read({ server: { tls: { cert_file: "a.crt" } } }))).toMatchObject({
    value: [{ path: "server.tls.key_file" }]
  })
})
