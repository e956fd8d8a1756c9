// Writes a reply as chat completions: one completion, or the chunks of a stream.
// It must not depend on sockets or requests.
// Source: recorded answers of hosts with the same schema.
import type { Candidate, Reply } from "../gemini/replies.ts"
import { textPieces } from "../shared/answers.ts"
import { textTokens, totalOf } from "../shared/generateRequest.ts"

export type Json = Readonly<Record<string, unknown>>

export interface OpenaiIdentity {
  readonly id: string
  /** Epoch seconds. */
  readonly created: number
  readonly model: string
}

interface Call {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

interface Choice {
  readonly text: string
  readonly calls: ReadonlyArray<Call>
  readonly finish: string
  readonly logprobs: Json | null
}

const finishWords: Readonly<Record<string, string>> = { STOP: "stop", MAX_TOKENS: "length", SAFETY: "content_filter" }

const tokenBytes = (token: string): ReadonlyArray<number> => [...Buffer.from(token)]

const logprobsOf = ({ logprobs }: Candidate): Json | null => {
  if (logprobs === undefined) return null
  // The simulator's own reply, whose schema leaves this member open.
  const { chosenCandidates: chosen, topCandidates: top = [] } = logprobs.logprobsResult as {
    readonly chosenCandidates: ReadonlyArray<{ readonly token: string; readonly logProbability: number }>
    readonly topCandidates?: ReadonlyArray<{
      readonly candidates: ReadonlyArray<{ readonly token: string; readonly logProbability: number }>
    }>
  }
  const entry = ({ token, logProbability }: { readonly token: string; readonly logProbability: number }) => ({
    token,
    logprob: logProbability,
    bytes: tokenBytes(token)
  })
  return {
    content: chosen.map((pick, index) => ({ ...entry(pick), top_logprobs: (top[index]?.candidates ?? []).map(entry) }))
  }
}

/** Call ids in vLLM's form, derived from the completion's id. */
const choiceOf = (candidate: Candidate, seed: string, parallel: boolean): Choice => {
  const calls = candidate.parts.flatMap((part, index) =>
    part.functionCall === undefined
      ? []
      : [
          {
            id: `chatcmpl-tool-${seed}${index}`,
            name: part.functionCall.name ?? "",
            arguments: JSON.stringify(part.functionCall.args ?? {})
          }
        ]
  )
  const sentCalls = parallel ? calls : calls.slice(0, 1)
  return {
    text: candidate.parts.map((part) => part.text ?? "").join(""),
    calls: sentCalls,
    finish: sentCalls.length > 0 ? "tool_calls" : (finishWords[candidate.finishReason] ?? "stop"),
    logprobs: logprobsOf(candidate)
  }
}

const callObject = ({ id, name, arguments: text }: Call) => ({
  id,
  type: "function",
  function: { name, arguments: text }
})

/** A reply in this dialect, before framing. */
export interface OpenaiReply {
  readonly identity: OpenaiIdentity
  readonly choices: ReadonlyArray<Choice>
  readonly usage: Json
}

export const openaiReply = (reply: Reply, identity: OpenaiIdentity, parallel: boolean): OpenaiReply => {
  const seed = identity.id.slice(-8)
  const prompt_tokens = totalOf(reply.usage.prompt)
  const completion_tokens = totalOf(reply.usage.candidates)
  return {
    identity,
    choices: reply.candidates.map((candidate) => choiceOf(candidate, seed, parallel)),
    usage: {
      prompt_tokens,
      completion_tokens,
      total_tokens: prompt_tokens + completion_tokens,
      prompt_tokens_details: null
    }
  }
}

/** The one JSON value of a unary answer. */
export const completion = ({ identity, choices, usage }: OpenaiReply): Json => ({
  id: identity.id,
  object: "chat.completion",
  created: identity.created,
  model: identity.model,
  choices: choices.map(({ text, calls, finish, logprobs }, index) => ({
    index,
    message:
      calls.length > 0
        ? { role: "assistant", content: text === "" ? null : text, tool_calls: calls.map(callObject) }
        : { role: "assistant", content: text },
    logprobs,
    finish_reason: finish
  })),
  usage
})

export interface OpenaiChunk {
  readonly value: Json
  /** Answer tokens that this chunk adds; pacing counts them. */
  readonly tokens: number
}

const argumentPieces = (text: string): ReadonlyArray<string> => text.match(/.{1,12}/gsu) ?? [""]

/** Name and id first, then the arguments in pieces. */
const callDeltas = ({ id, name, arguments: text }: Call, index: number): ReadonlyArray<Json> => [
  { tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] },
  ...argumentPieces(text).map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] }))
]

/** The chunks of a stream: role, text, calls, finish reason; `withUsage` adds a chunk with usage and no choices. */
export const completionChunks = (
  { identity, choices, usage }: OpenaiReply,
  withUsage: boolean
): ReadonlyArray<OpenaiChunk> => {
  const head = { id: identity.id, object: "chat.completion.chunk", created: identity.created, model: identity.model }
  const chunk = (
    index: number,
    delta: Json,
    finish: string | null,
    tokens: number,
    logprobs: Json | null = null
  ): OpenaiChunk => ({ value: { ...head, choices: [{ index, delta, logprobs, finish_reason: finish }] }, tokens })
  const chunks = choices.flatMap(({ text, calls, finish, logprobs }, index) => [
    chunk(index, { role: "assistant", content: "" }, null, 0),
    ...textPieces(text).map((piece, at) =>
      chunk(index, { content: piece }, null, textTokens(piece), at === 0 ? logprobs : null)
    ),
    ...calls.flatMap(callDeltas).map((delta) => chunk(index, delta, null, 3)),
    chunk(index, {}, finish, 0)
  ])
  return withUsage ? [...chunks, { value: { ...head, choices: [], usage }, tokens: 0 }] : chunks
}
