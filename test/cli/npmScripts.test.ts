// The scripts of the package that run the service: a signal to npm ends the gateway as well.
// Must not know how npm passes a signal on.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { processPatienceMillis, until } from "../support/eventually.ts"
import { listen } from "../support/process.ts"

const root = join(import.meta.dirname, "../..")

it("npm start: SIGTERM ends the gateway, and its port is free", { timeout: 120_000 }, async () => {
  const data = mkdtempSync(join(tmpdir(), "gateway-npm-"))
  const npm = spawn("npm", ["start", "--", "--port", "0"], {
    cwd: root,
    env: {
      PATH: process.env["PATH"],
      HOME: data,
      GATEWAY_CONFIG: "/dev/null",
      GATEWAY_DATA_DIR: data,
      GATEWAY_LIMITS_READY_DELAY_MILLIS: "0"
    }
  })
  let pid = 0
  onTestFinished(() => {
    npm.kill("SIGKILL")
    try {
      process.kill(pid, "SIGKILL")
    } catch {
      // It has ended.
    }
    rmSync(data, { recursive: true })
  })
  const code = once(npm, "close").then(([ended]: ReadonlyArray<unknown>) => (typeof ended === "number" ? ended : null))
  const { ended, said } = listen(npm.stdout, npm.stderr, code)
  pid = Number((await said(/model-gateway .* pid (\d+)/))[1])
  const [, origin = ""] = await said(/API {6}(http:\S+)\/v1/)
  expect((await fetch(`${origin}/health/live`)).status).toBe(200)
  npm.kill("SIGTERM")
  await ended
  const isGone = (): boolean => {
    try {
      return !process.kill(pid, 0)
    } catch {
      return true
    }
  }
  await until(isGone, processPatienceMillis)
  await expect(fetch(`${origin}/health/live`)).rejects.toThrow()
})
