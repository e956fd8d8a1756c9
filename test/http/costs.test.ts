// What a call costs, over the routes: the row of each answer has the amount of the provider's invoice.
// Must not depend on how a cost is computed.
import * as Redacted from "effect/Redacted"
import { expect, it } from "vitest"
import { adminKey } from "../support/accounted.ts"
import { until } from "../support/eventually.ts"
import { googleAccount, vertexAccount } from "../support/account.ts"
import { gatewaysOver } from "../support/scripted.ts"
import { gatewayKey } from "../support/TestGateway.ts"

const gatewayOver = gatewaysOver()

interface Call {
  readonly path?: string
  readonly body: object
  readonly answer: object
  readonly headers?: Readonly<Record<string, string>>
  readonly region?: string
  /** The answer comes as the only event of a stream. */
  readonly stream?: true
}

const chat = (model: string, more: object = {}) => ({ model, messages: [{ role: "user", content: "Hi" }], ...more })
const claude = (usage: object) => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude",
  content: [{ type: "text", text: "Hi" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage
})
const gemini = (usageMetadata: object, candidate: object = {}) => ({
  candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP", ...candidate }],
  usageMetadata
})
/** A million tokens in, a hundred thousand out. */
const million = { promptTokenCount: 1_000_000, candidatesTokenCount: 100_000, totalTokenCount: 1_100_000 }
const searched = (...webSearchQueries: ReadonlyArray<string>) => ({ groundingMetadata: { webSearchQueries } })
const nothing = { promptTokenCount: 1, candidatesTokenCount: 0, totalTokenCount: 1 }

/** Cost, and the lines of it, of one call. */
const costOf = async ({
  answer,
  body,
  headers = {},
  path = "/v1/chat/completions",
  region = "global",
  stream
}: Call) => {
  const text = JSON.stringify(answer)
  const chunks = [stream === undefined ? text : `data: ${text}\r\n\r\n`]
  const { post, send } = gatewayOver(() => ({ status: 200, chunks, headers }), {
    accounts: [googleAccount, { ...vertexAccount, region }],
    keys: [
      { name: "ci", key: Redacted.make(gatewayKey) },
      { name: "boss", key: Redacted.make(adminKey), scopes: ["admin"] }
    ],
    settings: {
      prices: {
        "gemini-2.5-pro": { input: 1, output: 10, tiers: { flex: 0.4 } },
        "gemini-own": { input: 1, output: 10, discount: 0.1, search: 0.5, tiers: { priority: 3 } }
      }
    }
  })
  const reply = await post(path, body)
  await reply.text()
  const read = async (at: string) => {
    const found = await send(at, { headers: { "x-gateway-api-key": adminKey } })
    return found.json()
  }
  // A first request waits for the list of prices before it has its row.
  let data: ReadonlyArray<{ readonly id: string }> = []
  await until(async () => {
    ;({ data } = await read("/admin/v1/requests?limit=1"))
    return data.length > 0
  })
  const { cost_lines, cost_partial, cost_usd } = await read(`/admin/v1/requests/${data[0]?.id}`)
  const shown = ["x-gateway-cost-usd", "x-gateway-cost-partial"].map((name) => reply.headers.get(name))
  expect(shown).toEqual(
    stream === undefined ? [String(cost_usd), cost_partial === undefined ? null : "true"] : [null, null]
  )
  return {
    cost_usd,
    ...(cost_partial === undefined ? {} : { cost_partial }),
    lines: cost_lines.map(
      (line: { part: string; count: number; usd_each?: number; usd_per_million?: number; factor?: number }) =>
        [
          line.part,
          line.count,
          line.usd_per_million ?? line.usd_each,
          ...(line.factor === undefined ? [] : [line.factor])
        ] as const
    )
  }
}

const sonnet = "@vertex-ai/anthropic.claude-sonnet-4-6"
const flash = "@vertex-ai/gemini-2.5-flash"
const hour = {
  input_tokens: 10,
  output_tokens: 10,
  cache_creation_input_tokens: 100_000,
  cache_creation: { ephemeral_1h_input_tokens: 100_000, ephemeral_5m_input_tokens: 0 }
}
const hourCost = {
  cost_usd: 0.60018,
  lines: [
    ["input_tokens", 10, 3],
    ["cache_write_1h_tokens", 100_000, 6],
    ["output_tokens", 10, 15]
  ]
}

const calls: ReadonlyArray<readonly [what: string, call: Call, wanted: object]> = [
  [
    "a cache write for an hour on messages (W10, RB33)",
    {
      path: "/v1/messages",
      body: { model: sonnet, max_tokens: 10, messages: [{ role: "user", content: "Hi" }] },
      answer: claude(hour)
    },
    hourCost
  ],
  ["a cache write for an hour on chat (W10, RB33)", { body: chat(sonnet), answer: claude(hour) }, hourCost],
  [
    "cache reads beside few new tokens (W10, RB36)",
    {
      body: chat(sonnet),
      answer: claude({
        input_tokens: 1,
        cache_creation_input_tokens: 225,
        cache_read_input_tokens: 965_602,
        output_tokens: 82
      })
    },
    {
      cost_usd: 0.291757,
      lines: [
        ["input_tokens", 1, 3],
        ["cached_tokens", 965_602, 0.3],
        ["cache_write_tokens", 225, 3.75],
        ["output_tokens", 82, 15]
      ]
    }
  ],
  [
    "Claude outside the location global (W10, RB80)",
    { body: chat(sonnet), region: "us-central1", answer: claude({ input_tokens: 1_000_000, output_tokens: 0 }) },
    { cost_usd: 3.3, lines: [["input_tokens", 1_000_000, 3, 1.1]] }
  ],
  [
    "Claude's own searches (W10)",
    {
      body: chat(sonnet),
      answer: claude({ input_tokens: 10, output_tokens: 0, server_tool_use: { web_search_requests: 3 } })
    },
    {
      cost_usd: 0.03003,
      lines: [
        ["input_tokens", 10, 3],
        ["searches", 3, 0.01]
      ]
    }
  ],
  [
    "cached sound, and text beside it (W10, RB78)",
    {
      body: chat(flash),
      answer: gemini({
        promptTokenCount: 101_000,
        promptTokensDetails: [
          { modality: "AUDIO", tokenCount: 100_000 },
          { modality: "TEXT", tokenCount: 1000 }
        ],
        cachedContentTokenCount: 100_000,
        cacheTokensDetails: [{ modality: "AUDIO", tokenCount: 100_000 }],
        candidatesTokenCount: 10,
        totalTokenCount: 101_010
      })
    },
    {
      cost_usd: 0.010325,
      lines: [
        ["input_tokens", 1000, 0.3],
        ["cached_audio_tokens", 100_000, 0.1],
        ["output_tokens", 10, 2.5]
      ]
    }
  ],
  ...(
    [
      ["the flex tier of Vertex AI", { trafficType: "ON_DEMAND_FLEX" }, {}, 0.275, [0.5]],
      ["the priority tier of Vertex AI", { trafficType: "ON_DEMAND_PRIORITY" }, {}, 1.1, [2]],
      ["throughput that is paid by the month", { trafficType: "PROVISIONED_THROUGHPUT" }, {}, 0, [0]],
      ["the standard tier", { trafficType: "ON_DEMAND" }, {}, 0.55, []],
      ["the flex tier of the Gemini API", {}, { "x-gemini-service-tier": "flex" }, 0.275, [0.5]]
    ] as const
  ).map(([what, tier, headers, cost_usd, factor]): readonly [string, Call, object] => [
    `${what} (W10)`,
    {
      body: chat("headers" in headers ? flash : "@google/gemini-2.5-flash"),
      headers,
      answer: gemini({ ...million, ...tier })
    },
    {
      cost_usd,
      lines: [
        ["input_tokens", 1_000_000, 0.3, ...factor],
        ["output_tokens", 100_000, 2.5, ...factor]
      ]
    }
  ]),
  [
    "two different searches on a newer Gemini (W10, RB35)",
    { body: chat("@google/gemini-3.1-flash-lite"), answer: gemini(nothing, searched("a", "b", "a", "")) },
    {
      cost_usd: 0.028,
      lines: [
        ["input_tokens", 1, 0.25],
        ["searches", 2, 0.014]
      ]
    }
  ],
  [
    "searches on a native route (W10, RB35)",
    {
      path: "/v1beta/models/gemini-2.5-flash:generateContent",
      body: { contents: [{ role: "user", parts: [{ text: "Hi" }] }] },
      answer: gemini(nothing, searched("a", "b"))
    },
    {
      cost_usd: 0.035,
      lines: [
        ["input_tokens", 1, 0.3],
        ["searches", 1, 0.035]
      ]
    }
  ],
  [
    "searches of a stream on a native route (W10, RB35)",
    {
      path: "/v1beta/models/gemini-3.1-flash-lite:streamGenerateContent?alt=sse",
      body: { contents: [{ role: "user", parts: [{ text: "Hi" }] }] },
      answer: gemini(nothing, searched("a", "b")),
      stream: true
    },
    {
      cost_usd: 0.028,
      lines: [
        ["input_tokens", 1, 0.25],
        ["searches", 2, 0.014]
      ]
    }
  ],
  [
    "tier and searches of a stream on chat (W10, RB35)",
    {
      body: chat("@vertex-ai/gemini-3.1-flash-lite", { stream: true }),
      answer: gemini({ ...nothing, trafficType: "ON_DEMAND_PRIORITY" }, searched("a", "b")),
      stream: true
    },
    {
      cost_usd: 0.028001,
      lines: [
        ["input_tokens", 1, 0.25, 2],
        ["searches", 2, 0.014]
      ]
    }
  ],
  ...(
    [
      ["ON_DEMAND_FLEX", 0.4, 0.8],
      ["ON_DEMAND_PRIORITY", 2, 4]
    ] as const
  ).map(([trafficType, factor, cost_usd]): readonly [string, Call, object] => [
    `${trafficType} where the operator states the factor of flex alone (W10)`,
    { body: chat("@vertex-ai/gemini-2.5-pro"), answer: gemini({ ...million, trafficType }) },
    {
      cost_usd,
      lines: [
        ["input_tokens", 1_000_000, 1, factor],
        ["output_tokens", 100_000, 10, factor]
      ]
    }
  ]),
  [
    "the operator's own prices, factors and discount (W10)",
    {
      body: chat("@vertex-ai/gemini-own"),
      answer: gemini({ ...million, trafficType: "ON_DEMAND_PRIORITY" }, searched("a"))
    },
    {
      cost_usd: 5.85,
      lines: [
        ["input_tokens", 1_000_000, 1, 2.7],
        ["output_tokens", 100_000, 10, 2.7],
        ["searches", 1, 0.5, 0.9]
      ]
    }
  ]
]

it.each(calls)("cost: %s", async (_, call, wanted) => {
  expect(await costOf(call)).toStrictEqual(wanted)
})

it("cost: a search whose fee is not known makes the cost partial (W10)", async () => {
  const call = { body: chat("@vertex-ai/gemma-4-26b-a4b-it"), answer: gemini(nothing, searched("a")) }
  expect((await costOf(call)).cost_partial).toBe(true)
})
