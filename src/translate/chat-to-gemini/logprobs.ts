// Translates the token probabilities (logprobs) of a Gemini candidate.
// Must not depend on the request.
import { isJsonObject, type Json } from "../../domain/text/json.ts"
import type { Candidate } from "../../wire/google/GenerateContent.ts"
import type { Logprobs } from "../../wire/openai/ChatReply.ts"

/** Undefined when the candidate has none; `avgLogprobs` is a different figure. */
export const geminiLogprobs = (candidate: Candidate): Logprobs | undefined => {
  const result = candidate.logprobsResult
  if (!isJsonObject(result)) return undefined
  const tops = list(result["topCandidates"])
  return {
    content: list(result["chosenCandidates"]).map((chosen, position) => {
      const top = tops[position]
      return { ...token(chosen), top_logprobs: list(isJsonObject(top) ? top["candidates"] : undefined).map(token) }
    }),
    refusal: null
  }
}

const list = (value: Json | undefined): ReadonlyArray<Json> => (Array.isArray(value) ? value : [])

const encoder = new TextEncoder()

/** Fields with a zero value are absent on the wire. */
const token = (candidate: Json) => {
  const text = isJsonObject(candidate) && typeof candidate["token"] === "string" ? candidate["token"] : ""
  const logprob = isJsonObject(candidate) ? candidate["logProbability"] : undefined
  return { token: text, logprob: typeof logprob === "number" ? logprob : 0, bytes: [...encoder.encode(text)] }
}
