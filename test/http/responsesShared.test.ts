// Chains of kept responses over two gateways on one store, and the keys that may read them.
// It must not know how the store is laid out.
import { randomBytes } from "node:crypto"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { describe, expect, it } from "vitest"
import { databases } from "../support/databases.ts"
import { gatewayOver, replying } from "../support/scripted.ts"

const secretKey = Redacted.make(randomBytes(32).toString("base64"))
const keyOf = (letter: string) => `mgk_${letter.repeat(32)}`
const said = (text: string) => ({
  candidates: [{ content: { role: "model", parts: [{ text }] }, finishReason: "STOP", index: 0 }],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 }
})
const model = "@google/gemini-2.5-flash"

const signed = {
  candidates: [
    {
      content: {
        role: "model",
        parts: [
          { text: "Let me think", thought: true },
          { functionCall: { name: "f", args: { n: 1 } }, thoughtSignature: "c2lnbmVk" }
        ]
      },
      finishReason: "STOP",
      index: 0
    }
  ],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 }
}

describe.each(databases.filter(({ takesSeveral }) => takesSeveral))("responses shared over $name", ({ location }) => {
  it("responses: a chain begins at one gateway and goes on at another, for its key alone (R703 R705 R706)", async () => {
    const scope = await Effect.runPromise(Scope.make())
    const place = await Effect.runPromise(Scope.provide(location, scope))
    const keys = ["a", "b"].map((letter) => ({ name: letter, key: Redacted.make(keyOf(letter)) }))
    const store = { location: place, keyFile: "/nonexistent/secret.key", secretKeys: [secretKey] }
    const gateways = ["one", "two"].map((name) =>
      gatewayOver(() => replying(said(name)), { keys, settings: { store } })
    )
    const ask = async (gateway: number, letter: string, body: object) => {
      const answer = await gateways[gateway]?.post(
        "/v1/responses",
        { model, ...body },
        { "x-gateway-api-key": keyOf(letter) }
      )
      return { status: answer?.status, body: await answer?.json() }
    }
    const read = async (gateway: number, letter: string, path: string, method = "GET") => {
      const answer = await gateways[gateway]?.send(`/v1/responses/${path}`, {
        method,
        headers: { "x-gateway-api-key": keyOf(letter) }
      })
      return [answer?.status, await answer?.json()]
    }
    try {
      const first = await ask(0, "a", { input: "First" })
      const second = await ask(1, "a", { input: "Second", previous_response_id: first.body.id })
      expect([first.status, second.status]).toEqual([200, 200])
      expect(gateways[1]?.seen.map(({ body }) => body)).toEqual([
        {
          contents: [
            { role: "user", parts: [{ text: "First" }] },
            { role: "model", parts: [{ text: "one" }] },
            { role: "user", parts: [{ text: "Second" }] }
          ]
        }
      ])
      const reference = { type: "item_reference", id: first.body.output[0].id }
      const meant = await ask(1, "a", { input: [reference, { role: "user", content: "Third" }] })
      expect(meant.status).toBe(200)
      expect(await read(1, "a", first.body.id)).toEqual([200, first.body])
      expect((await read(1, "b", first.body.id))[0]).toBe(404)
      const foreign = await ask(0, "b", { input: "x", previous_response_id: first.body.id })
      expect([foreign.status, foreign.body.error.code]).toEqual([400, "previous_response_not_found"])
      expect(await read(1, "a", first.body.id, "DELETE")).toEqual([
        200,
        { id: first.body.id, object: "response", deleted: true }
      ])
      const broken = await ask(0, "a", { input: "x", previous_response_id: second.body.id })
      expect(broken.body.error.message).toBe(`Previous response with id '${first.body.id}' not found.`)
    } finally {
      for (const gateway of gateways) await gateway.dispose()
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  })

  it("responses: reasoning and chains outlive a restart, and another key's reasoning is left out by name (R802 R406 R412)", async () => {
    const scope = await Effect.runPromise(Scope.make())
    const place = await Effect.runPromise(Scope.provide(location, scope))
    const keys = ["a", "b"].map((letter) => ({ name: letter, key: Redacted.make(keyOf(letter)) }))
    const store = { location: place, keyFile: "/nonexistent/secret.key", secretKeys: [secretKey] }
    const start = (answer: unknown) => gatewayOver(() => replying(answer), { keys, settings: { store } })
    const body = {
      model: "@google/gemini-3-flash-preview",
      tools: [{ type: "function", name: "f", parameters: null, strict: null }]
    }
    const ask = async (gateway: typeof before, letter: string, more: object) => {
      const answer = await gateway.post("/v1/responses", { ...body, ...more }, { "x-gateway-api-key": keyOf(letter) })
      return {
        ignored: answer.headers.get("x-gateway-ignored-params"),
        status: answer.status,
        body: await answer.json()
      }
    }
    const call = { functionCall: { name: "f", args: { n: 1 }, id: expect.any(String) } }
    const contents = (part: object) => ({
      contents: [
        { role: "user", parts: [{ text: "Go" }] },
        { role: "model", parts: [part] },
        { role: "user", parts: [{ functionResponse: expect.objectContaining({ name: "f" }) }] }
      ]
    })
    const before = start(signed)
    const stored = await ask(before, "a", { input: "Go" })
    const carried = await ask(before, "a", { input: "Go", store: false })
    await before.dispose()
    const after = start(said("Done"))
    try {
      const resultOf = ({
        output
      }: {
        readonly output: ReadonlyArray<{ readonly type: string; readonly call_id?: string }>
      }) => ({
        type: "function_call_output",
        call_id: output.find(({ type }) => type === "function_call")?.call_id,
        output: "1"
      })
      const chain = await ask(after, "a", { previous_response_id: stored.body.id, input: [resultOf(stored.body)] })
      const input = [{ role: "user", content: "Go" }, ...carried.body.output, resultOf(carried.body)]
      const stateless = await ask(after, "a", { input, store: false })
      const foreign = await ask(after, "b", { input, store: false })
      expect([chain, stateless, foreign].map(({ ignored, status }) => [status, ignored])).toEqual([
        [200, null],
        [200, null],
        [200, "input[2].encrypted_content"]
      ])
      const sent = after.seen.map(({ body: upstream }) => upstream)
      expect(sent.slice(0, 2)).toEqual(
        [0, 1].map(() => expect.objectContaining(contents({ ...call, thoughtSignature: "c2lnbmVk" })))
      )
      expect(JSON.stringify(sent[2])).not.toContain("c2lnbmVk")
    } finally {
      await after.dispose()
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  })
})
