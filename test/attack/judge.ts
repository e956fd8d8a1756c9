// The demands on every answer: no 500, in time, an error in the form of its route, no credential.
// Must not know the purpose of a request.
import type { Answer } from "./client.ts"
import { findLeak } from "./canaries.ts"

/** Longest time of an answer without its upstream's wait, in milliseconds. */
export const mostMillis = 2_000

/** A longer block of the event loop in milliseconds means that the process was busy, not waiting. */
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

const isGoogle = (body: unknown, status: number): boolean =>
  isObject(body) &&
  hasOnly(body, "error") &&
  isObject(body["error"]) &&
  hasOnly(body["error"], "code", "message", "status", "details") &&
  body["error"]["code"] === status &&
  isText(body["error"]["message"]) &&
  isText(body["error"]["status"]) &&
  Array.isArray(body["error"]["details"])

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

type Form = "openai" | "anthropic" | "google" | "problem"

const rawPredict = /:(?:rawPredict|streamRawPredict)$/i
/** A path of Claude's own form; other paths that end alike are unknown to Google. */
const claude = /^\/v1\/(?:projects\/[^/]+\/locations\/[^/]+\/)?publishers\/anthropic\/models\/[^:]+:/
const onlyGoogle = /^\/(?:v1alpha|v1beta1?|upload|ws)(?:\/|$)|^\/v1\/(?:(?:projects|publishers)(?:\/|$)|@)/
/** Parts of a path that parsers read in several ways: its answer may have the form of either reading. */
const isOdd = /%|\/\/|\\|\.\.|[:;@]\/|[^\x21-\x7e]|\/v1\/v1|\/$/

/** The forms that an error of this path may have; where several dialects share a path, the client's headers decide. */
const formsOf = (path: string, asked: ReadonlyArray<string>, status: number): ReadonlyArray<Form> => {
  const [name = ""] = path.split("?")
  if (name.startsWith("/admin/")) return ["problem"]
  if (isOdd.test(name)) return ["openai", "anthropic", "google"]
  if (rawPredict.test(name))
    return claude.test(name) && status !== 405 ? ["anthropic"] : ["anthropic", "google", "openai"]
  if (onlyGoogle.test(name)) return ["google"]
  if (name.startsWith("/v1/messages")) return ["anthropic"]
  // A path that only ends as that of messages does is met by a mistaken client of Anthropic's.
  if (/\/messages(?:\/|$)/.test(name)) return ["anthropic", "openai"]
  const isAnthropic = asked.includes("anthropic-beta") || asked.includes("anthropic-version")
  const isShared = /^\/v1\/models(?:\/|$)/.test(name)
  if (isShared && name.includes(":")) return ["google"]
  if (isShared && !isAnthropic && asked.includes("x-goog-api-key")) return ["google"]
  return /^\/v1\/(?:chat|embeddings|images|responses|prompts)(?:\/|$)/.test(name) || !isAnthropic
    ? ["openai"]
    : ["openai", "anthropic"]
}

const hasForm = (form: Form, value: unknown, { headers, status }: Answer): boolean => {
  switch (form) {
    case "anthropic":
      return isAnthropic(value)
    case "google":
      return isGoogle(value, status)
    case "problem":
      return isProblem(value, status) && headers["content-type"] === "application/problem+json"
    case "openai":
      return isOpenAi(value)
  }
}

const isError = (path: string, asked: ReadonlyArray<string>, answer: Answer): boolean => {
  const value = parsed(answer.body)
  return formsOf(path, asked, answer.status).some((form) => hasForm(form, value, answer))
}

/** The error of a stream in Google's dialect; what an upstream wrote itself has no more than its own members. */
const isGoogleEvent = (value: unknown): boolean =>
  isObject(value) &&
  hasOnly(value, "error") &&
  isObject(value["error"]) &&
  hasOnly(value["error"], "code", "message", "status", "details") &&
  typeof value["error"]["code"] === "number"

/** The event `error` of the Responses API. */
const isResponsesEvent = (value: unknown): boolean =>
  isObject(value) &&
  value["type"] === "error" &&
  isText(value["message"]) &&
  typeof value["sequence_number"] === "number"

const hasLateForm = (form: Form, value: unknown): boolean => {
  if (form === "google") return isGoogleEvent(value)
  if (form === "openai") return isOpenAi(value)
  return isObject(value) && isObject(value["error"]) && isText(value["error"]["message"])
}

/** Faults of errors within a stream, which have the form of the route as well. */
const lateFaults = (path: string, asked: ReadonlyArray<string>, { body, headers }: Answer): ReadonlyArray<string> =>
  headers["content-type"]?.startsWith("text/event-stream") !== true
    ? []
    : [...body.matchAll(/^data: (\{"(?:error|type":"error).*)$/gm)].flatMap(([, data = ""]) => {
        const value = parsed(data)
        const fits = formsOf(path, asked, 200).some((form) => hasLateForm(form, value)) || isResponsesEvent(value)
        return fits ? [] : [`an error within the stream of another form: ${data.slice(0, 200)}`]
      })

/** Health routes answer 503 in their own form while the service starts or stops. */
const isHealth = (path: string): boolean => /^\/(?:health|healthz|livez|readyz)/.test(path)

export interface Judged {
  readonly method: string
  readonly path: string
  /** Names of the headers of the request. */
  readonly asked?: ReadonlyArray<string>
  /** The wait of its upstream in milliseconds. */
  readonly waits?: number
  /** True for invalid HTTP: the answer has no gateway headers, or is missing. */
  readonly isBroken?: boolean
  /** True when the client left. */
  readonly left?: boolean
  /** CPU time of the gateway for this request in milliseconds. The rest of a block belongs to the machine. */
  readonly cpu?: number | undefined
  /** The request body. Dry runs and models repeat it. */
  readonly sent?: string | undefined
}

/** The faults of an answer. The request of a slow answer is sent again. */
export const judge = (
  { asked = [], cpu = Infinity, isBroken = false, left = false, method, path, sent = "", waits = 0 }: Judged,
  answer: Answer
): { readonly faults: ReadonlyArray<string>; readonly isSlow: boolean } => {
  const { body, headers, millis, status } = answer
  const secret = findLeak(body, sent) ?? findLeak(JSON.stringify(headers))
  const isRefused = status >= 400 && method !== "HEAD" && !left && !isHealth(path) && !isBroken
  return {
    isSlow: Math.min(millis - waits, cpu) > mostMillis,
    faults: [
      ...(status === 500 ? [`answered 500: ${body.slice(0, 200)}`] : []),
      ...(status === 0 && !left && !isBroken ? [`no answer: ${body}`] : []),
      ...(secret === undefined ? [] : [`shows ${secret}`]),
      ...(isRefused && !isError(path, asked, answer)
        ? [`${status} with a body of another form: ${body.slice(0, 200)}`]
        : []),
      ...(isRefused && (headers["x-request-id"] ?? "") === "" ? [`${status} without x-request-id`] : []),
      ...lateFaults(path, asked, answer)
    ]
  }
}
