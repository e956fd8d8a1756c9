// Runs every example as its reader does, and checks its output.
// Must not know how the examples work inside.
import { type ChildProcess, spawn } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Demo } from "../src/demo/Demo.ts"
import { demoKey } from "../src/demo/seed.ts"
import { makeSimulator } from "../src/demo/google/Simulator.ts"
import { Gateway } from "../src/Gateway.ts"
import { geminiKey } from "./support/TestGateway.ts"

const folder = fileURLToPath(new URL("../examples/", import.meta.url))
/** Processes share compiled code here: half the CPU time of a start from the sources. */
const compileCache = fileURLToPath(new URL("../.cache/examples/", import.meta.url))
const greeting = (family: string) =>
  `Hello! I am a simulated ${family} model, so nothing you write leaves this machine. What would you like to try?`

/** The demo on a free port, as fast as it can. */
const scope = Scope.makeUnsafe()
let origin = ""
beforeAll(async () => {
  const built = Effect.flatMap(
    Demo.settings({ host: "127.0.0.1", port: 0, key: demoKey, tokensPerSecond: 0 }),
    (settings) => Layer.build(Gateway.layer(settings))
  )
  const { address } = Context.get(await Effect.runPromise(Scope.provide(built, scope)), HttpServer.HttpServer)
  origin = `http://127.0.0.1:${"port" in address ? address.port : 0}`
})
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const start = (name: string, env: Readonly<Record<string, string>> = {}): ChildProcess => {
  const [program, args] = name.endsWith(".sh")
    ? ["sh", [name]]
    : [process.execPath, ["--conditions=model-gateway-source", name]]
  return spawn(program, args, {
    cwd: folder,
    env: { PATH: process.env["PATH"], GATEWAY_URL: origin, NODE_COMPILE_CACHE: compileCache, ...env }
  })
}

const ended = (
  child: ChildProcess
): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> => {
  let [out, err] = ["", ""]
  child.stdout?.on("data", (part) => (out += part))
  child.stderr?.on("data", (part) => (err += part))
  return new Promise((done) => child.once("close", (code) => done({ code, out, err })))
}

const run = (name: string, env?: Readonly<Record<string, string>>) => ended(start(name, env))

describe.concurrent("examples", { timeout: 120_000 }, () => {
  it("examples: openai-sdk.ts prints its answers", async () => {
    expect(await run("openai-sdk.ts")).toEqual({ code: 0, err: "", out: `${greeting("Gemini")}\ncalls weather\n` })
  })

  it("examples: anthropic-sdk.ts prints its answers", async () => {
    expect(await run("anthropic-sdk.ts")).toEqual({
      code: 0,
      err: "",
      out: `asks with 8 tokens\n${greeting("Claude")}\nends with end_turn\n`
    })
  })

  it("examples: fallback.ts prints the target that answered", async () => {
    expect(await run("fallback.ts")).toEqual({
      code: 0,
      err: "",
      out: `target 1 (vertex-ai) answered:\n${greeting("Gemini")}\n`
    })
  })

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

  it("examples: exact-failures.ts prints the same in both of its runs", async () => {
    const { code, err, out } = await run("exact-failures.ts")
    const id = "chatcmpl-00000000-0000-7000-8000-000000000001"
    const whole = (model: string, content: string) =>
      `200 {"id":"${id}","object":"chat.completion","created":1700000000,"model":"${model}","usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0,"prompt_tokens_details":{"cached_tokens":0}},"choices":[{"index":0,"finish_reason":"stop","logprobs":null,"message":{"role":"assistant","content":"${content}","refusal":null}}]}`
    const chunk = (delta: string) =>
      `data: {"id":"${id}","object":"chat.completion.chunk","created":1700000005,"model":"cut","choices":[{"index":0,"finish_reason":null,"delta":{${delta}}}]}`
    expect([code, err, out.split("\n")]).toEqual([
      0,
      "",
      [
        "call 1 of busy-once with key-of-main",
        "call 2 of busy-once with key-of-main",
        whole("busy-once", "second try"),
        "call 3 of down with key-of-main",
        "call 4 of down with key-of-spare",
        whole("down", "spare"),
        "call 5 of silent with key-of-main",
        '504 {"error":{"message":"The upstream did not finish its answer in the time allowed.","type":"api_error","param":null,"code":"upstream_timeout"}}',
        "call 6 of cut with key-of-main",
        `200 ${chunk('"role":"assistant","content":""')}`,
        "",
        chunk('"content":"Hello"'),
        "",
        'data: {"error":{"message":"The upstream closed the connection in the middle of its answer.","type":"api_error","param":null,"code":"upstream_truncated"}}',
        "",
        "",
        ""
      ]
    ])
  })

  it("examples: add-a-provider.ts works in less than 100 lines", async () => {
    const { code, err, out } = await run("add-a-provider.ts")
    const [url, auth, body, status, ...answer] = out.split("\n")
    expect([code, err, url, auth, body, status]).toEqual([
      0,
      "",
      "> POST https://api.acme.example/v1/chat/completions",
      "> authorization: Bearer acme-key",
      '> {"model":"rocket-1","messages":[{"role":"user","content":"Where to?"}]}',
      "< 200 from acme"
    ])
    expect(JSON.parse(answer.join("\n")).choices[0].message.content).toBe("To the moon!")
    expect(readFileSync(`${folder}add-a-provider.ts`, "utf8").trimEnd().split("\n").length).toBeLessThan(100)
  })

  it("examples: replace-a-layer.ts sends the credential of its own layer", async () => {
    const { code, err, out } = await run("replace-a-layer.ts")
    const [models = "", ...sent] = out.split("\n")
    const { data }: { readonly data: ReadonlyArray<{ readonly id: string }> } = JSON.parse(models)
    expect([code, err, data.map(({ id }) => id), sent]).toEqual([
      0,
      "",
      ["@team-a/gemini-3.8-flash"],
      [
        "> https://generativelanguage.googleapis.com/v1beta/models/gemini-3.8-flash:generateContent",
        "> Bearer token-of-team-a",
        ""
      ]
    ])
  })

  it("examples: handle-errors.ts prints a verdict on each failure", async () => {
    expect(await run("handle-errors.ts")).toEqual({
      code: 0,
      err: "",
      out: [
        "ProviderError: 429 rate_limit_error rate_limit_exceeded {}",
        "@google/busy: try later",
        "ProviderError: 502 api_error upstream_error {}",
        "@google/broken: try later",
        "SlugUnknown: 404 not_found_error provider_not_found {}",
        "@elsewhere/model: change the request",
        ""
      ].join("\n")
    })
  })

  it("examples: translate-only.ts prints the body and the chunks", async () => {
    const chunk = (rest: string) =>
      `{"id":"chatcmpl-local","object":"chat.completion.chunk","created":0,"model":"gemini-3.8-flash",${rest}}`
    const choice = (finish: string, delta: string) =>
      chunk(`"choices":[{"index":0,"finish_reason":${finish},"delta":{${delta}}}]`)
    expect(await run("translate-only.ts")).toEqual({
      code: 0,
      err: "",
      out: [
        '{"body":{"contents":[{"role":"user","parts":[{"text":"Hello"}]}],"generationConfig":{"maxOutputTokens":100}},"ignored":[]}',
        choice("null", '"role":"assistant","content":""'),
        choice("null", '"content":"Hel"'),
        choice("null", '"content":"lo!"'),
        choice('"stop"', ""),
        chunk(
          '"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0,"prompt_tokens_details":{"cached_tokens":0}},"choices":[]'
        ),
        ""
      ].join("\n")
    })
  })

  it("examples: embed-in-an-app.ts answers, and finishes a running answer on SIGTERM", async () => {
    const google = await makeSimulator({
      geminiApiKeys: [geminiKey],
      serviceAccounts: [],
      anyLocation: true,
      tokensPerSecond: 50
    }).listen()
    const child = start("embed-in-an-app.ts", { PORT: "0", GEMINI_API_KEY: geminiKey, GEMINI_BASE_URL: google.url })
    const end = ended(child)
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
  const own = readFileSync(fileURLToPath(import.meta.url), "utf8")
  const files = readdirSync(folder).filter((name) => name !== "README.md")
  expect(files.filter((name) => !own.includes(`  it("examples: ${name}`))).toEqual([])
})
