// Rows of the error table for exhausted limits: rate limits, budgets, concurrency, memory, store.
// It must not know requests or upstreams.
import type {
  BudgetSpent,
  Busy,
  ConcurrencyReached,
  RateLimitReached,
  StoreUnavailable
} from "../domain/GatewayError.ts"
import { apiErrorDraft, type Draft, noRetry, quotaDraft, retryAfter, spentDraft } from "./drafts.ts"

/** A store that recovers answers within seconds. */
const storeRetryMillis = 1000

/** The gateway is overloaded, shutting down, or without its store. */
export const unableDraft = (
  error: Pick<Busy, "_tag" | "code" | "retryAfterMillis"> | Pick<StoreUnavailable, "_tag" | "reason">
): Draft => {
  if (error._tag === "Busy") {
    return apiErrorDraft(
      503,
      error.code,
      error.code === "overloaded"
        ? "The gateway is at its limit of requests; try again shortly."
        : "The gateway is shutting down; try again, another instance will answer.",
      retryAfter(error.retryAfterMillis)
    )
  }
  return error.reason === "full"
    ? apiErrorDraft(
        507,
        "storage_unavailable",
        "The gateway's store is full or cannot be written; what was there before is unchanged. An operator has to make room.",
        noRetry
      )
    : apiErrorDraft(
        503,
        "dependency_unavailable",
        "The gateway cannot reach its store; try again shortly.",
        retryAfter(storeRetryMillis)
      )
}

/** Reservations of running requests return within seconds. */
const reservedRetryMillis = 1000

/** A running request that ends frees memory within seconds. */
export const roomRetryMillis = 1000

export const crowdedDraft = ({ limit, resource }: Pick<ConcurrencyReached, "resource" | "limit">): Draft => ({
  ...quotaDraft(
    limit !== undefined
      ? `The gateway key has ${limit} requests running, which is its limit; try again when one of them has ended.`
      : resource === "requests"
        ? "The gateway is near its limit of requests, and this key runs more than its share of them; try again when one of them has ended."
        : "The gateway is near its limit of memory, and the running requests of this key hold more than their share of it; try again when one of them has ended, or send less at a time.",
    retryAfter(roomRetryMillis)
  ),
  type: "rate_limit_error",
  code: "concurrency_limit_exceeded"
})

/** The key has reached its concurrency, rate limit or budget. */
export const keyDraft = (error: ConcurrencyReached | RateLimitReached | BudgetSpent): Draft => {
  if (error._tag === "ConcurrencyReached") return crowdedDraft(error)
  if (error._tag === "RateLimitReached") {
    const message = `The gateway key has reached its limit of ${error.limit} ${error.kind} a minute; try again in ${Math.ceil(error.retryMillis / 1000)} s.`
    return {
      ...quotaDraft(message, retryAfter(error.retryMillis)),
      type: "rate_limit_error",
      code: "rate_limit_exceeded"
    }
  }
  return budgetDraft(error)
}

/** Up to six decimals, as a budget is counted in millionths, and never an exponent. */
const amount = (usd: number): string => usd.toFixed(6).replace(/\.?0+$/, "")

const budgetDraft = (error: BudgetSpent): Draft => {
  const { estimateUsd, isReserved, leftUsd, per, reclaimMillis, resets, retryMillis, usd } = error
  const fact = `This request may cost ${amount(estimateUsd)} US dollars, and ${amount(leftUsd)} are left of the gateway key's budget of ${usd} a ${per}`
  if (isReserved)
    return quotaDraft(
      `${fact}, but set aside for requests that are running. Try again shortly${reclaimMillis === undefined ? "" : `; what a gateway held that was killed is free within ${Math.ceil(reclaimMillis / 1000)} s`}.`,
      retryAfter(reservedRetryMillis)
    )
  const mends = "Lower max_tokens, or let an operator raise budget.usd of the key"
  // Waiting helps only a request that a whole budget covers.
  return estimateUsd > usd
    ? spentDraft(`${fact}. ${mends}.`)
    : spentDraft(`${fact}. ${mends}; the next ${per} begins ${resets}.`, retryAfter(retryMillis))
}
