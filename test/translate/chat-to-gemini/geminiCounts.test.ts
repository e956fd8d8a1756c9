// Tests that no count of Gemini is lost: caches, hops, tiers; and what strict answers keep of a refused prompt.
// Must not open sockets or read clocks.
import * as fc from "fast-check"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { chatUsage } from "../../../src/operations/usage.ts"
import { microDollars } from "../../../src/domain/Usage.ts"
import { responseFromGemini } from "../../../src/translate/chat-to-gemini/response.ts"
import { streamFromGemini } from "../../../src/translate/chat-to-gemini/stream.ts"
import { claudeUsage, geminiUsage, usageOfHops } from "../../../src/translate/shared/reply/usage.ts"
import { openAiUsage } from "../../../src/translate/chat-to-openai/response.ts"
import { strictlyChunk, strictlyCompletion } from "../../../src/translate/shared/reply/clientForm.ts"
import { runFold } from "../../../src/translate/Translator.ts"
import { chatContext, chatRequest } from "../../support/chat.ts"
import { answer, chunks } from "../../support/gemini.ts"
import { soundUsage } from "../../support/replies.ts"

const request = chatRequest([{ role: "user", content: "hi" }])
const strict = chatContext("gemini-2.5-flash", { strict: true })

describe("Gemini counts", () => {
  it("a cached count above the prompt's is added to the prompt, and so to its cost (M-700)", () => {
    const upstream = { promptTokenCount: 5, cachedContentTokenCount: 13_710, candidatesTokenCount: 2 }
    const usage = geminiUsage(upstream)
    expect(usage).toStrictEqual({
      prompt_tokens: 13_715,
      completion_tokens: 2,
      total_tokens: 13_717,
      prompt_tokens_details: { cached_tokens: 13_710 },
      upstream
    })
    const counted = chatUsage(usage)
    expect(counted === undefined ? undefined : microDollars(counted, { input: 10, cached_input: 1, output: 0 })).toBe(
      5 * 10 + 13_710
    )
  })
  it("a cached count within the prompt's is a part of it (M-700)", () => {
    for (const cachedContentTokenCount of [0, 4, 10]) {
      const usage = geminiUsage({ promptTokenCount: 10, cachedContentTokenCount })
      expect([usage.prompt_tokens, usage.prompt_tokens_details]).toStrictEqual([
        10,
        { cached_tokens: cachedContentTokenCount }
      ])
    }
  })
  it("the count of cached tokens is there in every family, if only as zero (M-700)", () => {
    const usages = [
      geminiUsage({ promptTokenCount: 1 }),
      claudeUsage({ input_tokens: 1 }),
      openAiUsage({ prompt_tokens: 1 })
    ]
    expect(usages.map((usage) => usage.prompt_tokens_details)).toStrictEqual([
      { cached_tokens: 0 },
      { cached_tokens: 0 },
      { cached_tokens: 0 }
    ])
  })
  it("usage of any hops is the sum of their usages (L22, M-603)", () => {
    const count = fc.nat({ max: 100_000 })
    const hop = fc.record(
      {
        promptTokenCount: count,
        candidatesTokenCount: count,
        thoughtsTokenCount: count,
        cachedContentTokenCount: count
      },
      { requiredKeys: [] }
    )
    fc.assert(
      fc.property(fc.array(hop, { minLength: 1, maxLength: 5 }), (hops) => {
        const usage = usageOfHops(hops)
        soundUsage(usage)
        const each = hops.map((one) => geminiUsage(one))
        const sum = (read: (one: (typeof each)[number]) => number | undefined) =>
          each.reduce((total, one) => total + (read(one) ?? 0), 0)
        expect([
          usage.prompt_tokens,
          usage.completion_tokens,
          usage.prompt_tokens_details?.cached_tokens,
          usage.completion_tokens_details?.reasoning_tokens ?? 0
        ]).toStrictEqual([
          sum((one) => one.prompt_tokens),
          sum((one) => one.completion_tokens),
          sum((one) => one.prompt_tokens_details?.cached_tokens),
          sum((one) => one.completion_tokens_details?.reasoning_tokens)
        ])
      })
    )
  })
  it("counts of several hops are summed by modality too (M-603)", () => {
    const details = (tokenCount: number) => [{ modality: "TEXT", tokenCount }]
    expect(
      usageOfHops([
        { promptTokenCount: 2, promptTokensDetails: details(2), trafficType: "ON_DEMAND" },
        { promptTokenCount: 3, promptTokensDetails: details(3), trafficType: "ON_DEMAND" }
      ])
    ).toStrictEqual({
      prompt_tokens: 5,
      completion_tokens: 0,
      total_tokens: 5,
      prompt_tokens_details: { cached_tokens: 0, text_tokens: 5 },
      upstream: {
        promptTokenCount: 5,
        promptTokensDetails: details(5),
        trafficType: "ON_DEMAND",
        initialPromptTokenCount: 2
      }
    })
  })
  const said = { candidates: [{ content: { parts: [{ text: "a" }] }, finishReason: "STOP" }] }
  it("the header of the tier counts where the usage names none (M-704)", () => {
    const tiers = (usageMetadata: { readonly serviceTier?: string }) => {
      const headers = { "x-gemini-service-tier": "flex" }
      const reply = { ...said, usageMetadata }
      const whole = Result.getOrThrow(responseFromGemini(reply, chatContext(), request, headers))
      const last = runFold(streamFromGemini(chatContext(), request, headers), [reply]).at(-1)
      return [whole.usage, last !== undefined && "usage" in last ? last.usage : undefined].map(
        (usage) => usage?.service_tier
      )
    }
    expect(tiers({})).toStrictEqual(["flex", "flex"])
    expect(tiers({ serviceTier: "priority" })).toStrictEqual(["priority", "priority"])
  })
  it("the status of a model that ends is there unless the answer is strict (M-703)", () => {
    const modelStatus = { modelStage: "DEPRECATED", retirementTime: "2026-12-01T00:00:00Z" }
    const full = answer({ ...said, modelStatus })
    const finish = chunks([{ ...said, modelStatus }]).find(({ choices: [choice] }) => choice?.finish_reason === "stop")
    const status = { stage: "DEPRECATED", retirement_time: "2026-12-01T00:00:00Z" }
    expect([full.model_status, finish?.model_status]).toStrictEqual([status, status])
    const kept = [strictlyCompletion(full), finish === undefined ? undefined : strictlyChunk(finish)]
    expect(kept.map((one) => one !== undefined && "model_status" in one)).toStrictEqual([false, false])
  })
})

describe("refused prompts of Gemini", () => {
  const blocked = (blockReasonMessage?: string) => ({
    promptFeedback: {
      blockReason: "JAILBREAK",
      ...(blockReasonMessage === undefined ? {} : { blockReasonMessage })
    }
  })
  it("a strict answer names the reason of the block as its refusal (T1005, M-701)", () => {
    const refusals = (message: string | undefined, context: typeof strict) => [
      answer(blocked(message), context).choices[0]?.message.refusal,
      chunks([blocked(message)], context).flatMap(({ choices }) => choices[0]?.delta.refusal ?? [])
    ]
    expect(refusals(undefined, strict)).toStrictEqual(["JAILBREAK", ["JAILBREAK"]])
    expect(refusals("Not that.", strict)).toStrictEqual(["Not that.", ["Not that."]])
    expect(refusals(undefined, chatContext())).toStrictEqual([null, []])
  })
})
