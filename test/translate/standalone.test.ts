// Tests translation without a gateway: the context, whole answers, streams with faults, and a bundle for browsers.
// Must not depend on a server or a network.
import vm from "node:vm"
import * as Result from "effect/Result"
import { rolldown } from "rolldown"
import { describe, expect, it } from "vitest"
import {
  chunkReader,
  isStreamFailed,
  readAnswer,
  readStream,
  strictlyCompletion,
  translateContext,
  translators
} from "../../src/translation.ts"

const pair = translators["chat-to-gemini"]
const chat = { model: "gemini-3.8-flash", messages: [{ role: "user", content: "Hello" }] }
const context = Result.getOrThrow(translateContext({ provider: "google", model: chat.model, createdSeconds: 7 }))
const candidate = (text: string, finishReason?: string) => ({
  candidates: [{ content: { parts: [{ text }] }, finishReason }]
})

/** The chunks of a stream of these bytes; the tag of a failure. */
const streamed = (text: string) =>
  readStream(chunkReader(pair, context, chat), [new TextEncoder().encode(text)]).map((chunk) =>
    isStreamFailed(chunk)
      ? chunk.reason
      : (chunk.choices[0]?.delta.content ?? chunk.choices[0]?.finish_reason ?? "usage")
  )

describe("translation alone", () => {
  it("translation: a context has the facts of its model", () => {
    expect([
      context.target.family,
      context.target.modelId,
      context.target.issuer,
      context.target.facts.generation
    ]).toEqual(["gemini", "gemini-3.8-flash", "gemini/google", "g3"])
  })

  it.each([
    ["a b", "BodyInvalid"],
    ["endpoints.my-llm", "UnsupportedOperation"]
  ])("translation: refuses %s", (model, tag) => {
    const made = translateContext({ provider: "vertex-ai", model })
    expect(Result.isFailure(made) ? made.failure._tag : "made").toBe(tag)
  })

  it("translation: an endpoint has the dialect it is given", () => {
    const made = translateContext({ provider: "vertex-ai", model: "endpoints.my-llm", family: "openai" })
    expect(Result.isSuccess(made) ? made.success.target.issuer : made.failure._tag).toBe("openai/vertex-ai")
  })

  it("translation: reads a whole answer, and refuses a foreign one", () => {
    const answer = readAnswer(pair, JSON.stringify(candidate("Hi", "STOP")), context, chat)
    expect(Result.isSuccess(answer) ? strictlyCompletion(answer.success) : answer.failure).toEqual({
      id: "chatcmpl-local",
      object: "chat.completion",
      created: 7,
      model: "gemini-3.8-flash",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "Hi", refusal: null },
          logprobs: null,
          finish_reason: "stop"
        }
      ],
      usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0, prompt_tokens_details: { cached_tokens: 0 } }
    })
    const bad = { _tag: "BadReply", kind: "unreadable", message: "The answer has a form that is not known." }
    expect(["<html>", "[]"].map((text) => readAnswer(pair, text, context, chat))).toEqual([
      Result.fail(bad),
      Result.fail(bad)
    ])
  })

  it("translation: a stream ends with its first failure, of the framing too", () => {
    const first = `data: ${JSON.stringify(candidate("Hi"))}\n\n`
    expect(streamed(`${first}data: {"oops\n\n${first}`)).toEqual([
      "",
      "Hi",
      { _tag: "BadReply", kind: "unreadable", message: "The upstream sent an event that is not JSON text." }
    ])
    expect(streamed(`${first}data: ${JSON.stringify(candidate("!", "STOP"))}\n\n`)).toEqual([
      "",
      "Hi",
      "!",
      "stop",
      "usage"
    ])
  })

  it("translation: the entry is bundled for a browser and runs without Node", { timeout: 60_000 }, async () => {
    const bundle = await rolldown({
      input: new URL("../../src/translation.ts", import.meta.url).pathname,
      platform: "browser",
      logLevel: "silent",
      resolve: { conditionNames: ["import", "browser", "default"] }
    })
    const { output } = await bundle.generate({ format: "iife", name: "translate", codeSplitting: false })
    await bundle.close()
    const [{ code, imports }] = output
    const page = vm.createContext({ TextDecoder, TextEncoder, URL })
    vm.runInContext(code, page)
    const body: unknown = vm.runInContext(
      `(() => {
        const chat = ${JSON.stringify(chat)}
        const context = translate.translateContext({ provider: "google", model: chat.model }).success
        return JSON.stringify(translate.translators["chat-to-gemini"].request(chat, context).success.body)
      })()`,
      page
    )
    expect([imports, body]).toEqual([[], '{"contents":[{"role":"user","parts":[{"text":"Hello"}]}]}'])
  })
})
