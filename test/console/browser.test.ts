// Tests the console in Chromium against a gateway with the simulated Google services: pages, flows, policy, access.
// Must not depend on how a page is made.
import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import {
  code,
  type ConsoleRun,
  findings,
  inferenceKey as key,
  looks,
  move,
  script,
  startConsole
} from "../support/consoleBrowser.ts"
import { hasChromium } from "../support/startChromium.ts"

let run: ConsoleRun
let url: string
const chat: ConsoleRun["chat"] = (...given) => run.chat(...given)

/** Each page with its heading, and what it shows when it has loaded. */
const pages = [
  ["", "Overview", ".tiles"],
  ["requests", "Requests", "tbody tr"],
  ["?range=30d", "Overview", ".tiles"],
  ["playground", "Playground", "form"],
  ["keys", "Keys", "tbody tr"],
  ["configs", "Configs", "form"],
  ["providers", "Providers", ".card dl"],
  ["connect", "Connect a client", ".light"],
  ["audit", "Audit", "h1"]
] as const

const moveTo = async (page: Page, [path, heading, sign]: (typeof pages)[number]): Promise<void> => {
  await move(page, path)
  await page.getByRole("heading", { level: 1, name: heading }).waitFor()
  await page.locator(sign).first().waitFor()
}

describe.runIf(hasChromium)("console in Chromium", () => {
  beforeAll(async () => {
    run = await startConsole()
    url = run.url
  })
  afterAll(() => run.close())

  it("console pages: the link signs in once and leaves the address (TH30)", async () => {
    const { faults, page } = await run.signedOut()
    await page.goto(`${url}/console/#code=${code}`)
    await page.getByRole("heading", { name: "Overview" }).waitFor()
    expect([page.url(), faults]).toEqual([`${url}/console/`, []])
    await run.signedOut()
    await page.goto(`${url}/console/#code=${code}`)
    await page.getByRole("heading", { name: "model-gateway" }).waitFor()
    expect(await page.getByRole("alert").textContent()).toBe(
      "The admin key or the link is not valid; a link is valid once, for ten minutes after the start."
    )
  })

  it("console pages: a request appears by itself, is filtered by a click, and is shown with its calls", async () => {
    const { faults, page } = await run.opened("audit")
    await page.getByRole("link", { name: "Requests", exact: true }).click()
    await chat("@google/gemini-3.8-flash")
    await chat("@google/demo-503")
    await page.getByRole("link", { name: "503", exact: true }).click()
    await page.waitForURL(`${url}/console/requests?status=503`)
    await page.getByRole("cell", { name: "upstream_unavailable" }).waitFor()
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Calls to providers" }).waitFor()
    expect(await page.locator(".waterfall .what").allTextContents()).toEqual(["google / demo-503"])
    await page.keyboard.press("Escape")
    await page.waitForURL(`${url}/console/requests?status=503`)
    expect(faults).toEqual([])
  })

  it("console pages: a key is made, shown once, used and revoked", async () => {
    const { faults, page } = await run.opened("audit")
    await page.getByRole("link", { name: "Keys", exact: true }).click()
    await page.getByLabel("Name").fill("team")
    await page.getByRole("button", { name: "Make key" }).click()
    const made = (await page.locator(".made pre").textContent()) ?? ""
    expect(made).toMatch(/^mgk_/)
    const used = () => fetch(`${url}/v1/models`, { headers: { "x-gateway-api-key": made } })
    expect((await used()).status).toBe(200)
    await page.getByRole("button", { name: "I have kept it" }).click()
    expect(await page.getByText(made).count()).toBe(0)
    const row = page.getByRole("row").filter({ has: page.getByRole("cell", { name: "team", exact: true }) })
    await row.getByRole("button", { name: "Revoke" }).click()
    await page.getByRole("button", { name: "Refuse this key now" }).click()
    await page.getByRole("cell", { name: /^revoked / }).waitFor()
    await page.getByRole("link", { name: "Audit", exact: true }).click()
    await page.locator("tbody tr").first().waitFor()
    const changes = await page.locator("tbody td:nth-child(3)").allTextContents()
    expect([changes.slice(0, 2), (await used()).status, faults]).toEqual([["revoke", "create"], 401, []])
  })

  it("console pages: the test of a provider shows its result", async () => {
    const { faults, page } = await run.opened("audit")
    await page.getByRole("link", { name: "Providers", exact: true }).click()
    await page.getByRole("button", { name: "Test" }).first().click()
    expect(await page.getByRole("status").textContent()).toMatch(
      /^The provider answers, and takes the credential\. \(.* ms\)$/
    )
    expect(faults).toEqual([])
  })

  it("console pages: a config with a fault is refused at its line, mended, changed and removed", async () => {
    const { faults, page } = await run.opened("audit")
    await page.getByRole("link", { name: "Configs", exact: true }).click()
    await page.getByLabel("Id").fill("patient")
    const editor = page.getByLabel("Config as JSON")
    await editor.fill('{\n  "provider": "@google",\n  "retry": { "attempts": "two" }\n}')
    const reported = page.waitForEvent("console")
    await page.getByRole("button", { name: "Save" }).click()
    expect(await page.locator(".faults p").textContent()).toMatch(/^line 3: config\.retry\.attempts /)
    await reported
    // The refused answer is the one line that the browser reports.
    expect(faults.splice(0)).toEqual([
      "Failed to load resource: the server responded with a status of 400 (Bad Request)"
    ])
    await editor.fill('{ "provider": "@google", "retry": { "attempts": 2 } }')
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("version 1").waitFor()
    await editor.fill('{ "provider": "@google" }')
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("version 2").waitFor()
    await page.getByRole("button", { name: "Remove" }).click()
    await page.getByText("There is no config yet.").waitFor()
    expect(faults).toEqual([])
  })

  it("console pages: the playground streams an answer, and shows what the provider gets", async () => {
    const { faults, page } = await run.opened("audit")
    await page.getByRole("link", { name: "Playground", exact: true }).click()
    await page.getByLabel("Gateway key").fill(key)
    await page.getByRole("combobox", { name: "Model" }).fill("@google/gemini-3.8-flash")
    await page.getByLabel("Temperature").fill("0.5")
    await page.getByLabel("Most tokens out").fill("500")
    await page.getByLabel("Message").fill("Hello")
    await page.getByRole("button", { name: "Show what the provider gets" }).click()
    await page.getByRole("heading", { name: "The provider gets" }).waitFor()
    expect(JSON.parse((await page.locator("pre").last().textContent()) ?? "")).toEqual({
      contents: [{ role: "user", parts: [{ text: "Hello" }] }],
      generationConfig: { maxOutputTokens: 500 }
    })
    expect(await page.getByText(/^Ignored: /).textContent()).toBe("Ignored: temperature. Changed: none.")
    await page.getByRole("button", { name: "Send" }).click()
    await page.getByRole("link", { name: "Its request" }).waitFor()
    expect(await page.locator(".answer").textContent()).toMatch(/^Hello! /)
    await page.getByRole("link", { name: "Its request" }).click()
    await page.getByRole("heading", { name: "Calls to providers" }).waitFor()
    expect(faults).toEqual([])
  })

  it("console pages: the lines of a client have address, key and model, and its first request turns the light green", async () => {
    const { faults, page } = await run.opened("audit")
    await page.getByRole("link", { name: "Connect", exact: true }).click()
    await page.getByRole("combobox", { name: "Client" }).selectOption("openai")
    await page.waitForURL(`${url}/console/connect?client=openai`)
    await page.getByLabel("Text of the key").fill(key)
    await page.getByLabel("Model").fill("@google/demo-503")
    const line = ((await page.locator("pre").textContent()) ?? "").split("\n")
    expect([line[2], line[4]]).toEqual([
      `const client = new OpenAI({ baseURL: "${url}/v1", apiKey: "${key}" })`,
      '  model: "@google/demo-503",'
    ])
    expect(await page.getByRole("status").textContent()).toBe("Waiting for its first request to /v1/chat/completions …")
    await chat("@google/gemini-3.8-flash")
    await page.getByRole("link", { name: "gemini-3.8-flash" }).waitFor()
    expect(await page.getByRole("status").textContent()).toMatch(
      /^Its first request arrived at .*: 200 gemini-3.8-flash$/
    )
    expect(faults).toEqual([])
  })

  it("console pages: markup in any field is shown as text (TH30)", async () => {
    await chat(`@google/${script}`)
    const { faults, page } = await run.opened("audit")
    await page.getByRole("link", { name: "Keys", exact: true }).click()
    await page.getByLabel("Name").fill(script)
    await page.getByRole("button", { name: "Make key" }).click()
    await page.getByRole("cell", { name: script }).waitFor()
    for (const shown of pages) {
      await moveTo(page, shown)
      expect(await page.locator("img").count()).toBe(0)
    }
    expect(faults).toEqual([])
  })

  it("console pages: sign-out ends the session in every tab (TH30)", async () => {
    const { page } = await run.signedOut()
    await run.signIn(page)
    const cookies = await page.context().cookies(`${url}/admin/v1/session`)
    await page.getByRole("button", { name: "Sign out" }).click()
    await page.getByLabel("Admin key").waitFor()
    const [stolen] = cookies
    const answer = await fetch(`${url}/admin/v1/keys`, { headers: { cookie: `${stolen?.name}=${stolen?.value}` } })
    expect([cookies.length, stolen?.httpOnly, stolen?.sameSite, answer.status]).toEqual([1, true, "Strict", 401])
  })

  it.each(looks)(
    "console pages: axe finds nothing in the %s theme at %d px, and no page is wider",
    async (colorScheme, width) => {
      await chat("@google/gemini-3.8-flash")
      const { faults, page } = await run.signedOut({ colorScheme, width })
      await page.goto(`${url}/console/`)
      await page.getByLabel("Admin key").waitFor()
      expect(await findings(page)).toEqual([])
      await run.signIn(page)
      for (const shown of pages) {
        await moveTo(page, shown)
        const [path] = shown
        expect([path, await findings(page)]).toEqual([path, []])
        expect([path, await page.evaluate("document.documentElement.scrollWidth")]).toEqual([path, width])
      }
      await move(page, "requests")
      await page.locator("tbody a").first().click()
      await page.locator(".waterfall").waitFor()
      expect(await findings(page)).toEqual([])
      expect(faults).toEqual([])
    }
  )
})
