// Runs three examples as their reader does, and checks their output: the API by curl, an embedded gateway, a test of an app.
// Must not know how the examples work inside. The others run before a release.
import { readdirSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { makeSimulator } from "../src/demo/google/Simulator.ts"
import { endOf, examples, examplesFolder, greeting } from "./support/examples.ts"
import { geminiKey } from "./support/TestGateway.ts"

const { run, start } = examples()

// Processes start slowly on a busy machine.
describe("examples", { timeout: 120_000 }, () => {
  it("examples: curl.sh prints its answers", async () => {
    const { code, err, out } = await run("curl.sh")
    const [whole = "", ...rest] = out.split("\n")
    const frames = rest.filter((line) => line.startsWith("data: "))
    const [dry = "", models = ""] = rest.filter((line) => line.startsWith("{"))
    expect([code, err]).toEqual([0, ""])
    expect(JSON.parse(whole).choices[0].message.content).toBe(greeting("Gemini"))
    expect(
      frames
        .slice(0, -1)
        .map((frame) => JSON.parse(frame.slice("data: ".length)).choices[0]?.delta.content ?? "")
        .join("")
    ).toBe(greeting("Gemini"))
    expect(frames.at(-1)).toBe("data: [DONE]")
    expect(JSON.parse(dry)).toMatchObject({ object: "dry_run", provider: "google", method: "POST" })
    expect(JSON.parse(models)).toMatchObject({ object: "list" })
  })

  it("examples: test-your-app.ts passes", async () => {
    expect(await run("test-your-app.ts")).toEqual({ code: 0, err: "", out: "the answer is exact\n" })
  })

  it("examples: embed-in-an-app.ts answers, and finishes a running answer on SIGTERM", async () => {
    const google = await makeSimulator({
      geminiApiKeys: [geminiKey],
      serviceAccounts: [],
      anyLocation: true,
      tokensPerSecond: 50
    }).listen()
    const child = start("embed-in-an-app.ts", { PORT: "0", GEMINI_API_KEY: geminiKey, GEMINI_BASE_URL: google.url })
    const end = endOf(child)
    const listening = await new Promise<string>((done, failed) => {
      child.stdout?.on("data", (part) => done(String(part)))
      child.once("close", (code) => failed(new Error(`ended with ${code}`)))
    })
    const app = listening.trim().replace("listening on ", "")
    const hello: unknown = await (await fetch(`${app}/hello`)).json()
    const elsewhere = await fetch(`${app}/nowhere`)
    const asked = await fetch(`${app}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-gateway-api-key": "mgk_me_and_nobody_else" },
      body: JSON.stringify({
        model: "@google/gemini-3.8-flash",
        stream: true,
        messages: [{ role: "user", content: "Hello" }]
      })
    })
    child.kill("SIGTERM")
    const text = await asked.text()
    await google.close()
    const content = [...text.matchAll(/"content":"([^"]*)"/g)].map(([, part]) => part).join("")
    expect(hello).toEqual({ hello: "world", accounts: ["google"] })
    expect([elsewhere.status, await elsewhere.text()]).toEqual([404, ""])
    expect([content, text.endsWith("data: [DONE]\n\n")]).toEqual([greeting("Gemini"), true])
    expect(await end).toMatchObject({ code: 130, err: "" })
  })
})

it("examples: every example is tested", () => {
  const tests = ["examples.test.ts", "examples.release.test.ts"]
    .map((name) => readFileSync(new URL(name, import.meta.url), "utf8"))
    .join("")
  const files = readdirSync(examplesFolder).filter((name) => name !== "README.md")
  expect(files.filter((name) => !tests.includes(`  it("examples: ${name}`))).toEqual([])
})
