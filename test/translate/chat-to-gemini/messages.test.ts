// Tests roles, turns, texts and blocks of a chat as Gemini contents, and the laws of contents.
// Must not test details of media forms, tool results or signatures; those have tests of their own.
import * as fc from "fast-check"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { readMessages } from "../../../src/translate/shared/chat-request/readMessages.ts"
import type { ContentOut, PartOut } from "../../../src/wire/google.ts"
import type { ChatMessage } from "../../../src/wire/openai/Chat.ts"
import { deepFreeze } from "../../support/chat.ts"
import {
  assistant,
  call,
  calling,
  middle,
  modern,
  older,
  refused,
  sent,
  tool,
  user,
  vertex
} from "../../support/geminiMessages.ts"

const system = (content: unknown): ChatMessage => ({ role: "system", content })
const says = (...texts: ReadonlyArray<string>): ContentOut => ({ role: "user", parts: texts.map((text) => ({ text })) })
const answers = (...texts: ReadonlyArray<string>): ContentOut => ({
  role: "model",
  parts: texts.map((text) => ({ text }))
})
const png = "iVBORw0KGgoAAAANSUhEUgAA"
const image = { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } }
const imagePart: PartOut = { inlineData: { mimeType: "image/png", data: png } }

describe("Gemini system texts", () => {
  it("system texts of all positions are collected in order and leave contents (T101)", () => {
    expect(sent([system("A"), user("hi"), system("B"), { role: "developer", content: "C" }])).toStrictEqual({
      contents: [says("hi")],
      systemInstruction: { parts: [{ text: "A" }, { text: "B" }, { text: "C" }] }
    })
  })
  it("the system instruction has one part per text part, no empty ones, no role (T102, T103)", () => {
    const parts = ["a", "", "b"].map((text) => ({ type: "text", text }))
    expect(sent([system(parts), user("hi")])).toStrictEqual({
      contents: [says("hi")],
      systemInstruction: { parts: [{ text: "a" }, { text: "b" }] }
    })
    for (const empty of ["", [], null, [{ type: "text", text: "" }]]) {
      expect(sent([system(empty), user("hi")])).toStrictEqual({ contents: [says("hi")] })
    }
  })
  it("a system message accepts only text (T104)", () => {
    expect(refused([system([{ type: "text", text: "a" }, image]), user("hi")])).toStrictEqual([
      "messages[0].content[1].type",
      "invalid_value"
    ])
  })
  it("the last of system texts alone becomes the user turn (T105, B52)", () => {
    expect(sent([system("A"), system("B"), system("C")])).toStrictEqual({
      contents: [says("C")],
      systemInstruction: { parts: [{ text: "A" }, { text: "B" }] }
    })
    expect(sent([system("A")])).toStrictEqual({ contents: [says("A")] })
  })
  it("Gemma gets system texts first in the first user turn (T117)", () => {
    expect(sent([system("A"), user("hi"), system("B")], "gemma-3-27b-it")).toStrictEqual({
      contents: [says("A\n\nB", "hi")]
    })
    expect(sent([system("A"), assistant("yes")], "gemma-3-27b-it")).toStrictEqual({
      contents: [says("A"), answers("yes")]
    })
  })
})

describe("Gemini turns", () => {
  it("a conversation that starts with the assistant gets a blank user turn before it (T106)", () => {
    expect(sent([assistant("a"), user("b")]).contents).toStrictEqual([says(" "), answers("a"), says("b")])
  })
  it("a prefill is sent unchanged (T107)", () => {
    expect(sent([user("a"), assistant("b")]).contents).toStrictEqual([says("a"), answers("b")])
  })
  it("neighbours of one role become one content (T108)", () => {
    expect(sent([user("a"), user("b"), assistant("c"), assistant("d"), user("e")]).contents).toStrictEqual([
      says("a", "b"),
      answers("c", "d"),
      says("e")
    ])
  })
  it("results are a user content of their own, the user's text is the next (T109, T110)", () => {
    expect(sent([user("a"), calling(call("1")), tool("1", "r"), user("b")]).contents).toStrictEqual([
      says("a"),
      { role: "model", parts: [{ functionCall: { name: "f", args: {} } }] },
      { role: "user", parts: [{ functionResponse: { name: "f", response: { output: "r" } } }] },
      says("b")
    ])
  })
  it("an empty assistant turn is dropped, and its neighbours join (T112)", () => {
    for (const empty of [null, "", [], undefined]) {
      expect(sent([user("a"), assistant(empty), user("b")]).contents).toStrictEqual([says("a", "b")])
    }
    expect(
      sent([user("a"), assistant("", { tool_calls: [], content_blocks: [], content_parts: [] }), user("b")]).contents
    ).toStrictEqual([says("a", "b")])
  })
  it("empty texts are dropped, and contents are never empty (T113, L16)", () => {
    expect(
      sent([
        user([
          { type: "text", text: "" },
          { type: "text", text: "a" }
        ])
      ]).contents
    ).toStrictEqual([says("a")])
    expect(sent([user("")]).contents).toStrictEqual([says(" ")])
  })
  it("text and calls of one turn are both sent (T114)", () => {
    expect(
      sent([user("a"), assistant("b", { tool_calls: [call("1", "f", '{"x":1}'), call("2", "g")] })]).contents
    ).toStrictEqual([
      says("a"),
      {
        role: "model",
        parts: [
          { text: "b" },
          { functionCall: { name: "f", args: { x: 1 } } },
          { functionCall: { name: "g", args: {} } }
        ]
      }
    ])
  })
  it("a refusal becomes a text, as field and as part (T115)", () => {
    expect(sent([user("a"), assistant(null, { refusal: "no" })]).contents).toStrictEqual([says("a"), answers("no")])
    const parts = [
      { type: "text", text: "x" },
      { type: "refusal", refusal: "no" }
    ]
    expect(sent([user("a"), assistant(parts)]).contents).toStrictEqual([says("a"), answers("x", "no")])
  })
  it("media alone gets a blank text on the first generation only (T116)", () => {
    expect(sent([user([image])], "gemini-1.5-pro").contents).toStrictEqual([
      { role: "user", parts: [imagePart, { text: " " }] }
    ])
    expect(sent([user([image]), user("b")], "gemini-1.5-pro").contents).toStrictEqual([
      { role: "user", parts: [imagePart, { text: "b" }] }
    ])
    expect(sent([user([image])], older).contents).toStrictEqual([{ role: "user", parts: [imagePart] }])
  })
  it("message names are not sent (T118)", () => {
    expect(sent([{ role: "user", name: "Ann", content: "a" }]).contents).toStrictEqual([says("a")])
  })
})

describe("message shapes", () => {
  it("the list of messages has its bounds (B45, B46, B47)", () => {
    const read = (messages: ReadonlyArray<ChatMessage>, most: number) =>
      Result.match(readMessages(messages, { messages: most }), {
        onSuccess: () => "taken",
        onFailure: (fault) => (fault._tag === "BodyInvalid" ? [fault.param, fault.code] : fault._tag)
      })
    expect(read([], 2)).toStrictEqual(["messages", "empty_array"])
    expect(read([user("a"), user("b")], 2)).toBe("taken")
    expect(read([user("a"), user("b"), user("c")], 2)).toStrictEqual(["messages", "array_too_long"])
    const notObjects: ReadonlyArray<ChatMessage> = JSON.parse("[null]")
    expect(read(notObjects, 2)).toStrictEqual(["messages[0]", "invalid_type"])
  })
  it("unknown roles are refused (T119, B48)", () => {
    for (const role of [undefined, null, 7, "User", "model"]) {
      expect(refused([user("a"), { role, content: "b" }])).toStrictEqual(["messages[1].role", "invalid_value"])
    }
  })
  it("content must be text or parts (T120, B49)", () => {
    for (const role of ["system", "user", "assistant"]) {
      for (const content of [7, true, {}])
        expect(refused([{ role, content }])).toStrictEqual(["messages[0].content", "invalid_type"])
    }
  })
  it("a user turn without content is left out, or blank where it is the only one (T120, B50, B51, W28)", () => {
    for (const empty of [user(null), { role: "user" }, user([])]) {
      expect(sent([empty]).contents).toStrictEqual([{ role: "user", parts: [{ text: " " }] }])
      expect(sent([user("a"), empty]).contents).toStrictEqual([{ role: "user", parts: [{ text: "a" }] }])
    }
  })
  it("each role accepts its part types only (T121, T122, B53)", () => {
    const part = (role: string, type: unknown) =>
      refused([user("a"), calling(call("1")), { role, tool_call_id: "1", content: [{ type }] }])
    for (const type of [undefined, null, 1, "video", "tool_use"]) {
      expect(part("user", type)).toStrictEqual(["messages[3].content[0].type", "invalid_value"])
    }
    expect(part("user", "thinking")).toStrictEqual(["messages[3].content[0].type", "invalid_value"])
    expect(part("tool", "thinking")).toStrictEqual(["messages[2].content[0].type", "invalid_value"])
    expect(part("assistant", "input_audio")).toStrictEqual(["messages[3].content[0].type", "invalid_value"])
    expect(refused([user([7])])).toStrictEqual(["messages[0].content[0]", "invalid_type"])
  })
  it("text must be a well-formed string (T121, B54)", () => {
    for (const text of [undefined, null, 7]) {
      expect(refused([user([{ type: "text", text }])])).toStrictEqual(["messages[0].content[0].text", "invalid_type"])
    }
  })
  it("half of a surrogate pair becomes U+FFFD, in every form of a text (W25)", () => {
    const contents = sent([user("a\ud800"), user(["\udc00", { type: "text", text: "\ud800b" }])]).contents
    expect(contents).toStrictEqual([
      { role: "user", parts: [{ text: "a\ufffd" }, { text: "\ufffd" }, { text: "\ufffdb" }] }
    ])
  })
})

describe("returned answers as Gemini history", () => {
  const text = (words: string) => ({ type: "text", text: words })
  it("parts take precedence over blocks, blocks over content (T123)", () => {
    const parts = [text("p"), { type: "image", image: { b64_json: png, mime_type: "image/png" } }]
    const both = { content_parts: parts, content_blocks: [text("b")] }
    expect(sent([user("a"), assistant("b", both)]).contents).toStrictEqual([
      says("a"),
      { role: "model", parts: [{ text: "p" }, imagePart] }
    ])
    const blocks = { content_blocks: [text("b1"), text("b2")] }
    expect(sent([user("a"), assistant("b1b2", blocks)]).contents).toStrictEqual([says("a"), answers("b1", "b2")])
    expect(sent([user("a"), assistant(null, blocks)]).contents).toStrictEqual([says("a"), answers("b1", "b2")])
  })
  it("an edited text takes precedence over old blocks, and media over blocks (T123)", () => {
    expect(sent([user("a"), assistant("edited", { content_blocks: [text("b")] })]).contents).toStrictEqual([
      says("a"),
      answers("edited")
    ])
    expect(sent([user("a"), assistant([image], { content_blocks: [text("b")] })]).contents).toStrictEqual([
      says("a"),
      { role: "model", parts: [imagePart] }
    ])
  })
  it("reasoning, and unsigned or foreign thinking, are not sent (T124, T717)", () => {
    const blocks = [
      { type: "thinking", thinking: "hm" },
      { type: "thinking", thinking: "hm", signature: "Zm9yZWlnbg==" },
      { type: "redacted_thinking", data: "x" },
      text("b")
    ]
    expect(
      sent([user("a"), assistant("b", { reasoning_content: "hm", content_blocks: blocks })], modern).contents
    ).toStrictEqual([says("a"), answers("b")])
    expect(sent([user("a"), assistant(blocks)], modern).contents).toStrictEqual([says("a"), answers("b")])
  })
  it("thinking signed by the same backend is sent (T717)", () => {
    const turn = assistant("", {
      content_blocks: [{ type: "thinking", thinking: "hm", signature: "dGhpbms=" }],
      tool_calls: [call("1")]
    })
    const known = (issuer: string) => ({ known: { "1": { issuer, signature: "Y2FsbA==" } } })
    expect(sent([user("a"), turn], middle, known("gemini/google")).contents[1]?.parts).toStrictEqual([
      { text: "hm", thought: true, thoughtSignature: "dGhpbms=" },
      { functionCall: { name: "f", args: {} }, thoughtSignature: "Y2FsbA==" }
    ])
    expect(sent([user("a"), turn], middle, known("claude/vertex-ai")).contents[1]?.parts).toStrictEqual([
      { functionCall: { name: "f", args: {} } }
    ])
  })
  it("a provider part is sent to its provider only", () => {
    const code = { executableCode: { language: "PYTHON", code: "1+1" }, thoughtSignature: "Y29kZQ==" }
    const turn = assistant("", { content_blocks: [{ type: "provider_part", provider: "google", part: code }] })
    expect(sent([user("a"), turn], modern).contents).toStrictEqual([says("a"), { role: "model", parts: [code] }])
    expect(sent([user("a"), turn], modern, vertex).contents).toStrictEqual([says("a")])
  })
  it("a provider part cannot contain forms that are checked elsewhere", () => {
    for (const part of [
      undefined,
      {},
      "x",
      { functionCall: { name: "f" } },
      { functionResponse: {} },
      { fileData: { fileUri: "http://10.0.0.1" } }
    ]) {
      expect(
        refused([user("a"), assistant("", { content_blocks: [{ type: "provider_part", provider: "google", part }] })])
      ).toStrictEqual(["messages[1].content_blocks[0].part", "invalid_value"])
    }
  })
  it("assistant images are sent in order with their signatures (T225)", () => {
    const parts = [
      text("one"),
      { type: "image", image: { b64_json: png, mime_type: "image/png" }, thought_signature: "aW1hZ2U=" },
      text("two"),
      image
    ]
    expect(sent([user("a"), assistant("onetwo", { content_parts: parts }), user("b")]).contents).toStrictEqual([
      says("a"),
      {
        role: "model",
        parts: [{ text: "one" }, { ...imagePart, thoughtSignature: "aW1hZ2U=" }, { text: "two" }, imagePart]
      },
      says("b")
    ])
    expect(sent([user("a"), assistant([image])]).contents[1]).toStrictEqual({ role: "model", parts: [imagePart] })
    expect(
      refused([
        user("a"),
        assistant("", { content_parts: [{ type: "image", image: { b64_json: "?", mime_type: "image/png" } }] })
      ])
    ).toStrictEqual(["messages[1].content_parts[0].image.b64_json", "invalid_base64"])
  })
})

describe("Gemini content laws", () => {
  let count = 0
  const word = fc.constantFrom("t", "u", "", '{"a":1}', "ü").map((base) => (base === "" ? "" : `${base}${count++}`))
  const turn: fc.Arbitrary<ReadonlyArray<ChatMessage>> = fc.oneof(
    word.map((text) => [system(text)]),
    word.map((text) => [user(text)]),
    fc.tuple(word, word).map(([one, two]) => [user([{ type: "text", text: one }, image, { type: "text", text: two }])]),
    word.map((text) => [assistant(text)]),
    fc
      .record({
        text: word,
        calls: fc.integer({ min: 1, max: 4 }),
        answered: fc.array(fc.integer({ min: 0, max: 3 })),
        between: fc.boolean()
      })
      .map(({ text, calls, answered, between }) => {
        const ids = Array.from({ length: calls }, (_, index) => `id-${index}`)
        const results = [...new Set(answered)]
          .filter((index) => index < calls)
          .map((index) => tool(`id-${index}`, `r${count++}`))
        return [
          assistant(text, { tool_calls: ids.map((id) => call(id, `f${count++}`)) }),
          ...(between ? [user(`between${count++}`)] : []),
          ...results
        ]
      })
  )
  const talk = fc.array(turn, { minLength: 1, maxLength: 8 }).map((turns) => turns.flat())
  const model = fc.constantFrom("gemini-1.5-pro", older, middle, modern, "gemma-3-27b-it")
  const texts = (value: unknown): ReadonlyArray<string> =>
    typeof value === "string"
      ? [value]
      : typeof value === "object" && value !== null
        ? Object.values(value).flatMap(texts)
        : []

  it("frozen messages give the same body twice, for any model (L8)", () => {
    fc.assert(
      fc.property(talk, model, (messages, id) => {
        const first = sent(deepFreeze(messages), id)
        sent(messages, "gemini-3-flash-preview", vertex)
        expect(sent(messages, id)).toStrictEqual(first)
      })
    )
  })

  it("every text is sent once, in order within its kind (L13, L14)", () => {
    fc.assert(
      fc.property(talk, fc.constantFrom(older, middle, modern), (messages, id) => {
        const { contents, systemInstruction } = sent(messages, id)
        const given = (roles: ReadonlyArray<string>) =>
          messages
            .filter((message) => roles.includes(String(message.role)))
            .flatMap((message) =>
              typeof message.content === "string"
                ? [message.content]
                : Array.isArray(message.content)
                  ? message.content.flatMap((part) => (part.type === "text" ? [String(part.text)] : []))
                  : []
            )
            .filter((text) => text !== "")
        const isTalk = messages.some((message) => message.role !== "system")
        const said = contents.flatMap((content) =>
          content.parts.flatMap((part) => (part.text === undefined || part.text === " " ? [] : [part.text]))
        )
        const told = systemInstruction?.parts.map((part) => part.text) ?? []
        expect(isTalk ? told : [...told, ...said]).toStrictEqual(given(["system"]))
        if (isTalk) expect(said.toSorted()).toStrictEqual(given(["user", "assistant"]).toSorted())
        const results = texts(
          contents.flatMap((content) => content.parts.map((part) => part.functionResponse?.response ?? {}))
        )
        const real = results.filter((text) => !text.startsWith("No result"))
        expect(real.toSorted()).toStrictEqual(given(["tool"]).toSorted())
        const calls = contents.flatMap((content) => content.parts.flatMap((part) => part.functionCall?.name ?? []))
        expect(calls).toStrictEqual(
          messages.flatMap((message) => texts(message.tool_calls).filter((text) => /^f\d+$/.test(text)))
        )
      })
    )
  })

  it("each turn of calls is followed by exactly its results (L15)", () => {
    fc.assert(
      fc.property(talk, model, (messages, id) => {
        const { contents } = sent(messages, id)
        contents.forEach((content, index) => {
          const calls = content.parts.flatMap(({ functionCall }) =>
            functionCall === undefined ? [] : [[functionCall.name, functionCall.id]]
          )
          if (calls.length === 0 || index === contents.length - 1) return
          const results = contents[index + 1]?.parts.map(({ functionResponse }) => [
            functionResponse?.name,
            functionResponse?.id
          ])
          expect(results).toStrictEqual(calls)
        })
      })
    )
  })

  it("contents are not empty, roles alternate, and a turn has at most one sentinel (L16, L17, L18)", () => {
    fc.assert(
      fc.property(talk, model, (messages, id) => {
        const { contents } = sent(messages, id)
        expect(contents[0]?.role).toBe("user")
        contents.forEach(({ role, parts }, index) => {
          expect(parts.length).toBeGreaterThan(0)
          for (const part of parts)
            expect(part.text === undefined ? Object.keys(part).length > 0 : part.text !== "").toBe(true)
          const before = contents[index - 1]
          if (before !== undefined && before.role === role)
            expect(before.parts.every((part) => part.functionResponse !== undefined)).toBe(true)
          const sentinels = parts.filter((part) => part.thoughtSignature === "skip_thought_signature_validator")
          const isAsked = id === modern && parts.some((part) => part.functionCall !== undefined)
          expect(sentinels.length).toBe(isAsked ? 1 : 0)
        })
      })
    )
  })
})
