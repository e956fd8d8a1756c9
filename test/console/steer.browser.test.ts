// Tests the pages that steer the gateway in Chromium: keys and budgets, configs, prompts, providers, settings.
// Must not depend on how a page is made.
import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import {
  adminKey,
  type ConsoleRun,
  findings,
  inferenceKey,
  looks,
  move,
  script,
  startConsole
} from "../support/consoleBrowser.ts"
import { processes } from "../support/process.ts"
import { hasChromium } from "../support/startChromium.ts"

let run: ConsoleRun
const refusedLine = "Failed to load resource: the server responded with a status of 400 (Bad Request)"

const opened: ConsoleRun["opened"] = (...given) => run.opened(...given)

const admin = async (method: string, path: string, body?: unknown) => {
  const answer = await fetch(`${run.url}/admin/v1/${path}`, {
    method,
    headers: { "x-gateway-api-key": adminKey, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  return JSON.parse(await answer.text())
}

const edit = (page: Page, config: unknown) => page.getByLabel("Config as JSON").fill(JSON.stringify(config, null, 2))

const balanced = {
  strategy: { mode: "loadbalance" },
  targets: [{ provider: "@google", weight: 3 }, { provider: "@vertex-ai" }]
}

describe.runIf(hasChromium)("pages that steer the gateway, in Chromium", () => {
  const { start } = processes()
  beforeAll(async () => {
    run = await startConsole()
  })
  afterAll(() => run.close())

  it("console configs: a fault shows at its line while it is written, is mended, tried, saved and rolled back", async () => {
    const { faults, page } = await opened("configs")
    await page.getByLabel("Id").fill("split")
    await edit(page, { ...balanced, strategy: { mode: "loadbalanced" } })
    await page.getByText(/^line 3: config\.strategy\.mode /).waitFor()
    expect(await page.locator(".gutter .bad").allTextContents()).toEqual(["3"])
    // A text that is no JSON has its line from the browser.
    await page.getByLabel("Config as JSON").fill('{\n  "provider": \n}')
    await page.getByText("line 3: The text is not valid JSON.").waitFor()
    await edit(page, balanced)
    await page.locator(".faults p").waitFor({ state: "detached" })
    await page.getByRole("button", { name: "Simulate" }).click()
    await page.getByRole("region", { name: "Where the request goes" }).waitFor()
    expect(await page.locator("tbody tr").allInnerTexts()).toEqual([
      "config\tloadbalance\tfirst\t100 %\tevery request of the config",
      "targets[0]\tgoogle / gemini-3.8-flash\tfirst\t75 %\tits weight is 3 of 4",
      "targets[1]\tvertex-ai / gemini-3.8-flash\tfirst\t25 %\tits weight is 1 of 4"
    ])
    expect(await page.getByRole("img").locator(".node").allTextContents()).toEqual([
      "loadbalance, every request of the configloadbalance100 %",
      "@google, weight 3, its weight is 3 of 4@google75 %weight 3",
      "@vertex-ai, weight 1, its weight is 1 of 4@vertex-ai25 %weight 1"
    ])
    await page.getByRole("button", { name: "Save" }).click()
    await page.waitForURL(`${run.url}/console/configs?id=split`)
    await page.getByText("There is no older one.").waitFor()
    await edit(page, { provider: "@google" })
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByRole("button", { name: "Roll back to 1" }).waitFor()
    expect(await page.locator(".difference del").allInnerTexts()).toContain('  "strategy": {\n')
    expect(await page.locator(".difference ins").allInnerTexts()).toEqual(['  "provider": "@google"\n'])
    await page.getByRole("button", { name: "Roll back to 1" }).click()
    await page.getByRole("button", { name: "Roll back to 2" }).waitFor()
    const { config, version } = await admin("GET", "configs/split")
    expect([config, version, faults]).toEqual([balanced, 3, []])
  })

  it("console configs: the schema names what a config may have, and a model that ends has its warning", async () => {
    const { faults, page } = await opened("configs")
    await page.getByText("What a config may have").click()
    const mode = page.getByRole("row").filter({ has: page.getByText("strategy.mode", { exact: true }) })
    expect(await mode.innerText()).toBe("strategy.mode\tsingle, fallback, loadbalance, conditional\t")
    await edit(page, { provider: "@google", override_params: { model: "gemini-2.0-flash" } })
    await page.getByText(/^config gemini-2\.0-flash is shut down/).waitFor()
    expect(faults).toEqual([])
  })

  it("console keys: a key with a budget is made, its burn-down is shown, and its text is rotated with a grace time", async () => {
    const { faults, page } = await opened("keys")
    await page.getByLabel("Name").fill("search")
    await page.getByLabel("Requests a minute").fill("600")
    await page.getByLabel("Burst of requests").fill("20")
    await page.getByLabel("Budget in US dollars").fill("1")
    await page.getByLabel("Keep bodies and answers").selectOption("errors")
    await page.getByRole("button", { name: "Make key" }).click()
    const text = (await page.locator(".made pre").textContent()) ?? ""
    await page.getByRole("button", { name: "I have kept it" }).click()
    const answer = await run.chat("@google/gemini-3.8-flash", { "x-gateway-api-key": text })
    expect(answer.status).toBe(200)
    await page.getByRole("link", { name: "search", exact: true }).click()
    await page.getByText(/^At the rate so far /).waitFor()
    await page.getByRole("heading", { name: "Budget of this month" }).waitFor()
    const id = new URL(page.url()).searchParams.get("id") ?? ""
    const made = await admin("GET", `keys/${id}`)
    expect([made.rate_limit, made.budget, made.log_content]).toEqual([
      { requests_per_minute: 600, requests_burst: 20 },
      { usd: 1, per: "month" },
      "errors"
    ])
    // The table of the chart begins with the whole budget.
    await page.getByText("Values of budget of this month").click()
    expect(await page.locator(".values tbody tr").first().locator("td").first().textContent()).toBe("$1.00")
    await page.getByLabel("The old text is refused").selectOption({ label: "in an hour" })
    await page.getByRole("button", { name: "Make another text" }).click()
    const next = (await page.locator(".made pre").textContent()) ?? ""
    for (const one of [text, next])
      expect((await fetch(`${run.url}/v1/models`, { headers: { "x-gateway-api-key": one } })).status).toBe(200)
    await page.getByLabel("Requests at a time").fill("3")
    const saved = page.waitForResponse((response) => response.request().method() === "PUT")
    await page.getByRole("button", { name: "Save" }).click()
    await saved
    expect((await admin("GET", `keys/${id}`)).concurrency).toBe(3)
    await page.getByRole("button", { name: "Revoke" }).click()
    await page.getByRole("button", { name: "Refuse this key now" }).click()
    await page.getByText(/^revoked /).waitFor()
    expect(faults).toEqual([])
  })

  it("console keys: a refused change shows its reason at the form", async () => {
    const { faults, page } = await opened("keys")
    await page.getByLabel("Name").fill("odd")
    await page.getByLabel("Burst of requests").fill("20")
    const reported = page.waitForEvent("console")
    await page.getByRole("button", { name: "Make key" }).click()
    await page.getByText(/^rate_limit\.requests_burst needs a limit/).waitFor()
    await reported
    expect(faults).toEqual([refusedLine])
  })

  it("console prompts: a prompt is made, gets a version and a label, and is tried", async () => {
    const { faults, page } = await opened("prompts")
    await page.getByLabel("Id", { exact: true }).fill("welcome")
    await page.getByLabel("Message 2", { exact: true }).fill("Greet {{name}}.")
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByRole("heading", { name: "welcome, version 1" }).waitFor()
    await page.getByLabel("Message 2", { exact: true }).fill("Greet {{name}} in {{place}}.")
    await page.getByLabel("Labels of the version that is saved").fill("production")
    await page.getByRole("button", { name: "Save as version 2" }).click()
    await page.getByRole("heading", { name: "welcome, version 2" }).waitFor()
    const versions = page.getByRole("navigation", { name: "Versions" }).getByRole("link")
    expect(await versions.allTextContents()).toEqual(["2production", "1"])
    await page.getByLabel("Gateway key").fill(inferenceKey)
    await page.getByLabel("name", { exact: true }).fill("Ann")
    await page.getByLabel("place", { exact: true }).fill("Rome")
    await page.getByRole("button", { name: "Show what is asked" }).click()
    await page.getByText(/Greet Ann in Rome\./).waitFor()
    await page.getByRole("button", { name: "Try it" }).click()
    await page.getByText(/tokens in, \d+ out/).waitFor()
    await page.getByText("As curl").click()
    expect(await page.locator("details pre").textContent()).toContain('{"variables":{"name":"Ann","place":"Rome"}}')
    await versions.getByText("1").click()
    await page.getByRole("heading", { name: "Try version 1" }).waitFor()
    expect(await page.getByLabel("place", { exact: true }).count()).toBe(0)
    // An older version is saved as the newest; labels stay where they are.
    await page.getByRole("button", { name: "Save as version 3" }).click()
    await page.getByRole("heading", { name: "welcome, version 3" }).waitFor()
    expect(await versions.allTextContents()).toEqual(["3", "2production", "1"])
    expect(faults).toEqual([])
  })

  it("console providers: token exchange, refusals by quota, and models in use that end are shown", async () => {
    const calls = ["@vertex-ai/gemini-2.5-flash", "@google/demo-flaky-429"]
    for (const model of calls) await (await run.chat(model)).text()
    const { faults, page } = await opened("providers")
    const card = (name: string) =>
      page.locator(".card").filter({ has: page.getByRole("heading", { name, exact: true }) })
    await card("vertex-ai").getByText(/^ok /).waitFor()
    await card("vertex-ai").getByText("In use: gemini-2.5-flash is deprecated").waitFor()
    expect(
      await card("google")
        .getByText(/refused by quota/)
        .textContent()
    ).toMatch(/^[1-9]\d* refused by quota$/)
    await card("vertex-ai")
      .getByText(/^\d+ models$/)
      .click()
    await card("vertex-ai").getByRole("heading", { name: "global, us, eu, single regions" }).waitFor()
    expect(faults).toEqual([])
  })

  it.each(looks)(
    "console steering: axe finds nothing in the %s theme at %d px, and no page is wider",
    async (colorScheme, width) => {
      const { id } = await admin("POST", "keys", { name: script, budget: { usd: 1, per: "day" } })
      await admin("POST", "configs", { id: `wide-${width}`, config: balanced })
      await admin("POST", "prompts", {
        id: `shown-${width}`,
        model: "@google/gemini-3.8-flash",
        messages: [{ role: "user", content: script }]
      })
      const { faults, page } = await opened("audit", { colorScheme, width })
      for (const [path, sign] of [
        [`keys?id=${id}`, ".chart"],
        [`configs?id=wide-${width}`, ".tree"],
        [`prompts?id=shown-${width}`, ".message"],
        ["providers", ".chips"],
        ["settings", ".card dl"]
      ] as const) {
        await move(page, path)
        await page.locator(sign).first().waitFor({ state: "attached" })
        expect([path, await findings(page)]).toEqual([path, []])
        expect([path, await page.evaluate("document.documentElement.scrollWidth")]).toEqual([path, width])
        expect(await page.locator("img").count()).toBe(0)
      }
      expect(faults).toEqual([])
    }
  )

  it("console settings: a flag, a variable and a default have their origins", async () => {
    const demo = start(["demo", "--port", "0"], { env: { GATEWAY_LOG_LEVEL: "error" } })
    const [, origin = ""] = await demo.said(/Console {2}(http:\S+)\/console\//)
    const { page } = await run.signedOut()
    await page.goto(`${origin}/console/settings`)
    await page.getByRole("region", { name: "Settings" }).waitFor()
    const cells = async () => (await page.locator("tbody tr").allInnerTexts()).map((row) => row.split("\t").slice(0, 4))
    expect(await cells()).toEqual([
      ["server.port", "0", "flag", "--port"],
      ["log.level", "error", "variable", "GATEWAY_LOG_LEVEL"]
    ])
    await page.getByLabel("Defaults too").check()
    await page.getByLabel("Name").fill("limits.tools")
    expect(await cells()).toEqual([["limits.tools", "1024", "default", "–"]])
    demo.child.kill()
  })
})
