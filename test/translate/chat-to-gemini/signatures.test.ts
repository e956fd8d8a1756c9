// Tests the thought signatures sent with Gemini parts, and those read from answers for memory.
// Must not depend on the storage of signatures.
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { sentinel } from "../../../src/translate/chat-to-gemini/messages.ts"
import { historyCalls, signaturesOf } from "../../../src/translate/shared/chat-request/signatures.ts"
import type { KnownSignature } from "../../../src/translate/Translator.ts"
import { chatRequest, type ContextOptions } from "../../support/chat.ts"
import {
  assistant,
  call,
  calling,
  geminiFrom3,
  middle,
  modern,
  older,
  sent,
  tool,
  user,
  vertex
} from "../../support/geminiMessages.ts"

const client = "Y2xpZW50"
const memory = "bWVtb3J5"
const google = (signature: string): KnownSignature => ({ issuer: "gemini/google", signature })
const cloud = (signature: string): KnownSignature => ({ issuer: "gemini/vertex-ai", signature })
const knowing = (known: Readonly<Record<string, KnownSignature>>, rest: ContextOptions = {}): ContextOptions => ({
  ...rest,
  known
})
const signed = (id: string, signature: string) => call(id, "f", "{}", { thought_signature: signature })

/** The signatures of the calls of one turn. */
const chosen = (calls: ReadonlyArray<unknown>, model = modern, options: ContextOptions = {}) =>
  sent([user("a"), calling(...calls)], model, options).contents[1]?.parts.map((part) => part.thoughtSignature)

describe("thought signature spellings", () => {
  it("a signature is read from four spellings; the first non-empty one is used (T603)", () => {
    const plain = call("1")
    const of = (rest: object) => chosen([{ ...plain, ...rest }])
    expect(of({ function: { ...plain.function, thought_signature: client } })).toStrictEqual([client])
    expect(of({ extra_content: { google: { thought_signature: client } } })).toStrictEqual([client])
    expect(of({ extra_content: { vertex: { thought_signature: client } } })).toStrictEqual([client])
    expect(of({ thought_signature: client })).toStrictEqual([client])
    expect(
      of({
        function: { ...plain.function, thought_signature: "" },
        extra_content: { google: { thought_signature: null }, vertex: { thought_signature: client } },
        thought_signature: "b3RoZXI="
      })
    ).toStrictEqual([client])
    expect(of({ extra_content: "x" })).toStrictEqual([sentinel])
  })
  it("a signature that is not base64 is none (T603, B66, W28)", () => {
    for (const bad of ["a*b", "ä", "AAAAA", "AA=A", "====", 7, {}])
      for (const rest of [
        { function: { name: "f", thought_signature: bad } },
        { thought_signature: bad },
        { extra_content: { google: { thought_signature: bad } } },
        { extra_content: { vertex: { thought_signature: bad } } }
      ])
        expect(chosen([{ ...call("1"), ...rest }])).toStrictEqual(chosen([call("1")]))
  })
  it("megabytes of signature pass unchanged, in either alphabet (T617)", () => {
    const large = "QUJD".repeat(1_000_000)
    expect(chosen([signed("1", large)])).toStrictEqual([large])
    expect(chosen([signed("1", "-_-_")])).toStrictEqual(["-_-_"])
  })
})

describe("thought signatures to send with calls", () => {
  it("the client's signature comes first, then memory's, then the sentinel (T606)", () => {
    expect(chosen([signed("1", client)])).toStrictEqual([client])
    expect(chosen([call("1")], modern, knowing({ "1": google(memory) }))).toStrictEqual([memory])
    expect(chosen([call("1")])).toStrictEqual([sentinel])
    expect(chosen([call("1")], modern, vertex)).toStrictEqual([sentinel])
  })
  it.each(geminiFrom3)("$id: calls of a history without signatures get the sentinel (M-430)", ({ id, kinds }) => {
    const turns = [user("a"), calling(call("1"), call("2")), tool("1", "r"), tool("2", "r"), calling(call("3"))]
    const signatures = kinds.map((kind) =>
      sent(turns, id, { kind }).contents.flatMap(({ parts }) =>
        parts.flatMap((part) => (part.functionCall === undefined ? [] : [part.thoughtSignature]))
      )
    )
    expect(signatures).toStrictEqual(kinds.map(() => [sentinel, undefined, sentinel]))
  })
  it("the first call of every model turn gets a signature (T606)", () => {
    const { contents } = sent(
      [user("a"), calling(call("1"), call("2")), tool("1", "r"), tool("2", "r"), calling(call("3"))],
      modern
    )
    expect(
      contents.filter(({ role }) => role === "model").map(({ parts }) => parts.map((part) => part.thoughtSignature))
    ).toStrictEqual([[sentinel, undefined], [sentinel]])
  })
  it("later calls get their known signature, and never a sentinel (T607, T612)", () => {
    expect(chosen([signed("1", client), call("2"), call("3")])).toStrictEqual([client, undefined, undefined])
    expect(chosen([signed("1", client), signed("2", memory), call("3")])).toStrictEqual([client, memory, undefined])
    expect(chosen([call("1"), call("2")], modern, knowing({ "2": google(memory) }))).toStrictEqual([sentinel, memory])
  })
  it("a signature goes to its issuer only; the upstream judges unknown ones (T609)", () => {
    expect(chosen([signed("1", client)], modern, knowing({ "1": cloud(client) }))).toStrictEqual([sentinel])
    expect(
      chosen([call("1"), signed("2", client)], modern, knowing({ "1": cloud(memory), "2": cloud(client) }))
    ).toStrictEqual([sentinel, undefined])
    expect(chosen([signed("1", client)], modern, knowing({ "1": cloud(client) }, vertex))).toStrictEqual([client])
    expect(chosen([signed("1", client)], middle, knowing({ "1": cloud(client) }))).toStrictEqual([undefined])
  })
  it("signatures of other families are not sent (T610)", () => {
    expect(
      chosen([signed("1", client)], modern, knowing({ "1": { issuer: "claude/vertex-ai", signature: client } }, vertex))
    ).toStrictEqual([sentinel])
    // Packed Claude thinking is recognised by its form, even when memory has lost the call.
    const packed = Buffer.from('[{"type":"thinking"}]').toString("base64")
    expect(chosen([signed("1", packed)], modern, vertex)).toStrictEqual([sentinel])
  })
  it("2.5 gets its signatures and no sentinel; older models get none (T613)", () => {
    expect(chosen([signed("1", client)], middle)).toStrictEqual([client])
    expect(chosen([call("1")], middle, knowing({ "1": google(memory) }))).toStrictEqual([memory])
    expect(chosen([call("1")], middle)).toStrictEqual([undefined])
    expect(chosen([signed("1", client)], older)).toStrictEqual([undefined])
  })
  it("the client's signature takes precedence over memory's (T619)", () => {
    expect(chosen([signed("1", client)], modern, knowing({ "1": google(memory) }))).toStrictEqual([client])
  })
  it("a sentinel from the client counts as no signature (L18)", () => {
    expect(chosen([signed("1", sentinel), signed("2", sentinel)])).toStrictEqual([sentinel, undefined])
    expect(chosen([signed("1", sentinel)], middle)).toStrictEqual([undefined])
    expect(chosen([signed("1", sentinel)], modern, knowing({ "1": google(memory) }))).toStrictEqual([memory])
  })
  it("a turn has at most one sentinel and no foreign signature; every other signature stays on its call (L18)", () => {
    const origin = fc.constantFrom("none", "client", "memory", "foreign", "both")
    fc.assert(
      fc.property(
        fc.array(origin, { minLength: 1, maxLength: 5 }),
        fc.constantFrom(older, middle, modern),
        (origins, model) => {
          const text = (who: string, index: number) => Buffer.from(`${who}-${index}`).toString("base64")
          const calls = origins.map((from, index) =>
            from === "client" || from === "both" || from === "foreign"
              ? signed(`${index}`, text("client", index))
              : call(`${index}`)
          )
          const known = Object.fromEntries(
            origins.flatMap((from, index) =>
              from === "none" || from === "client"
                ? []
                : [[`${index}`, (from === "foreign" ? cloud : google)(text("memory", index))]]
            )
          )
          const stand = model === modern ? sentinel : undefined
          const expected = origins.map((from, index) => {
            if (model === older) return undefined
            if (from === "client" || from === "both") return text("client", index)
            if (from === "memory") return text("memory", index)
            return index === 0 ? stand : undefined
          })
          expect(chosen(calls, model, { known })).toStrictEqual(expected)
        }
      )
    )
  })
})

describe("thought signatures of texts and images", () => {
  const block = (text: string, signature?: string) => ({
    type: "text",
    text,
    ...(signature === undefined ? {} : { signature })
  })
  const replayed = (
    blocks: ReadonlyArray<unknown>,
    model = modern,
    options: ContextOptions = {},
    calls: ReadonlyArray<unknown> = []
  ) =>
    sent(
      [
        user("a"),
        assistant("", { content_blocks: blocks, ...(calls.length === 0 ? {} : { tool_calls: calls }) }),
        user("b")
      ],
      model,
      options
    ).contents[1]
  it("a signed text returns on its own part, unjoined, also when empty (T604, T608, T611)", () => {
    expect(replayed([block("one"), block("two", client), block("", memory)])).toStrictEqual({
      role: "model",
      parts: [{ text: "one" }, { text: "two", thoughtSignature: client }, { text: "", thoughtSignature: memory }]
    })
  })
  it("models without signatures get the text alone (T613)", () => {
    expect(replayed([block("two", client), block("", memory)], older)).toStrictEqual({
      role: "model",
      parts: [{ text: "two" }]
    })
  })
  it("a turn of another known backend loses all its signatures (T609, T610)", () => {
    expect(replayed([block("two", client)], modern, knowing({ "1": cloud(memory) }), [call("1")])).toStrictEqual({
      role: "model",
      parts: [{ text: "two" }, { functionCall: { name: "f", args: {}, id: "1" }, thoughtSignature: sentinel }]
    })
  })
  it("images keep their signatures; others are sent unsigned (T615)", () => {
    const image = { type: "image", image: { b64_json: "AAAA", mime_type: "image/png" } }
    const parts = [{ ...image, thought_signature: client }, image]
    const data = { inlineData: { mimeType: "image/png", data: "AAAA" } }
    expect(
      sent([user("a"), assistant("", { content_parts: parts })], "gemini-3-pro-image-preview").contents[1]?.parts
    ).toStrictEqual([{ ...data, thoughtSignature: client }, data])
  })
})

describe("thought signatures for memory", () => {
  it("the calls of a history of any shape are listed (T605)", () => {
    const odd = [
      user("a"),
      calling(call("1"), signed("2", client), null, 7, { id: 7 }),
      assistant(null, { tool_calls: "x" }),
      calling(call("3"))
    ]
    expect(historyCalls(chatRequest(odd))).toStrictEqual(["1", "2", "3"])
  })
  it("the signed calls of an answer and of a delta are listed (T605)", () => {
    const answer = {
      id: "1",
      type: "function",
      function: { name: "f", arguments: "{}", thought_signature: client }
    } as const
    const plain = { id: "2", type: "function", function: { name: "f", arguments: "{}" } } as const
    expect(
      signaturesOf({ role: "assistant", content: null, refusal: null, tool_calls: [answer, plain] })
    ).toStrictEqual([{ callId: "1", signature: client }])
    expect(
      signaturesOf({
        tool_calls: [
          { index: 0, ...answer },
          { index: 0, function: { arguments: "x", thought_signature: client } }
        ]
      })
    ).toStrictEqual([{ callId: "1", signature: client }])
    expect(signaturesOf({ content: "x" })).toStrictEqual([])
  })
})
