// @google/genai over real sockets against the simulator, in the modes of both products: what it sends is served unchanged.
import { ApiError, type CallableTool, GoogleGenAI, Type } from "@google/genai"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { gatewayKey, startTestGateway, type TestGateway } from "../support/TestGateway.ts"

let gateway: TestGateway
const clients: { google?: GoogleGenAI; vertex?: GoogleGenAI } = {}
beforeAll(async () => {
  gateway = await startTestGateway()
  const httpOptions = { baseUrl: gateway.url, retryOptions: { attempts: 1 } }
  clients.google = new GoogleGenAI({ apiKey: gatewayKey, httpOptions })
  clients.vertex = new GoogleGenAI({ vertexai: true, apiKey: gatewayKey, httpOptions })
})
afterAll(() => gateway.close())

type Form = keyof typeof clients
const clientOf = (form: Form): GoogleGenAI => {
  const client = clients[form]
  if (client === undefined) throw new Error("The client is made before the tests.")
  return client
}

const forms: ReadonlyArray<Form> = ["google", "vertex"]
const model = "gemini-2.5-flash"
const models = forms.flatMap((form) =>
  [model, `@google/${model}`, `@vertex-ai/${model}`].map((id) => [form, id] as const)
)
const hello =
  "Hello! I am a simulated Gemini model, so nothing you write leaves this machine. What would you like to try?"

/** Status and message of what the SDK throws. */
const refusal = async (call: Promise<unknown>): Promise<ReadonlyArray<unknown>> => {
  try {
    await call
  } catch (error) {
    if (!(error instanceof ApiError)) return [error instanceof Error ? error.message : error]
    const { details, message, status } = JSON.parse(error.message).error
    return [error.status, status, details[0].reason, message]
  }
  return ["served"]
}

const weather: CallableTool = {
  tool: () =>
    Promise.resolve({
      functionDeclarations: [
        {
          name: "get_weather",
          description: "Current weather of a city",
          parameters: { type: Type.OBJECT, properties: { city: { type: Type.STRING } }, required: ["city"] }
        }
      ]
    }),
  callTool: (calls) =>
    Promise.resolve(
      calls.map(({ id, name = "" }) => ({
        functionResponse: { ...(id === undefined ? {} : { id }), name, response: { weather: "sunny" } }
      }))
    )
}

describe("@google/genai: answers", () => {
  it.each(models)("@google/genai (%s) generates and streams with %s (N101, N102, N103, N202)", async (form, id) => {
    const { models: api } = clientOf(form)
    const answer = await api.generateContent({ model: id, contents: "Hello" })
    expect([answer.text, answer.candidates?.[0]?.finishReason, answer.usageMetadata?.promptTokenCount]).toEqual([
      hello,
      "STOP",
      2
    ])
    let text = ""
    for await (const chunk of await api.generateContentStream({ model: id, contents: "Hello" }))
      text += chunk.text ?? ""
    expect(text).toBe(hello)
  })
  it.each(forms)("@google/genai (%s) holds a chat (N301)", async (form) => {
    const chat = clientOf(form).chats.create({ model })
    const first = await chat.sendMessage({ message: "Hello" })
    const second = await chat.sendMessage({ message: "And again" })
    expect([first.text, second.text?.slice(0, 23), chat.getHistory().length]).toEqual([
      hello,
      'You wrote: "And again".',
      4
    ])
  })
  it.each(forms)("@google/genai (%s) calls functions by itself, with signatures (N301)", async (form) => {
    const answer = await clientOf(form).models.generateContent({
      model: "gemini-3.1-pro-preview",
      contents: "What is the weather in Paris?",
      config: { tools: [weather] }
    })
    expect([answer.text, answer.automaticFunctionCallingHistory?.length]).toEqual([
      'The tool get_weather answered {"weather":"sunny"}. That is all I need to answer you.',
      3
    ])
  })
  it.each(forms)("@google/genai (%s) counts tokens (N104)", async (form) => {
    const { totalTokens } = await clientOf(form).models.countTokens({ model, contents: "Hello there" })
    expect(totalTokens).toBe(3)
  })
  it.each([
    ["google", ["a", "b"], [3072, 3072]],
    ["vertex", ["a"], [3072]]
  ] as const)("@google/genai (%s) embeds (N104, N303)", async (form, contents, lengths) => {
    const { embeddings = [] } = await clientOf(form).models.embedContent({
      model: "@google/gemini-embedding-001",
      contents: [...contents]
    })
    expect(embeddings.map(({ values }) => values?.length)).toEqual(lengths)
  })
  it("@google/genai (vertex) draws pictures (N104)", async () => {
    const { generatedImages = [] } = await clientOf("vertex").models.generateImages({
      model: "imagen-4.0-generate-001",
      prompt: "A cat",
      config: { numberOfImages: 2 }
    })
    expect(generatedImages.map(({ image }) => image?.mimeType)).toEqual(["image/png", "image/png"])
  })
})

describe("@google/genai: lists of models", () => {
  it.each([
    ["google", "models/@google/gemini-3.1-pro-preview"],
    ["vertex", "publishers/google/models/@google/gemini-3.1-pro-preview"]
  ] as const)("@google/genai (%s) lists models over several pages (N701, N702)", async (form, first) => {
    const names: Array<string | undefined> = []
    for await (const { name } of await clientOf(form).models.list({ config: { pageSize: 5 } })) names.push(name)
    expect([names[0], names.length > 10, new Set(names).size]).toEqual([first, true, names.length])
  })
  it.each([
    ["google", `models/@google/${model}`],
    ["vertex", `publishers/google/models/@google/${model}`]
  ] as const)("@google/genai (%s) gets one model (N701, N702)", async (form, name) => {
    expect((await clientOf(form).models.get({ model })).name).toBe(name)
  })
})

describe("@google/genai: refusals", () => {
  it.each<readonly [string, () => Promise<unknown>, ReadonlyArray<unknown>]>([
    [
      "files",
      () => clientOf("google").files.list(),
      [
        400,
        "FAILED_PRECONDITION",
        "UNSUPPORTED_OPERATION",
        "files is not offered by this gateway: send the data as inlineData up to the body limit, name a gs:// object on Vertex AI, or upload with a key of your own at Google and call with that key."
      ]
    ],
    [
      "caches",
      () => clientOf("vertex").caches.create({ model, config: { contents: "x" } }),
      [
        400,
        "FAILED_PRECONDITION",
        "UNSUPPORTED_OPERATION",
        "cachedContents is not offered by this gateway: it is a store of the operator's Google project, which every key here would share; models cache prompts that repeat by themselves."
      ]
    ],
    [
      "batches",
      () => clientOf("google").batches.list(),
      [
        400,
        "FAILED_PRECONDITION",
        "UNSUPPORTED_OPERATION",
        "batches is not offered by this gateway: send the requests one by one."
      ]
    ],
    [
      "live sessions",
      () => clientOf("google").live.connect({ model, callbacks: { onmessage: () => {} } }),
      ["Live connection failed before setup completed: Unexpected server response: 400"]
    ],
    [
      "an unknown slug",
      () => clientOf("google").models.generateContent({ model: "@nowhere/x", contents: "x" }),
      [404, "NOT_FOUND", "PROVIDER_NOT_FOUND", 'There is no provider "nowhere"; known here: google, vertex-ai.']
    ]
  ])("@google/genai: %s are refused by name (N901, N902, N1001)", async (_name, call, expected) => {
    expect(await refusal(call())).toEqual(expected)
  })
  it("@google/genai: a wrong key is 401 in Google's shape (N1001)", async () => {
    const stranger = new GoogleGenAI({ apiKey: "mgk_unknown", httpOptions: { baseUrl: gateway.url } })
    expect(await refusal(stranger.models.generateContent({ model, contents: "x" }))).toEqual([
      401,
      "UNAUTHENTICATED",
      "INVALID_GATEWAY_KEY",
      "The gateway key is not valid."
    ])
  })
})
