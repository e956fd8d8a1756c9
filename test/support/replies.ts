// The laws that every answer of the gateway obeys, for any upstream: L2 to L5, L11, L22, L23.
// Must not depend on an upstream.
import { expect } from "vitest"
import { strictlyChunk } from "../../src/translate/shared/reply/clientForm.ts"
import type { ChatChunk, ChunkChoice, Usage } from "../../src/wire/openai/ChatReply.ts"
import { schemaOracle } from "./shared.ts"

/** Holds a value to an entry of OpenAI's published schema, where that is at hand. */
export const valid = (entry: string, value: unknown): void => {
  const oracle = schemaOracle("openai.schema.json", entry)
  oracle?.(JSON.parse(JSON.stringify(value)))
  expect(oracle?.errors ?? null).toBe(null)
}

export const soundUsage = (usage: Usage): void => {
  expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens)
  for (const count of [usage.prompt_tokens, usage.completion_tokens])
    expect(Number.isInteger(count) && count >= 0).toBe(true)
  expect((usage.completion_tokens_details?.reasoning_tokens ?? 0) <= usage.completion_tokens).toBe(true)
  expect((usage.prompt_tokens_details?.cached_tokens ?? 0) <= usage.prompt_tokens).toBe(true)
}

/** Id and name on the first delta of a call only, calls one after the other, their arguments an object. */
const soundCalls = (choices: ReadonlyArray<ChunkChoice>): ReadonlyArray<string | undefined> => {
  const calls = choices.flatMap((choice) => choice.delta.tool_calls ?? [])
  const byIndex = Map.groupBy(calls, (call) => call.index)
  expect([...byIndex.keys()]).toEqual([...byIndex.keys()].map((_, at) => at))
  for (const pieces of byIndex.values()) {
    expect(pieces.map(({ id, type, function: { name } }) => [id, type, name].map((one) => one !== undefined))).toEqual(
      pieces.map((_, at) => Array<boolean>(3).fill(at === 0))
    )
    const text = pieces.map((piece) => piece.function.arguments).join("")
    if (choices.at(-1)?.finish_reason !== "length") expect(JSON.parse(text)).toBeTypeOf("object")
  }
  return [...byIndex.values()].map(([first]) => first?.id)
}

/** A whole stream that did not fail. */
export const soundStream = (chunks: ReadonlyArray<ChatChunk>): void => {
  const usages = chunks.filter((chunk) => "usage" in chunk)
  expect(usages).toEqual([chunks.at(-1)])
  soundUsage(usages[0]?.usage ?? { prompt_tokens: -1, completion_tokens: 0, total_tokens: 0 })
  expect(new Set(chunks.map(({ id, created, model }) => JSON.stringify([id, created, model]))).size).toBe(1)
  const byChoice = Map.groupBy(
    chunks.flatMap((chunk) => chunk.choices),
    (choice) => choice.index
  )
  const ids: Array<string | undefined> = []
  for (const choices of byChoice.values()) {
    expect(choices.map((choice) => choice.finish_reason !== null)).toEqual(
      choices.map((_, at) => at === choices.length - 1)
    )
    expect(choices.map((choice) => "role" in choice.delta)).toEqual(choices.map((_, at) => at === 0))
    ids.push(...soundCalls(choices))
  }
  expect(new Set(ids).size).toBe(ids.length)
  for (const chunk of chunks) {
    const strict = strictlyChunk(chunk)
    if (strict !== undefined) expect(strictlyChunk(strict)).toEqual(strict)
  }
}
