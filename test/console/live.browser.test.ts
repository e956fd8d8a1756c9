// Tests the list of requests in Chromium, live and at length; the keyboard on every page; and what others can do to a session.
// Must not depend on how a page is made.
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { adminKey, type ConsoleRun, findings, script, startConsole } from "../support/consoleBrowser.ts"
import { sample } from "../support/release.ts"
import { hasChromium, reboundHost } from "../support/startChromium.ts"

let run: ConsoleRun

const flash = "@google/gemini-3.8-flash"

const opened: ConsoleRun["opened"] = (path) => run.opened(path)

const rowsOf = (page: Page) => page.locator(".rows tbody tr:not(.gap)")

/** Answers pages of the list with this many requests; the position of a request is its cursor. */
const listLength = async (page: Page, length: number): Promise<void> => {
  await page.route(/\/admin\/v1\/requests(\?|$)/, async (route) => {
    const query = new URL(route.request().url()).searchParams
    const from = Number(query.get("cursor") ?? 0)
    const to = Math.min(length, from + Number(query.get("limit") ?? 100))
    const data = Array.from({ length: to - from }, (_, index) => {
      const id = `listed-${from + index}`
      return {
        object: "request",
        id,
        request_id: id,
        trace_id: id,
        ts: new Date(Date.UTC(2027, 0, 31, 12) - (from + index) * 1000).toISOString(),
        route: "/v1/chat/completions",
        status: 200,
        provider: "google",
        model: id,
        stream: false,
        duration_ms: 10,
        overhead_ms: 1,
        attempts: []
      }
    })
    await route.fulfill({ json: { object: "list", data, next_cursor: to < length ? String(to) : null } })
  })
}

describe.runIf(hasChromium)("live console in Chromium", () => {
  beforeAll(async () => {
    run = await startConsole({
      log: { format: "off", content: "all" },
      usageMetadata: ["team"]
    })
  })
  afterAll(() => run.close())

  it("console list: a request arrives by the stream, without another read of the list", async () => {
    const { faults, page } = await opened("audit")
    const reads: Array<string> = []
    const lists = () => reads.filter((path) => path === "/admin/v1/requests").length
    // The list is read by the page, and once more when its stream is open.
    const isLive = page.waitForEvent("response", (response) => {
      reads.push(new URL(response.url()).pathname)
      return lists() === 2
    })
    await page.getByRole("link", { name: "Requests", exact: true }).click()
    await isLive
    expect(reads.includes("/admin/v1/requests/events")).toBe(true)
    reads.length = 0
    page.on("response", (response) => reads.push(new URL(response.url()).pathname))
    await run.chat(flash, { "x-request-id": "arrives-live" })
    await page.locator(".menu summary").click()
    await page.locator(".menu").getByLabel("Request id", { exact: true }).check()
    await rowsOf(page).getByRole("link", { name: "arrives-live" }).waitFor()
    expect([reads, faults]).toEqual([[], []])
  })

  it("console list: a half typed filter stays while requests arrive", async () => {
    const { faults, page } = await opened("requests")
    await page.locator(".menu summary").click()
    await page.locator(".menu").getByLabel("Request id", { exact: true }).check()
    await page.getByText("More filters").click()
    const field = page.getByLabel("At least, ms")
    await field.fill("12")
    await run.chat(flash, { "x-request-id": "while-typing" })
    await rowsOf(page).getByRole("link", { name: "while-typing" }).waitFor()
    expect([await field.inputValue(), faults]).toEqual(["12", []])
  })

  it("console list: filters are an address that shows the same list to others", async () => {
    await run.chat(flash, { "x-gateway-metadata": '{"team":"red"}' })
    await run.chat("@google/demo-503", { "x-gateway-metadata": '{"team":"red"}' })
    const { faults, page } = await opened("requests")
    await page.getByText("More filters").click()
    await page.getByRole("textbox", { name: "Metadata" }).fill("team=red")
    await page.getByRole("textbox", { name: "Metadata" }).press("Enter")
    await page.waitForURL(`${run.url}/console/requests?metadata.team=red`)
    await page.getByLabel("At least, ms").fill("1")
    await page.getByLabel("At least, ms").press("Enter")
    await rowsOf(page).getByRole("link", { name: "upstream_unavailable" }).click()
    await page.waitForURL(/error=upstream_unavailable/)
    const address = page.url()
    expect([address, faults]).toEqual([
      `${run.url}/console/requests?metadata.team=red&min_duration_ms=1&error=upstream_unavailable`,
      []
    ])
    // The browser of others has nothing of this one.
    await opened(address.slice(`${run.url}/console/`.length))
    await rowsOf(page).first().waitFor()
    expect([await rowsOf(page).count(), await page.getByRole("textbox", { name: "Metadata" }).inputValue()]).toEqual([
      1,
      "team=red"
    ])
    await page.getByRole("link", { name: "Clear filters" }).click()
    await page.waitForURL(`${run.url}/console/requests`)
    expect(faults).toEqual([])
  })

  it("console list: a bar of the histogram filters by its time, and its values are a table", async () => {
    await run.chat(flash)
    const { faults, page } = await opened("requests")
    await page.getByText("Values of the loaded requests over time").click()
    await page.getByRole("columnheader", { name: "5xx" }).waitFor()
    await page
      .locator(".histogram .hit")
      .first()
      .click({ position: { x: 1, y: 1 } })
    await page.waitForURL(/since=.*&until=/)
    await rowsOf(page).first().waitFor()
    expect([await findings(page), faults]).toEqual([[], []])
  })

  it("console list: chosen columns stay in the browser", async () => {
    await run.chat(flash)
    const { faults, page } = await opened("requests")
    await rowsOf(page).first().waitFor()
    const headings = () => page.locator(".rows th").allTextContents()
    await page.locator(".menu summary").click()
    await page.locator(".menu").getByLabel("Client", { exact: true }).check()
    for (const name of ["Key", "Route", "In", "Out", "Cost", "Error", "Duration"])
      await page.locator(".menu").getByLabel(name, { exact: true }).uncheck()
    expect(await findings(page)).toEqual([])
    const chosen = ["Ended", "Status", "Provider", "Model", "Client"]
    expect(await headings()).toEqual(chosen)
    await page.reload()
    await rowsOf(page).first().waitFor()
    expect([await headings(), faults]).toEqual([chosen, []])
  })

  it("console list: of many requests only those in sight are in the page, and older pages come by scrolling", async () => {
    const { faults, page } = await opened("audit")
    await listLength(page, 2400)
    const events = page.waitForResponse(/\/admin\/v1\/requests\/events/)
    await page.getByRole("link", { name: "Requests", exact: true }).click()
    // The first page has too few rows below those in sight, so the second comes without scrolling.
    for (const last of ["1,100", "2,100", "2,400"]) {
      await page.getByText(`${last} requests loaded`).waitFor()
      await page.locator(".rows").evaluate((box) => box.scrollTo(0, box.scrollHeight))
    }
    await page.getByRole("link", { name: "listed-2399", exact: true }).waitFor()
    const heights = await page.locator(".rows").evaluate((box) => [box.scrollHeight, box.scrollWidth > 0])
    expect([heights, (await rowsOf(page).count()) < 100]).toEqual([[2401 * 32, true], true])
    await events
    // What arrives meanwhile waits, and the list stays where it is.
    await run.chat("@google/demo-503")
    await page.getByRole("button", { name: "1 new ↑" }).click()
    await rowsOf(page).first().getByRole("link", { name: "demo-503" }).waitFor()
    expect(faults).toEqual([])
  })

  it("console overview: loads again by itself when a request has ended", async () => {
    await run.chat(flash)
    const { faults, page } = await opened("")
    const requests = page.locator(".tile").first().locator("b")
    await requests.waitFor()
    const before = Number(await requests.textContent())
    await run.chat(flash)
    await page.waitForFunction((least) => Number(document.querySelector(".tile b")?.textContent) > least, before)
    expect(faults).toEqual([])
  })

  it("console keys: / leads to the first filter, ? shows the keys in a dialog, and Esc leaves both", async () => {
    const { faults, page } = await opened("requests")
    await page.keyboard.press("/")
    expect(await page.evaluate(() => document.activeElement?.closest("label")?.textContent)).toBe("Status")
    await page.keyboard.press("Escape")
    await page.keyboard.press("?")
    const dialog = page.getByRole("dialog", { name: "Keys" })
    await dialog.waitFor()
    expect([await dialog.locator("dt").allTextContents(), await findings(page)]).toEqual([
      ["1 to 9", "/", "j, k", "Enter", "Esc", "?"],
      []
    ])
    // The dialog has the keys for itself.
    await page.keyboard.press("2")
    expect(page.url()).toBe(`${run.url}/console/requests`)
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "hidden" })
    await page.keyboard.press("3")
    await page.waitForURL(`${run.url}/console/playground`)
    expect(faults).toEqual([])
  })

  it(
    "console keys: the tab key reaches every control of every page, and leaves each",
    { timeout: 120_000 },
    async () => {
      await run.chat(flash)
      const { faults, page } = await opened("")
      const addresses = await page
        .locator("nav a")
        .evaluateAll((links) => links.map((link) => link.getAttribute("href")))
      const [request] = await (
        await fetch(`${run.url}/admin/v1/requests?limit=1`, { headers: { "x-gateway-api-key": adminKey } })
      )
        .json()
        .then(({ data }: { data: ReadonlyArray<{ id: string }> }) => data)
      for (const address of sample([...addresses, `/console/requests/${request?.id}`], 5)) {
        await page.goto(`${run.url}${address}`)
        await page.getByRole("heading", { level: 1 }).waitFor()
        await page.waitForLoadState("load")
        // Live rows would move below the keyboard.
        const live = page.getByLabel("Live")
        if ((await live.count()) > 0) await live.uncheck()
        expect([address, await unreached(page)]).toEqual([address, []])
      }
      expect(faults).toEqual([])
    }
  )

  it("console pages: markup in every field of a request and a key is text (TH30)", { timeout: 60_000 }, async () => {
    const headers = { "user-agent": script, "x-gateway-metadata": JSON.stringify({ team: script }) }
    await run.chat(flash, headers, script)
    await run.chat(`@google/${script}`, headers, script)
    const made = await fetch(`${run.url}/admin/v1/keys`, {
      method: "POST",
      headers: { "x-gateway-api-key": adminKey, "content-type": "application/json" },
      body: JSON.stringify({ name: script })
    })
    expect(made.status).toBe(201)
    const { faults, page } = await opened("requests")
    await page.evaluate(
      (names) => localStorage.setItem("request_columns", names),
      "Status,Model,Error,Client,Config,Request id,Trace id,Metadata"
    )
    await page.reload()
    await rowsOf(page)
      .getByRole("link", { name: `team=${script}` })
      .first()
      .waitFor()
    const links = await rowsOf(page)
      .locator("td:first-child a")
      .evaluateAll((all) => all.slice(0, 2).map((link) => link.getAttribute("href")))
    for (const address of [
      ...links,
      "/console/keys",
      "/console/",
      `/console/requests?model=${encodeURIComponent(script)}`
    ]) {
      await page.goto(`${run.url}${address}`)
      await page.getByRole("heading", { level: 1 }).waitFor()
      await page.waitForLoadState("networkidle").catch(() => undefined)
      expect([address, await page.locator("main img[src='x']").count()]).toEqual([address, 0])
    }
    expect(faults).toEqual([])
  })

  it("console session: a page of another origin can neither read nor change by it (TH30)", async () => {
    const foreign = createServer((_, response) => response.setHeader("content-type", "text/html").end("<p>other</p>"))
    await new Promise<void>((listening) => foreign.listen(0, "127.0.0.1", listening))
    const { port } = foreign.address() as AddressInfo
    const { page } = await opened("keys")
    // Another port of the same host: the browser sends the cookie there, as to a page of the same site.
    await page.goto(`http://127.0.0.1:${port}/`)
    const tried = await page.evaluate(async (admin) => {
      const call = (init: RequestInit) =>
        fetch(`${admin}/keys`, { credentials: "include", ...init }).then(
          ({ status, type }) => `${type} ${status}`,
          () => "refused"
        )
      const body = JSON.stringify({ name: "stolen" })
      return [
        await call({}),
        await call({ method: "POST", body, headers: { "x-gateway-console": "1" } }),
        await call({ method: "POST", body, mode: "no-cors" })
      ]
    }, `${run.url}/admin/v1`)
    expect(tried).toEqual(["refused", "refused", "opaque 0"])
    const { data } = await (
      await fetch(`${run.url}/admin/v1/keys`, { headers: { "x-gateway-api-key": adminKey } })
    ).json()
    expect(data.map(({ name }: { name: string }) => name).includes("stolen")).toBe(false)
    foreign.close()
  })

  it("console session: under a name that was pointed here nothing is shown (TH30)", async () => {
    const { page } = await run.signedOut()
    await page.goto(`http://${reboundHost}:${new URL(run.url).port}/console/`)
    await page.getByRole("heading", { name: "model-gateway" }).waitFor()
    expect(await page.getByRole("alert").textContent()).toBe(
      "The console is not used under this host name; list the name in server.console_hosts."
    )
  })
})

/** The controls of the page that the tab key does not reach in one round. */
const unreached = async (page: Page): Promise<ReadonlyArray<string>> => {
  const controls = "a[href], button, input, select, textarea, summary, [tabindex='0']"
  const remaining = () =>
    page.evaluate(
      (selector) =>
        [...document.querySelectorAll<HTMLElement>(selector)]
          .filter((one) => one.checkVisibility() && !one.matches(":disabled, [data-reached]"))
          .map((one) => one.outerHTML),
      controls
    )
  await page.evaluate(() => {
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
    document.addEventListener("focusin", () => document.activeElement?.setAttribute("data-reached", ""))
  })
  let left = await remaining()
  for (let pressed = 0; pressed < 300 && left.length > 0; pressed += 20) {
    // Browser and page take the keys in order, so none of them waits for the one before it.
    await Promise.all(Array.from({ length: 20 }, () => page.keyboard.press("Tab")))
    left = await remaining()
  }
  return left
}
