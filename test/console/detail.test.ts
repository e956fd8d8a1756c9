// Tests what the detail of a request, its explanation and the playground are made of.
// Must not need a browser.
import { describe, expect, it } from "vitest"
import type { AdminRequest } from "../../src/api/AdminResources.ts"
import { isPicture, mediaIn, readable } from "../../src/console/mediaIn.ts"
import { chatOf, type Entry, parametersOf } from "../../src/console/pages/playground/chatBody.ts"
import { addEvent, noAnswer } from "../../src/console/pages/playground/chatStream.ts"
import { anthropicOf, calledRoute, curlOf, genaiOf, openAiOf } from "../../src/console/pages/requests/snippets.ts"
import { linesOf } from "../../src/console/pages/requests/phases.ts"
import { readAnswer } from "../../src/console/pages/requests/readAnswer.ts"

type Row = typeof AdminRequest.Type
type Attempt = Row["attempts"][number]

const attempt = (more: Partial<Attempt>): Attempt => ({
  provider: "google",
  model: "m",
  target: 0,
  started_ms: 2,
  duration_ms: 100,
  ...more
})
const row = (more: Partial<Row>): Row => ({
  object: "request",
  id: "id-1",
  request_id: "r1",
  trace_id: "t1",
  ts: "2027-01-31T12:00:00.000Z",
  route: "/v1/chat/completions",
  status: 200,
  stream: false,
  duration_ms: 110,
  overhead_ms: 1,
  attempts: [],
  ...more
})

describe("console phases", () => {
  it("console phases: a stream is planned, authorised, connected, awaited and read", () => {
    const attempts = [attempt({ token_ms: 5, sent_ms: 8, first_chunk_ms: 60 })]
    expect(linesOf(row({ stream: true, attempts })).map(({ spans }) => spans)).toEqual([
      [{ phase: "plan", from: 0, millis: 2 }],
      [
        { phase: "token", from: 2, millis: 5 },
        { phase: "connect", from: 7, millis: 3 },
        { phase: "first byte", from: 10, millis: 52 },
        { phase: "stream", from: 62, millis: 40 }
      ]
    ])
  })

  it("console phases: between two calls are the wait and the reason", () => {
    const attempts = [
      attempt({ duration_ms: 10, error_code: "upstream_unavailable" }),
      attempt({ started_ms: 32, duration_ms: 10, error_code: "upstream_timeout" }),
      attempt({ started_ms: 43, duration_ms: 60, target: 1 })
    ]
    const lines = linesOf(row({ attempts }))
    expect(lines.flatMap((line) => (line.kind === "gateway" ? [[line.text, line.spans[0].millis]] : []))).toEqual([
      ["Read, admitted and planned", 2],
      ["Sent to the same target again, because of upstream_unavailable", 20],
      ["Next target of the config, because of upstream_timeout", 1],
      ["Answered by the gateway", 7]
    ])
  })
})

describe("console route", () => {
  const of = (route: string, stream: boolean): string =>
    calledRoute({ route, stream, provider: "google", model: "gemini-3.8-flash" })
  it.each([
    ["/v1/chat/completions", true, "/v1/chat/completions"],
    ["/v1beta/models/:model:generateContent", false, "/v1beta/models/@google/gemini-3.8-flash:generateContent"],
    [
      "/v1beta/models/:model:generateContent",
      true,
      "/v1beta/models/@google/gemini-3.8-flash:streamGenerateContent?alt=sse"
    ],
    [
      "/v1/publishers/anthropic/models/:model:rawPredict",
      true,
      "/v1/publishers/anthropic/models/@google/gemini-3.8-flash:streamRawPredict"
    ]
  ])("console route: %s, streamed %s, is called at %s", (route, stream, called) => {
    expect(of(route, stream)).toBe(called)
  })

  it("console route: a copied request in Google's dialect names the model in its path and asks in its form", () => {
    const route = of("/v1beta/models/:model:generateContent", true)
    expect(
      curlOf({ route, model: "@google/gemini-3.8-flash", body: undefined, isStream: true }, "http://gateway")
    ).toBe(
      [
        `curl -N 'http://gateway${route}' -H 'content-type: application/json'`,
        `-H "x-gateway-api-key: $GATEWAY_KEY"`,
        `-d '{"contents":[{"role":"user","parts":[{"text":"Hello"}]}]}'`
      ].join(" \\\n  ")
    )
  })
})

describe("console media", () => {
  const data = "iVBORw0KGgo="
  it.each<readonly [string, unknown, string]>([
    ["a data URI", { image_url: { url: `data:image/png;base64,${data}` } }, "image/png"],
    ["Gemini's inline data", { inlineData: { mimeType: "image/webp", data } }, "image/webp"],
    ["a source of Claude's", { source: { type: "base64", media_type: "audio/wav", data } }, "audio/wav"],
    ["a drawn picture", { data: [{ b64_json: data }] }, "image/png"],
    ["a prediction", { predictions: [{ mimeType: "image/jpeg", bytesBase64Encoded: data }] }, "image/jpeg"]
  ])("console media: finds %s", (_name, value, type) => {
    expect(mediaIn([{ text: "no media" }, value])).toEqual([{ type, data }])
  })

  it("console media: only pictures that run nothing are shown", () => {
    const types = ["image/png", "image/svg+xml", "text/html", "audio/wav"]
    expect(types.map((type) => isPicture({ type, data }))).toEqual([true, false, false, false])
    expect(isPicture({ type: "image/png", data: '"><script>' })).toBe(false)
  })

  it("console media: long base64 is a short text in readable lines", () => {
    const long = "A".repeat(400)
    expect(readable({ url: `data:image/png;base64,${long}`, signature: long, text: "A A ".repeat(100) })).toBe(
      [
        "{",
        '  "url": "data:image/png;base64,… (400 characters of base64)",',
        '  "signature": "… (400 characters of base64)",',
        `  "text": "${"A A ".repeat(100)}"`,
        "}"
      ].join("\n")
    )
  })
})

describe("console answers", () => {
  const data = (...events: ReadonlyArray<unknown>) =>
    events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")
  it.each<readonly [string, string]>([
    ["a chat", JSON.stringify({ choices: [{ message: { content: "Hello", reasoning_content: "hm" } }] })],
    [
      "a streamed chat",
      data(
        { choices: [{ delta: { reasoning_content: "hm" } }] },
        { choices: [{ delta: { content: "Hel" } }] },
        {
          choices: [{ delta: { content: "lo" } }]
        }
      )
    ],
    [
      "a Claude message",
      JSON.stringify({
        content: [
          { type: "thinking", thinking: "hm" },
          { type: "text", text: "Hello" }
        ]
      })
    ],
    [
      "a streamed Claude message",
      `event: content_block_delta\n${data({ type: "content_block_delta", delta: { thinking: "hm" } })}${data({
        type: "content_block_delta",
        delta: { text: "Hello" }
      })}`
    ],
    [
      "Gemini's content",
      JSON.stringify({ candidates: [{ content: { parts: [{ text: "hm", thought: true }, { text: "Hello" }] } }] })
    ],
    [
      "a streamed response",
      data(
        { type: "response.reasoning_summary_text.delta", delta: "hm" },
        { type: "response.output_text.delta", delta: "Hello" },
        { type: "response.completed", response: { output: [{ content: [{ text: "Hello" }] }] } }
      )
    ]
  ])("console answers: reads text and thoughts of %s", (_name, answer) => {
    const { text, thoughts } = readAnswer(answer)
    expect([text, thoughts]).toEqual(["Hello", "hm"])
  })

  it("console answers: reads the last safety ratings", () => {
    const rating = { category: "HARM_CATEGORY_HATE_SPEECH", probability: "LOW", blocked: true }
    expect(readAnswer(data({ choices: [{ safetyRatings: [rating] }] }, { choices: [] })).ratings).toEqual([
      { category: "hate speech", probability: "low", isBlocked: true }
    ])
  })

  it("console answers: a text that is no JSON is one event", () => {
    expect(readAnswer("Bad gateway")).toEqual({
      events: ["Bad gateway"],
      isStream: false,
      text: "",
      thoughts: "",
      ratings: []
    })
  })
})

describe("console snippets", () => {
  const body = {
    model: "alias",
    max_tokens: 9,
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "It's me" }
    ]
  }
  const asked = { route: "/v1/chat/completions", model: "@google/m", body, isStream: false }

  it("console snippets: curl sends the client's own body", () => {
    expect(curlOf(asked, "http://gateway")).toBe(
      [
        "curl -s 'http://gateway/v1/chat/completions' -H 'content-type: application/json' \\",
        '  -H "x-gateway-api-key: $GATEWAY_KEY" \\',
        `  -d '${JSON.stringify(body).replace("'", "'\\''")}'`
      ].join("\n")
    )
  })

  it("console snippets: curl names route, provider and model where no body is kept", () => {
    expect(curlOf({ ...asked, model: "@google/it's", body: undefined, isStream: true }, "http://gateway")).toBe(
      [
        "curl -N 'http://gateway/v1/chat/completions' -H 'content-type: application/json' \\",
        '  -H "x-gateway-api-key: $GATEWAY_KEY" \\',
        `  -d '{"model":"@google/it'\\''s","stream":true,"messages":[{"role":"user","content":"Hello"}]}'`
      ].join("\n")
    )
  })

  it("console snippets: the SDK of the same dialect gets the body, the others its texts", () => {
    const sent = (text: string) => {
      const from = text.indexOf("({\n")
      return JSON.parse(text.slice(from + 1, text.lastIndexOf(")")))
    }
    const texts = [openAiOf, anthropicOf, genaiOf].map((of) => of(asked, "http://gateway"))
    expect(texts.map(sent)).toEqual([
      { ...body, model: "@google/m" },
      {
        model: "@google/m",
        max_tokens: 1000,
        system: "Be brief.",
        messages: [{ role: "user", content: "It's me" }]
      },
      {
        model: "@google/m",
        contents: [{ role: "user", parts: [{ text: "It's me" }] }],
        config: { systemInstruction: "Be brief." }
      }
    ])
  })

  it("console snippets: a snippet states that it left something out", () => {
    const messages = [
      {
        role: "user",
        content: [
          { type: "text", text: "Look" },
          { type: "image_url", image_url: "x" }
        ]
      }
    ]
    const first = (of: typeof genaiOf) => of({ ...asked, body: { messages } }, "http://gateway").split("\n")[0]
    expect([first(genaiOf), first(openAiOf)]).toEqual([
      "// Texts only: other parts are left out.",
      'import OpenAI from "openai"'
    ])
  })
})

describe("console chats", () => {
  const field = (fields: Readonly<Record<string, string>>) => (name: string) => fields[name] ?? ""

  it("console chats: fields become parameters of their kinds, and empty ones are left out", () => {
    expect(
      parametersOf(
        field({
          temperature: "0.5",
          reasoning_effort: "low",
          top_k: "4",
          logprobs: "true",
          tool_choice: "auto",
          labels: '{"team":"a"}',
          tools: "[]",
          format: "json_schema",
          schema: '{"type":"object"}'
        })
      )
    ).toEqual({
      temperature: 0.5,
      reasoning_effort: "low",
      top_k: 4,
      logprobs: true,
      tool_choice: "auto",
      labels: { team: "a" },
      tools: [],
      response_format: { type: "json_schema", json_schema: { name: "answer", schema: { type: "object" } } }
    })
  })

  it.each([
    [{ labels: "{" }, "labels is not valid JSON."],
    [{ tools: "get_weather" }, "Tools are a JSON array of tools."],
    [{ format: "json_schema" }, "The schema of the answer is not a JSON object."]
  ])("console chats: refuses the fields %j", (fields, message) => {
    expect(() => parametersOf(field(fields))).toThrow(message)
  })

  it("console chats: calls go back with their signatures, and results with the ids of their calls", () => {
    const event = (delta: object) => `data: ${JSON.stringify({ choices: [{ delta }] })}`
    const answer = [
      event({
        tool_calls: [{ index: 0, id: "c1", function: { name: "get", arguments: '{"a"', thought_signature: "s" } }]
      }),
      event({ tool_calls: [{ index: 0, function: { arguments: ":1}" } }] }),
      event({ content: "Here" }),
      event({ content_parts: [{ type: "image", image: { b64_json: "AA==", mime_type: "image/png" } }] })
    ].reduce(addEvent, noAnswer)
    const entries: ReadonlyArray<Entry> = [
      { kind: "question", text: "Look", media: [{ type: "image/png", data: "AA==" }] },
      { kind: "answer", answer, requestId: "r", millis: 1, firstMillis: 1 },
      { kind: "results", results: [{ id: "c1", content: "18" }] }
    ]
    expect(chatOf("m", "Be brief.", entries, { seed: 1 })).toEqual({
      model: "m",
      messages: [
        { role: "system", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "text", text: "Look" },
            { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } }
          ]
        },
        {
          role: "assistant",
          content: "Here",
          tool_calls: [
            { id: "c1", type: "function", function: { name: "get", arguments: '{"a":1}', thought_signature: "s" } }
          ],
          content_parts: [
            { type: "text", text: "Here" },
            { type: "image", image: { b64_json: "AA==", mime_type: "image/png" } }
          ]
        },
        { role: "tool", tool_call_id: "c1", content: "18" }
      ],
      seed: 1
    })
  })
})
