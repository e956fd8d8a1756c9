// Takes the pictures of the console in docs/images, from a demo with a few minutes of requests.
// Must not show a real key, model account or host.
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import { type Browser, chromium } from "playwright-core"
import { Demo } from "../../src/demo/Demo.ts"
import { demoClaude, demoFaults, demoKey, demoModels, demoOpen } from "../../src/demo/seed.ts"
import { Gateway } from "../../src/Gateway.ts"
import { builtConsole } from "../build/pages.ts"

const folder = join(import.meta.dirname, "../../docs/images")
const executablePath = process.env["TEST_CHROMIUM"] ?? "/usr/bin/chromium"

const models = [...demoModels, ...demoModels, demoClaude, ...demoOpen, demoFaults[1], demoFaults[3]]

const send = async (origin: string, model: string, stream: boolean): Promise<void> => {
  const response = await fetch(`${origin}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-gateway-api-key": demoKey },
    body: JSON.stringify({ model, stream, max_tokens: 500, messages: [{ role: "user", content: "Hello" }] })
  })
  await response.text()
}

const take = async (browser: Browser, origin: string, width: number, colorScheme: "light" | "dark"): Promise<void> => {
  const context = await browser.newContext({ colorScheme, viewport: { width, height: width > 400 ? 800 : 844 } })
  const page = await context.newPage()
  const shoot = (name: string) => page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`) })
  await page.goto(`${origin}/console/?range=15m`)
  await page.locator(".tiles").waitFor()
  await shoot("overview")
  await page.goto(`${origin}/console/requests`)
  await page.locator("tbody tr").first().waitFor()
  await shoot("requests")
  await page.goto(`${origin}/console/requests?model=demo-flaky-429`)
  await page.locator("tbody tr td a").first().click()
  await page.locator(".waterfall").waitFor()
  await shoot("request")
  await context.close()
}

const pictures = Effect.gen(function* () {
  const settings = yield* Demo.settings({ host: "127.0.0.1", port: 0, key: demoKey, tokensPerSecond: 0 })
  const server = { ...settings.server, console: { hosts: [], isOpen: true } }
  const context = yield* Layer.build(Gateway.layer({ ...settings, server }))
  const { address } = Context.get(context, HttpServer.HttpServer)
  const origin = `http://127.0.0.1:${"port" in address ? address.port : 0}`
  yield* Effect.promise(async () => {
    mkdirSync(folder, { recursive: true })
    await builtConsole()
    for (let round = 0; round < 12; round++) {
      await Promise.all(models.map((model, index) => send(origin, model, (round + index) % 3 === 0)))
      await new Promise((done) => setTimeout(done, 5000))
    }
    const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] })
    for (const width of [1280, 390]) {
      await take(browser, origin, width, "light")
      await take(browser, origin, width, "dark")
    }
    await browser.close()
  })
})

await Effect.runPromise(Effect.scoped(pictures))
