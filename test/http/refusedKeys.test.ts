// Tests keys such as __proto__ wherever clients and operators choose the names in a record: they are refused.
// Must not depend on how a body is read.
import * as Redacted from "effect/Redacted"
import { afterAll, describe, expect, it } from "vitest"
import type { JsonObject } from "../../src/domain/text/json.ts"
import { gatewayOver, replying } from "../support/scripted.ts"
import { gatewayKey } from "../support/TestGateway.ts"

const adminKey = "mgk_admin000000000000000000000000000"
const content = {
  model: "@google/gemini-2.5-flash",
  messages: [{ role: "user", content: "Hi {{name}}" }],
  parameters: {}
} as const
const gateway = gatewayOver(() => replying({}), {
  keys: [
    { name: "test", key: Redacted.make(gatewayKey) },
    { name: "admin", key: Redacted.make(adminKey), scopes: ["admin"] }
  ],
  prompts: [{ id: "greeting", name: undefined, labels: new Map(), versions: new Map([[1, content]]) }]
})
afterAll(() => gateway.dispose())

const names = ["constructor", "prototype", "__proto__"]
/** A literal `__proto__` would set the prototype. */
const evil = (name: string): JsonObject => Object.fromEntries([[name, "x"]])

const messages = [{ role: "user", content: "Hi" }]
const bodies: ReadonlyArray<readonly [field: string, path: string, of: (record: JsonObject) => JsonObject]> = [
  ...[
    "@google/gemini-2.5-flash",
    "@vertex-ai/gemini-2.5-flash",
    "@vertex-ai/anthropic.claude-sonnet-4-5",
    "@vertex-ai/meta.llama-4-maverick-17b-128e-instruct-maas"
  ].map((model) => ["labels", "/v1/chat/completions", (labels: JsonObject) => ({ model, messages, labels })] as const),
  [
    "labels",
    "/v1/chat/completions/count_tokens",
    (labels) => ({ model: "@vertex-ai/gemini-2.5-flash", messages, labels })
  ],
  ["labels", "/v1/embeddings", (labels) => ({ model: "@google/gemini-embedding-001", input: "Hi", labels })],
  [
    "labels",
    "/v1/images/generations",
    (labels) => ({ model: "@vertex-ai/imagen-4.0-generate-001", prompt: "A cat", labels })
  ],
  ...["completions", "render"].flatMap(
    (verb) =>
      [
        ["labels", `/v1/prompts/greeting/${verb}`, (labels: JsonObject) => ({ variables: { name: "x" }, labels })],
        [
          "variables",
          `/v1/prompts/greeting/${verb}`,
          (variables: JsonObject) => ({ variables: { name: "x", ...variables } })
        ]
      ] as const
  )
]

describe("refused keys in a request", () => {
  it.each(bodies)("refused keys: %s on %s may not contain them (B20, TH13)", async (field, path, of) => {
    for (const name of names) {
      const answer = await gateway.post(path, of(evil(name)))
      expect([answer.status, await answer.json()]).toEqual([
        400,
        {
          error: {
            message: `${field} may not use the key "${name}".`,
            type: "invalid_request_error",
            param: `${field}.${name}`,
            code: "invalid_key"
          }
        }
      ])
    }
    expect(gateway.seen).toEqual([])
  })

  it("refused keys: the metadata header may not contain them (B20)", async () => {
    for (const name of names) {
      const answer = await gateway.post(
        "/v1/chat/completions",
        { model: "@google/gemini-2.5-flash", messages },
        { "x-gateway-metadata": JSON.stringify(evil(name)) }
      )
      expect([answer.status, await answer.json()]).toEqual([
        400,
        {
          error: {
            message: `x-gateway-metadata may not use the key "${name}".`,
            type: "invalid_request_error",
            param: "x-gateway-metadata",
            code: "invalid_key"
          }
        }
      ])
    }
  })

  it("refused keys: tool schemas may contain them, as data (B21)", async () => {
    for (const name of names) {
      const tools = [
        {
          type: "function",
          function: {
            name: "f",
            parameters: { type: "object", properties: Object.fromEntries([[name, { type: "string" }]]) }
          }
        }
      ]
      const body = { model: "@google/gemini-2.5-flash", messages, tools, metadata: evil(name) }
      expect((await gateway.post("/v1/chat/completions", body, { "x-gateway-dry-run": "true" })).status).toBe(200)
    }
  })
})

describe("refused keys in the admin API", () => {
  const prompt = { id: "other", model: "@google/gemini-2.5-flash", messages }
  it.each<readonly [kind: string, of: (name: string) => object, path: (name: string) => string, message: string]>([
    ["keys", (name) => ({ name: "ci", metadata: evil(name) }), (name) => `metadata.${name}`, "is no name for metadata"],
    [
      "configs",
      (name) => ({ id: "c", config: { metadata: evil(name) } }),
      (name) => `config.metadata.${name}`,
      "is no name for metadata"
    ],
    [
      "configs",
      (name) => ({ id: "c", config: { labels: evil(name) } }),
      (name) => `config.labels.${name}`,
      "is no name for a label"
    ],
    [
      "prompts",
      (name) => ({ ...prompt, labels: Object.fromEntries([[name, 1]]) }),
      (name) => `labels.${name}`,
      'is not a label: a letter, then letters, digits, "_", "." and "-", at most 64'
    ],
    [
      "prompts",
      (name) => ({ ...prompt, messages: [{ role: "user", content: `{{${name}}}` }] }),
      () => "messages[0].content",
      ""
    ]
  ])("refused keys: the admin API refuses them in %s, row %#", async (kind, of, path, message) => {
    for (const name of names) {
      const answer = await gateway.post(`/admin/v1/${kind}`, of(name), { "x-gateway-api-key": adminKey })
      const text =
        message === ""
          ? `"{{${name}}}" is neither variable nor partial: a variable is written {{name}}, a partial {{>id}}, and braces that are text \\{{`
          : message
      expect([answer.status, ((await answer.json()) as { errors: unknown }).errors]).toEqual([
        400,
        [{ path: path(name), message: text }]
      ])
    }
  })
})
