// What every answer has to be: no 500, in time, an error in the form of its route, without any credential.
// It must not know which request was made to attack what.
import type { Answer } from "./client.ts"
import { leaked } from "./canaries.ts"

/** The longest an answer may take without the wait of its upstream. */
export const mostMillis = 2_000

/** An event loop that stands still longer has work, and no more waits for anything. */
export const standingMillis = 250

const types: ReadonlySet<unknown> = new Set([
  "invalid_request_error",
  "authentication_error",
  "permission_error",
  "not_found_error",
  "rate_limit_error",
  "insufficient_quota",
  "api_error"
])
const anthropicTypes: ReadonlySet<unknown> = new Set([
  ...types,
  "request_too_large",
  "billing_error",
  "overloaded_error",
  "timeout_error"
])

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const hasOnly = (value: Readonly<Record<string, unknown>>, ...names: ReadonlyArray<string>): boolean =>
  Object.keys(value).every((name) => names.includes(name))
const isText = (value: unknown): boolean => typeof value === "string" && value !== ""

const isOpenAi = (body: unknown): boolean =>
  isObject(body) &&
  hasOnly(body, "error") &&
  isObject(body["error"]) &&
  hasOnly(body["error"], "message", "type", "param", "code", "provider", "upstream_status", "details") &&
  isText(body["error"]["message"]) &&
  types.has(body["error"]["type"]) &&
  isText(body["error"]["code"]) &&
  (body["error"]["param"] === null || typeof body["error"]["param"] === "string")

const isAnthropic = (body: unknown): boolean =>
  isObject(body) &&
  hasOnly(body, "type", "error", "request_id") &&
  body["type"] === "error" &&
  isText(body["request_id"]) &&
  isObject(body["error"]) &&
  hasOnly(body["error"], "type", "message") &&
  anthropicTypes.has(body["error"]["type"]) &&
  isText(body["error"]["message"])

const isProblem = (body: unknown, status: number): boolean =>
  isObject(body) &&
  hasOnly(body, "type", "title", "status", "detail", "instance", "errors") &&
  body["status"] === status &&
  ["type", "title", "detail", "instance"].every((name) => isText(body[name])) &&
  (body["errors"] === undefined || Array.isArray(body["errors"]))

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isError = (path: string, { body, headers, status }: Answer): boolean => {
  const value = parsed(body)
  if (path.startsWith("/v1/messages")) return isAnthropic(value)
  return path.startsWith("/admin/")
    ? isProblem(value, status) && headers["content-type"] === "application/problem+json"
    : isOpenAi(value)
}

/** Errors within a stream are in the form of its route as well. */
const lateFaults = (path: string, { body, headers }: Answer): ReadonlyArray<string> =>
  headers["content-type"]?.startsWith("text/event-stream") !== true
    ? []
    : [...body.matchAll(/^data: (\{"(?:error|type":"error).*)$/gm)].flatMap(([, data = ""]) => {
        const value = parsed(data)
        const fits = path.startsWith("/v1/messages")
          ? isObject(value) && isObject(value["error"]) && isText(value["error"]["message"])
          : isOpenAi(value)
        return fits ? [] : [`an error within the stream of another form: ${data.slice(0, 200)}`]
      })

/** Health routes answer 503 in a form of their own while the service begins or leaves. */
const isHealth = (path: string): boolean => /^\/(?:health|healthz|livez|readyz)/.test(path)

export interface Judged {
  readonly method: string
  readonly path: string
  /** What its upstream is known to wait, in milliseconds. */
  readonly waits?: number
  /** Not even HTTP: it has an answer without headers of ours, or none. */
  readonly isBroken?: boolean
  /** Its client left. */
  readonly left?: boolean
  /** CPU that the gateway used for it alone, in milliseconds, where its event loop stood still: the rest is the machine's. */
  readonly cpu?: number | undefined
  /** The body of the request, which dry runs and models repeat. */
  readonly sent?: string | undefined
}

/** What is wrong with an answer; an answer that is only slow is asked for again. */
export const judge = (
  { cpu = Infinity, isBroken = false, left = false, method, path, sent = "", waits = 0 }: Judged,
  answer: Answer
): { readonly faults: ReadonlyArray<string>; readonly isSlow: boolean } => {
  const { body, headers, millis, status } = answer
  const secret = leaked(body, sent) ?? leaked(JSON.stringify(headers))
  const isRefused = status >= 400 && method !== "HEAD" && !left && !isHealth(path) && !isBroken
  return {
    isSlow: Math.min(millis - waits, cpu) > mostMillis,
    faults: [
      ...(status === 500 ? [`answered 500: ${body.slice(0, 200)}`] : []),
      ...(status === 0 && !left && !isBroken ? [`no answer: ${body}`] : []),
      ...(secret === undefined ? [] : [`shows ${secret}`]),
      ...(isRefused && !isError(path, answer) ? [`${status} with a body of another form: ${body.slice(0, 200)}`] : []),
      ...(isRefused && (headers["x-request-id"] ?? "") === "" ? [`${status} without x-request-id`] : []),
      ...lateFaults(path, answer)
    ]
  }
}
