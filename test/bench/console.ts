// Measures the console in Chromium: bytes, first paint, 100,000 requests in the list, 200 a second live, and its cost to the service.
// Run `node test/bench/console.ts`, or with `page`, `live`, `cost` or `list` for a part; loopback only, three minutes, a line per figure.
import { execFileSync } from "node:child_process"
import { get } from "node:http"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core"
import { builtConsole } from "../build/pages.ts"
import { cpuMicros, freePort, isPinned, start, startGateway } from "./contestants.ts"
import { isMissed, reportFigure } from "./figures.ts"
import { median } from "./goals.ts"
import { burstEvents, startLoad } from "./measure.ts"

const root = join(import.meta.dirname, "../..")
const wantedRows = 100_000
const perSecond = 200
const roundMillis = 2_000
/** Under load, until an opened page has drawn its first rows and history. */
const settleMillis = 1_500
const warmRounds = 6
/** Each without the list and with it. */
const rounds = 16

const parts = process.argv.slice(2)
const isWanted = (part: "page" | "live" | "cost" | "list"): boolean => parts.length === 0 || parts.includes(part)

/** The cores of this process, and of a browser that it starts later. */
const useCores = (cores: string): void => {
  if (isPinned()) execFileSync("taskset", ["-acp", cores, String(process.pid)], { stdio: "ignore" })
}
await builtConsole()
const upstreamUrl = `http://127.0.0.1:${await freePort()}`
const upstream = await start(
  1,
  [join(import.meta.dirname, "upstream.ts"), new URL(upstreamUrl).port, String(burstEvents)],
  `${upstreamUrl}/stats`
)
let words = ""
// The bundle of the bench has no console; the source has the one that was just built.
const gateway = await startGateway(upstreamUrl, { hear: (more) => (words += more) }, join(root, "src/main.ts"))
const target = gateway.target("gemini-3.8-flash", false)
const origin = `http://127.0.0.1:${target.port}`
const link = /Console {2}(\S+)/.exec(words)?.[1] ?? ""
const load = startLoad()

const gzippedBytes = (path: string): Promise<number> =>
  new Promise((resolve, reject) => {
    get(`${origin}${path}`, { headers: { "accept-encoding": "gzip" } }, (response) => {
      let bytes = 0
      response.on("data", (part: Buffer) => (bytes += part.length)).on("end", () => resolve(bytes))
    }).on("error", reject)
  })

const measureBytes = async (): Promise<void> => {
  const page = await (await fetch(`${origin}/console/`)).text()
  const paths = ["/console/", ...[...page.matchAll(/"(\/console\/assets\/[\w.-]+)"/g)].map(([, path = ""]) => path)]
  const bytes = await Promise.all(paths.map(gzippedBytes))
  const kilobytes = bytes.reduce((sum, one) => sum + one, 0) / 1000
  reportFigure("console, gzipped, KB", kilobytes, "<= 70", kilobytes <= 70)
}

/** The first paint in new windows, each with an empty cache. */
const measurePaint = async (browser: Browser, state: Awaited<ReturnType<BrowserContext["storageState"]>>) => {
  const millis: Array<number> = []
  for (let one = 0; one < 5; one++) {
    const context = await browser.newContext({ storageState: state })
    const page = await context.newPage()
    await page.goto(`${origin}/console/`)
    await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length > 0)
    millis.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0))
    await context.close()
  }
  reportFigure("first paint on a cold cache, median of 5, ms", median(millis), "< 300", median(millis) < 300)
}

/** Requests that the gateway has answered. */
let answered = 0

interface Round {
  readonly perSecond: number
  readonly cpuMicros: number
}

const measureRound = async (millis = roundMillis): Promise<Round> => {
  const before = cpuMicros(gateway.pid)
  const { done, seconds } = await load.run({ kind: "loop", target, connections: 32, millis })
  answered += done
  return { perSecond: done / seconds, cpuMicros: (cpuMicros(gateway.pid) - before) / done }
}

/** The requests that the open list makes: how it begins, and the stream that stays. Those of other pages end with them. */
const requestsOf = async (page: Page, address: string): Promise<ReadonlyArray<string>> => {
  const seen: Array<string> = []
  const note = (request: { url(): string }): void => void seen.push(request.url())
  page.on("request", note)
  await page.goto(address)
  await page.locator(".rows tbody tr").first().waitFor()
  page.off("request", note)
  await page.goto("about:blank")
  return seen.filter((url) => new URL(url).pathname.startsWith("/admin/"))
}

/** Makes the same requests without a browser, and reads what arrives. Returns what ends them. */
const replay = (urls: ReadonlyArray<string>, cookie: string): (() => void) => {
  const ending = new AbortController()
  const read = async (url: string): Promise<void> => {
    const { body, status } = await fetch(url, { headers: { cookie }, signal: ending.signal })
    if (status !== 200 || body === null) throw new Error(`${url}: ${status}`)
    await body.pipeTo(new WritableStream())
  }
  for (const url of urls)
    read(url).catch((error: unknown) => {
      if (!ending.signal.aborted) throw error
    })
  return () => ending.abort()
}

/** The shares of the second round in the first, of each pair. */
const sharesOf = (pairs: ReadonlyArray<readonly [Round, Round]>, of: (round: Round) => number): ReadonlyArray<number> =>
  pairs.map(([closed, open]) => of(open) / of(closed)).toSorted((one, other) => one - other)

/** The same load without the list and with it, in pairs of rounds: a pair meets the same machine, which changes within minutes. */
const measurePairs = async (setUp: (isOpen: boolean) => Promise<void>) => {
  const pairs: Array<readonly [Round, Round]> = []
  const measure = async (isOpen: boolean): Promise<Round> => {
    await setUp(isOpen)
    await measureRound(settleMillis)
    return measureRound()
  }
  for (let one = 0; one < rounds; one++) {
    // Odd pairs have the list first, so that both are equally often first.
    const [first, second] = [await measure(one % 2 === 1), await measure(one % 2 === 0)]
    pairs.push(one % 2 === 0 ? [first, second] : [second, first])
  }
  return pairs
}

/**
 * What the open list costs the service. The browser shares its core with load and provider, and both cores share their
 * caches, so the requests of the list are also made without a browser: only they cost the service.
 */
const measureCost = async (page: Page): Promise<void> => {
  const address = `${origin}/console/requests`
  for (let one = 0; one < warmRounds; one++) await measureRound()
  const urls = await requestsOf(page, address)
  const cookie = (await page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join("; ")
  let end = (): void => undefined
  const alone = await measurePairs(async (isOpen) => {
    end()
    end = isOpen ? replay(urls, cookie) : () => undefined
  })
  end()
  const browsed = await measurePairs(async (isOpen) => {
    await page.goto(isOpen ? address : "about:blank")
  })
  const report = (what: string, pairs: typeof alone, isJudged: boolean): void => {
    const throughput = sharesOf(pairs, (round) => round.perSecond)
    const cpu = sharesOf(pairs, (round) => round.cpuMicros)
    const goals = isJudged ? [">= 0.95", "<= 1.05"] : ["none", "none"]
    const [share, time] = [median(throughput), median(cpu)]
    reportFigure(`throughput with ${what}, of that without`, share, goals[0] ?? "", !isJudged || share >= 0.95)
    reportFigure(`CPU time of a request with ${what}, of that without`, time, goals[1] ?? "", !isJudged || time <= 1.05)
    const shown = (all: ReadonlyArray<number>): string => all.map((one) => one.toFixed(2)).join(" ")
    console.log(`      of throughput ${shown(throughput)}\n      of CPU time   ${shown(cpu)}`)
  }
  report("the requests of the list", alone, true)
  report("the list in a browser on the core of load and provider", browsed, false)
}

const loadedRows = (page: Page): Promise<number> =>
  page.evaluate(() => Number(document.querySelector(".rows table")?.getAttribute("aria-rowcount") ?? 1) - 1)

/** Scrolls to the end until the list has so many rows. */
const fillList = async (page: Page): Promise<void> => {
  while (answered < 1.1 * wantedRows) await measureRound()
  await page.goto(`${origin}/console/requests`)
  await page.locator(".rows tbody tr").first().waitFor()
  await page.getByLabel("Live").uncheck()
  for (let rows = 0; rows < wantedRows; rows = await loadedRows(page)) {
    await page.locator(".rows").evaluate((box) => box.scrollTo(0, box.scrollHeight))
    await page.waitForFunction(
      (before) => Number(document.querySelector(".rows table")?.getAttribute("aria-rowcount") ?? 1) - 1 > before,
      rows,
      { timeout: 10_000 }
    )
  }
}

/** The times between frames of five seconds of scrolling at so many pixels a second, from the middle of the list. */
const scrollFrames = (page: Page, speed: number): Promise<ReadonlyArray<number>> =>
  page.locator(".rows").evaluate(
    (box, pixels) =>
      new Promise<ReadonlyArray<number>>((resolve) => {
        const frames: Array<number> = []
        const [began, middle] = [performance.now(), box.scrollHeight / 2]
        let last = began
        const step = (): void => {
          const now = performance.now()
          frames.push(now - last)
          last = now
          box.scrollTo(0, middle + ((now - began) / 1000) * pixels)
          if (now - began < 5000) requestAnimationFrame(step)
          else resolve(frames.slice(1))
        }
        requestAnimationFrame(step)
      }),
    speed
  )

/** The height of a row in pixels. */
const rowHeight = 32
const lateShare = (frames: ReadonlyArray<number>): number =>
  frames.filter((millis) => millis > 50).length / frames.length

const measureList = async (page: Page): Promise<void> => {
  await fillList(page)
  const rows = await loadedRows(page)
  reportFigure("rows in the list", rows, `>= ${wantedRows}`, rows >= wantedRows)
  const flick = await scrollFrames(page, 5_000)
  reportFigure(
    "time between frames of a flick, 5,000 px a second, median, ms",
    median(flick),
    "< 20",
    median(flick) < 20
  )
  const late = lateShare(flick)
  reportFigure(`frames of it later than 50 ms, share of ${flick.length}`, late, "< 0.01", late < 0.01)
  const dragged = await scrollFrames(page, (rows * rowHeight) / 10)
  reportFigure("time between frames, 10,000 rows a second, median, ms", median(dragged), "none", true)
  reportFigure(`frames of it later than 50 ms, share of ${dragged.length}`, lateShare(dragged), "none", true)
}

/** CPU seconds of the processes of pages. */
const pageSeconds = async (browser: Browser): Promise<number> => {
  const session = await browser.newBrowserCDPSession()
  const { processInfo } = await session.send("SystemInfo.getProcessInfo")
  await session.detach()
  return processInfo.filter(({ type }) => type === "renderer").reduce((sum, { cpuTime }) => sum + cpuTime, 0)
}

/** Sends requests at an even pace. */
const pace = async (millis: number): Promise<number> => {
  const { body, headers, path } = target
  const sent: Array<Promise<unknown>> = []
  const began = performance.now()
  while (performance.now() - began < millis) {
    while (sent.length < ((performance.now() - began) / 1000) * perSecond)
      sent.push(
        fetch(`${origin}${path}`, {
          method: "POST",
          headers: { ...headers, "content-type": "application/json" },
          body
        }).then((response) => response.text())
      )
    await pause(5)
  }
  await Promise.all(sent)
  return sent.length / ((performance.now() - began) / 1000)
}

const measureLive = async (browser: Browser, page: Page, name: string, address: string): Promise<void> => {
  await page.goto(`${origin}${address}`)
  await page.getByRole("heading", { level: 1 }).waitFor()
  await pace(3_000)
  const [seconds, began] = [await pageSeconds(browser), performance.now()]
  const sent = await pace(15_000)
  const share = (await pageSeconds(browser)) - seconds
  const percent = (share / ((performance.now() - began) / 1000)) * 100
  reportFigure(`${name} with ${sent.toFixed(0)} requests a second, % of a core`, percent, "< 20", percent < 20)
}

const executablePath = process.env["TEST_CHROMIUM"] ?? "/usr/bin/chromium"

/** A browser on these cores with a page that is signed in by a cookie. */
const opened = async (cores: string, state?: Awaited<ReturnType<BrowserContext["storageState"]>>) => {
  useCores(cores)
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] })
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    ...(state === undefined ? {} : { storageState: state })
  })
  const page = await context.newPage()
  await page.goto(state === undefined ? link : `${origin}/console/`)
  await page.getByRole("heading", { name: "Overview" }).waitFor()
  return { browser, page, state: await context.storageState() }
}

// Under load the gateway has a core to itself, and everything else shares the other one.
const loaded = await opened("1")
if (isWanted("live")) {
  await measureLive(loaded.browser, loaded.page, "the list", "/console/requests")
  await measureLive(loaded.browser, loaded.page, "the overview", "/console/?range=15m")
}
if (isWanted("cost")) await measureCost(loaded.page)
await loaded.browser.close()
const idle = await opened(`0-${availableParallelism() - 1}`, loaded.state)
if (isWanted("page")) {
  await measureBytes()
  await measurePaint(idle.browser, idle.state)
}
if (isWanted("list")) await measureList(idle.page)
await idle.browser.close()
load.stop()
await gateway.stop()
await upstream.stop()
process.exit(isMissed() ? 1 : 0)
