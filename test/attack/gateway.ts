// Starts the attacked gateway from the built package in its own folder, and observes it from outside.
// Must not know the attacks.
import { spawn } from "node:child_process"
import { mkdtempSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { buildPrograms } from "../bench/built.ts"
import { cpuMicros, freePort, rssKib } from "../bench/contestants.ts"
import { inspect } from "../bench/inspector.ts"
import { accessToken, apiKey, configKey, type KeyName, keys, project, secretKey, serviceAccount } from "./canaries.ts"
import type { Upstream } from "./upstream.ts"

/** Limits on requests in flight, circuits and key concurrency. Small, so that attacks reach them. */
export const serviceBounds = { inFlight: 160, circuits: 500, crowd: 8 }
const mebibyte = 2 ** 20

/** Budgets in US dollars. */
export const budgets = {
  pictures: 0.1,
  hangup: 0.2,
  overrides: 0.001,
  latest: 0.001,
  texts: 0.01,
  silent: 0.2,
  parallel: 0.1,
  cut: 0.2
} as const

const tiny = (name: keyof typeof budgets) => ({ name, key: keys[name], budget: { usd: budgets[name], per: "day" } })

const settings = (upstream: string, closedPort: number) => ({
  store: { url: "sqlite:gateway.db" },
  log: { format: "json" },
  limits: {
    inFlight: serviceBounds.inFlight,
    circuitEntries: serviceBounds.circuits,
    retryBaseMillis: 1,
    retryCapMillis: 2,
    retryAfterMillis: 5,
    readyDelayMillis: 0,
    drainMillis: 1_000,
    bodiesInFlightBytes: 128 * mebibyte,
    signatureTotalBytes: mebibyte,
    cacheBytes: mebibyte,
    cacheEntryBytes: 65_536,
    requestsKept: 200,
    responsesTotalBytes: 16 * mebibyte,
    responseSweepMillis: 200
  },
  providers: [
    { slug: "google", provider: "google", api_key: apiKey, base_url: upstream },
    {
      slug: "vertex-ai",
      provider: "vertex-ai",
      region: "us-central1",
      credentials: { type: "service_account", json: serviceAccount },
      base_url: upstream,
      token_url: `${upstream}/token`,
      gcs: { read: ["gs://ours/"], write: [] }
    },
    {
      slug: "placed",
      provider: "vertex-ai",
      project_id: project,
      region: "us-central1",
      projects: [project],
      regions: ["us-central1"],
      credentials: { type: "access_token", token: accessToken },
      base_url: upstream
    },
    { slug: "gone", provider: "google", api_key: apiKey, base_url: `http://127.0.0.1:${closedPort}` }
  ],
  // Hostile models are on no price list, and would be refused on a budget.
  prices: {
    ...Object.fromEntries(
      ["silent", "long", "trickle"].map((word) => [`gemini-2.5-flash-attack-${word}`, { input: 0.3, output: 2.5 }])
    ),
    "claude-sonnet-4-5-attack-uncounted": { input: 3, output: 15 }
  },
  keys: [
    { name: "plain", key: keys.plain },
    { name: "other", key: keys.other },
    {
      name: "limited",
      key: keys.limited,
      rate_limit: { requests_per_minute: 1_000_000, tokens_per_minute: 1_000_000_000 },
      budget: { usd: 1_000_000, per: "month" }
    },
    {
      name: "narrow",
      key: keys.narrow,
      providers: ["google"],
      models: ["gemini-*"],
      configs: ["by-team"],
      prompts: ["greeting"],
      metadata: { team: "a" },
      metadata_locked: true
    },
    { name: "crowded", key: keys.crowded, concurrency: serviceBounds.crowd },
    { name: "expired", key: keys.expired, expires_at: "2020-01-01T00:00:00Z" },
    tiny("pictures"),
    tiny("hangup"),
    tiny("overrides"),
    tiny("latest"),
    tiny("texts"),
    tiny("silent"),
    tiny("parallel"),
    tiny("cut"),
    { name: "admin", key: keys.admin, scopes: ["admin"] }
  ],
  configs: {
    "by-team": {
      strategy: {
        mode: "conditional",
        conditions: [{ query: { "metadata.team": { $eq: "b" } }, then: "b" }],
        default: "a"
      },
      targets: [
        { name: "a", provider: "google", override_params: { model: "gemini-2.5-flash" } },
        { name: "b", provider: "google", override_params: { model: "gemini-2.5-pro" } }
      ]
    },
    hidden: { provider: "google", api_key: configKey }
  },
  prompts: ["greeting", "hidden"].map((id) => ({
    id,
    model: "@google/gemini-2.5-flash",
    messages: [{ role: "user", content: "Greet {{name}}." }]
  }))
})

export interface Gateway {
  readonly port: number
  readonly folder: string
  readonly key: (name: KeyName) => Readonly<Record<string, string>>
  readonly isAlive: () => boolean
  readonly rssMib: () => number
  /** Heap bytes in use after garbage collections. */
  readonly heap: () => Promise<number>
  /** Sockets and other handles, without timers. */
  readonly handles: () => Promise<number>
  /** Runs the work. `held` is the longest block of the event loop, `cpu` the CPU time used, both in milliseconds. */
  readonly measured: <A>(
    work: () => Promise<A>
  ) => Promise<{ readonly result: A; readonly held: number; readonly cpu: number }>
  /** Hosts other than loopback that the process tried to reach. */
  readonly attempted: () => Promise<Readonly<Record<string, number>>>
  /** Runs a command of the gateway on the same store and returns its output. */
  readonly command: (...args: ReadonlyArray<string>) => Promise<string>
  /** Every file the process wrote, as latin1 text, by name. */
  readonly files: () => ReadonlyArray<readonly [name: string, text: string]>
  readonly end: () => Promise<void>
  readonly remove: () => void
}

const here = dirname(fileURLToPath(import.meta.url))
const written = "gateway.json"

const environment = (folder: string): Readonly<Record<string, string>> => ({
  PATH: process.env["PATH"] ?? "",
  HOME: folder,
  NO_COLOR: "1",
  GATEWAY_DATA_DIR: folder,
  GATEWAY_SECRET_KEY: secretKey
})

const outputOf = (args: ReadonlyArray<string>, folder: string): Promise<string> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd: folder, env: environment(folder) })
    let text = ""
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (part: Buffer) => (text += part.toString("latin1")))
    child.once("close", () => resolve(text))
  })

const isReady = async (port: number): Promise<boolean> => {
  try {
    return (await fetch(`http://127.0.0.1:${port}/health/ready`)).ok
  } catch {
    return false
  }
}

export const startGateway = async (upstream: Upstream, sink: string): Promise<Gateway> => {
  const folder = mkdtempSync(join(tmpdir(), "model-gateway-attack-"))
  const config = join(folder, written)
  writeFileSync(config, JSON.stringify(settings(upstream.url, await freePort())))
  const [port, inspectorPort, { main }] = [await freePort(), await freePort(), await buildPrograms()]
  const args = [
    `--inspect=127.0.0.1:${inspectorPort}`,
    `--import=${join(here, "loopbackOnly.ts")}`,
    main,
    "serve",
    "--config",
    config,
    "--port",
    String(port)
  ]
  const child = spawn(process.execPath, args, {
    cwd: folder,
    stdio: ["ignore", openSync(join(folder, "stdout.log"), "w"), openSync(join(folder, "stderr.log"), "w")],
    env: {
      ...environment(folder),
      OTEL_EXPORTER_OTLP_ENDPOINT: sink,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_METRIC_EXPORT_INTERVAL: "2000"
    }
  })
  process.once("exit", () => child.kill("SIGKILL"))
  const isAlive = (): boolean => child.exitCode === null && child.signalCode === null
  while (!(await isReady(port))) {
    if (!isAlive()) throw new Error(`the gateway did not start: ${readFileSync(join(folder, "stderr.log"), "utf8")}`)
    await pause(20)
  }
  const inspector = await inspect(inspectorPort)
  const files = (): ReadonlyArray<readonly [string, string]> =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name !== written && statSync(join(folder, name)).isFile())
      .map((name) => [name, readFileSync(join(folder, name), "latin1")])
  return {
    port,
    folder,
    key: (name) => ({ "x-gateway-api-key": keys[name] }),
    isAlive,
    rssMib: () => rssKib(child.pid ?? 0) / 1024,
    heap: async () => {
      for (let again = 0; again < 3; again++) await inspector.send("HeapProfiler.collectGarbage")
      return (await inspector.send<{ readonly usedSize: number }>("Runtime.getHeapUsage")).usedSize
    },
    handles: () =>
      inspector.value(
        "process.getActiveResourcesInfo().filter((one) => one !== 'Timeout' && one !== 'Immediate').length"
      ),
    measured: async (work) => {
      await inspector.value("attackLoop.reset()")
      const before = cpuMicros(child.pid ?? 0)
      const result = await work()
      const cpu = (cpuMicros(child.pid ?? 0) - before) / 1e3
      return { result, held: Math.min((await inspector.value<number>("attackLoop.max")) / 1e6, cpu), cpu }
    },
    attempted: () => inspector.value("attempted"),
    command: (...more) => outputOf([main, ...more, "--config", config], folder),
    files,
    end: async () => {
      inspector.close()
      const closed = new Promise((resolve) => child.once("exit", resolve))
      child.kill("SIGTERM")
      const timer = setTimeout(() => child.kill("SIGKILL"), 10_000)
      if (isAlive()) await closed
      clearTimeout(timer)
    },
    remove: () => rmSync(folder, { recursive: true, force: true })
  }
}
