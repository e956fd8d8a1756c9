// The demo answers real requests over a socket, through both providers, with the words it prints.
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import { describe, expect } from "vitest"
import { Demo } from "../../src/demo/Demo.ts"
import { banner, curl, demoModels, snippets } from "../../src/demo/seed.ts"
import { Gateway } from "../../src/Gateway.ts"
import { sharedCode } from "../support/buildProgram.ts"
import { sample } from "../support/release.ts"

const key = "mgk_demo"

/** A demo on a free port for the length of a test; its origin. */
const started = Effect.gen(function* () {
  const settings = yield* Demo.settings({ host: "127.0.0.1", port: 0, key, tokensPerSecond: 0 })
  const context = yield* Layer.build(Gateway.layer(settings))
  const { address } = Context.get(context, HttpServer.HttpServer)
  return `http://127.0.0.1:${"port" in address ? address.port : 0}`
})

/** Sends the request of a printed curl line. */
const send = (line: string) =>
  Effect.promise(async () => {
    const url = /(http:\S+)/.exec(line)?.[1] ?? ""
    const headers = [...line.matchAll(/-H '([^:]+): ([^']+)'/g)].map(([, name = "", value = ""]): [string, string] => [
      name,
      value
    ])
    const body = /-d '([^']+)'/.exec(line)?.[1] ?? ""
    const response = await fetch(url, { method: "POST", headers, body })
    return {
      status: response.status,
      provider: response.headers.get("x-gateway-provider"),
      text: await response.text()
    }
  })

const content =
  "Hello! I am a simulated Gemini model, so nothing you write leaves this machine. What would you like to try?"

const contents = (frames: ReadonlyArray<string>): string =>
  frames.map((frame) => JSON.parse(frame.slice("data: ".length)).choices[0]?.delta.content ?? "").join("")

describe("demo", () => {
  it.live.each([...demoModels])("demo: the printed requests to %s give the same answer, unary and streamed", (model) =>
    Effect.scoped(
      Effect.gen(function* () {
        const origin = yield* started
        const facts = { origin, key, version: "1" }
        const whole = yield* send(curl(facts, model, false))
        expect(whole.status).toBe(200)
        const answer = JSON.parse(whole.text)
        expect(answer).toEqual({
          id: answer.id,
          object: "chat.completion",
          created: answer.created,
          model: "gemini-3.8-flash",
          usage: {
            prompt_tokens: 2,
            completion_tokens: 75,
            total_tokens: 77,
            prompt_tokens_details: { cached_tokens: 0, text_tokens: 2 },
            // The Gemini API gives no completion details by modality.
            completion_tokens_details: { reasoning_tokens: 48, ...(model === demoModels[1] ? { text_tokens: 27 } : {}) }
          },
          choices: [
            { index: 0, finish_reason: "stop", logprobs: null, message: { role: "assistant", content, refusal: null } }
          ]
        })
        const stream = yield* send(curl(facts, model, true))
        const frames = stream.text.split("\n\n").filter((frame) => frame.startsWith("data: "))
        expect([stream.status, frames.at(-1), contents(frames.slice(0, -1))]).toEqual([200, "data: [DONE]", content])
      })
    )
  )

  const families = [
    ["OpenAI SDK", "Gemini"],
    ["AI SDK", "Gemini"],
    ["Anthropic SDK", "Claude"],
    ["Prompt template", "Gemini"]
  ]
  it.live.each(sample(families, 2))("demo: the snippet for the %s runs unchanged", ([title = "", family = ""]) =>
    Effect.scoped(
      Effect.gen(function* () {
        const facts = { origin: yield* started, key, version: "1" }
        const code = snippets(facts).find((one) => one.title === title)?.code ?? ""
        const run = yield* Effect.promise(() =>
          promisify(execFile)(process.execPath, ["--input-type=module", "-e", code], {
            cwd: new URL("../..", import.meta.url).pathname,
            env: { ...process.env, ...sharedCode }
          })
        )
        expect(run.stdout).toBe(content.replace("Gemini", family))
      })
    )
  )

  it.live("demo: every model it lists answers, each on the route of its kind", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const origin = yield* started
        const headers = { "content-type": "application/json", "x-gateway-api-key": key }
        const route = (model: string): readonly [string, Record<string, unknown>] => {
          if (/embedding/.test(model)) return ["/v1/embeddings", { input: "Hello" }]
          if (/imagen|imagegeneration/.test(model)) return ["/v1/images/generations", { prompt: "A cat" }]
          return ["/v1/chat/completions", { messages: [{ role: "user", content: "Hello" }] }]
        }
        const answered = yield* Effect.promise(async () => {
          const { data }: { readonly data: ReadonlyArray<{ readonly id: string }> } = await (
            await fetch(`${origin}/v1/models`, { headers })
          ).json()
          const statuses: Array<readonly [string, number]> = []
          for (const { id } of data) {
            const [path, rest] = route(id)
            const { status } = await fetch(origin + path, {
              method: "POST",
              headers,
              body: JSON.stringify({ model: id, ...rest })
            })
            statuses.push([id, status])
          }
          return statuses
        })
        expect(answered.filter(([, status]) => status !== 200)).toEqual([])
        const kinds = [
          "anthropic.",
          "meta/",
          "deepseek-ai/",
          "imagen",
          "text-embedding",
          "multimodalembedding",
          "-image",
          "endpoints.demo-dedicated",
          "endpoints.demo-predict",
          "endpoints.demo-tuned"
        ]
        expect(kinds.filter((kind) => !answered.some(([id]) => id.includes(kind)))).toEqual([])
      })
    )
  )

  it.live("demo: another key is refused", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const origin = yield* started
        const refused = yield* send(curl({ origin, key: "mgk_other", version: "1" }, demoModels[0], false))
        expect([refused.status, JSON.parse(refused.text).error.code]).toEqual([401, "invalid_gateway_key"])
      })
    )
  )
})

describe("output of the demo", () => {
  const facts = { origin: "http://127.0.0.1:8787", key, version: "0.1.0" }
  it("demo: prints the banner", () => {
    expect(banner(facts))
      .toBe(`model-gateway 0.1.0   demo: simulated Google services in this process, nothing leaves this machine
API      http://127.0.0.1:8787/v1        key  mgk_demo
Ready    http://127.0.0.1:8787/health/ready        models  http://127.0.0.1:8787/v1/models
Try      curl -s http://127.0.0.1:8787/v1/chat/completions -H 'content-type: application/json' -H 'x-gateway-api-key: mgk_demo' \\
           -d '{"model":"@google/gemini-3.8-flash","messages":[{"role":"user","content":"Hello"}]}'
Stream   curl -N http://127.0.0.1:8787/v1/chat/completions -H 'content-type: application/json' -H 'x-gateway-api-key: mgk_demo' \\
           -d '{"model":"@google/gemini-3.8-flash","stream":true,"messages":[{"role":"user","content":"Hello"}]}'
Also     @vertex-ai/gemini-3.8-flash   @google/gemini-4-neon   @vertex-ai/anthropic.claude-sonnet-5-5   @vertex-ai/meta.llama-3.3-70b-instruct-maas   @vertex-ai/endpoints.demo-llama
Faults   @google/demo-slow   @google/demo-flaky-429   @google/demo-dies-midstream   @google/demo-503   @google/demo-hangs
Next     model-gateway demo --snippets      with your own credentials: GEMINI_API_KEY=... model-gateway serve`)
  })
  it("demo: prints snippets with origin and key", () => {
    expect(snippets(facts).map(({ code }) => [code.includes(facts.origin), code.includes(key)])).toEqual(
      Array.from({ length: 6 }, () => [true, true])
    )
  })
})
