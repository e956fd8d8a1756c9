// Starts Chromium once for all tests of pages, whose files connect to it; each has contexts of its own.
// Must not know what a page shows.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import type { TestProject } from "vitest/node"

declare module "vitest" {
  export interface ProvidedContext {
    readonly chromium: string
  }
}

const executablePath = process.env["TEST_CHROMIUM"] ?? "/usr/bin/chromium"
export const hasChromium = existsSync(executablePath)

/** A name of others that leads to the gateway, as after DNS rebinding. */
export const reboundHost = "rebound.example"

/** What Chromium does for its user and for its makers, which costs CPU time. */
const args = [
  "--headless",
  "--no-sandbox",
  "--remote-debugging-port=0",
  "--disable-background-networking",
  "--disable-background-timer-throttling",
  "--disable-backgrounding-occluded-windows",
  "--disable-back-forward-cache",
  "--disable-breakpad",
  "--disable-component-update",
  "--disable-dev-shm-usage",
  "--disable-extensions",
  "--disable-field-trial-config",
  "--disable-ipc-flooding-protection",
  "--disable-renderer-backgrounding",
  "--disable-sync",
  "--hide-scrollbars",
  "--no-first-run",
  "--password-store=basic",
  "--disable-features=HttpsUpgrades,MediaRouter,OptimizationHints,PaintHolding,WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup",
  `--host-resolver-rules=MAP ${reboundHost} 127.0.0.1`
]

/** Runs before the first file of pages; what it returns runs after the last. */
export const setup = async (project: TestProject): Promise<(() => Promise<void>) | undefined> => {
  if (!hasChromium) {
    console.error(
      `The tests of the console are left out: there is no ${executablePath}. Install chromium, or set TEST_CHROMIUM.`
    )
    return undefined
  }
  const profile = mkdtempSync(join(tmpdir(), "mgw-chromium-"))
  const child = spawn(executablePath, [...args, `--user-data-dir=${profile}`], { stdio: ["ignore", "ignore", "pipe"] })
  const ended = once(child, "exit")
  let endpoint: string | undefined
  for await (const line of createInterface(child.stderr)) {
    endpoint = /^DevTools listening on (\S+)$/.exec(line)?.[1]
    if (endpoint !== undefined) break
  }
  if (endpoint === undefined) throw new Error(`${executablePath} ended before it listened for a debugger`)
  project.provide("chromium", endpoint)
  child.stderr.resume()
  return async () => {
    child.kill()
    await ended
    rmSync(profile, { recursive: true, force: true })
  }
}
