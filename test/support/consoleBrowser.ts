// A gateway with a console, the simulated Google services that it calls, and Chromium, for the tests of pages.
// Must not know what a page shows.
import { existsSync } from "node:fs"
import axe from "axe-core"
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core"
import * as Redacted from "effect/Redacted"
import { makeSimulator } from "../../src/demo/google/Simulator.ts"
import type { Settings } from "../../src/domain/settings/Settings.ts"
import { builtConsole } from "../build/pages.ts"
import { geminiKey, serviceAccount, settingsFor, startGateway } from "./TestGateway.ts"

const executablePath = process.env["TEST_CHROMIUM"] ?? "/usr/bin/chromium"
export const hasChromium = existsSync(executablePath)
if (!hasChromium)
  console.error(
    `The tests of the console are left out: there is no ${executablePath}. Install chromium, or set TEST_CHROMIUM.`
  )

/**
 * Each window loads the suggestions of its address bar as two more pages: a quarter of the CPU time of these tests.
 * Chromium takes the last list of features only, so those that Playwright turns off are repeated.
 */
const featuresOff = [
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsUpgrades",
  "HttpsFirstBalancedModeAutoEnable",
  "LensOverlay",
  "MediaRouter",
  "PaintHolding",
  "ThirdPartyStoragePartitioning",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "TcpPortRandomizationWin",
  "OptimizationHints",
  "NetworkTimeServiceQuerying",
  "AimEnabled",
  "PreconnectToSearch",
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
  "WebUIOmniboxFullPopup"
]
export const browserArgs = ["--no-sandbox", `--disable-features=${featuresOff.join(",")}`]

/** A name of others that leads here, as after DNS rebinding. */
export const reboundHost = "rebound.example"
/** The code of the link. */
export const code = "c0de".repeat(10)
export const inferenceKey = "mgk_browser0000000000000000000000"
export const adminKey = "mgk_admin000000000000000000000000"
/** Text that would run, were it markup. */
export const script = "<img src=x onerror=alert(1)>"

/** What a page reported, and the origins it called beyond its own. */
export interface Watched {
  readonly page: Page
  readonly faults: Array<string>
}

export interface ConsoleRun {
  readonly url: string
  readonly browser: Browser
  /** Sends a chat to the gateway; `said` is its only message. */
  readonly chat: (model: string, headers?: Readonly<Record<string, string>>, said?: string) => Promise<Response>
  readonly watched: (context: BrowserContext) => Promise<Watched>
  readonly signIn: (page: Page) => Promise<void>
  readonly close: () => Promise<void>
}

/** A new page, and what it reports. */
export const watch = async (context: BrowserContext, url: string): Promise<Watched> => {
  // Less than that of a test, so that a failure names the step that it waited for.
  context.setDefaultTimeout(25_000)
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

export const startConsole = async (more: Partial<Settings> = {}): Promise<ConsoleRun> => {
  await builtConsole()
  const simulator = makeSimulator({ geminiApiKeys: [geminiKey], serviceAccounts: [serviceAccount], anyLocation: true })
  const upstream = await simulator.listen()
  const keys: Settings["keys"] = [
    { name: "browser", key: Redacted.make(inferenceKey) },
    { name: "ops", key: Redacted.make(adminKey), scopes: ["admin"] }
  ]
  const settings = { ...settingsFor(upstream.url, { keys }), ...more }
  const gateway = await startGateway({
    ...settings,
    server: { ...settings.server, console: { hosts: [], code: Redacted.make(code) } }
  })
  const { url } = gateway
  const args = [...browserArgs, `--host-resolver-rules=MAP ${reboundHost} 127.0.0.1`]
  const browser = await chromium.launch({ executablePath, args })
  return {
    url,
    browser,
    chat: (model, headers = {}, said = "Hello") =>
      fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-gateway-api-key": inferenceKey, ...headers },
        body: JSON.stringify({ model, messages: [{ role: "user", content: said }] })
      }),
    watched: (context) => watch(context, url),
    signIn: async (page) => {
      await page.goto(`${url}/console/`)
      await page.getByLabel("Admin key").fill(adminKey)
      await page.getByRole("button", { name: "Sign in" }).click()
      await page.getByRole("heading", { name: "Overview" }).waitFor()
    },
    close: async () => {
      await browser.close()
      await gateway.close()
      await upstream.close()
    }
  }
}

/** For after each test: an open page goes on to load, stream and draw while the next tests run. */
export const closePages = async (browser: Browser): Promise<void> => {
  for (const context of browser.contexts()) await context.close()
}

/** What axe finds on the page. */
export const findings = async (page: Page): Promise<ReadonlyArray<string>> => {
  await page.evaluate(axe.source)
  // Every rule runs. Only its violations are described and leave the browser, not the elements that pass.
  const violations = await page.evaluate<ReadonlyArray<{ id: string; nodes: ReadonlyArray<{ html: string }> }>>(
    'axe.run({ resultTypes: ["violations"] }).then(({ violations }) => violations)'
  )
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
}
