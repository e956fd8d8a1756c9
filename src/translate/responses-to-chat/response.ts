// An answer of a chat as a response: the object around the items, the fold of its chunks, a whole chat, an answer that fails.
// It must not know how items come about, the network or what went wrong upstream. Rules: R106, R501-R517, R601, R602, R604, R605.
import { itemsOf } from "../../wire/grownList.ts"
import type { ChatChunk, ChatCompletion, ChunkChoice, Delta } from "../../wire/openai/ChatReply.ts"
import type { ResponseObject, ResponsesEvent } from "../../wire/openai/Responses.ts"
import type { Carrier } from "../shared/carrier.ts"
import { deltasOf } from "../shared/reply/completion.ts"
import type { Fold } from "../Translator.ts"
import { readChoices } from "./answer.ts"
import { type AnswerFacts, serviceTier, usageOf } from "./facts.ts"
import { type AnswerState, carrierOf, next, noAnswer, stateOf, type Work, workOn } from "./work.ts"

/** A chunk of the chat, or why there are no more. */
export type ChatInput = ChatChunk | AnswerFailed
/** An event, or the whole answer in the place of the last one. */
export type AnswerOutput = ResponsesEvent | AnswerFinished

export const isFinished = (output: AnswerOutput): output is AnswerFinished => "_tag" in output

const isFailed = (input: ChatInput): input is AnswerFailed => "_tag" in input

export const streamFromChat = (facts: AnswerFacts): Fold<AnswerState, ChatInput, AnswerOutput> => ({
  initial: () => noAnswer,
  step: (state, input) => {
    // A whole answer may still fail before its last event is sent.
    if (isFailed(input)) return state.hasFailed ? [state, []] : failing(workOn(state, facts), input)
    if (state.isOver) return [state, []]
    const work = workOn(state, facts)
    begin(work, input)
    readChoices(work, input)
    if (input.usage) work.usage = input.usage
    const isLast = work.finish !== undefined && input.choices.length === 0 && Boolean(input.usage)
    if (!isLast) return [stateOf(work), work.events]
    work.isOver = true
    return [stateOf(work), [...work.events, finished(work)]]
  },
  onHalt: (state) => {
    if (state.isOver) return []
    const work = workOn(state, facts)
    return state.finish === undefined ? failing(work, cutShort)[1] : [finished(work)]
  },
  usage: ({ usage }) => usage
})

const begin = (work: Work, { model }: ChatChunk): void => {
  if (work.model !== undefined) return
  work.model = model
  const response = envelope(work, {})
  work.events.push(
    { type: "response.created", sequence_number: next(work), response },
    { type: "response.in_progress", sequence_number: next(work), response }
  )
}

/** No item is closed for it: what was open is not whole. */
const failing = (work: Work, failure: AnswerFailed): readonly [AnswerState, ReadonlyArray<AnswerOutput>] => {
  work.isOver = true
  work.hasFailed = true
  work.events.push(errorEvent(failure, next(work)))
  work.events.push({
    type: "response.failed",
    sequence_number: next(work),
    response: failedResponse(work, failure)
  })
  return [stateOf(work), work.events]
}

// A whole chat as a response: its message is read as the chunks that would have made it.

/** The answer, whole; an answer without a choice is empty, which a chat never is. */
export const responseFromChat = (completion: ChatCompletion, facts: AnswerFacts): AnswerFinished => {
  const work = workOn({ ...noAnswer, model: completion.model, usage: completion.usage }, facts)
  const choice = completion.choices.find(({ index }) => index === 0)
  if (choice === undefined) return finished(work)
  const { finish_reason, index, logprobs, message, ...extensions } = choice
  const chunk = (given: Omit<ChunkChoice, "index">): ChatChunk => ({
    id: completion.id,
    object: "chat.completion.chunk",
    created: completion.created,
    model: completion.model,
    choices: [{ index, ...given }]
  })
  const deltas = deltasOf(message)
  const first = deltas.findIndex(({ content }) => content !== undefined)
  for (const [position, delta] of deltas.entries())
    readChoices(work, chunk({ delta, finish_reason: null, ...(position === first ? { logprobs } : {}) }))
  const last: Delta = message.annotations === undefined ? {} : { annotations: message.annotations }
  readChoices(work, chunk({ delta: last, finish_reason, ...extensions }))
  return finished(work)
}

// The response object around the items, and the end of an answer.

/** A whole answer. The caller keeps it before it sends the last event. */
export interface AnswerFinished {
  readonly _tag: "AnswerFinished"
  readonly response: ResponseObject
  /** Whole forms of items that the response shows with less. */
  readonly whole: ResponseObject["output"]
  /** Everything that has to come back, shown or not. */
  readonly carrier: Carrier
  /** Entries that were too large for a client to carry. */
  readonly cut: number
  /** The sequence number of the last event. */
  readonly sequence: number
}

const envelope = (work: Work, end: Partial<ResponseObject>): ResponseObject => {
  const { createdSeconds, id, plan } = work.facts
  return {
    id,
    object: "response",
    created_at: createdSeconds,
    completed_at: null,
    status: "in_progress",
    error: null,
    incomplete_details: null,
    model: work.model ?? "",
    output: [],
    usage: null,
    ...plan.echo,
    service_tier: serviceTier(work.usage?.service_tier, plan.echo.service_tier),
    ...end
  }
}

const noUsage = usageOf({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 })

const closedItems = ({ closed }: Work): ResponseObject["output"] =>
  itemsOf(closed)
    .toSorted((one, other) => one.outputIndex - other.outputIndex)
    .map(({ item }) => item)

const finished = (work: Work): AnswerFinished => {
  const { cut, finish, usage } = work
  const isWhole = finish === "completed" || finish === undefined
  return {
    _tag: "AnswerFinished",
    response: envelope(work, {
      status: isWhole ? "completed" : "incomplete",
      incomplete_details: isWhole ? null : { reason: finish },
      output: closedItems(work),
      usage: usage === undefined ? noUsage : usageOf(usage)
    }),
    whole: itemsOf(work.whole),
    carrier: carrierOf(work),
    cut,
    sequence: work.sequence
  }
}

/** What is left of an answer that failed is not kept. */
const failedResponse = (work: Work, failure: AnswerFailed): ResponseObject =>
  envelope(work, {
    status: "failed",
    error: { code: failureCode(failure), message: failureMessage(failure) },
    output: closedItems(work),
    usage: work.usage === undefined ? null : usageOf(work.usage),
    store: false
  })

/** The answer as it goes out: when it was whole, and whether it is kept. */
export const stampResponse = (
  { response }: Pick<AnswerFinished, "response">,
  at: { readonly seconds: number; readonly isKept: boolean }
): ResponseObject => ({
  ...response,
  completed_at: response.status === "completed" ? at.seconds : null,
  store: at.isKept
})

/** The last event of a stream. */
export const lastEvent = (answer: AnswerFinished, response: ResponseObject): ResponsesEvent => ({
  type: response.status === "incomplete" ? "response.incomplete" : "response.completed",
  sequence_number: answer.sequence,
  response
})

// An answer that fails after it has begun: in both forms that clients know, then as a failed response.

/** An error in the words of an error body. */
export interface AnswerFailed {
  readonly _tag: "AnswerFailed"
  readonly type: string
  readonly code: string | null
  readonly message: string
  readonly param: string | null
  /** How long to wait, where it is known. */
  readonly retryAfterMillis: number | undefined
}

/** An answer that ended without its finishing event. */
const cutShort: AnswerFailed = {
  _tag: "AnswerFailed",
  type: "server_error",
  code: "upstream_truncated",
  message: "The upstream ended its answer without a finish reason; it is not complete.",
  param: null,
  retryAfterMillis: undefined
}

const publishedCodes: ReadonlySet<string> = new Set([
  "rate_limit_exceeded",
  "insufficient_quota",
  "context_length_exceeded"
])

/** The word by which clients decide whether to try again. */
export const failureCode = ({ code, type }: AnswerFailed): string => {
  if (code !== null && publishedCodes.has(code)) return code
  if (type === "insufficient_quota") return type
  if (type === "rate_limit_error" || type === "rate_limit_exceeded") return "rate_limit_exceeded"
  return type === "invalid_request_error" ? "invalid_prompt" : "server_error"
}

/** Clients that decide by the code wait by this sentence. */
export const failureMessage = (failure: AnswerFailed): string => {
  const { message, retryAfterMillis: wait } = failure
  return wait === undefined || failureCode(failure) !== "rate_limit_exceeded"
    ? message
    : `${message} Please try again in ${wait / 1000}s.`
}

const errorEvent = (failure: AnswerFailed, sequence: number): ResponsesEvent => {
  const { code, param, type } = failure
  const message = failureMessage(failure)
  return {
    type: "error",
    code,
    message,
    param,
    sequence_number: sequence,
    error: { type, code, message, param }
  }
}
