// What a request will probably use, per operation, before it is sent.
// It must not know keys, prices or limits.
import { estimateTokens } from "../domain/estimateTokens.ts"
import type { Json, JsonObject } from "../domain/json.ts"
import type { Usage } from "../domain/Usage.ts"
import type { Operations } from "../provider/Provider.ts"
import { nothing } from "./usageOf.ts"

/** The members of a body that a model reads, in any dialect. */
const read = ["messages", "system", "tools", "functions", "response_format", "input", "prompt"] as const

const inputOf = (body: JsonObject): number => {
  let tokens = 0
  for (const name of read) {
    const member = body[name]
    if (member !== undefined && member !== null) tokens += estimateTokens(member)
  }
  return tokens
}

/** JSON can write numbers that are none any more when they are multiplied. */
const count = (value: Json | undefined): number | undefined =>
  typeof value === "number" && value > 0 ? Math.min(value, Number.MAX_SAFE_INTEGER) : undefined

const mostOutput = (body: JsonObject, usual: number): number =>
  (count(body["max_completion_tokens"]) ?? count(body["max_tokens"]) ?? usual) * (count(body["n"]) ?? 1)

/** `usualOutput` stands for answers whose length the request does not bound. Counting is free. */
export const estimatedUsage = (operation: keyof Operations, body: JsonObject, usualOutput: number): Usage => {
  switch (operation) {
    case "chat":
    case "messages":
      return { ...nothing, input: inputOf(body), output: mostOutput(body, usualOutput) }
    case "embeddings":
      return { ...nothing, input: inputOf(body) }
    case "images":
      return { ...nothing, input: inputOf(body), images: count(body["n"]) ?? 1 }
    case "countTokens":
    case "messagesCountTokens":
      return nothing
  }
}
