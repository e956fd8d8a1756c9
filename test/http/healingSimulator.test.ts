// Healing against the simulated Google services: their refusals come from facts of their own, the gateway's are wrong.
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { makeSimulator, type Simulator } from "../../src/demo/google/Simulator.ts"
import type { ModelOverlays } from "../../src/domain/models/modelTable.ts"
import { gatewayKey, geminiKey, serviceAccount, settingsFor, startGateway } from "../support/TestGateway.ts"

/** Facts of the gateway that allow what the models refuse. */
const models: ModelOverlays = {
  "gemini-3-pro-preview": { thinking: { control: "level", levels: ["minimal", "low", "medium", "high"] } },
  "claude-opus-4-7": { inherits: "claude-sonnet-4-5@20250929" },
  "claude-opus-4-8": { inherits: "claude-sonnet-4-5@20250929" },
  "claude-sonnet-4-6": { inherits: "claude-sonnet-4-5@20250929" }
}

const user = { role: "user", content: "hi" }

interface Row {
  readonly row: string
  readonly path: string
  readonly request: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
  readonly ignored: string | null
  readonly adjusted: string | null
}

const chat = "/v1/chat/completions"

const rows: ReadonlyArray<Row> = [
  {
    row: "H2",
    path: chat,
    request: { model: "@google/gemini-3-pro-preview", messages: [user], reasoning_effort: "minimal" },
    ignored: null,
    adjusted: "reasoning_effort=minimal>low"
  },
  {
    row: "H14",
    path: chat,
    request: { model: "@vertex-ai/claude-opus-4-7", messages: [user], temperature: 0.5 },
    ignored: "temperature",
    adjusted: null
  },
  {
    row: "H15",
    path: chat,
    request: { model: "@vertex-ai/claude-sonnet-4-6", messages: [user, { role: "assistant", content: "Once" }] },
    ignored: null,
    adjusted: "messages=prefill>continue"
  },
  {
    row: "H18",
    path: chat,
    request: {
      model: "@vertex-ai/claude-opus-4-8",
      messages: [user],
      thinking: { type: "enabled", budget_tokens: 8_192 },
      max_tokens: 20_000
    },
    ignored: null,
    adjusted: "thinking=budget>medium"
  },
  {
    row: "H20",
    path: "/v1/messages",
    request: { model: "@vertex-ai/claude-sonnet-4-5@20250929", messages: [user], max_tokens: 100 },
    headers: { "anthropic-beta": "effort-2025-11-24,context-1m-2025-08-07" },
    ignored: "anthropic-beta.effort-2025-11-24",
    adjusted: null
  },
  {
    row: "H24",
    path: "/v1/messages",
    request: { model: "@vertex-ai/claude-opus-4-6", messages: [user], max_tokens: 100 },
    headers: { "anthropic-version": "2026-10-21" },
    ignored: null,
    adjusted: "anthropic_version=2026-10-21>vertex-2023-10-16"
  }
]

describe("healing against the simulated services", () => {
  let simulator: Simulator
  let url = ""
  const closing: Array<() => Promise<void>> = []
  beforeAll(async () => {
    simulator = makeSimulator({
      geminiApiKeys: [geminiKey],
      serviceAccounts: [serviceAccount],
      anyLocation: true,
      day: "2026-02-01"
    })
    const upstream = await simulator.listen()
    const gateway = await startGateway({ ...settingsFor(upstream.url), models })
    url = gateway.url
    closing.push(gateway.close, upstream.close)
  })
  afterAll(async () => {
    for (const close of closing) await close()
  })

  it.each(rows)(
    "healing: the simulator refuses once, and the next request is sent as the second try was, row $row (M-1000)",
    async ({ adjusted, headers = {}, ignored, path, request }) => {
      const post = () =>
        fetch(url + path, {
          method: "POST",
          headers: { "content-type": "application/json", "x-gateway-api-key": gatewayKey, ...headers },
          body: JSON.stringify(request)
        })
      const before = simulator.calls.length
      for (const answer of [await post(), await post()]) {
        await answer.text()
        expect([
          answer.status,
          answer.headers.get("x-gateway-ignored-params"),
          answer.headers.get("x-gateway-adjusted-params")
        ]).toEqual([200, ignored, adjusted])
      }
      const calls = simulator.calls.slice(before).filter((call) => !call.url.endsWith("/token"))
      expect(calls.map(({ status }) => status)).toEqual([400, 200, 200])
      expect(calls[2]?.body).toEqual(calls[1]?.body)
    }
  )

  /** The answers to these requests, and those of the simulator. */
  const statusesOf = async (
    sent: ReadonlyArray<readonly [path: string, body: object, headers?: Readonly<Record<string, string>>]>
  ) => {
    const before = simulator.calls.length
    const answers = []
    for (const [path, body, headers] of sent) {
      const answer = await fetch(url + path, {
        method: "POST",
        headers: { "content-type": "application/json", "x-gateway-api-key": gatewayKey, ...headers },
        body: JSON.stringify(body)
      })
      await answer.text()
      answers.push([answer.status, answer.headers.get("x-gateway-ignored-params")])
    }
    const calls = simulator.calls.slice(before).filter((call) => !call.url.endsWith("/token"))
    return { answers, statuses: calls.map(({ status }) => status) }
  }

  it("healing: a safety category with the words of a refusal forbids no candidates (M-908)", async () => {
    const request = { model: "@google/gemini-2.5-flash", messages: [user], n: 2 }
    const settings = [{ category: "candidateCount must be 1", threshold: "OFF" }]
    expect(
      await statusesOf([
        [chat, { ...request, safety_settings: settings }],
        [chat, request]
      ])
    ).toEqual({
      answers: [
        [400, null],
        [200, null]
      ],
      statuses: [400, 200]
    })
  })

  it("healing: an edit with the words of a refusal takes no beta off a later message (M-908)", async () => {
    const betas = ["context-management-2025-06-27", "context-1m-2025-08-07"]
    const type = `Unexpected value(s) ${betas.map((beta) => `\`${beta}\``).join(", ")} for the \`anthropic-beta\` header`
    const request = { model: "@vertex-ai/claude-opus-4-6", messages: [user], max_tokens: 100 }
    const headers = { "anthropic-beta": betas.join(",") }
    expect(
      await statusesOf([
        ["/v1/messages", { ...request, context_management: { edits: [{ type }] } }, headers],
        ["/v1/messages", request, headers]
      ])
    ).toEqual({
      answers: [
        [400, null],
        [200, null]
      ],
      statuses: [400, 200]
    })
  })

  it("healing: thinking that a client moves to another conversation is left out, row H23 (M-912)", async () => {
    const before = simulator.calls.length
    const ask = async (messages: ReadonlyArray<unknown>) => {
      const answer = await fetch(url + chat, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "x-gateway-api-key": gatewayKey,
          "x-gateway-strict-schema-compliance": "false"
        },
        body: JSON.stringify({ model: "@vertex-ai/claude-fable-5-2", messages, reasoning_effort: "low" })
      })
      const { choices } = await answer.json()
      return [choices?.[0]?.message, answer.headers.get("x-gateway-adjusted-params")]
    }
    const [said] = await ask([user])
    const turn = { role: "assistant", content: said.content_blocks }
    const [, same] = await ask([user, turn, user])
    const [moved, adjusted] = await ask([{ role: "system", content: "Be brief." }, user, turn, user])
    expect([same, adjusted, moved.role]).toEqual([null, "messages=thinking>dropped", "assistant"])
    const statuses = simulator.calls.slice(before).filter((call) => !call.url.endsWith("/token"))
    expect(statuses.map(({ status }) => status)).toEqual([200, 200, 400, 200])
  })
})
