// What a caller learns of a model that ends, has ended, or is served elsewhere.
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest"
import { endingNews } from "../../src/accounting/Accounting.ts"
import { accountedGateway } from "../support/accounted.ts"
import { until } from "../support/eventually.ts"
import { reply, stop } from "../support/gemini.ts"
import { replying } from "../support/scripted.ts"
import { gatewayKey, settingsFor, startGateway, startTestGateway, type TestGateway } from "../support/TestGateway.ts"

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway({ simulator: { day: "2026-11-22", anyLocation: false } })
})
afterEach(() => {
  vi.useRealTimers()
})
afterAll(() => gateway.close())

const header = "x-gateway-model-warning"

const chat = async (model: string, headers: Record<string, string> = {}, more: object = {}, at = gateway.url) => {
  const response = await fetch(`${at}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-gateway-api-key": gatewayKey, ...headers },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }], ...more })
  })
  const text = await response.text()
  return { status: response.status, warning: response.headers.get(header), headers: response.headers, text }
}
const errorOf = ({ text }: { readonly text: string }) => JSON.parse(text).error

describe("answers of models that end", () => {
  it("an answer names stage, day and successor, streamed or not, strict or not (M-730)", async () => {
    const answers = [
      await chat("@google/gemini-2.5-flash-image"),
      await chat("@google/gemini-2.5-flash-image", {}, { stream: true }),
      await chat("@google/gemini-2.5-flash-image", { "x-gateway-strict-open-ai-compliance": "false" })
    ]
    const warning = "deprecated; shutdown=2026-10-02; successor=gemini-3.1-flash-image"
    expect(answers.map((one) => [one.status, one.warning])).toEqual([
      [200, warning],
      [200, warning],
      [200, warning]
    ])
  })

  it("an answer under the alias prefix has the warning there as well (M-730)", async () => {
    const { headers } = await chat("@google/gemini-2.5-flash-image", { "x-portkey-metadata": "{}" })
    expect(headers.get("x-portkey-model-warning")).toBe(
      "deprecated; shutdown=2026-10-02; successor=gemini-3.1-flash-image"
    )
  })

  it("an answer of a current model has no warning (M-730)", async () => {
    const { status, warning } = await chat("@google/gemini-3.8-flash")
    expect([status, warning]).toEqual([200, null])
  })
})

describe("the provider's own word on its model", () => {
  const reply = {
    candidates: [{ content: { parts: [{ text: "Hi" }], role: "model" }, finishReason: "STOP", index: 0 }],
    modelVersion: "gemini-3.8-flash",
    modelStatus: { modelStage: "DEPRECATED", retirementTime: "2027-06-01T00:00:00Z", message: "Move on." }
  }
  const status = { stage: "DEPRECATED", retirement_time: "2027-06-01T00:00:00Z", message: "Move on." }

  it("an answer carries it unless strict, and the header names it always (M-703)", async () => {
    gateway.simulator.script([
      { status: 200, body: reply },
      { status: 200, body: reply }
    ])
    const full = await chat("@google/gemini-3.8-flash", { "x-gateway-strict-open-ai-compliance": "false" })
    const strict = await chat("@google/gemini-3.8-flash")
    expect([full.warning, strict.warning]).toEqual(Array(2).fill("deprecated; shutdown=2027-06-01"))
    expect([JSON.parse(full.text).model_status, JSON.parse(strict.text).model_status]).toEqual([status, undefined])
  })
})

describe("the provider's own word in streams, metrics and the log", () => {
  const event = (modelStatus?: object) => ({
    ...reply([{ text: "Hi" }], stop),
    modelVersion: "gemini-3.8-flash",
    ...(modelStatus === undefined ? {} : { modelStatus })
  })
  const deprecated = { modelStage: "DEPRECATED", retirementTime: "2027-06-01T00:00:00Z" }
  const streamed = (...events: ReadonlyArray<object>) => ({
    status: 200,
    headers: { "content-type": "text/event-stream" },
    chunks: events.map((one) => `data: ${JSON.stringify(one)}\n\n`)
  })
  const messages = [{ role: "user", content: "Hello" }]
  const chatBody = { model: "@google/gemini-3.8-flash", messages }
  const responsesBody = { model: "@google/gemini-3.8-flash", input: "Hello", store: false }
  const nativePath = "/v1beta/models/@google/gemini-3.8-flash"
  const nativeBody = { contents: [{ role: "user", parts: [{ text: "Hello" }] }] }

  const answering = (...events: ReadonlyArray<object>) =>
    accountedGateway(({ url }) => Effect.succeed(url.includes("stream") ? streamed(...events) : replying(events[0])))
  const line =
    'Requests go to a model that ends: gemini-3.8-flash of "google" is deprecated; shutdown=2027-06-01. ' +
    "Send them to another model."

  it.each([
    ["/v1/chat/completions", chatBody],
    ["/v1/chat/completions", { ...chatBody, stream: true }],
    ["/v1/responses", responsesBody],
    ["/v1/responses", { ...responsesBody, stream: true }],
    [`${nativePath}:generateContent`, nativeBody],
    [`${nativePath}:streamGenerateContent?alt=sse`, nativeBody]
  ])("the header names it where it is known with the first event: case %# (M-703)", async (path, body) => {
    const gateway = answering(event(deprecated))
    const answer = await gateway.post(path, body)
    await answer.text()
    expect([answer.status, answer.headers.get(header)]).toEqual([200, "deprecated; shutdown=2027-06-01"])
    const counted = async () =>
      (await gateway.metrics()).filter((one) => one.startsWith("gateway_model_warnings_total{"))
    await until(async () => (await counted()).length > 0)
    expect(await counted()).toEqual([
      'gateway_model_warnings_total{provider="google",model="gemini-3.8-flash",stage="deprecated"} 1'
    ])
    await gateway.dispose()
  })

  it("a word that comes after the first chunk is in the answer alone (M-703)", async () => {
    const gateway = answering({ ...event(), candidates: [{ content: { parts: [{ text: "H" }] } }] }, event(deprecated))
    const answer = await gateway.post(
      "/v1/chat/completions",
      { ...chatBody, stream: true },
      {
        "x-gateway-strict-open-ai-compliance": "false"
      }
    )
    expect(answer.headers.get(header)).toBe(null)
    const frames = (await answer.text()).split("\n\n").filter((frame) => frame.startsWith("data: {"))
    expect(frames.map((frame) => JSON.parse(frame.slice(6)).model_status?.stage)).toEqual([
      undefined,
      undefined,
      undefined,
      "DEPRECATED"
    ])
    await gateway.dispose()
  })

  it("the log has one line for a model and hour, over all routes (M-703)", async () => {
    const noon = Date.parse("2026-11-22T12:00:00Z")
    vi.useFakeTimers({ toFake: ["Date"], now: noon })
    const warnings: Array<string> = []
    const logger = Logger.make<unknown, void>(({ message }) => void warnings.push(String(message)))
    const { close, url } = await startGateway(settingsFor(gateway.upstream), Logger.layer([logger]))
    for (const [minutes, lines] of [
      [0, [line]],
      [59, [line]],
      [60, [line, line]]
    ] as const) {
      vi.setSystemTime(noon + minutes * 60_000)
      const answer = { status: 200, body: event(deprecated) }
      gateway.simulator.script([answer, answer])
      await chat("@google/gemini-3.8-flash", {}, {}, url)
      await fetch(`${url}${nativePath}:generateContent`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-gateway-api-key": gatewayKey },
        body: JSON.stringify(nativeBody)
      })
      // The first request waits for the price list.
      await until(() => warnings.length >= lines.length)
      expect(warnings).toEqual(lines)
    }
    await close()
  })

  it("the log line is due again after many other models (M-703)", () => {
    const news = endingNews()
    const ending = { stage: "shut_down", shutdown: "2026-06-01", successor: "b" } as const
    const due = (modelId: string) =>
      news({ slug: "s", kind: "google", modelId, optionIndex: 0, ending }, 0) !== undefined
    const first = [due("a"), due("a"), news({ slug: "s", kind: "google", modelId: "c", optionIndex: 0 }, 0)]
    for (let at = 0; at < 512; at++) due(`m${at}`)
    expect([first, due("a")]).toEqual([[true, false, undefined], true])
  })
})

describe("refusals of models that have ended", () => {
  it("a 404 names the day and the successor, and is not repeated (M-723)", async () => {
    const before = gateway.simulator.calls.length
    const refused = await chat("@google/gemini-2.0-flash")
    const { code, message } = errorOf(refused)
    expect([refused.status, code, message]).toEqual([
      404,
      "model_not_found",
      "models/gemini-2.0-flash is not found for API version v1beta, or is not supported for generateContent. " +
        "Call ListModels to see the list of available models and their supported methods. " +
        "gemini-2.0-flash is shut down since 2026-06-01; its successor is gemini-3.5-flash."
    ])
    expect(gateway.simulator.calls.length - before).toBe(1)
  })

  it("a routed or ended model is asked for under its own id (M-722, M-724)", async () => {
    const asked = ["gemini-2.5-pro", "gemini-2.0-flash"]
    const before = gateway.simulator.calls.length
    for (const id of asked) await chat(`@google/${id}`)
    const urls = gateway.simulator.calls.slice(before).map(({ url }) => url)
    expect(urls).toEqual(asked.map((id) => `/v1beta/models/${id}:generateContent`))
  })

  it("a config may go to another target (M-723)", async () => {
    const config = {
      strategy: { mode: "fallback" },
      targets: [
        { override_params: { model: "@google/gemini-2.0-flash" } },
        { override_params: { model: "@google/gemini-3.8-flash" } }
      ]
    }
    const { headers, status, warning } = await chat("x", { "x-gateway-config": JSON.stringify(config) })
    expect([status, warning, headers.get("x-gateway-last-used-option-index")]).toEqual([200, null, "1"])
  })

  it("a 404 of a newest model in a single region names its locations (M-800)", async () => {
    const refused = await chat("@vertex-ai/gemini-3.8-flash", { "x-gateway-vertex-region": "us-central1" })
    expect([refused.status, errorOf(refused).message]).toEqual([
      404,
      "Publisher Model `projects/[redacted]/locations/us-central1/publishers/google/models/gemini-3.8-flash` was not found " +
        "or your project does not have access to it. Please ensure you are using a valid model version. " +
        "It may be not available in location us-central1; newest models are served in global or multi-regions only. " +
        "gemini-3.8-flash is served in global, us, eu."
    ])
  })
})
