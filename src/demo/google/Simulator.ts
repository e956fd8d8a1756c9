// Lists the operations of the simulated services; a new operation is one file and one row here.
// It must not depend on sockets or credentials.
import { countMessages, rawPredict } from "./claude/rawPredict.ts"
import { computeTokens, countTokens } from "./gemini/countTokens.ts"
import { batchEmbedContents, embedContent } from "./gemini/embedContent.ts"
import { generateContent } from "./gemini/generateContent.ts"
import { getModel, listModels } from "./gemini/listModels.ts"
import { openaiChat } from "./openai/chat.ts"
import { openaiEmbeddings } from "./openai/embeddings.ts"
import { predict } from "./predict/predict.ts"
import {
  type Answer,
  badRequest,
  errorAnswer,
  refuse,
  googleError,
  notFoundPage,
  type Operation,
  textAnswer
} from "./shared/answers.ts"
import { parseListing, parseRoute, type Route, type SimulatedEndpoint } from "./shared/routes.ts"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import {
  type Access,
  checkAccess,
  exchangeToken,
  type IssuedTokens,
  type ServiceAccount
} from "./service/credentials.ts"
import { checkEndpoint, demoEndpoints, endpointOf, type Endpoints } from "./service/endpoints.ts"
import { performAnswer, scriptedAnswer, type ScriptedAnswer } from "./service/Wire.ts"
import { dayOf } from "./shared/models.ts"

const operations: ReadonlyArray<Operation> = [
  generateContent,
  countTokens,
  computeTokens,
  countMessages,
  rawPredict,
  openaiChat,
  openaiEmbeddings,
  predict,
  embedContent,
  batchEmbedContents,
  listModels,
  getModel
]

const findOperation = (route: Route): Operation | undefined => operations.find((operation) => operation.matches(route))

export type { ScriptedAnswer } from "./service/Wire.ts"

export interface SimulatorOptions {
  /** Accepted `x-goog-api-key` values, also as Vertex express keys. */
  readonly geminiApiKeys: ReadonlyArray<string>
  /** Bearer tokens accepted in addition to those the token endpoint issued. */
  readonly accessTokens?: ReadonlyArray<string>
  readonly serviceAccounts?: ReadonlyArray<ServiceAccount>
  /** Accepted project ids; any if absent. */
  readonly projects?: ReadonlyArray<string>
  /** Endpoints in addition to `demoEndpoints`; a numeric id needs no entry. */
  readonly endpoints?: Readonly<Record<string, SimulatedEndpoint>>
  /** Access tokens and client emails of service accounts that lack `aiplatform.endpoints.predict` on endpoints. */
  readonly withoutPredict?: ReadonlyArray<string>
  /** Default false; true serves every model in every location, so that one account of one region reaches them all. */
  readonly anyLocation?: boolean
  /** Models that end until this day are shut down, and versions of APIs until it are known, `2026-12-01`; default the day of `now`. */
  readonly day?: string
  /** Stream pacing; 0 (default) is no delay. */
  readonly tokensPerSecond?: number
  /** Default true; false skips the check of generateContent and rawPredict bodies. */
  readonly checkRequests?: boolean
  /** Default false; true accepts signatures of other issuers, so that recorded conversations can be replayed. */
  readonly acceptForeignSignatures?: boolean
  /** Epoch millis. */
  readonly now?: () => number
}

export interface SimulatedCall {
  readonly method: string
  readonly url: string
  readonly headers: Record<string, string>
  readonly body: unknown
  readonly status: number
}

export interface Simulator {
  readonly handler: (req: IncomingMessage, res: ServerResponse) => void
  /** The last 1000 calls, oldest first. */
  readonly calls: ReadonlyArray<SimulatedCall>
  readonly counters: {
    requests: number
    tokenExchanges: number
    openStreams: number
    abortedStreams: number
    lastAbortMillis: number
  }
  /** The next calls return these answers instead, in order. */
  readonly script: (answers: ReadonlyArray<ScriptedAnswer>) => void
  readonly listen: (port?: number, host?: string) => Promise<{ url: string; close: () => Promise<void> }>
}

const keptCalls = 1000
const mostBytes = 100 * 1024 * 1024

const readBody = (request: IncomingMessage, whole: (body: Buffer | "too large") => void): void => {
  const chunks: Array<Buffer> = []
  let size = 0
  request.on("data", (chunk: Buffer) => {
    size += chunk.length
    if (size <= mostBytes) chunks.push(chunk)
    else chunks.length = 0
  })
  request.on("end", () => whole(size > mostBytes ? "too large" : Buffer.concat(chunks)))
}

const plainHeaders = (request: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(", ") : (value ?? "")
    ])
  )

const parseBody = (text: string, contentType: string): unknown => {
  if (contentType.startsWith("application/x-www-form-urlencoded")) return Object.fromEntries(new URLSearchParams(text))
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The model or endpoint of a call; on the shared OpenAI-compatible path the body names it. */
const calledModel = (route: Route, body: unknown): string =>
  route.target.id === "openapi" && typeof body === "object" && body !== null && "model" in body
    ? String(body.model)
    : route.target.id

interface Received {
  readonly method: string
  readonly url: string
  readonly headers: Record<string, string>
  readonly text: string
  readonly body: unknown
}

const listenOn = (handler: Simulator["handler"], port: number, host: string): ReturnType<Simulator["listen"]> => {
  const server = createServer({ keepAliveTimeout: 60_000 }, handler)
  const close = () =>
    new Promise<void>((closed) => {
      server.close(() => closed())
      server.closeAllConnections()
    })
  return new Promise((listening, failed) => {
    server.once("error", failed)
    server.listen(port, host, () => {
      const address = server.address()
      const bound = typeof address === "object" && address !== null ? address.port : port
      listening({ url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}`, close })
    })
  })
}

/** The state of one simulator: issued tokens, counters, scripted answers. */
const makeAnswerer = (options: SimulatorOptions, counters: Simulator["counters"], now: () => number) => {
  const tokens: IssuedTokens = new Map(
    (options.accessTokens ?? []).map((token) => [token, { endsAt: Number.POSITIVE_INFINITY, principal: token }])
  )
  const withoutPredict = new Set(options.withoutPredict)
  const endpoints: Endpoints = new Map(Object.entries({ ...demoEndpoints, ...options.endpoints }))
  const access: Access = {
    apiKeys: new Set(options.geminiApiKeys),
    isToken: (token) => (tokens.get(token)?.endsAt ?? 0) > now(),
    lacksPredict: (token) => withoutPredict.has(tokens.get(token)?.principal ?? ""),
    projects: options.projects === undefined ? undefined : new Set(options.projects)
  }
  const perModel = new Map<string, number>()
  const numberOf = (id: string): number => {
    const next = (perModel.get(id) ?? 0) + 1
    // The caller chooses the ids, so the table is bounded.
    if (perModel.size >= keptCalls) perModel.clear()
    perModel.set(id, next)
    return next
  }
  return ({ method, url, headers, text, body }: Received): Answer => {
    const path = url.split("?")[0] ?? ""
    if (path === "/token" && method === "POST") {
      counters.tokenExchanges += 1
      return exchangeToken(new URLSearchParams(text), options.serviceAccounts ?? [], tokens, now())
    }
    const route = method === "POST" ? parseRoute(url) : method === "GET" ? parseListing(url) : undefined
    const operation = route === undefined ? undefined : findOperation(route)
    if (route === undefined || operation === undefined)
      return textAnswer(404, "text/html; charset=UTF-8", notFoundPage(path))
    const refused = checkAccess(route, headers, access)
    if (refused !== undefined) return refuse(route, refused)
    const callNumber = numberOf(calledModel(route, body))
    const closed = checkEndpoint(route, headers["host"] ?? "", endpoints, callNumber)
    if (closed !== undefined) return closed
    if (typeof body === "string") {
      return refuse(route, badRequest([{ field: "", description: "Invalid JSON payload received. Unexpected token." }]))
    }
    return operation.answer({
      route,
      headers,
      body,
      endpoint: route.target.kind === "endpoint" ? endpointOf(route.target.id, endpoints) : undefined,
      callNumber,
      serial: counters.requests,
      now: now(),
      checkRequests: options.checkRequests ?? true,
      day: options.day ?? dayOf(now()),
      anyLocation: options.anyLocation ?? false,
      acceptForeignSignatures: options.acceptForeignSignatures ?? false,
      tokensPerSecond: options.tokensPerSecond ?? 0
    })
  }
}

/** A simulator with its own keys, tokens, counters and script. */
export const makeSimulator = (options: SimulatorOptions): Simulator => {
  const now = options.now ?? Date.now
  const calls: Array<SimulatedCall> = []
  const counters = { requests: 0, tokenExchanges: 0, openStreams: 0, abortedStreams: 0, lastAbortMillis: 0 }
  const scripted: Array<ScriptedAnswer> = []
  const answerTo = makeAnswerer(options, counters, now)

  const takeScripted = (url: string): ScriptedAnswer | undefined => {
    const kind = url.split("?")[0] === "/token" ? "token" : "model"
    const index = scripted.findIndex((answer) => answer.for === undefined || answer.for === kind)
    return index < 0 ? undefined : scripted.splice(index, 1)[0]
  }
  const handler = (request: IncomingMessage, response: ServerResponse): void => {
    readBody(request, (bytes) => {
      counters.requests += 1
      const { method = "GET", url = "/" } = request
      const headers = plainHeaders(request)
      const text = bytes === "too large" ? "" : bytes.toString("utf8")
      const body =
        method === "GET"
          ? Object.fromEntries(new URL(url, "http://localhost").searchParams)
          : parseBody(text, headers["content-type"] ?? "")
      const script = takeScripted(url)
      const answer =
        script !== undefined
          ? scriptedAnswer(script)
          : bytes === "too large"
            ? errorAnswer(
                googleError("INVALID_ARGUMENT", `Request payload size exceeds the limit: ${mostBytes} bytes.`),
                false
              )
            : answerTo({ method, url, headers, text, body })
      calls.push({ method, url, headers, body, status: answer.status })
      if (calls.length > keptCalls) calls.shift()
      performAnswer(answer, response, counters, now)
    })
  }
  return {
    handler,
    calls,
    counters,
    script: (answers) => void scripted.push(...answers),
    listen: (port = 0, host = "127.0.0.1") => listenOn(handler, port, host)
  }
}
