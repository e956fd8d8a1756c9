// The contestants of the bench: the bare proxy, this gateway and Portkey; how each is started, called and watched.
// Must not know scenarios or goals.
import { type ChildProcess, type ChildProcessByStdio, execFileSync, spawn } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type Server } from "node:net"
import { availableParallelism, tmpdir } from "node:os"
import type { Readable } from "node:stream"
import { dirname, join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { defaultLimits } from "../../src/domain/Limits.ts"
import { buildPrograms } from "./built.ts"
import { fallbackConfig } from "./careful.ts"
import { type Container, within } from "./container.ts"
import type { Target } from "./load.ts"
import { bareTarget, body, chatPath, gatewayTarget, type OperationName } from "./operations.ts"

const here = dirname(fileURLToPath(import.meta.url))
const portkeyPackage = "@portkey-ai/gateway"
const portkeyVersion = "1.15.2"

export type Name = "bare" | "gateway" | "portkey"

export interface Contestant {
  readonly name: Name
  readonly pid: number
  /** From the start of the process to its first good answer, in milliseconds. */
  readonly startMillis: number
  readonly target: (model: string, stream: boolean) => Target
  /** Absent where the contestant has no such operation. */
  readonly other?: (what: OperationName) => Target | undefined
  /** A chat with a key that has limits per minute and a budget. Absent where the contestant has none. */
  readonly limited?: Target
  /** A chat with a config that has fallback and retries. Absent where the contestant has none. */
  readonly configured?: Target
  /** Port of the process's inspector, where one is open. */
  readonly inspector: number | undefined
  readonly stop: () => Promise<void>
}

/** True where `taskset` exists. Without it the figures mix the contestants with the load. */
const pinned: boolean = (() => {
  try {
    execFileSync("taskset", ["-c", "1", "true"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
})()
export const isPinned = (): boolean => pinned

/** A Node command line, pinned to one core, or to a list of them. */
export const pinToCore = (
  core: number | string,
  args: ReadonlyArray<string>
): readonly [string, ReadonlyArray<string>] =>
  pinned ? ["taskset", ["-c", String(core), process.execPath, ...args]] : [process.execPath, args]

const allCores = `0-${availableParallelism() - 1}`

/** Listens on any loopback port and returns it. */
export const listen = (server: Server): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once("error", reject).listen(0, "127.0.0.1", () => {
      const address = server.address()
      resolve(typeof address === "object" && address !== null ? address.port : 0)
    })
  })

export const freePort = async (): Promise<number> => {
  const server = createServer()
  const port = await listen(server)
  await new Promise((resolve) => server.close(resolve))
  return port
}

const children = new Set<ChildProcess>()
process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL")
})
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1))

const ended = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null

const stop = async (child: ChildProcess): Promise<void> => {
  if (ended(child)) return
  const exit = new Promise((resolve) => child.once("exit", resolve))
  child.kill("SIGKILL")
  await exit
}

/** Starts a child process that ends with this process. */
export const launch = (
  command: string,
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>
): ChildProcessByStdio<null, null, Readable> => {
  const child = spawn(command, args, {
    cwd: tmpdir(),
    stdio: ["ignore", "ignore", "pipe"],
    env: { PATH: process.env["PATH"] ?? "", ...env }
  })
  children.add(child)
  child.once("exit", () => children.delete(child))
  return child
}

const answers = async (url: string): Promise<boolean> => {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(1_000) })
    await response.arrayBuffer()
    return response.ok
  } catch {
    return false
  }
}

const isProfiling = process.argv.includes("--profile")

interface Watching {
  /** Processes of the gateway. More than one are not pinned. */
  readonly workers?: number
  /** Streams that are open together, all of one key. */
  readonly streams?: number
  /** Prices of models that no list has; a key with a budget is refused without one. */
  readonly prices?: Readonly<Record<string, { readonly input: number; readonly output: number }>>
  /** Opens the inspector. */
  readonly inspected?: boolean
  /** Bounds its memory, by which Node chooses the sizes of its heap. */
  readonly container?: Container | undefined
  /** The `NODE_OPTIONS` of the process. */
  readonly nodeOptions?: string | undefined
  /** Receives the output of the process. */
  readonly hear?: (words: string) => void
}

/** Starts a process and waits until a URL answers 200. */
export const start = async (
  core: number | string,
  args: ReadonlyArray<string>,
  url: string,
  env: Readonly<Record<string, string>> = {},
  { container, hear = () => undefined, inspected = isProfiling }: Watching = {}
): Promise<Pick<Contestant, "pid" | "startMillis" | "inspector" | "stop">> => {
  const inspector = inspected ? await freePort() : undefined
  const [command, line] = pinToCore(
    core,
    inspector === undefined ? args : [`--inspect=127.0.0.1:${inspector}`, ...args]
  )
  const started = performance.now()
  const child = launch(...within(container, command, line), env)
  let words = ""
  child.stderr.on("data", (part: Buffer) => {
    const more = part.toString("utf8")
    hear(more)
    words = (words + more).slice(-2_000)
  })
  while (!(await answers(url))) {
    if (ended(child) || performance.now() - started > 20_000) {
      await stop(child)
      throw new Error(`did not start: ${args[0]}\n${words}`)
    }
    await pause(5)
  }
  return { pid: child.pid ?? 0, startMillis: performance.now() - started, inspector, stop: () => stop(child) }
}

export const startBareProxy = async (upstream: string, watching: Watching = {}): Promise<Contestant> => {
  const port = await freePort()
  const args = [join(here, "bareProxy.ts"), String(port), upstream]
  const process = await start(0, args, `http://127.0.0.1:${port}/`, {}, watching)
  return {
    name: "bare",
    ...process,
    target: (model, stream) => ({ port, path: chatPath, headers: {}, body: body(model, stream) }),
    other: (what) => bareTarget(port, what)
  }
}

/** Starts this gateway. `program` names another build; the default is this tree's build. */
export const startGateway = async (
  upstream: string,
  watching: Watching = {},
  program?: string
): Promise<Contestant> => {
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), "model-gateway-bench-"))
  const config = join(folder, "gateway.json")
  const key = "mgk_bench000000000000000000000000"
  const limitedKey = "mgk_limited0000000000000000000000"
  const plenty = 1_000_000_000
  writeFileSync(
    config,
    JSON.stringify({
      providers: [
        { slug: "google", provider: "google", api_key: "bench-key", base_url: upstream },
        {
          slug: "vertex-ai",
          provider: "vertex-ai",
          project_id: "bench-project",
          region: "us-central1",
          credentials: { type: "access_token", token: "bench-token" },
          base_url: upstream
        }
      ],
      store: { url: `sqlite:${join(folder, "gateway.db")}` },
      keys: [
        { name: "bench", key },
        {
          name: "limited",
          key: limitedKey,
          rate_limit: { requests_per_minute: plenty, tokens_per_minute: plenty },
          budget: { usd: plenty, per: "day" }
        }
      ],
      prices: watching.prices ?? {},
      configs: { careful: fallbackConfig },
      // A part of the slots is kept for other keys.
      limits: { inFlight: Math.max(defaultLimits.inFlight, 2 * (watching.streams ?? 0)) },
      log: { format: "json" }
    })
  )
  const removeFolder = () => rmSync(folder, { recursive: true, force: true })
  try {
    const main = program ?? (await buildPrograms()).main
    const { workers } = watching
    const several = workers === undefined ? [] : ["--workers", String(workers)]
    const args = [main, "serve", "--config", config, "--port", String(port), ...several]
    const process = await start(
      workers === undefined ? 0 : allCores,
      args,
      `http://127.0.0.1:${port}/health/ready`,
      // As the unit of systemd sets it; the image has no options, because a container has a limit of its own.
      {
        GATEWAY_DATA_DIR: folder,
        MALLOC_ARENA_MAX: "1",
        NODE_OPTIONS: watching.nodeOptions ?? (watching.container === undefined ? "--max-semi-space-size=32" : "")
      },
      watching
    )
    return {
      name: "gateway",
      ...process,
      stop: () => process.stop().finally(removeFolder),
      configured: {
        port,
        path: chatPath,
        headers: { "x-gateway-api-key": key, "x-gateway-config": "careful" },
        body: body("gemini-3.8-flash", false)
      },
      limited: {
        port,
        path: chatPath,
        headers: { "x-gateway-api-key": limitedKey },
        body: body("@google/gemini-3.8-flash", false)
      },
      target: (model, stream) => ({
        port,
        path: chatPath,
        headers: { "x-gateway-api-key": key },
        body: body(`@google/${model}`, stream)
      }),
      other: (what) => gatewayTarget(port, what, { "x-gateway-api-key": key })
    }
  } catch (error) {
    removeFolder()
    throw error
  }
}

/** The gateway without a store. `watched` adds a log, metrics and a list of requests. */
export const startUnwatched = async (upstream: string, watched = false): Promise<Contestant> => {
  const port = await freePort()
  const { unwatched } = await buildPrograms()
  const process = await start(
    0,
    [unwatched, String(port), upstream, ...(watched ? ["watched"] : [])],
    `http://127.0.0.1:${port}/health/ready`
  )
  const key = { "x-gateway-api-key": "mgk_bench" }
  return {
    name: "gateway",
    ...process,
    configured: {
      port,
      path: chatPath,
      headers: { ...key, "x-gateway-config": "careful" },
      body: body("gemini-3.8-flash", false)
    },
    target: (model, stream) => ({ port, path: chatPath, headers: key, body: body(`@google/${model}`, stream) })
  }
}

/** Installs the published build of Portkey in a folder of its own; it is never a dependency. */
const installPortkey = (): string => {
  const folder = join(tmpdir(), `model-gateway-portkey-${portkeyVersion}`)
  const main = join(folder, "node_modules", portkeyPackage, "build", "start-server.js")
  if (existsSync(main)) return main
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "package.json"), '{"private":true}')
  const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts", `${portkeyPackage}@${portkeyVersion}`]
  execFileSync("npm", args, { cwd: folder, stdio: "ignore", timeout: 180_000 })
  return main
}

/** Starts Portkey, or returns the reason why it cannot run. */
export const startPortkey = async (upstream: string): Promise<Contestant | string> => {
  try {
    const main = installPortkey()
    const port = await freePort()
    const process = await start(0, [main, `--port=${port}`, "--headless"], `http://127.0.0.1:${port}/`, {
      NODE_ENV: "production"
    })
    return {
      name: "portkey",
      ...process,
      target: (model, stream) => ({
        port,
        path: chatPath,
        headers: {
          "x-portkey-provider": "google",
          authorization: "Bearer bench-key",
          "x-portkey-custom-host": upstream
        },
        body: body(model, stream)
      })
    }
  } catch (error) {
    return error instanceof Error ? (error.message.split("\n")[0] ?? "unknown") : "unknown"
  }
}

/** CPU time of a process in microseconds, user and system. The kernel counts in ticks of 10 ms. */
export const cpuMicros = (pid: number): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return (Number(fields[11]) + Number(fields[12])) * 10_000
}

/** Resident memory of a process in KiB. */
export const rssKib = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? 0)
