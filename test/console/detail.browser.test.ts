// Tests the detail of a request, its explanation and the playground in Chromium, against simulated Google services.
// Must not depend on how a page is made.
import type { Page } from "playwright-core"
import * as Redacted from "effect/Redacted"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { config, fallback } from "../support/config.ts"
import {
  type ConsoleRun,
  findings,
  inferenceKey as key,
  looks,
  move,
  script,
  startConsole
} from "../support/consoleBrowser.ts"
import { hasChromium } from "../support/startChromium.ts"

const picture =
  "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC"
const flash = "@google/gemini-3.8-flash"
const claude = "@vertex-ai/claude-sonnet-4-6"

let run: ConsoleRun
let url: string
const opened: ConsoleRun["opened"] = (...given) => run.opened(...given)

/** The content of the key `browser` is kept, that of the key `quiet` is not. The console is open. */
const begin = async (): Promise<void> => {
  const twice = fallback({ provider: "@google" }, { provider: "@vertex-ai", override_params: { model: claude } })
  const more = {
    keys: [
      { name: "browser", key: Redacted.make(key), log_content: "all" as const },
      { name: "quiet", key: Redacted.make("mgk_quiet000000000000000000000000"), config: "short" }
    ],
    configs: { twice: config(twice), short: config({ provider: "@google", override_params: { max_tokens: 50 } }) }
  }
  run = await startConsole(more, true)
  url = run.url
}

const chat = async (body: object, headers: Readonly<Record<string, string>> = {}): Promise<void> => {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-gateway-api-key": key, ...headers },
    body: JSON.stringify({ messages: [{ role: "user", content: "Hello" }], ...body })
  })
  await answer.text()
}

const jsonOf = async (page: Page, label: string): Promise<unknown> =>
  JSON.parse((await page.getByRole("region", { name: label }).textContent()) ?? "")

const chooseModel = async (page: Page, model: string): Promise<void> => {
  await page.getByLabel("Gateway key").fill(key)
  await page.getByRole("combobox", { name: "Model", exact: true }).fill(model)
}

describe.runIf(hasChromium)("detail and playground in Chromium", () => {
  beforeAll(begin)
  afterAll(() => run.close())

  it("console detail: with kept content it shows the client's body, the provider's, the answer and its pictures", async () => {
    const content = [
      { type: "text", text: "Look" },
      { type: "image_url", image_url: { url: `data:image/png;base64,${picture}` } }
    ]
    const messages = [{ role: "user", content }]
    await chat({ model: flash, stream: true, logit_bias: { 1: 1 }, messages }, { "x-request-id": "kept" })
    const { faults, page } = await opened("requests/kept")
    await page.getByRole("button", { name: "Show the content" }).click()
    await page.getByRole("heading", { name: "The client sent" }).waitFor()
    const short = `… (${picture.length} characters of base64)`
    expect(await jsonOf(page, "Body of the client")).toEqual({
      messages: [
        {
          role: "user",
          content: [content[0], { type: "image_url", image_url: { url: `data:image/png;base64,${short}` } }]
        }
      ],
      model: flash,
      stream: true,
      logit_bias: { 1: 1 }
    })
    expect(await jsonOf(page, "Body for google")).toEqual({
      contents: [{ role: "user", parts: [{ text: "Look" }, { inlineData: { mimeType: "image/png", data: short } }] }]
    })
    expect(await page.locator(".answer").textContent()).toMatch(/^I see an image\/png of 78 bytes\. /)
    expect(
      await page
        .locator("img")
        .evaluateAll((all) => all.map((one) => ("naturalWidth" in one ? one.naturalWidth : undefined)))
    ).toEqual([10, 10])
    expect(await page.getByText("logit_bias", { exact: true }).count()).toBe(1)
    expect(faults).toEqual([])
  })

  it("console detail: the waterfall shows each call, why the next one came, and the error with what to do", async () => {
    await chat({ model: "@google/demo-503" }, { "x-request-id": "fell", "x-gateway-config": "twice" })
    const { faults, page } = await opened("requests/fell")
    await page.locator(".waterfall").waitFor()
    expect(await page.locator(".waterfall .what").allTextContents()).toEqual([
      "google / demo-503",
      "vertex-ai / claude-sonnet-4-6"
    ])
    expect(await page.locator(".gap > span:first-child").allTextContents()).toEqual([
      "Read, admitted and planned",
      "Next target of the config, because of upstream_unavailable",
      "Answered by the gateway"
    ])
    expect(faults).toEqual([])
  })

  it("console detail: without kept content it states how to keep it, and explains a body that is pasted in", async () => {
    await chat({ model: flash }, { "x-request-id": "unkept", "x-gateway-api-key": "mgk_quiet000000000000000000000000" })
    const { faults, page } = await opened("requests/unkept")
    await page.getByText("The content of this request is not kept.").waitFor()
    await page
      .getByLabel("Body as a client sends it")
      .fill(JSON.stringify({ model: flash, messages: [{ role: "user", content: "Pasted" }] }))
    await page.getByLabel("As the key").selectOption("quiet")
    await page.getByRole("button", { name: "Show what the provider gets" }).click()
    await page.getByRole("heading", { name: "The provider gets" }).waitFor()
    expect(JSON.parse((await page.locator("pre").textContent()) ?? "")).toEqual({
      contents: [{ role: "user", parts: [{ text: "Pasted" }] }],
      generationConfig: { maxOutputTokens: 50 }
    })
    expect(faults).toEqual([])
  })

  it("console explain: a kept request with another config is marked against its body, and sent again compared", async () => {
    await chat({ model: flash }, { "x-request-id": "again" })
    const { faults, page } = await opened("requests/again")
    await page.getByRole("link", { name: "Explain and replay" }).click()
    await page.getByRole("combobox", { name: "Config" }).selectOption("short")
    await page.getByRole("button", { name: "Show what the provider gets" }).click()
    await page.getByRole("heading", { name: "The provider gets" }).waitFor()
    expect([
      (await page.locator("ins").allTextContents()).map((line) => line.trim()),
      (await page.locator("del").allTextContents()).map((line) => line.trim())
    ]).toEqual([["],", '"generationConfig": {', '"maxOutputTokens": 50', "}"], ["]"]])
    await page.getByLabel("Gateway key").fill(key)
    await page.getByLabel("Other model").fill(claude)
    await page.getByRole("combobox", { name: "Config" }).selectOption("")
    await page.getByRole("button", { name: "Send it" }).click()
    await page.getByRole("link", { name: "Its request" }).waitFor()
    const figures = page.getByRole("region", { name: "Figures" }).locator("tbody tr")
    expect(await figures.nth(2).locator("td").allTextContents()).toEqual(["gemini-3.8-flash", "claude-sonnet-4-6"])
    expect(faults).toEqual([])
  })

  it("console explain: a request in Google's own dialect is explained and sent again by its path, with another model", async () => {
    const answer = await fetch(`${url}/v1beta/models/gemini-3.8-flash:generateContent`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-goog-api-key": key, "x-request-id": "native" },
      body: JSON.stringify({ contents: [{ role: "user", parts: [{ text: "Hello" }] }] })
    })
    await answer.text()
    const { faults, page } = await opened("requests/native")
    await page.getByRole("link", { name: "Explain and replay" }).click()
    await page.getByLabel("Other model").fill("@google/gemini-3.7-flash")
    await page.getByRole("button", { name: "Show what the provider gets" }).click()
    await page.getByRole("heading", { name: "The provider gets" }).waitFor()
    expect(await page.locator(".address").textContent()).toMatch(/models\/gemini-3\.7-flash:generateContent$/)
    await page.getByLabel("Gateway key").fill(key)
    await page.getByRole("button", { name: "Send it" }).click()
    await page.getByRole("link", { name: "Its request" }).waitFor()
    const figures = page.getByRole("region", { name: "Figures" }).locator("tbody tr")
    expect(await figures.nth(2).locator("td").allTextContents()).toEqual(["gemini-3.8-flash", "gemini-3.7-flash"])
    expect([answer.status, faults]).toEqual([200, []])
  })

  it("console playground: two models call a tool, one by hand and one by a sample, and answer", async () => {
    const { faults, page } = await opened("playground")
    await chooseModel(page, flash)
    await page.getByLabel("Compare with").fill(claude)
    await page.getByText("Tools and the form of the answer").click()
    await page.getByRole("button", { name: "Sample tool" }).click()
    await page.getByLabel("Message").fill("What is the weather in Rome?")
    await page.getByRole("button", { name: "Send", exact: true }).click()
    const lane = (model: string) => page.getByRole("region", { name: `Chat with ${model}` })
    await lane(flash).getByLabel("Result of get_weather").fill('{"degrees":18}')
    await lane(flash).getByRole("button", { name: "Answer the calls" }).click()
    await lane(claude).getByRole("button", { name: "Sample result" }).click()
    await lane(claude).getByRole("button", { name: "Answer the calls" }).click()
    for (const model of [flash, claude]) await lane(model).getByRole("link", { name: "Its request" }).nth(1).waitFor()
    expect(await lane(flash).locator(".call code").allTextContents()).toEqual(['{"city":"Rome"}', '{"degrees":18}'])
    expect(await lane(flash).locator(".answer").last().textContent()).toContain("18")
    expect(faults).toEqual([])
  })

  it("console playground: a picture, a schema and a parameter reach the provider, and the chat becomes a prompt", async () => {
    const { faults, page } = await opened("playground")
    await chooseModel(page, flash)
    await page.getByLabel("System prompt").fill("Be brief.")
    await page.getByText("Tools and the form of the answer").click()
    await page.getByLabel("Form of the answer").selectOption("json_schema")
    await page.getByLabel("Schema of the answer").fill('{"type":"object"}')
    await page.getByText("All parameters").click()
    await page.getByLabel("media_resolution").fill("low")
    await page.getByLabel("Message").fill("Look")
    const files = page.getByLabel("Pictures and other media")
    await files.setInputFiles({ name: "a.png", mimeType: "image/png", buffer: Buffer.from(picture, "base64") })
    await page.getByRole("button", { name: "Show what the provider gets" }).click()
    await page.getByRole("heading", { name: "The provider gets" }).waitFor()
    const body = JSON.parse((await page.locator("pre").last().textContent()) ?? "")
    expect([body.contents[0].parts[1].inlineData.mimeType, body.generationConfig]).toEqual([
      "image/png",
      {
        responseMimeType: "application/json",
        responseJsonSchema: { title: "answer", type: "object" },
        mediaResolution: "MEDIA_RESOLUTION_LOW"
      }
    ])
    await page.getByLabel("Prompt id").fill("look")
    for (const version of [1, 2]) {
      await page.getByRole("button", { name: "Save as a prompt" }).click()
      await page.getByText(`Saved as version ${version} of look.`).waitFor()
    }
    expect(faults).toEqual([])
  })

  it("console playground: a picture that a model draws is shown, and goes back with the next message", async () => {
    const { faults, page } = await opened("playground")
    await chooseModel(page, "@google/gemini-3.1-flash-image")
    for (const [turn, message] of ["Draw a cat", "Draw a dog"].entries()) {
      await page.getByLabel("Message").fill(message)
      await page.getByRole("button", { name: "Send", exact: true }).click()
      await page.getByRole("link", { name: "Its request" }).nth(turn).waitFor()
      expect(await page.locator(".turn img").count()).toBe(turn + 1)
    }
    expect(faults).toEqual([])
  })

  it("console detail: markup in bodies, answers, names and tools is shown as text (TH30)", async () => {
    const tools = [{ type: "function", function: { name: "get_weather", description: script } }]
    const messages = [{ role: "user", content: `${script} What is the weather in ${script}?` }]
    await chat(
      { model: flash, [script]: script, messages, tools, metadata: { [script]: script } },
      { "x-request-id": "script" }
    )
    await chat({ model: `@google/${script}` }, { "x-request-id": "wrong-model" })
    const { faults, page } = await opened("requests/script")
    await page.getByRole("button", { name: "Show the content" }).click()
    await page.getByRole("heading", { name: "The client got" }).waitFor()
    expect(await page.locator("img").count()).toBe(0)
    await page.getByRole("link", { name: "Explain and replay" }).click()
    await page.getByRole("button", { name: "Show what the provider gets" }).click()
    await page.getByRole("heading", { name: "The provider gets" }).waitFor()
    expect(await page.locator("img").count()).toBe(0)
    await move(page, "requests/wrong-model")
    await page.getByRole("heading", { name: "Error" }).waitFor()
    expect(await page.locator("img").count()).toBe(0)
    await move(page, "playground")
    await chooseModel(page, flash)
    await page.getByLabel("Message").fill(script)
    await page.getByRole("button", { name: "Send", exact: true }).click()
    await page.getByRole("link", { name: "Its request" }).waitFor()
    expect([await page.locator("img").count(), faults]).toEqual([0, []])
  })

  it.each(looks)(
    "console detail: axe finds nothing in the %s theme at %d px, and no page is wider",
    async (colorScheme, width) => {
      await chat({ model: flash, stream: true }, { "x-request-id": `axe-${width}` })
      const { faults, page } = await opened(`requests/axe-${width}`, { colorScheme, width })
      const expectClean = async (name: string): Promise<void> =>
        expect([name, await findings(page), await page.evaluate("document.documentElement.scrollWidth")]).toEqual([
          name,
          [],
          width
        ])
      await page.getByRole("button", { name: "Show the content" }).click()
      await page.getByText(/^\d+ events$/).click()
      await expectClean("detail")
      await page.getByRole("link", { name: "Explain and replay" }).click()
      await page.getByLabel("Other model").fill(claude)
      await page.getByRole("button", { name: "Show what the provider gets" }).click()
      await page.getByLabel("Gateway key").fill(key)
      await page.getByRole("button", { name: "Send it" }).click()
      await page.getByRole("link", { name: "Its request" }).waitFor()
      await expectClean("explain")
      await move(page, "playground")
      await chooseModel(page, flash)
      await page.getByText("Tools and the form of the answer").click()
      await page.getByRole("button", { name: "Sample tool" }).click()
      await page.getByText("All parameters").click()
      await page.getByLabel("Message").fill("What is the weather in Rome?")
      await page.getByRole("button", { name: "Send", exact: true }).click()
      await page.getByRole("button", { name: "Answer the calls" }).waitFor()
      await expectClean("playground")
      expect(faults).toEqual([])
    }
  )
})
