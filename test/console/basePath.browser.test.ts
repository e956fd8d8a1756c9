// Tests the console in Chromium below a path of a reverse proxy, which keeps the prefix or takes it off.
// Must not depend on what a page shows.
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { adminKey, type ConsoleRun, startConsole } from "../support/consoleBrowser.ts"
import { type PathProxy, startPathProxy } from "../support/pathProxy.ts"
import { hasChromium } from "../support/startChromium.ts"

let run: ConsoleRun

describe.runIf(hasChromium)("console below a path", () => {
  beforeAll(async () => {
    run = await startConsole({ server: { host: "127.0.0.1", port: 0, basePath: "/llm" } })
  })
  afterAll(() => run.close())

  it.each([false, true])(
    "console below a path: signs in, moves, calls and reloads through a proxy; it takes the prefix off: %s (K23)",
    async (strips) => {
      const proxy: PathProxy = await startPathProxy(run.url, { prefix: "/llm", strips })
      const base = `${proxy.url}/llm`
      const context = await run.browser.newContext()
      const page = await context.newPage()
      const faults: Array<string> = []
      page.on("pageerror", (error) => faults.push(error.message))
      page.on("response", (response) => {
        if (response.status() >= 400) faults.push(`${response.status()} ${response.url()}`)
      })
      page.on("request", (request) => {
        if (!request.url().startsWith(`${base}/`)) faults.push(`calls ${request.url()}`)
      })
      await page.goto(`${base}/console/`)
      await page.getByLabel("Admin key").fill(adminKey)
      await page.getByRole("button", { name: "Sign in" }).click()
      await page.getByRole("heading", { name: "Overview" }).waitFor()
      await page.getByRole("link", { name: "Requests", exact: true }).click()
      await page.waitForURL(`${base}/console/requests`)
      await run.chat("@google/gemini-3.8-flash")
      await page.locator("tbody a").first().click()
      await page.getByRole("heading", { name: "Calls to providers" }).waitFor()
      expect(page.url()).toMatch(`${base}/console/requests/`)
      await page.reload()
      await page.getByRole("heading", { name: "Calls to providers" }).waitFor()
      await page.getByRole("link", { name: "Connect", exact: true }).click()
      await page.locator("pre").first().waitFor()
      expect(await page.locator("pre").first().textContent()).toContain(`${base}/v1/chat/completions`)
      await page.getByRole("button", { name: "Sign out" }).click()
      await page.getByLabel("Admin key").waitFor()
      await context.close()
      await proxy.close()
      expect(faults).toEqual([])
    }
  )
})
