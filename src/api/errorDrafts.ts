// Building blocks of the error table, and its rows for exhausted limits and for the console's sessions.
// It must not know requests, upstreams or cookies.
import type {
  BudgetSpent,
  Busy,
  ConcurrencyReached,
  PageRefused,
  RateLimitReached,
  SessionRefused,
  StoreUnavailable
} from "../domain/GatewayError.ts"

/** OpenAI's error types. */
export type ErrorType =
  | "invalid_request_error"
  | "authentication_error"
  | "permission_error"
  | "not_found_error"
  | "rate_limit_error"
  | "insufficient_quota"
  | "api_error"

/** One row of the error table; omitted fields have the common value. */
export interface Draft {
  readonly status: number
  readonly type: ErrorType
  readonly code: string
  readonly message: string
  readonly param?: string | null
  readonly headers?: Readonly<Record<string, string>>
  /** Every fault with its path, when an error may have several. */
  readonly faults?: ReadonlyArray<{ readonly path: string; readonly message: string }>
}

export const noHeaders: Readonly<Record<string, string>> = {}

export const invalidRequestDraft = (code: string, message: string, param: string | null = null): Draft => ({
  status: 400,
  type: "invalid_request_error",
  code,
  message,
  param
})
export const apiErrorDraft = (status: number, code: string, message: string, headers = noHeaders): Draft => ({
  status,
  type: "api_error",
  code,
  message,
  headers
})

/** Stops the automatic retries of SDKs for a request that would fail again. */
export const noRetry = { "x-should-retry": "false" }

/** Errors of the request itself that pass with time: a slow body, and a rate. */
const passing: ReadonlySet<number> = new Set([408, 429])

/**
 * The headers of an error, with the stop of retries where the same request fails again. Some clients retry a 401 for
 * minutes without it.
 */
export const withRetrySignal = (
  status: number,
  headers: Readonly<Record<string, string>>
): Readonly<Record<string, string>> => (status >= 500 || passing.has(status) ? headers : { ...headers, ...noRetry })

/** A delay in both headers: whole seconds rounded up, and milliseconds. */
export const retryAfter = (millis: number | undefined): Readonly<Record<string, string>> =>
  millis === undefined
    ? noHeaders
    : { "retry-after": String(Math.ceil(millis / 1000)), "retry-after-ms": String(Math.ceil(millis)) }

export const notFoundDraft = (code: string, message: string, param: string | null): Draft => ({
  status: 404,
  type: "not_found_error",
  code,
  message,
  param
})

/** A limit that passes with time. */
export const quotaDraft = (message: string, headers: Readonly<Record<string, string>>): Draft => ({
  status: 429,
  type: "insufficient_quota",
  code: "insufficient_quota",
  message,
  headers
})

/** Spent money. Agents retry a 429 for minutes whatever its headers state, and stop at a 402. */
export const spentDraft = (message: string, headers = noHeaders): Draft => ({
  ...quotaDraft(message, headers),
  status: 402
})

// Rows of the error table for exhausted limits: rate limits, budgets, concurrency, memory, store.

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

// Error bodies of the console's sign-in, of changes by its sessions, and of foreign pages.

/** Pages that read what needs no key under a name or origin that is not the gateway's. */
export const pageDraft = ({ reason }: PageRefused): Draft => ({
  status: 403,
  type: "permission_error",
  code: "foreign_page_refused",
  message:
    reason === "host"
      ? "Browsers do not read this under this host name, which could be made to point here; use an address, or list the name in server.console_hosts."
      : "Pages of another origin do not read this."
})

/** Sign-ins and changes that the console refuses. */
export const sessionDraft = ({ reason, retryMillis }: SessionRefused): Draft => {
  const forbidden = (message: string): Draft => ({
    status: 403,
    type: "permission_error",
    code: `console_${reason}_refused`,
    message
  })
  switch (reason) {
    case "credential":
      return {
        status: 401,
        type: "authentication_error",
        code: "console_sign_in_failed",
        message: "The admin key or the link is not valid; a link is valid once, for ten minutes after the start."
      }
    case "attempts":
      return {
        status: 429,
        type: "rate_limit_error",
        code: "console_sign_in_limited",
        message: "Too many sign-ins failed; wait a minute and try again.",
        headers: retryAfter(retryMillis)
      }
    case "host":
      return forbidden("The console is not used under this host name; list the name in server.console_hosts.")
    case "origin":
      return forbidden("The console takes requests of its own page only.")
    case "header":
      return forbidden("A change by a console session needs the header x-gateway-console.")
  }
}
