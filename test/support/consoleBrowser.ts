// A gateway with a console, the simulated Google services that it calls, and a page in Chromium, for the tests of pages.
// Must not know what a page shows.
import { readFileSync } from "node:fs"
import { type Browser, chromium, type Page } from "playwright-core"
import * as Redacted from "effect/Redacted"
import { inject } from "vitest"
import { makeSimulator } from "../../src/demo/google/Simulator.ts"
import type { Settings } from "../../src/domain/settings/Settings.ts"
import { isRelease } from "./release.ts"
import { geminiKey, serviceAccount, settingsFor, startGateway } from "./TestGateway.ts"

/** The code of the link. */
export const code = "c0de".repeat(10)
export const inferenceKey = "mgk_browser0000000000000000000000"
export const adminKey = "mgk_admin000000000000000000000000"
/** Text that would run, were it markup. */
export const script = "<img src=x onerror=alert(1)>"

/** A page, and what it reported: faults, warnings, and the addresses that it called beyond its own origin. */
export interface Watched {
  readonly page: Page
  readonly faults: Array<string>
}

interface Look {
  readonly colorScheme?: "light" | "dark"
  readonly width?: number
}

export interface ConsoleRun {
  readonly url: string
  readonly browser: Browser
  /** Sends a chat to the gateway; `said` is its only message. */
  readonly chat: (model: string, headers?: Readonly<Record<string, string>>, said?: string) => Promise<Response>
  /** The page of the file, signed out and without what earlier tests kept in the browser. */
  readonly signedOut: (look?: Look) => Promise<Watched>
  /** The same page, signed in, at a path of the console. */
  readonly opened: (path: string, look?: Look) => Promise<Watched>
  readonly signIn: (page: Page) => Promise<void>
  readonly close: () => Promise<void>
}

/** A page in a context of its own, whose origin is that of the address. */
const watch = async (browser: Browser, url: string): Promise<Watched> => {
  const context = await browser.newContext()
  // Less than that of a test, so that a failure names the step that it waited for.
  context.setDefaultTimeout(50_000)
  const page = await context.newPage()
  const faults: Array<string> = []
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") faults.push(message.text())
  })
  page.on("pageerror", (error) => faults.push(error.message))
  page.on("dialog", (dialog) => {
    faults.push(`dialog ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on("request", (request) => {
    const called = request.url()
    if (!called.startsWith(url) && !called.startsWith("data:") && !called.startsWith("blob:"))
      faults.push(`calls ${called}`)
  })
  return { page, faults }
}

/** Each of these settings goes over that of the tests. An open console asks for no key. */
export const startConsole = async (more: Partial<Settings> = {}, isOpen = false): Promise<ConsoleRun> => {
  const simulator = makeSimulator({ geminiApiKeys: [geminiKey], serviceAccounts: [serviceAccount], anyLocation: true })
  const upstream = await simulator.listen()
  const keys: Settings["keys"] = [
    { name: "browser", key: Redacted.make(inferenceKey) },
    { name: "ops", key: Redacted.make(adminKey), scopes: ["admin"] }
  ]
  const settings = { ...settingsFor(upstream.url, { keys }), ...more }
  const gateway = await startGateway({
    ...settings,
    server: { ...settings.server, console: isOpen ? { hosts: [], isOpen } : { hosts: [], code: Redacted.make(code) } }
  })
  const { url } = gateway
  const browser = await chromium.connectOverCDP(inject("chromium"))
  // One page for all tests of a file: a window costs as much CPU time as five loads of the console.
  const watched = await watch(browser, url)
  const { faults, page } = watched
  const context = page.context()
  const signIn = async (to: Page): Promise<void> => {
    await to.goto(`${url}/console/`)
    await to.getByLabel("Admin key").fill(adminKey)
    await to.getByRole("button", { name: "Sign in" }).click()
    await to.getByRole("heading", { name: "Overview" }).waitFor()
  }
  if (!isOpen) await signIn(page)
  const session = await context.cookies()
  const reset = async ({ colorScheme = "light", width = 1280 }: Look = {}): Promise<void> => {
    if (page.url().startsWith(url))
      await page.evaluate(() => {
        localStorage.clear()
        sessionStorage.clear()
      })
    await page.unrouteAll()
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 800 })
  }
  return {
    url,
    browser,
    chat: (model, headers = {}, said = "Hello") =>
      fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-gateway-api-key": inferenceKey, ...headers },
        body: JSON.stringify({ model, messages: [{ role: "user", content: said }] })
      }),
    signedOut: async (look) => {
      await reset(look)
      // An open page would call without its session.
      await page.goto("about:blank")
      await context.clearCookies()
      faults.length = 0
      return watched
    },
    opened: async (path, look) => {
      await reset(look)
      await context.addCookies(session)
      faults.length = 0
      await page.goto(`${url}/console/${path}`)
      await page.getByRole("heading", { level: 1 }).waitFor()
      return watched
    },
    signIn,
    close: async () => {
      await browser.close()
      await gateway.close()
      await upstream.close()
    }
  }
}

/** Moves to another page of the console as its links do, which takes half the CPU time of a load. */
export const move = (page: Page, path: string): Promise<void> =>
  page.evaluate((target) => {
    history.pushState(null, "", target)
    dispatchEvent(new PopStateEvent("popstate"))
  }, `/console/${path}`)

/** What axe looks at: in `npm test` the wide page in its light theme. */
export const looks: ReadonlyArray<readonly [colorScheme: "light" | "dark", width: number]> = [
  ["light", 1280],
  ...(isRelease ? [["dark", 390] as const] : [])
]

const axe = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8")

/** What axe finds on the page. */
export const findings = async (page: Page): Promise<ReadonlyArray<string>> => {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe)
  // Every rule runs. Only its violations are described and leave the browser, not the elements that pass.
  const violations = await page.evaluate<ReadonlyArray<{ id: string; nodes: ReadonlyArray<{ html: string }> }>>(
    'axe.run({ resultTypes: ["violations"] }).then(({ violations }) => violations)'
  )
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
}
