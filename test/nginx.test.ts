// Tests the nginx file with a real nginx in front of a gateway: the console signs in through it. Left out without nginx.
// Must not use other hosts than loopback.
import { spawn, spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Redacted from "effect/Redacted"
import { describe, expect, it } from "vitest"
import { freePort } from "./bench/contestants.ts"
import { settingsFor, startGateway } from "./support/TestGateway.ts"

const key = "mgk_admin000000000000000000000000"
const path = `${process.env["PATH"] ?? ""}:/usr/sbin:/usr/local/sbin`

const saidWithoutNginx = (what: string): boolean => {
  const isThere = spawnSync("nginx", ["-v"], { env: { PATH: path } }).status === 0
  if (!isThere) console.warn(`\n*** LEFT OUT: ${what}: no nginx on the path ***\n`)
  return isThere
}

/** The server block of the deployment, with these ports, as a whole configuration that runs in one folder. */
const configuration = (folder: string, front: number, back: string): string => {
  const block = readFileSync(fileURLToPath(new URL("../deploy/nginx.conf", import.meta.url)), "utf8")
    .replace("listen 8080;", `listen 127.0.0.1:${front};`)
    .replace("server 127.0.0.1:8787;", `server ${back};`)
    .replace("server 127.0.0.1:8788;", "")
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((of) => `${of}_temp_path ${folder}/${of};`)
  return `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; events {}
http { access_log off; ${temporary.join(" ")}\n${block}}`
}

const answers = async (url: string): Promise<boolean> => {
  try {
    return (await fetch(`${url}/health/live`)).ok
  } catch {
    return false
  }
}

describe.runIf(saidWithoutNginx("nginx in front of the console"))("nginx", () => {
  it("nginx: the console signs in through it, on a port of its own (TH30)", async () => {
    const settings = settingsFor("http://unused.invalid", {
      keys: [{ name: "ops", key: Redacted.make(key), scopes: ["admin"] }]
    })
    const gateway = await startGateway({ ...settings, server: { ...settings.server, console: { hosts: [] } } })
    const folder = mkdtempSync(join(tmpdir(), "model-gateway-nginx-"))
    const front = await freePort()
    writeFileSync(join(folder, "nginx.conf"), configuration(folder, front, new URL(gateway.url).host))
    const nginx = spawn("nginx", ["-p", folder, "-e", join(folder, "error.log"), "-c", join(folder, "nginx.conf")], {
      env: { PATH: path }
    })
    const ended = new Promise((resolve) => nginx.once("exit", resolve))
    const url = `http://127.0.0.1:${front}`
    try {
      await expect.poll(() => answers(url), { timeout: 10_000 }).toBe(true)
      const answer = await fetch(`${url}/admin/v1/session`, {
        method: "POST",
        headers: { origin: url, "x-gateway-console": "1", "content-type": "application/json" },
        body: JSON.stringify({ key })
      })
      expect([answer.status, await answer.text()]).toEqual([200, '{"object":"session","key_id":"ops","is_open":false}'])
      expect(answer.headers.get("set-cookie")).toMatch(new RegExp(`^gateway_console_${front}=`))
    } finally {
      nginx.kill()
      await ended
      await gateway.close()
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
