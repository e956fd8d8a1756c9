// Tests the unary answer of Gemini: rows of sections 10 to 12 and 14.
// Must not open sockets or read clocks.
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { type JsonObject, parseExactJsonText } from "../../../src/domain/text/json.ts"
import { geminiUsage } from "../../../src/translate/shared/reply/usage.ts"
import { geminiNames, toolNamesOf } from "../../../src/translate/shared/chat-request/toolCalls.ts"
import { callId, chatContext, chatRequest } from "../../support/chat.ts"
import { answer, choice, context, reason, reply, request, stop } from "../../support/gemini.ts"

const user = [{ role: "user", content: "hi" }]
const text = (value: string) => reply([{ text: value }], stop)
const call = (name: string, args?: { readonly [key: string]: string | number }, rest = {}) => ({
  functionCall: { name, ...(args === undefined ? {} : { args }) },
  ...rest
})
const toolCall = (n: number, name: string, args: string) => ({
  id: callId(n),
  type: "function",
  function: { name, arguments: args }
})
const fault = (kind: string, message: string) => ({ _tag: "BadReply", kind, message })

describe("Gemini envelopes", () => {
  it("a completion has id, object, created, the answer's model, provider and a whole message (T1202, T1203, T1222)", () => {
    expect(
      answer(
        reply([{ text: "a" }, { text: "b" }], stop, {
          modelVersion: "gemini-2.5-flash-001",
          usageMetadata: { promptTokenCount: 2, candidatesTokenCount: 3, totalTokenCount: 5 }
        })
      )
    ).toStrictEqual({
      id: "chatcmpl-00000000-0000-4000-8000-000000000000",
      object: "chat.completion",
      created: 1_700_000_000,
      model: "gemini-2.5-flash-001",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "ab", refusal: null, content_blocks: [{ type: "text", text: "ab" }] },
          logprobs: null,
          finish_reason: "stop",
          native_finish_reason: "STOP"
        }
      ],
      usage: {
        prompt_tokens: 2,
        completion_tokens: 3,
        total_tokens: 5,
        prompt_tokens_details: { cached_tokens: 0 },
        upstream: { promptTokenCount: 2, candidatesTokenCount: 3, totalTokenCount: 5 }
      },
      provider: "google"
    })
  })
  it("without modelVersion the completion has the requested id without slug and prefix (T1202)", () => {
    expect(answer(text("a"), chatContext("google/gemini-2.5-pro")).model).toBe("gemini-2.5-pro")
  })
  it("a choice has the candidate's index, else its position, and its own calls and finish (T1201, T1223)", () => {
    const body = {
      candidates: [
        { content: { parts: [call("f")] }, finishReason: "STOP" },
        { content: { parts: [{ text: "b" }] }, finishReason: "MAX_TOKENS", index: 4 },
        { content: { parts: [call("g")] }, finishReason: "STOP" }
      ]
    }
    expect(
      answer(body).choices.map(({ index, finish_reason, message }) => [
        index,
        finish_reason,
        message.content,
        message.tool_calls
      ])
    ).toEqual([
      [0, "tool_calls", null, [toolCall(0, "f", "{}")]],
      [4, "length", "b", undefined],
      [2, "tool_calls", null, [toolCall(1, "g", "{}")]]
    ])
  })
})

describe("Gemini messages", () => {
  it("content without text is null next to calls, else empty (T1203)", () => {
    expect(choice(reply([call("f")], stop))?.message.content).toBe(null)
    expect(choice(reply([], stop))?.message.content).toBe("")
  })
  it("a candidate without parts gives an empty message (T1210)", () => {
    for (const body of [
      reply(undefined, stop),
      reply(undefined, { ...stop, content: {} }),
      reply(undefined, { ...stop, content: { role: "model" } }),
      reply([{}], stop),
      reply(undefined, { ...stop, content: null })
    ]) {
      expect(choice(body)).toStrictEqual({
        index: 0,
        message: { role: "assistant", content: "", refusal: null },
        logprobs: null,
        finish_reason: "stop",
        native_finish_reason: "STOP"
      })
    }
  })
  it("text and calls keep part order; missing args become an empty object (T1213, T1214)", () => {
    expect(choice(reply([call("f", { a: 1 }), { text: "so" }, call("g")], stop))?.message).toStrictEqual({
      role: "assistant",
      content: "so",
      refusal: null,
      tool_calls: [toolCall(0, "f", '{"a":1}'), toolCall(1, "g", "{}")],
      content_blocks: [{ type: "text", text: "so" }]
    })
  })
  it("function names return in the client's spelling (T1213, T328)", () => {
    const named = chatRequest(user, { tools: [{ type: "function", function: { name: "mcp/list files" } }] })
    const mangled = toolNamesOf(named, geminiNames).mangle("mcp/list files")
    expect(choice(reply([call(mangled)], stop), context, named)?.message.tool_calls).toEqual([
      toolCall(0, "mcp/list files", "{}")
    ])
  })
  it("integers beyond 2^53 keep their digits (T513, L27)", () => {
    const args = '{"id":12345678901234567890,"list":[-9007199254740993]}'
    const body = parseExactJsonText(
      `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":${args}}}]},"finishReason":"STOP"}]}`
    )
    expect(choice(Result.getOrThrow(body))?.message.tool_calls).toEqual([toolCall(0, "f", args)])
  })
  it("legacy clients get one function_call (T339)", () => {
    const legacy = chatRequest(user, { functions: [{ name: "f" }] })
    expect(choice(reply([call("f", { a: 1 }), call("g")], stop), context, legacy)).toStrictEqual({
      index: 0,
      message: { role: "assistant", content: null, refusal: null, function_call: { name: "f", arguments: '{"a":1}' } },
      logprobs: null,
      finish_reason: "function_call",
      native_finish_reason: "STOP"
    })
  })
  it("unknown parts become provider parts in place, with their signature (T1211, T1212)", () => {
    const code = { executableCode: { code: "1+1", language: "PYTHON" }, thoughtSignature: "c2ln" }
    expect(
      choice(
        reply([{ text: "a" }, code, { text: "b" }, { brandNew: { x: 1 } }], stop),
        chatContext("gemini-2.5-flash", { kind: "vertex-ai" })
      )?.message
    ).toStrictEqual({
      role: "assistant",
      content: "ab",
      refusal: null,
      content_blocks: [
        { type: "text", text: "a" },
        { type: "provider_part", provider: "vertex-ai", part: code },
        { type: "text", text: "b" },
        { type: "provider_part", provider: "vertex-ai", part: { brandNew: { x: 1 } } }
      ]
    })
  })
  it("thoughts stay outside the content (T715)", () => {
    expect(
      choice(reply([{ text: "hm", thought: true }, { text: "m", thought: true }, { text: "yes" }], stop))?.message
    ).toStrictEqual({
      role: "assistant",
      content: "yes",
      refusal: null,
      reasoning_content: "hmm",
      content_blocks: [
        { type: "thinking", thinking: "hmm" },
        { type: "text", text: "yes" }
      ]
    })
  })
  it("experimental thinking is joined in full form; strict form has the answer alone (T716)", () => {
    const model = "gemini-2.0-flash-thinking-exp"
    const flagged = reply([{ text: "hm", thought: true }, { text: "yes" }], stop)
    const bare = reply([{ text: "hm" }, { text: "yes" }], stop)
    for (const body of [flagged, bare]) {
      expect(choice(body, chatContext(model))?.message.content).toBe("hm\r\n\r\nyes")
      expect(choice(body, chatContext(model, { strict: true }))?.message.content).toBe("yes")
    }
    expect(choice(text("yes"), chatContext(model))?.message.content).toBe("yes")
    expect(choice(bare)?.message.content).toBe("hmyes")
  })
})

describe("Gemini signatures in answers", () => {
  it("a call carries its signature in both spellings, unchanged (T601, T602)", () => {
    expect(
      choice(reply([call("f", undefined, { thoughtSignature: "c2lnQQ==" }), call("g")], stop))?.message.tool_calls
    ).toStrictEqual([
      {
        id: callId(0),
        type: "function",
        function: { name: "f", arguments: "{}", thought_signature: "c2lnQQ==" },
        extra_content: { google: { thought_signature: "c2lnQQ==" } }
      },
      toolCall(1, "g", "{}")
    ])
  })
  it("a bare signature goes to the last text block, or to a new one (T608)", () => {
    expect(
      choice(reply([{ text: "a" }, { text: "", thoughtSignature: "cw==" }], stop))?.message.content_blocks
    ).toEqual([{ type: "text", text: "a", signature: "cw==" }])
    expect(choice(reply([{ thoughtSignature: "cw==" }], stop))?.message.content_blocks).toEqual([
      { type: "text", text: "", signature: "cw==" }
    ])
  })
  it("signed text is not joined with unsigned text, nor two signatures with each other (T611, T1215)", () => {
    expect(
      choice(
        reply(
          [
            { text: "a" },
            { text: "b", thoughtSignature: "MQ==" },
            { text: "", thoughtSignature: "Mg==" },
            { text: "c" }
          ],
          stop
        )
      )?.message.content_blocks
    ).toEqual([
      { type: "text", text: "a" },
      { type: "text", text: "b", signature: "MQ==" },
      { type: "text", text: "", signature: "Mg==" },
      { type: "text", text: "c" }
    ])
  })
})

describe("Gemini finish reasons (table 5, T1204 to T1207)", () => {
  const rows: ReadonlyArray<readonly [string, string | undefined, string | undefined, string | undefined]> = [
    // word, with text, with a call, with nothing; undefined is a fault
    ["STOP", "stop", "tool_calls", "stop"],
    ["MAX_TOKENS", "length", "length", "length"],
    ...[
      "SAFETY",
      "BLOCKLIST",
      "PROHIBITED_CONTENT",
      "SPII",
      "RECITATION",
      "LANGUAGE",
      "MODEL_ARMOR",
      "ESCALATION",
      "PUP_LIMITED_DISABLED",
      "IMAGE_SAFETY",
      "IMAGE_PROHIBITED_CONTENT",
      "IMAGE_RECITATION"
    ].map((word) => [word, "content_filter", "content_filter", "content_filter"] as const),
    ["MALFORMED_FUNCTION_CALL", undefined, undefined, undefined],
    ["MALFORMED_RESPONSE", undefined, undefined, undefined],
    ["UNEXPECTED_TOOL_CALL", undefined, "tool_calls", undefined],
    ["TOO_MANY_TOOL_CALLS", undefined, "tool_calls", undefined],
    ["NO_IMAGE", "stop", "tool_calls", undefined],
    ["IMAGE_OTHER", "stop", "tool_calls", undefined],
    ["OTHER", "stop", "tool_calls", undefined],
    ["FINISH_REASON_UNSPECIFIED", "stop", "tool_calls", undefined],
    ["CONTINUATION", "length", "length", "length"],
    ["A_NEW_WORD", "stop", "tool_calls", "stop"]
  ]
  for (const [word, withText, withCall, bare] of rows) {
    it(`a finish reason maps: ${word}`, () => {
      const seen = [[{ text: "a" }], [call("f")], []].map((parts) => {
        const body = reply(parts, { finishReason: word })
        return reason(body) === undefined ? choice(body)?.finish_reason : undefined
      })
      expect(seen).toEqual([withText, withCall, bare])
    })
  }
  it("a missing finish reason in a unary answer counts as OTHER", () => {
    expect(choice(reply([{ text: "a" }]))?.finish_reason).toBe("stop")
    expect(reason(reply([]))).toEqual(
      fault("no_content", "The model ended without an answer (no reason given). Try again.")
    )
  })
  it("the fault names the upstream's finish reason (T1206)", () => {
    expect(reason(reply([{ text: "a" }], { finishReason: "MALFORMED_FUNCTION_CALL" }))).toEqual(
      fault("malformed_call", "The model made a tool call that cannot be used (MALFORMED_FUNCTION_CALL). Try again.")
    )
    expect(reason(reply([], { finishReason: "OTHER" }))).toEqual(
      fault("no_content", "The model ended without an answer (OTHER). Try again.")
    )
  })
  it("a missing signature is an error of the client (T618)", () => {
    expect(reason(reply([], { finishReason: "MISSING_THOUGHT_SIGNATURE" }))?._tag).toBe("SignatureRejected")
  })
  it("MAX_TOKENS without text is an empty answer (T714)", () => {
    expect(choice(reply(undefined, { finishReason: "MAX_TOKENS" }))?.message.content).toBe("")
  })
})

describe("Gemini replies without an answer", () => {
  it("a reply without candidates and without a block fails (T1208)", () => {
    for (const body of [{}, { candidates: [] }, { candidates: null, promptFeedback: {} }]) {
      expect(reason(body)).toEqual(fault("empty", "The upstream answered without any candidate. Try again."))
    }
  })
  it("an error inside a 200 is that error (T1209)", () => {
    expect(reason({ error: { code: 503, message: "overloaded", status: "UNAVAILABLE" } })).toEqual({
      _tag: "Overloaded",
      code: "upstream_unavailable",
      message: "overloaded"
    })
  })
})

describe("Gemini safety", () => {
  const ratings = [{ category: "HARM_CATEGORY_HARASSMENT", probability: "LOW" }]
  it("the choice carries ratings, if any (T1004)", () => {
    expect(choice(reply([{ text: "a" }], { ...stop, safetyRatings: ratings }))).toStrictEqual({
      index: 0,
      message: { role: "assistant", content: "a", refusal: null, content_blocks: [{ type: "text", text: "a" }] },
      logprobs: null,
      finish_reason: "stop",
      native_finish_reason: "STOP",
      safetyRatings: ratings
    })
  })
  it("a blocked prompt is an answer with content_filter (T1005)", () => {
    const body = {
      promptFeedback: { blockReason: "SAFETY", blockReasonMessage: "no", safetyRatings: ratings },
      usageMetadata: { promptTokenCount: 7, totalTokenCount: 7 }
    }
    expect(answer(body).choices).toStrictEqual([
      {
        index: 0,
        message: { role: "assistant", content: "", refusal: "no" },
        logprobs: null,
        finish_reason: "content_filter",
        native_finish_reason: "SAFETY",
        safetyRatings: ratings
      }
    ])
    expect(answer(body).usage.prompt_tokens).toBe(7)
    expect(answer({ promptFeedback: { blockReason: "A_NEW_WORD" } }).choices[0]?.message.refusal).toBe(null)
  })
  it("a blocked candidate has a refusal without text, and text without refusal (T1007)", () => {
    const blocked = { finishReason: "MODEL_ARMOR", finishMessage: "hate" }
    expect(choice(reply(undefined, blocked))?.message).toStrictEqual({
      role: "assistant",
      content: "",
      refusal: "hate"
    })
    expect(choice(reply([{ text: "par" }], blocked))?.message).toStrictEqual({
      role: "assistant",
      content: "par",
      refusal: null,
      content_blocks: [{ type: "text", text: "par" }]
    })
  })
  it("feedback without a block next to candidates gives ratings only, a block the end (T1008, W48)", () => {
    const body = reply([{ text: "a" }], stop, { promptFeedback: { safetyRatings: ratings } })
    expect([choice(body)?.finish_reason, choice(body)?.safetyRatings]).toEqual(["stop", ratings])
    const blocked = reply([{ text: "a" }], stop, { promptFeedback: { blockReason: "SAFETY" } })
    expect([choice(blocked)?.finish_reason, choice(blocked)?.message.content]).toEqual(["content_filter", "a"])
  })
})

describe("Gemini usage (table 6)", () => {
  it("thoughts and tool use are counted, and the total is the sum (T1101)", () => {
    const upstream = {
      promptTokenCount: 32,
      candidatesTokenCount: 41,
      totalTokenCount: 2_515,
      toolUsePromptTokenCount: 2_395,
      thoughtsTokenCount: 47
    }
    expect(geminiUsage(upstream)).toStrictEqual({
      prompt_tokens: 2_427,
      completion_tokens: 88,
      total_tokens: 2_515,
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 47 },
      upstream
    })
  })
  it("thoughts inside candidates are not added again (T1102)", () => {
    expect(
      geminiUsage({ promptTokenCount: 10, candidatesTokenCount: 30, thoughtsTokenCount: 20, totalTokenCount: 40 })
        .completion_tokens
    ).toBe(30)
    expect(geminiUsage({ promptTokenCount: 10, thoughtsTokenCount: 20, totalTokenCount: 10 }).completion_tokens).toBe(
      20
    )
  })
  it("missing or malformed counts are zero (T1103)", () => {
    expect(answer(text("a")).usage).toStrictEqual({
      prompt_tokens: 0,
      completion_tokens: 0,
      total_tokens: 0,
      prompt_tokens_details: { cached_tokens: 0 }
    })
    const upstream = { promptTokenCount: -1, candidatesTokenCount: Number.NaN, totalTokenCount: 3 }
    expect(geminiUsage(upstream)).toStrictEqual({
      prompt_tokens: 0,
      completion_tokens: 0,
      total_tokens: 0,
      prompt_tokens_details: { cached_tokens: 0 },
      upstream
    })
  })
  it("usage has details by modality, the tier, and the upstream's own object (T1106, T1107)", () => {
    const upstream = {
      promptTokenCount: 10,
      candidatesTokenCount: 5,
      cachedContentTokenCount: 4,
      promptTokensDetails: [
        { modality: "TEXT", tokenCount: 3 },
        { modality: "IMAGE", tokenCount: 5 },
        { modality: "AUDIO", tokenCount: 2 },
        { modality: "VIDEO", tokenCount: 9 }
      ],
      candidatesTokensDetails: [{ modality: "AUDIO", tokenCount: 5 }],
      serviceTier: "flex",
      trafficType: "ON_DEMAND"
    }
    expect(geminiUsage(upstream)).toStrictEqual({
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
      prompt_tokens_details: { cached_tokens: 4, text_tokens: 3, image_tokens: 5, audio_tokens: 2 },
      completion_tokens_details: { audio_tokens: 5 },
      upstream,
      service_tier: "flex"
    })
  })
})

describe("Gemini log probabilities", () => {
  const body = reply([{ text: "é!" }], {
    ...stop,
    avgLogprobs: -1,
    logprobsResult: {
      chosenCandidates: [{ token: "é", logProbability: -0.5 }, { token: "!" }],
      topCandidates: [{ candidates: [{ token: "e", logProbability: -2 }] }]
    }
  })
  it("log probabilities are sent on request, with UTF-8 bytes, and a short list is filled up (T1216)", () => {
    expect(choice(body)?.logprobs).toBe(null)
    expect(choice(body, context, chatRequest(user, { logprobs: true }))?.logprobs).toStrictEqual({
      content: [
        { token: "é", logprob: -0.5, bytes: [0xc3, 0xa9], top_logprobs: [{ token: "e", logprob: -2, bytes: [0x65] }] },
        { token: "!", logprob: 0, bytes: [0x21], top_logprobs: [] }
      ],
      refusal: null
    })
  })
})

describe("Gemini grounding and citations", () => {
  const web = { web: { uri: "https://a.example", title: "A" } }
  const grounded = (segment: JsonObject, chunk: JsonObject = web): JsonObject => ({
    groundingChunks: [chunk],
    groundingSupports: [{ segment, groundingChunkIndices: [0, 7] }]
  })
  const citation = (start: number, end: number, url = "https://a.example", title = "A") => ({
    type: "url_citation",
    url_citation: { start_index: start, end_index: end, url, title }
  })
  const with_ = (parts: ReadonlyArray<JsonObject>, groundingMetadata: JsonObject) =>
    choice(reply(parts, { ...stop, groundingMetadata }))
  it("each pair of support and chunk becomes an annotation; the metadata is sent unchanged (T1217)", () => {
    const metadata = grounded({ endIndex: 5, text: "hello" })
    const seen = with_([{ text: "hello" }], metadata)
    expect([seen?.message.annotations, seen?.groundingMetadata]).toEqual([[citation(0, 5)], metadata])
  })
  it("an empty grounding object counts as absent (T1217)", () => {
    expect(with_([{ text: "a" }], {})).toStrictEqual(choice(text("a")))
  })
  it("byte offsets of a part become code points of the content (T1218)", () => {
    expect(
      with_([{ text: "é" }, { text: "🐎 ho" }], grounded({ partIndex: 1, startIndex: 5, endIndex: 7 }))?.message
        .annotations
    ).toEqual([citation(3, 5)])
    expect(
      with_([{ text: "hm", thought: true }, { text: "žlu" }], grounded({ partIndex: 1, startIndex: 2, endIndex: 400 }))
        ?.message.annotations
    ).toEqual([citation(1, 3)])
  })
  it("a web source needs an address, other sources address and title (T1219)", () => {
    const url = "https://maps.example"
    expect(
      with_([{ text: "a" }], grounded({ endIndex: 1 }, { maps: { uri: url, title: "M" } }))?.message.annotations
    ).toEqual([citation(0, 1, url, "M")])
    expect(
      with_([{ text: "a" }], grounded({ endIndex: 1 }, { retrievedContext: { uri: url } }))?.message.annotations
    ).toBe(undefined)
    expect(with_([{ text: "a" }], grounded({ endIndex: 1 }, { web: { uri: url } }))?.message.annotations).toEqual([
      citation(0, 1, url, url)
    ])
  })
  it("citations of both products are read (T1220)", () => {
    const sources = [{ startIndex: 1, endIndex: 2, uri: "u", title: "t", license: "mit" }, { endIndex: 3 }]
    for (const key of ["citationSources", "citations"]) {
      expect(choice(reply([{ text: "a" }], { ...stop, citationMetadata: { [key]: sources } }))?.citations).toEqual([
        { start_index: 1, end_index: 2, uri: "u", title: "t", license: "mit" },
        { end_index: 3 }
      ])
    }
  })
  it("URL contexts go inside the grounding metadata (T1221)", () => {
    const urls = { urlMetadata: [{ retrievedUrl: "u" }] }
    expect(choice(reply([{ text: "a" }], { ...stop, urlContextMetadata: urls }))?.groundingMetadata).toEqual({
      urlContextMetadata: urls
    })
  })
})

describe("Gemini images and speech in answers", () => {
  const image = (data: string, rest = {}) => ({ inlineData: { mimeType: "image/png", data }, ...rest })
  it("texts and images keep their order, with signatures on the image (T1401, T1402, T615)", () => {
    expect(
      choice(reply([{ text: "a" }, image("MQ==", { thoughtSignature: "cw==" }), { text: "b" }, image("Mg==")], stop))
        ?.message
    ).toStrictEqual({
      role: "assistant",
      content: "ab",
      refusal: null,
      content_blocks: [
        { type: "text", text: "a" },
        { type: "text", text: "b" }
      ],
      content_parts: [
        { type: "text", text: "a" },
        { type: "image", image: { b64_json: "MQ==", mime_type: "image/png" }, thought_signature: "cw==" },
        { type: "text", text: "b" },
        { type: "image", image: { b64_json: "Mg==", mime_type: "image/png" } }
      ]
    })
  })
  it("drafts inside thoughts are dropped (T1404)", () => {
    expect(choice(reply([image("MQ==", { thought: true }), image("Mg==")], stop))?.message.content_parts).toEqual([
      { type: "image", image: { b64_json: "Mg==", mime_type: "image/png" } }
    ])
  })
  it("a missing image is a fault without text, and an ordinary answer with text (T1405, T1406)", () => {
    expect(reason(reply([], { finishReason: "NO_IMAGE" }))?._tag).toBe("BadReply")
    expect(choice(reply([{ text: "sorry" }], stop))?.finish_reason).toBe("stop")
  })
  const spoken = (mimeType: string, ...clips: ReadonlyArray<string>) =>
    reply(
      clips.map((data) => ({ inlineData: { mimeType, data } })),
      stop
    )
  const asking = (format?: string) =>
    chatRequest(user, { modalities: ["audio"], audio: { voice: "Kore", ...(format === undefined ? {} : { format }) } })
  it("raw samples get a WAV header of 44 bytes, or stay raw for pcm16 (T1407)", () => {
    const l16 = "audio/L16;codec=pcm;rate=16000"
    const wav = choice(spoken(l16, "AQI=", "AwQ="), context, asking("wav"))?.message.audio
    expect(Buffer.from(wav?.data ?? "", "base64").toString("hex")).toBe(
      [
        "52494646",
        "28000000",
        "57415645",
        "666d7420",
        "10000000",
        "0100",
        "0100",
        "803e0000",
        "007d0000",
        "0200",
        "1000",
        "64617461",
        "04000000",
        "01020304"
      ].join("")
    )
    expect(choice(spoken(l16, "AQI="), context, asking("pcm16"))?.message).toStrictEqual({
      role: "assistant",
      content: "",
      refusal: null,
      audio: {
        id: "audio-00000000-0000-4000-8000-000000000000",
        data: "AQI=",
        expires_at: 1_700_000_000,
        transcript: ""
      }
    })
  })
  it("an audio file stays unchanged; unrequested audio is a provider part (T1407)", () => {
    expect(choice(spoken("audio/mpeg", "AQI="), context, asking("wav"))?.message.audio?.data).toBe("AQI=")
    expect(choice(spoken("audio/mpeg", "AQI="), context, request)?.message.content_blocks).toEqual([
      { type: "provider_part", provider: "google", part: { inlineData: { mimeType: "audio/mpeg", data: "AQI=" } } }
    ])
  })
})
