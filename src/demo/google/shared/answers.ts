// Declares operations and their answers: an HTTP answer as data (status, headers, steps of its body), and Google's error bodies.
// It must not depend on sockets or on a particular operation; service/Wire.ts performs the steps.
// Source: google.rpc.Status and recorded refusals.
import type { Route, SimulatedEndpoint } from "./routes.ts"

export interface Call {
  readonly route: Route
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
  /** The self-deployed endpoint of the route; `undefined` for other routes. */
  readonly endpoint: SimulatedEndpoint | undefined
  /** The number of calls to this model or endpoint, including this one. */
  readonly callNumber: number
  /** Unique in the lifetime of the simulator; response ids derive from it. */
  readonly serial: number
  readonly now: number
  readonly checkRequests: boolean
  /** Models that end until this day are shut down, and versions of APIs until it are known. */
  readonly day: string
  /** Every model is served in every location. */
  readonly anyLocation: boolean
  readonly acceptForeignSignatures: boolean
  readonly tokensPerSecond: number
}

export interface Operation {
  readonly matches: (route: Route) => boolean
  /** Pure: the same call gets the same answer. */
  readonly answer: (call: Call) => Answer
}

export type Step =
  | { readonly write: string | Uint8Array }
  | { readonly pauseMillis: number }
  /** `close` closes the connection inside the body, `reset` resets it, `hang` keeps it open until the caller leaves. */
  | { readonly end: "close" | "reset" | "hang" }

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly steps: Iterable<Step>
  /** Counts as an open stream while it is being written. */
  readonly streaming: boolean
}

const jsonHeaders = { "content-type": "application/json; charset=UTF-8" }

/** Pretty-printed JSON, as both services write unary answers. */
export const jsonAnswer = (status: number, body: unknown): Answer => ({
  status,
  headers: jsonHeaders,
  steps: [{ write: `${JSON.stringify(body, null, 2)}\n` }],
  streaming: false
})

/** An error, alone or inside an array. */
export const errorAnswer = (error: GoogleError, inArray: boolean): Answer =>
  jsonAnswer(error.code, inArray ? [{ error }] : { error })

/** The refusal of a call. JSON array streams and the OpenAI-compatible paths write it in an array (recorded, publicly quoted). */
export const refuse = ({ operation, sse }: Route, error: GoogleError): Answer =>
  errorAnswer(error, (operation === "streamGenerateContent" && !sse) || operation === "chat/completions")

export const textAnswer = (status: number, contentType: string, text: string): Answer => ({
  status,
  headers: { "content-type": contentType },
  steps: [{ write: text }],
  streaming: false
})

/** One server-sent event with Google's CRLF line ends. */
export const sseEvent = (value: unknown): string => `data: ${JSON.stringify(value)}\r\n\r\n`

export interface PacedValue {
  readonly value: unknown
  readonly pauseMillis: number
}

/** A framed piece of an event stream: an event, a comment, the closing `[DONE]`. */
export interface PacedText {
  readonly text: string
  readonly pauseMillis: number
}

function* textSteps(pieces: Iterable<PacedText>): Generator<Step> {
  for (const { text, pauseMillis } of pieces) {
    if (pauseMillis > 0) yield { pauseMillis }
    yield { write: text }
  }
}

function* sseTexts(values: Iterable<PacedValue>): Generator<PacedText> {
  for (const { value, pauseMillis } of values) yield { text: sseEvent(value), pauseMillis }
}

/** A stream of server-sent events that are already framed. */
export const eventStream = (pieces: Iterable<PacedText>): Answer => ({
  status: 200,
  headers: { "content-type": "text/event-stream" },
  steps: textSteps(pieces),
  streaming: true
})

function* arraySteps(values: Iterable<PacedValue>): Generator<Step> {
  let before = "["
  for (const { value, pauseMillis } of values) {
    if (pauseMillis > 0) yield { pauseMillis }
    yield { write: before + JSON.stringify(value, null, 2) }
    before = ",\r\n"
  }
  yield { write: before === "[" ? "[]" : "\n]" }
}

/** A stream: server-sent events, or one pretty-printed JSON array without `alt=sse`. */
export const streamAnswer = (values: Iterable<PacedValue>, sse: boolean): Answer =>
  sse
    ? eventStream(sseTexts(values))
    : { status: 200, headers: jsonHeaders, steps: arraySteps(values), streaming: true }

export interface GoogleError {
  readonly code: number
  readonly message: string
  readonly status: string
  readonly details?: ReadonlyArray<Readonly<Record<string, unknown>>>
}

const httpStatus = {
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  RESOURCE_EXHAUSTED: 429,
  INTERNAL: 500,
  UNIMPLEMENTED: 501,
  UNAVAILABLE: 503
}

export const googleError = (
  status: keyof typeof httpStatus,
  message: string,
  details?: ReadonlyArray<Readonly<Record<string, unknown>>>
): GoogleError => ({ code: httpStatus[status], message, status, ...(details === undefined ? {} : { details }) })

/** The detail with the machine-readable reason. */
export const errorInfo = (reason: string, metadata: Readonly<Record<string, string>>, domain = "googleapis.com") => ({
  "@type": "type.googleapis.com/google.rpc.ErrorInfo",
  reason,
  domain,
  metadata
})

export const retryInfo = (retryDelay: string) => ({ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay })

/** 400 with the violated fields, as Google's JSON reader answers. */
export const badRequest = (
  violations: ReadonlyArray<{ readonly field: string; readonly description: string }>
): GoogleError =>
  googleError("INVALID_ARGUMENT", violations.map((violation) => violation.description).join("\n"), [
    { "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations: violations }
  ])

/** Vertex AI's 404 for an unknown model of any publisher. */
export const publisherModelMissing = ({ project, location, target }: Route): GoogleError => {
  const place = project === undefined ? "" : `projects/${project}/locations/${location}/`
  const publisher = target.kind === "model" ? target.publisher : ""
  const message =
    `Publisher Model \`${place}publishers/${publisher}/models/${target.id}\` was not found or your project does not have access to it. ` +
    "Please ensure you are using a valid model version."
  return googleError("NOT_FOUND", message)
}

/** 400 without field violations, for a value in the free part of a body. */
export const invalidArgument = (message: string): GoogleError => googleError("INVALID_ARGUMENT", message)

/** The page of Google's front end for an unknown path. */
export const notFoundPage = (path: string): string =>
  `<!DOCTYPE html>\n<html lang=en>\n  <meta charset=utf-8>\n  <title>Error 404 (Not Found)!!1</title>\n` +
  `  <p><b>404.</b> <ins>That’s an error.</ins>\n` +
  `  <p>The requested URL <code>${path.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</code> was not found on this server.\n`

/** The checked outer shape of predict; each model reads instances and parameters differently. */
export interface PredictRequest {
  readonly instances: ReadonlyArray<unknown>
  readonly parameters?: unknown
}

/** The predictions of a model, or its refusal. */
export type Predict = (request: PredictRequest, call: Call) => Answer | GoogleError

const charactersPerChunk = 24

/** Cuts text after white space into pieces of about six tokens; never inside a surrogate pair. */
export const textPieces = (text: string): ReadonlyArray<string> => {
  const pieces: Array<string> = []
  let piece = ""
  for (const word of text.match(/\S*\s*/gu) ?? []) {
    if (piece !== "" && piece.length + word.length > charactersPerChunk) {
      pieces.push(piece)
      piece = ""
    }
    piece += word
  }
  return piece === "" ? pieces : [...pieces, piece]
}
