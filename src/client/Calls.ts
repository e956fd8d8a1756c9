// One call of the gateway over fetch: headers, body, tries, and every way it can fail as a failure of ours.
// It must not know operations or dialects.
import { answerFacts, type AnswerFacts } from "./answerFacts.ts"
import { createHeaders, type GatewayOptions } from "./createHeaders.ts"
import {
  Aborted,
  AnswerBroken,
  type ClientFailure,
  ConnectionFailed,
  GatewayFailure,
  noFacts,
  RequestInvalid,
  TimedOut
} from "./failures.ts"
import { isObject, readJson } from "./readJson.ts"
import { refusalOf } from "./refusalOf.ts"
import { delayMillis, isWorthRetrying } from "./retry.ts"
import { makeWatch, pause, type Watch } from "./Watch.ts"

/** What a single call may say; it wins over what the client says for all. */
export interface CallOptions extends Omit<GatewayOptions, "dryRun"> {
  readonly signal?: AbortSignal | undefined
  /** Further headers; they win over those of the options beside them. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The longest silence, before the answer and within it, in milliseconds; 0 waits for ever. */
  readonly timeoutMillis?: number | undefined
  /** How often a call that found no answer is made again. */
  readonly maxRetries?: number | undefined
}

/** What a client says for all its calls. */
export interface ClientOptions extends Omit<CallOptions, "signal"> {
  /** Where the gateway is; `/v1` at its end may stand or not. */
  readonly baseUrl: string
  /** Another fetch than the one of the platform. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

/** Asks what would be sent. */
export interface DryOptions extends CallOptions {
  readonly dryRun: true
}

export interface Call {
  readonly method: "GET" | "POST"
  /** Below the base URL, with its version. */
  readonly path: string
  readonly body?: object
  readonly options: CallOptions | DryOptions | undefined
}

/** An answer whose body has not been read. */
export interface Opened {
  readonly response: Response
  readonly facts: AnswerFacts
  readonly watch: Watch
}

/** Ten minutes, as long as the gateway itself may take. */
const usualTimeoutMillis = 600 * 1000
const usualRetries = 2

/** Any error as a failure of ours; `broken` words what an error of the platform means here. */
export const failureOf = (error: unknown, watch: Watch, broken: (cause: unknown) => ClientFailure): ClientFailure => {
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

/** An answer that stopped or cannot be read. */
export const brokenOff =
  (facts: AnswerFacts, what: string) =>
  (error: unknown): AnswerBroken =>
    new AnswerBroken(
      error === undefined ? what : `${what} (${reasonOf(error)})`,
      { ...noFacts, requestId: facts.requestId },
      { cause: error }
    )

/** Later ones win, in whatever case their names are written. */
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

/** Callers without types may leave it out, or give a URL. */
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
        // A key in a header of our own would follow a redirect anywhere.
        redirect: "error"
      }
    }
  } catch (error) {
    throw new RequestInvalid(`The call cannot be written as a request: ${reasonOf(error)}`, noFacts, { cause: error })
  }
}

/** One try. */
const attempt = async (
  client: ClientOptions,
  options: CallOptions | undefined,
  { init, url }: Written
): Promise<Opened> => {
  const watch = makeWatch(options?.signal, options?.timeoutMillis ?? client.timeoutMillis ?? usualTimeoutMillis)
  try {
    watch.signal.throwIfAborted()
    const send = client.fetch ?? globalThis.fetch
    const response = await send(url, { ...init, signal: watch.signal })
    watch.wind()
    if (!response.ok) throw refusalOf(response.status, response.headers, await response.text(), Date.now())
    return { response, facts: answerFacts(response.headers), watch }
  } catch (error) {
    watch.release()
    throw failureOf(error, watch, notReached(url))
  }
}

/** Tries until an answer has begun, or no further try is worth it. */
export const open = async (client: ClientOptions, call: Call): Promise<Opened> => {
  const written = write(client, call)
  const most = call.options?.maxRetries ?? client.maxRetries ?? usualRetries
  for (let retry = 0; ; retry++) {
    try {
      return await attempt(client, call.options, written)
    } catch (error) {
      if (!(error instanceof GatewayFailure) || retry >= most || !isWorthRetrying(error as ClientFailure)) throw error
      await pause(delayMillis(retry, error.retryAfterMillis, Math.random()), call.options?.signal)
    }
  }
}

/** A whole answer, a JSON object, and what its headers say. */
export const whole = async (
  client: ClientOptions,
  call: Call
): Promise<readonly [value: object, facts: AnswerFacts]> => {
  const { facts, response, watch } = await open(client, call)
  try {
    const value = readJson(await response.text())
    if (!isObject(value)) throw brokenOff(facts, "The answer is no JSON object.")(undefined)
    return [value, facts]
  } catch (error) {
    throw failureOf(error, watch, brokenOff(facts, "The answer broke off."))
  } finally {
    watch.release()
  }
}
