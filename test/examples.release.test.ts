// Runs the other examples as their reader does, and checks their output.
// Must not know how the examples work inside.
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { examples, examplesFolder, greeting } from "./support/examples.ts"

const { run } = examples()

// Processes start slowly on a busy machine.
describe("examples", { timeout: 120_000 }, () => {
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
        '504 {"error":{"message":"The upstream did not finish its answer within 5 s (limits.totalMillis, x-gateway-request-timeout, or request_timeout or timeouts.total of the config).","type":"api_error","param":null,"code":"upstream_timeout"}}',
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
    expect(readFileSync(`${examplesFolder}add-a-provider.ts`, "utf8").trimEnd().split("\n").length).toBeLessThan(100)
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
})
