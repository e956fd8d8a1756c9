// `serve` with a certificate: start-up lines, `health`, and a certificate that is replaced on the disk.
// Must not start a process.
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { connect } from "node:tls"
import { expect, it } from "vitest"
import { makeCertificates } from "../support/certificates.ts"
import { commandLine, startCommand } from "../support/commandLine.ts"
import { until } from "../support/eventually.ts"

const { authority, host } = makeCertificates()
const [first, second] = [host("localhost"), host("localhost")]
const env = { GATEWAY_LIMITS_READY_DELAY_MILLIS: "0", GATEWAY_LIMITS_REFRESH_MILLIS: "20", GATEWAY_LOG_FORMAT: "json" }
const yaml = "server: { port: 0, base_path: /llm, tls: { cert_file: tls.crt, key_file: tls.key } }"

/** The certificate that a port shows. */
const shown = async (port: number): Promise<string> => {
  const socket = connect({ port, host: "127.0.0.1", servername: "localhost", ca: authority })
  await once(socket, "secureConnect")
  const certificate = socket.getPeerX509Certificate()?.toString() ?? ""
  socket.destroy()
  return certificate
}

it("serve: a changed certificate is taken over, one without its key is not (K23)", async () => {
  const files = { "gateway.yaml": yaml, "tls.crt": first.cert, "tls.key": first.key }
  const gateway = startCommand(["serve", "--config", "gateway.yaml"], env, { files })
  const [, text = ""] = await gateway.said(/API {6}https:\/\/127\.0\.0\.1:(\d+)\/llm\/v1/)
  const port = Number(text)
  expect(await shown(port)).toBe(first.cert)
  writeFileSync(join(gateway.folder, "tls.crt"), second.cert)
  await gateway.said(/server\.tls\.key_file {2}is not the key of the certificate in cert_file/)
  await gateway.said(/The configuration has faults; the one in use stays/)
  expect(await shown(port)).toBe(first.cert)
  writeFileSync(join(gateway.folder, "tls.key"), second.key)
  await gateway.said(/The configuration was reloaded from gateway\.yaml: serverTls changed\."/)
  await until(async () => (await shown(port)) === second.cert)
  writeFileSync(join(gateway.folder, "gateway.yaml"), "server: { port: 0, base_path: /llm }")
  await gateway.said(/Needs a restart: serverTls\./)
  expect(await shown(port)).toBe(second.cert)
  expect((await gateway.stop()).code).toBe(0)
})

it("health: asks its own gateway by TLS under any name, and another only where its certificate holds (K23)", async () => {
  const files = { "gateway.yaml": yaml, "tls.crt": first.cert, "tls.key": first.key }
  const gateway = startCommand(["serve", "--config", "gateway.yaml"], env, { files })
  const [, port = ""] = await gateway.said(/API {6}https:\/\/127\.0\.0\.1:(\d+)\/llm\/v1/)
  const own = { ...files, "gateway.yaml": yaml.replace("port: 0", `port: ${port}`) }
  expect(await commandLine(["health"], {}, { files: own })).toEqual({ code: 0, out: "ready\n", err: "" })
  expect(await commandLine(["health", "--url", `https://127.0.0.1:${port}/llm/`])).toEqual({
    code: 1,
    out: "",
    err: `no answer from https://127.0.0.1:${port}\n`
  })
  expect((await gateway.stop()).code).toBe(0)
})
