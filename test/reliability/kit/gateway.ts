// Starts gateways of this tree's build, each with settings of its own; kills and stops them, and reads what they account for.
// Must not know what is proved.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { buildPrograms } from "../../bench/built.ts"
import { cpuMicros, freePort, launch } from "../../bench/contestants.ts"
import { type Container, within } from "../../bench/container.ts"
import type { Inspector } from "../../bench/inspector.ts"

export const clientKey = "mgk_reliability_client_000000000000"
export const adminKey = "mgk_reliability_admin_0000000000000"
export const asClient = { "x-gateway-api-key": clientKey } as const
export const asAdmin = { "x-gateway-api-key": adminKey } as const

/** 32 bytes in base64, so that gateways on one database open each other's secrets. */
const secretKey = Buffer.alloc(32, "reliability").toString("base64")

/** How long a start may take in milliseconds, the waiting for a database included. */
const startMillis = 40_000

export interface Gateway {
  readonly port: number
  readonly pid: number
  readonly folder: string
  readonly inspectorPort: number
  /** All that the process has printed. */
  readonly printed: () => string
  readonly isAlive: () => boolean
  readonly cpuMicros: () => number
  /** SIGKILL; resolves when the process is gone. */
  readonly kill: () => Promise<void>
  /** SIGTERM; resolves when the process is gone. */
  readonly stop: () => Promise<void>
  /** Starts a process again on the same port, folder and settings. */
  readonly again: () => Promise<Gateway>
}

/** The folders of one proof, removed by `remove`. */
export interface Place {
  readonly folder: string
  readonly remove: () => void
}

export const makePlace = (): Place => {
  const folder = mkdtempSync(join(tmpdir(), "model-gateway-reliability-"))
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Keys that every gateway has, with further entries of the settings. */
export const withKeys = (settings: object, keys: ReadonlyArray<object> = []): object => ({
  log: { format: "off" },
  ...settings,
  keys: [{ name: "client", key: clientKey }, { name: "admin", key: adminKey, scopes: ["admin"] }, ...keys]
})

const isReady = async (port: number): Promise<boolean> => {
  try {
    return (await fetch(`http://127.0.0.1:${port}/health/ready`, { signal: AbortSignal.timeout(1_000) })).ok
  } catch {
    return false
  }
}

interface Starting {
  readonly env?: Readonly<Record<string, string>>
  /** Opens the inspector. */
  readonly isInspected?: boolean
  readonly container?: Container | undefined
}

const startOn = async (port: number, folder: string, starting: Starting): Promise<Gateway> => {
  const { main } = await buildPrograms()
  const inspectorPort = starting.isInspected === true ? await freePort() : 0
  const inspected = inspectorPort === 0 ? [] : [`--inspect=127.0.0.1:${inspectorPort}`]
  const args = [...inspected, main, "serve", "--config", join(folder, "gateway.json"), "--port", String(port)]
  const child = launch(...within(starting.container, process.execPath, args), {
    HOME: folder,
    NO_COLOR: "1",
    GATEWAY_DATA_DIR: folder,
    GATEWAY_SECRET_KEY: secretKey,
    ...starting.env
  })
  let printed = ""
  child.stderr.setEncoding("utf8").on("data", (part: string) => {
    printed = (printed + part).slice(-200_000)
  })
  const isAlive = (): boolean => child.exitCode === null && child.signalCode === null
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  const endBy = async (signal: "SIGKILL" | "SIGTERM"): Promise<void> => {
    if (!isAlive()) return
    child.kill(signal)
    await gone
  }
  const started = performance.now()
  while (!(await isReady(port))) {
    if (!isAlive() || performance.now() - started > startMillis) {
      await endBy("SIGKILL")
      throw new Error(`the gateway did not start: ${printed.slice(-2_000)}`)
    }
    await pause(10)
  }
  return {
    port,
    pid: child.pid ?? 0,
    folder,
    inspectorPort,
    printed: () => printed,
    isAlive,
    cpuMicros: () => cpuMicros(child.pid ?? 0),
    kill: () => endBy("SIGKILL"),
    stop: () => endBy("SIGTERM"),
    again: () => startOn(port, folder, starting)
  }
}

/** Starts a gateway in a folder of its own below the place. */
export const startGateway = async (place: Place, settings: object, starting: Starting = {}): Promise<Gateway> => {
  const folder = mkdtempSync(join(place.folder, "gateway-"))
  writeFileSync(join(folder, "gateway.json"), JSON.stringify(settings))
  return startOn(await freePort(), folder, starting)
}

/** Sends JSON to the admin API and returns its answer; throws where it is refused. */
export const admin = async <A>(port: number, method: string, path: string, body?: object): Promise<A> => {
  const answer = await fetch(`http://127.0.0.1:${port}/admin/v1${path}`, {
    method,
    headers: { ...asAdmin, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 300)}`)
  return JSON.parse(text === "" ? "null" : text)
}

interface Page<A> {
  readonly data: ReadonlyArray<A>
  readonly next_cursor: string | null
}

/** Every entry of a list. */
export const listAll = async <A>(port: number, path: string): Promise<ReadonlyArray<A>> => {
  const all: Array<A> = []
  let cursor: string | null = null
  do {
    const joined = `${path}${path.includes("?") ? "&" : "?"}limit=1000${cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`}`
    const page: Page<A> = await admin<Page<A>>(port, "GET", joined)
    all.push(...page.data)
    cursor = page.next_cursor
  } while (cursor !== null)
  return all
}

/** Heap bytes in use after garbage collections; the gateway's inspector must be open. */
export const heapOf = async (inspector: Inspector): Promise<number> => {
  for (let again = 0; again < 2; again++) await inspector.send("HeapProfiler.collectGarbage")
  return (await inspector.send<{ readonly usedSize: number }>("Runtime.getHeapUsage")).usedSize
}
