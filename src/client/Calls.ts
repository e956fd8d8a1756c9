// One client call over fetch: body, timeout, abort, retries, and the mapping of every error to a ClientFailure.
// It must not know operations or dialects.
import { answerFacts, type AnswerFacts, createHeaders, type GatewayOptions } from "./headers.ts"
import {
  Aborted,
  AnswerBroken,
  type ClientFailure,
  ConnectionFailed,
  GatewayFailure,
  isObject,
  noFacts,
  readFailure,
  readJson,
  RequestInvalid,
  TimedOut
} from "./failures.ts"

/** Options of a single call; they take precedence over the client's. */
export interface CallOptions extends Omit<GatewayOptions, "dryRun"> {
  readonly signal?: AbortSignal | undefined
  /** Further headers; they take precedence over the headers of the other options. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The longest silence before and within the answer, in milliseconds; 0 disables the timeout. */
  readonly timeoutMillis?: number | undefined
  /** How often a call without an answer is retried. */
  readonly maxRetries?: number | undefined
}

/** Options of a client for all its calls. */
export interface ClientOptions extends Omit<CallOptions, "signal"> {
  /** The address of the gateway, with or without a final `/v1`. */
  readonly baseUrl: string
  /** Replaces the platform's fetch. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

/** Requests a dry run: the answer is the request that would be sent upstream. */
export interface DryOptions extends CallOptions {
  readonly dryRun: true
}

export interface Call {
  readonly method: "GET" | "POST"
  /** The path below the base URL, with its version. */
  readonly path: string
  readonly body?: object
  readonly options: CallOptions | DryOptions | undefined
}

/** An answer whose body has not been read. */
export interface OpenedAnswer {
  readonly response: Response
  readonly facts: AnswerFacts
  readonly watch: Watch
}

/** Ten minutes, which is the gateway's own default limit. */
const usualTimeoutMillis = 600 * 1000
const usualRetries = 2

/** Converts any error to a ClientFailure; `broken` builds the failure for an error of the platform. */
export const toClientFailure = (
  error: unknown,
  watch: Watch,
  broken: (cause: unknown) => ClientFailure
): ClientFailure => {
  // ClientFailure is the union of all classes of GatewayFailure.
  if (error instanceof GatewayFailure) return error as ClientFailure
  switch (watch.fired()) {
    case "aborted":
      return new Aborted("The call was broken off.", noFacts, { cause: error })
    case "timed_out":
      return new TimedOut("Nothing came from the gateway within the time of timeoutMillis.", noFacts, { cause: error })
    case undefined:
      return broken(error)
  }
}

const reasonOf = (error: unknown): string => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return cause instanceof Error && cause.message !== "" ? cause.message : "no reason given"
}

const notReached =
  (url: string) =>
  (error: unknown): ClientFailure =>
    new ConnectionFailed(`No answer from ${url}: ${reasonOf(error)}`, noFacts, { cause: error })

/** The failure of an answer that ended early or cannot be read. */
export const answerBroken =
  (facts: AnswerFacts, what: string) =>
  (error: unknown): AnswerBroken =>
    new AnswerBroken(
      error === undefined ? what : `${what} (${reasonOf(error)})`,
      { ...noFacts, requestId: facts.requestId },
      { cause: error }
    )

/** Later headers replace earlier ones, regardless of the case of their names. */
const headersOf = (client: ClientOptions, { body, options }: Call): Headers => {
  const headers = new Headers(body === undefined ? {} : { "content-type": "application/json" })
  for (const some of [createHeaders(client), client.headers, createHeaders(options ?? {}), options?.headers]) {
    for (const [name, value] of Object.entries(some ?? {})) headers.set(name, value)
  }
  return headers
}

interface Written {
  readonly url: string
  readonly init: RequestInit
}

/** Untyped callers may omit the base URL or pass a URL object. */
const baseOf = ({ baseUrl }: ClientOptions): string => {
  if (typeof baseUrl !== "string")
    throw new TypeError("baseUrl is no text; give the gateway's address, such as http://127.0.0.1:8787")
  return baseUrl.replace(/\/+$/, "").replace(/\/v1$/, "")
}

const write = (client: ClientOptions, call: Call): Written => {
  try {
    return {
      url: baseOf(client) + call.path,
      init: {
        method: call.method,
        headers: headersOf(client, call),
        body: call.body === undefined ? null : JSON.stringify(call.body),
        // On a redirect, fetch would send the gateway key's header to any host.
        redirect: "error"
      }
    }
  } catch (error) {
    throw new RequestInvalid(`The call cannot be written as a request: ${reasonOf(error)}`, noFacts, { cause: error })
  }
}

/** One attempt. */
const attempt = async (
  client: ClientOptions,
  options: CallOptions | undefined,
  { init, url }: Written
): Promise<OpenedAnswer> => {
  const watch = makeWatch(options?.signal, options?.timeoutMillis ?? client.timeoutMillis ?? usualTimeoutMillis)
  try {
    watch.signal.throwIfAborted()
    const send = client.fetch ?? globalThis.fetch
    const response = await send(url, { ...init, signal: watch.signal })
    watch.wind()
    if (!response.ok) throw readFailure(response.status, response.headers, await response.text(), Date.now())
    return { response, facts: answerFacts(response.headers), watch }
  } catch (error) {
    watch.release()
    throw toClientFailure(error, watch, notReached(url))
  }
}

/** Retries until an answer has begun, or until no further attempt is worthwhile. */
export const startCall = async (client: ClientOptions, call: Call): Promise<OpenedAnswer> => {
  const written = write(client, call)
  const most = call.options?.maxRetries ?? client.maxRetries ?? usualRetries
  for (let retry = 0; ; retry++) {
    try {
      return await attempt(client, call.options, written)
    } catch (error) {
      // ClientFailure is the union of all classes of GatewayFailure.
      if (!(error instanceof GatewayFailure) || retry >= most || !isWorthRetrying(error as ClientFailure)) throw error
      await pause(delayMillis(retry, error.retryAfterMillis, Math.random()), call.options?.signal)
    }
  }
}

/** Reads a complete JSON answer together with the facts in its headers. */
export const fetchAnswer = async (
  client: ClientOptions,
  call: Call
): Promise<readonly [value: object, facts: AnswerFacts]> => {
  const { facts, response, watch } = await startCall(client, call)
  try {
    const value = readJson(await response.text())
    if (!isObject(value)) throw answerBroken(facts, "The answer is no JSON object.")(undefined)
    return [value, facts]
  } catch (error) {
    throw toClientFailure(error, watch, answerBroken(facts, "The answer broke off."))
  } finally {
    watch.release()
  }
}

// Decides whether a failed call is retried, and after which delay. The rules are those of the stock SDKs.

/** Statuses of temporary errors; 409 means that the resource is locked. */
const mayPass = (status: number): boolean => status === 408 || status === 409 || status === 429 || status >= 500

/** Only calls without an answer are retried: an answer that began may already be billed. */
export const isWorthRetrying = (failure: ClientFailure): boolean => {
  switch (failure._tag) {
    case "Aborted":
    case "AnswerBroken":
      return false
    case "ConnectionFailed":
    case "TimedOut":
      return true
    default:
      return failure.shouldRetry ?? (failure.status !== undefined && mayPass(failure.status))
  }
}

const baseMillis = 500
const capMillis = 8 * 1000
const longestAskedMillis = 60 * 1000

/**
 * Milliseconds before attempt `retry + 1`; `chance` is a random number from 0 to 1. A requested delay over one minute
 * is ignored.
 */
export const delayMillis = (retry: number, askedMillis: number | undefined, chance: number): number =>
  askedMillis !== undefined && askedMillis < longestAskedMillis
    ? askedMillis
    : Math.min(baseMillis * 2 ** retry, capMillis) * (1 - chance / 4)

// The abort signal of one call: combines the caller's signal with an inactivity timeout.

interface Watch {
  readonly signal: AbortSignal
  /** Restarts the timeout. */
  readonly wind: () => void
  /** Detaches from the caller's signal and stops the timeout. */
  readonly release: () => void
  /** Aborts the call. */
  readonly abort: () => void
  /** Why the signal fired. */
  readonly fired: () => "aborted" | "timed_out" | undefined
}

/** `millis` is the longest silence; 0 disables the timeout. */
const makeWatch = (outer: AbortSignal | undefined, millis: number): Watch => {
  const controller = new AbortController()
  let fired: "aborted" | "timed_out" | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const fire = (why: "aborted" | "timed_out") => {
    fired ??= why
    release()
    controller.abort()
  }
  const abort = () => fire("aborted")
  const release = () => {
    clearTimeout(timer)
    outer?.removeEventListener("abort", abort)
  }
  const wind = () => {
    clearTimeout(timer)
    if (millis > 0 && fired === undefined) timer = setTimeout(() => fire("timed_out"), millis)
  }
  if (outer?.aborted === true) abort()
  else outer?.addEventListener("abort", abort, { once: true })
  wind()
  return { signal: controller.signal, wind, release, abort, fired: () => fired }
}

/** Waits for the given time, or until the signal fires. */
const pause = (millis: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted === true) return resolve()
    const wake = () => {
      clearTimeout(timer)
      signal?.removeEventListener("abort", wake)
      resolve()
    }
    const timer = setTimeout(wake, millis)
    signal?.addEventListener("abort", wake, { once: true })
  })
