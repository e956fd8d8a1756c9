// Runs a Redis server that a test may stop, freeze and start again, where the machine has one.
// Must not depend on what is kept there.
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { within } from "./eventually.ts"

export interface RedisServer {
  readonly url: string
  readonly stop: () => Promise<void>
  readonly start: () => Promise<void>
  readonly freeze: () => void
  readonly thaw: () => void
  readonly close: () => Promise<void>
}

export const hasRedisServer: boolean = spawnSync("redis-server", ["--version"]).status === 0

export const saidWithoutServer = (what: string): boolean => {
  if (!hasRedisServer) console.warn(`\n*** LEFT OUT: ${what}: no redis-server on this machine ***\n`)
  return hasRedisServer
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer()
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

export const startRedisServer = async (...options: ReadonlyArray<string>): Promise<RedisServer> => {
  const port = await freePort()
  const dir = mkdtempSync(join(tmpdir(), "mgw-redis-"))
  let running: ChildProcess | undefined
  const start = () =>
    within(
      "redis-server to be ready",
      new Promise<void>((resolve) => {
        const child = spawn("redis-server", [
          "--port",
          String(port),
          "--bind",
          "127.0.0.1",
          "--save",
          "",
          "--appendonly",
          "no",
          "--dir",
          dir,
          ...options
        ])
        running = child
        child.stdout.on("data", (bytes: Buffer) => {
          if (bytes.toString("utf8").includes("Ready to accept connections")) resolve()
        })
      })
    )
  const stop = () =>
    new Promise<void>((resolve) => {
      if (running === undefined) return resolve()
      running.once("exit", () => resolve())
      running.kill("SIGKILL")
      running = undefined
    })
  await start()
  return {
    url: `redis://127.0.0.1:${port}`,
    start,
    stop,
    freeze: () => void running?.kill("SIGSTOP"),
    thaw: () => void running?.kill("SIGCONT"),
    close: async () => {
      await stop()
      rmSync(dir, { recursive: true, force: true })
    }
  }
}
