// The response object around the items, and the end of an answer.
// It must not know how items come about. Rules: R506, R601, R602, R604.
import type { ResponsesEvent } from "../../../wire/openai/responses/Events.ts"
import type { ResponseObject } from "../../../wire/openai/responses/Response.ts"
import { itemsOf } from "../../../wire/grownList.ts"
import type { Carrier } from "../../shared/carrier/carrier.ts"
import { failureCode, failureMessage, type AnswerFailed } from "./failure.ts"
import { serviceTier, usageOf } from "../usage.ts"
import type { Work } from "./work.ts"
import { carrierOf } from "./work.ts"

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

export const envelope = (work: Work, end: Partial<ResponseObject>): ResponseObject => {
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

export const finished = (work: Work): AnswerFinished => {
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
export const failedResponse = (work: Work, failure: AnswerFailed): ResponseObject =>
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
