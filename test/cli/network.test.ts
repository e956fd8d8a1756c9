// Tests the network of a company by the command line: a proxy, an authority and certificates of its own.
// Must not leave the machine: hosts exist at the proxy only.
import { once } from "node:events"
import { createServer } from "node:https"
import { afterAll, beforeAll, expect, it } from "vitest"
import { makeCertificates } from "../support/certificates.ts"
import { commandLine, startCommand } from "../support/commandLine.ts"
import { type ForwardProxy, startForwardProxy } from "../support/forwardProxy.ts"
import { reply } from "../support/gemini.ts"
import { geminiKey } from "../support/TestGateway.ts"

const certificates = makeCertificates()
const google = "generativelanguage.googleapis.com"
const lines: Array<string> = []
const upstream = createServer(
  { ...certificates.host(google), requestCert: true, rejectUnauthorized: false, ca: certificates.authority },
  (request, response) => {
    lines.push(`${request.method} ${request.headers.host} ${request.url}`)
    request.resume().on("end", () => {
      response.setHeader("content-type", "application/json")
      response.end(JSON.stringify(reply([{ text: "Hello." }], { finishReason: "STOP" })))
    })
  }
)
let port = 0
let proxy: ForwardProxy
beforeAll(async () => {
  await once(upstream.listen(0, "127.0.0.1"), "listening")
  const address = upstream.address()
  if (address === null || typeof address === "string") throw new Error("no port")
  port = address.port
  proxy = await startForwardProxy({ to: port })
})
afterAll(async () => {
  await proxy.close()
  upstream.closeAllConnections()
  await new Promise((done) => upstream.close(done))
})

const key = "mgk_network000000000000000000000000"
const ask = async (origin: string, model: string): Promise<number> => {
  const answer = await fetch(`${origin}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-gateway-api-key": key },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "Hi" }] })
  })
  await answer.text()
  return answer.status
}

it("serve reaches providers and a collector by the proxy of the environment, with an authority of its own (K20, K21)", async () => {
  const credential = `Basic ${Buffer.from("user:sekret").toString("base64")}`
  const client = certificates.host("client.test")
  const files = {
    "gateway.json": JSON.stringify({
      network: { ca_file: "ca.pem" },
      providers: [
        { slug: "google", provider: "google", api_key: geminiKey },
        {
          slug: "private",
          provider: "google",
          api_key: geminiKey,
          base_url: `https://127.0.0.1:${port}`,
          tls: { server_name: google, cert_file: "client.pem", key_file: "client.key" }
        }
      ]
    }),
    "ca.pem": certificates.authority,
    "client.pem": client.cert,
    "client.key": client.key
  }
  const env = {
    GATEWAY_API_KEY: key,
    GATEWAY_STORE_URL: "sqlite::memory:",
    HTTPS_PROXY: `http://user:sekret@127.0.0.1:${proxy.port}`,
    http_proxy: `127.0.0.1:${proxy.port}`,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://collector.test:4318/v1/traces"
  }
  const gateway = startCommand(["serve", "--port", "0"], env, { files })
  const [, origin = ""] = await gateway.said(/API {6}(http:\S+)\/v1/)
  expect([await ask(origin, "@google/gemini-2.5-flash"), await ask(origin, "@private/gemini-2.5-flash")]).toEqual([
    200, 200
  ])
  const ended = await gateway.stop()
  expect(ended.code).toBe(0)
  expect(`${ended.out}${ended.err}`).not.toContain("sekret")
  expect(lines).toEqual([
    `POST ${google} /v1beta/models/gemini-2.5-flash:generateContent`,
    `POST 127.0.0.1:${port} /v1beta/models/gemini-2.5-flash:generateContent`
  ])
  expect(proxy.asked).toEqual([
    { line: `CONNECT ${google}:443`, credential },
    { line: "POST http://collector.test:4318/v1/traces", credential: undefined }
  ])
})

it("check names a proxy, a file of certificates and a pair that cannot be used, without their text (K20, K21)", async () => {
  const files = {
    "gateway.json": JSON.stringify({
      network: { proxy: "socks5://user:sekret@proxy", ca_file: "gateway.json" },
      providers: [
        { slug: "g", provider: "google", api_key: geminiKey, tls: { ca_file: "gone.pem", cert_file: "ca.pem" } }
      ]
    }),
    "ca.pem": certificates.authority
  }
  const { code, err } = await commandLine(["check"], { GATEWAY_STORE_URL: "sqlite::memory:" }, { files })
  expect(code).toBe(2)
  expect(err.split("\n").map((line) => line.replace(/^\S+ +/, ""))).toEqual([
    "network.proxy  is not the address of an HTTP proxy, such as http://user:password@proxy.example.com:3128",
    "network.ca_file  the file holds no PEM of this kind",
    "providers[0].tls  needs cert_file and key_file together",
    "providers[0].tls.ca_file  the file of certificates does not exist",
    ""
  ])
})

it("doctor states by which way a host is reached (K20)", async () => {
  const files = {
    "gateway.json": JSON.stringify({
      network: { proxy: `http://127.0.0.1:${proxy.port}`, no_proxy: ["direct.invalid"], ca_file: "ca.pem" },
      providers: [
        { slug: "google", provider: "google", api_key: geminiKey },
        { slug: "direct", provider: "google", api_key: geminiKey, base_url: "https://direct.invalid" }
      ]
    }),
    "ca.pem": certificates.authority
  }
  const { out } = await commandLine(["doctor"], { GATEWAY_STORE_URL: "sqlite::memory:" }, { files })
  expect(
    out
      .split("\n")
      .filter((line) => /^ *\S+ +host /.test(line))
      .map((line) => line.replace(/ {2,}/g, "  ").trim())
  ).toEqual([
    `ok  host  https://${google} answers, reached by the proxy http://127.0.0.1:${proxy.port}`,
    "fail  host  https://direct.invalid: its name is not known to DNS, reached directly"
  ])
})
