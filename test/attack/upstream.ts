// The providers of the attacked gateway: the simulated Google services, and models with hostile answers.
// Must not know the gateway. A model id with `attack-` and a word selects the behaviour.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { makeSimulator } from "../../src/demo/google/Simulator.ts"
import { listen } from "../bench/contestants.ts"
import { accessToken, apiKey, encodings, issuedToken, project, publicKeyPem, serviceAccount } from "./canaries.ts"

/** Wait of slow models in milliseconds. */
export const slowMillis = 1_500
/** Size of large answers in bytes. */
export const largeBytes = 20 * 2 ** 20

export interface Call {
  readonly url: string
  readonly headers: string
}

export interface Upstream {
  readonly url: string
  readonly port: number
  /** The last 5000 calls, oldest first, without token calls. */
  readonly calls: ReadonlyArray<Call>
  /** The number of hostile calls in progress. */
  readonly open: () => number
  readonly close: () => Promise<void>
}

const keptCalls = 5_000
const json = { "content-type": "application/json" }
const events = { "content-type": "text/event-stream" }

/** Every credential that the request could contain, unchanged and URL-encoded. */
const echoOf = (request: IncomingMessage, body: string): string => {
  const values = Object.entries(request.headers).map(([name, value]) => `${name}: ${String(value)}`)
  return [request.url ?? "", ...values, ...values.map(encodeURIComponent), body.slice(0, 2_000)].join(" | ")
}

/** The credential of a call in several encodings, one after the other. */
const codedEcho = ({ headers }: IncomingMessage): string =>
  encodings(headers.authorization ?? String(headers["x-goog-api-key"])).join(" | ")

const googleError = (code: number, status: string, message: string): string =>
  JSON.stringify({
    error: {
      code,
      status,
      message,
      details: [{ "@type": "type.googleapis.com/google.rpc.DebugInfo", detail: message }]
    }
  })

type Behaviour = (response: ServerResponse, echo: string, url: string) => void

const gemini = (text: string, finish?: string): string =>
  JSON.stringify({
    candidates: [
      {
        content: { role: "model", parts: [{ text }] },
        index: 0,
        ...(finish === undefined ? {} : { finishReason: finish })
      }
    ],
    usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 5, totalTokenCount: 12 }
  })

const claudeEvent = (value: { readonly type: string; readonly [field: string]: unknown }): string =>
  `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`

const claude = JSON.stringify({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  content: [{ type: "text", text: "fine" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 }
})
/** Events, or the elements of an array, or one body, by what the URL asks for. */
const answerOf = (url: string, parts: ReadonlyArray<object>, blocks: ReadonlyArray<object>): string => {
  if (url.includes("awPredict")) {
    const message = { ...JSON.parse(claude), content: blocks }
    if (!url.includes("streamRawPredict")) return JSON.stringify(message)
    const each = blocks.flatMap((content_block, index) => [
      { type: "content_block_start", index, content_block },
      { type: "content_block_stop", index }
    ])
    const start = { type: "message_start", message: { ...message, content: [] } }
    const end = [
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 9 } },
      { type: "message_stop" }
    ]
    return [start, ...each, ...end].map(claudeEvent).join("")
  }
  const content = (some: ReadonlyArray<object>, finish: object) => ({
    candidates: [{ content: { role: "model", parts: some }, index: 0, ...finish }],
    usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 5, totalTokenCount: 12 }
  })
  const finish = { finishReason: "STOP" }
  if (!url.includes("streamGenerateContent")) return JSON.stringify(content(parts, finish))
  const events = [...parts.map((part) => content([part], {})), content(parts, finish)].map((event) =>
    JSON.stringify(event)
  )
  return url.includes("alt=sse") ? events.map((event) => `data: ${event}\n\n`).join("") : `[${events.join(",\n")}]`
}

const isStream = (url: string): boolean => url.includes("stream")

/** Every second part has a signature or is a thought, so that none of them joins the part before. */
const manyParts: Behaviour = (response, _, url) => {
  const parts = Array.from({ length: 16_000 }, (_one, at) =>
    at % 2 === 0 ? { text: "a" } : { text: "b", thought: true, thoughtSignature: "c2ln" }
  )
  const blocks = Array.from({ length: 16_000 }, (_one, at) =>
    at % 2 === 0
      ? {
          type: "text",
          text: "a",
          citations: [{ type: "web_search_result_location", url: "https://a.example", title: "a" }]
        }
      : { type: "thinking", thinking: "b", signature: "c2ln" }
  )
  response.writeHead(200, isStream(url) ? events : json).end(answerOf(url, parts, blocks))
}

const manyCalls: Behaviour = (response, _, url) => {
  const parts = Array.from({ length: 4_500 }, (_one, at) => ({
    functionCall: { name: `f${at}`, args: { a: at } },
    thoughtSignature: "c2ln"
  }))
  const blocks = Array.from({ length: 9_000 }, (_one, at) => ({
    type: "tool_use",
    id: `t${at}`,
    name: `f${at}`,
    input: { a: at }
  }))
  response.writeHead(200, isStream(url) ? events : json).end(answerOf(url, parts, blocks))
}

/** Each byte is a chunk of the transfer. Many of them share a packet. */
const oneByteChunks: Behaviour = (response, _, url) => {
  const text = "word ".repeat(20_000)
  const body = Buffer.from(answerOf(url, [{ text }], [{ type: "text", text }]))
  response.writeHead(200, isStream(url) ? events : json)
  let at = 0
  const more = (): void => {
    response.cork()
    for (let count = 0; count < 4_096 && at < body.length; count++) response.write(body.subarray(at, ++at))
    response.uncork()
    if (at === body.length) response.end()
    else if (!response.destroyed) setImmediate(more)
  }
  more()
}

const manyComments: Behaviour = (response, _, url) => {
  const answer = answerOf(url, [{ text: "x" }], [{ type: "text", text: "x" }])
  const comments = isStream(url) && !answer.startsWith("[") ? ": wait\n\n".repeat(100_000) : ""
  response.writeHead(200, isStream(url) ? events : json).end(comments + answer)
}

/** Text of a Gemini stream that never ends and counts nothing. */
export const trickleText = "tide ".repeat(100)

/** Output tokens of the answers that count. */
export const longTokens = 8_000

const refusal =
  (code: number, status: string): Behaviour =>
  (response, echo) =>
    void response.writeHead(code, json).end(googleError(code, status, `Refused: ${echo}`))

/** Text of a Claude stream that never sends its final counts. */
export const claudeText = "tide ".repeat(4_000)

const behaviours: Readonly<Record<string, Behaviour>> = {
  "echo-400": refusal(400, "INVALID_ARGUMENT"),
  "echo-401": refusal(401, "UNAUTHENTICATED"),
  "echo-403": refusal(403, "PERMISSION_DENIED"),
  "echo-500": refusal(500, "INTERNAL"),
  "echo-coded": refusal(400, "INVALID_ARGUMENT"),
  "echo-html": (response, echo) =>
    void response.writeHead(502, { "content-type": "text/html" }).end(`<html><title>${echo}</title></html>`),
  "echo-list": (response, echo) =>
    void response.writeHead(400, json).end(`[${googleError(400, "INVALID_ARGUMENT", echo)}]`),
  "echo-event": (response, echo) =>
    void response.writeHead(200, events).end(`data: ${googleError(500, "INTERNAL", echo)}\n\n`),
  "echo-late": (response, echo) => {
    response.writeHead(200, events).write(`data: ${gemini("half ")}\n\n`)
    response.end(`data: ${googleError(500, "INTERNAL", echo)}\n\n`)
  },
  "echo-claude": (response, echo) => {
    response.writeHead(200, events).end(claudeEvent({ type: "error", error: { type: "api_error", message: echo } }))
  },
  integers: (response, _, url) => {
    const args = '{"id":9007199254740993}'
    const claude = `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"t1","name":"f","input":${args}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`
    const google = `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"f","args":${args}}}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2}}`
    if (url.includes("streamGenerateContent")) return void response.writeHead(200, events).end(`data: ${google}\n\n`)
    return void response.writeHead(200, json).end(url.includes("rawPredict") ? claude : google)
  },
  edits: (response, echo) => {
    const tag = /"context_management":.*?"type":"([^"]*)"/.exec(echo)?.[1]
    const message = `context_management.edits.0: Input tag '${tag}' found using 'type' does not match any of the expected tags`
    return tag === undefined
      ? void response.writeHead(200, json).end(claude)
      : void response
          .writeHead(400, json)
          .end(JSON.stringify({ type: "error", error: { type: "invalid_request_error", message } }))
  },
  levels: (response, echo) =>
    echo.includes('"thinkingLevel":"LOW"')
      ? void response
          .writeHead(400, json)
          .end(googleError(400, "INVALID_ARGUMENT", "Thinking level LOW is not supported for this model."))
      : void response.writeHead(200, json).end(gemini("fine", "STOP")),
  // Neither the answer nor its last event has counts.
  parts: manyParts,
  calls: manyCalls,
  bytes: oneByteChunks,
  comments: manyComments,
  silent: (response, _, url) => {
    const answer = `{"candidates":[{"content":{"role":"model","parts":[{"text":"x"}]},"finishReason":"STOP","index":0}]}`
    if (url.includes("alt=sse")) return void response.writeHead(200, events).end(`data: ${answer}\n\n`)
    return void response.writeHead(200, json).end(url.includes("streamGenerateContent") ? `[${answer}]` : answer)
  },
  long: (response) => {
    const usage = { promptTokenCount: 1, candidatesTokenCount: longTokens, totalTokenCount: longTokens + 1 }
    const answer = { ...JSON.parse(gemini("long", "STOP")), usageMetadata: usage }
    setTimeout(() => response.writeHead(200, json).end(JSON.stringify(answer)), slowMillis)
  },
  trickle: (response) => {
    const event = JSON.stringify({
      candidates: [{ content: { role: "model", parts: [{ text: trickleText }] }, index: 0 }],
      usageMetadata: { trafficType: "ON_DEMAND" },
      responseId: "x".repeat(1_000)
    })
    response.writeHead(200, events).write(`data: ${event}\n\n`)
  },
  unavailable: (response) => void response.writeHead(503, json).end(googleError(503, "UNAVAILABLE", "busy")),
  slow: (response) => void setTimeout(() => response.writeHead(200, json).end(gemini("late", "STOP")), slowMillis),
  hold: () => undefined,
  large: (response) => void response.writeHead(200, json).end(gemini("x".repeat(largeBytes), "STOP")),
  endless: (response) => {
    response.writeHead(200, events)
    const more = (): void => {
      while (!response.destroyed && response.write(`data: ${gemini("word ".repeat(2_000))}\n\n`));
    }
    response.on("drain", more)
    more()
  },
  uncounted: (response) => {
    response.writeHead(200, events)
    response.write(
      claudeEvent({
        type: "message_start",
        message: {
          id: "msg_1",
          type: "message",
          role: "assistant",
          model: "claude-sonnet-4-5",
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 10, output_tokens: 1 }
        }
      })
    )
    response.write(claudeEvent({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }))
    response.write(
      claudeEvent({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: claudeText } })
    )
  }
}

const wordOf = (url: string, body: string): string | undefined =>
  /attack-([a-z]+(?:-(?:\d{3}|[a-z]+))?)/.exec(url)?.[1] ??
  /"model":"[^"]*attack-([a-z]+(?:-(?:\d{3}|[a-z]+))?)/.exec(body)?.[1]

const token = (response: ServerResponse): void =>
  void response
    .writeHead(200, json)
    .end(JSON.stringify({ access_token: issuedToken, expires_in: 3599, token_type: "Bearer" }))

const closed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })

export const startUpstream = async (): Promise<Upstream> => {
  const calls: Array<Call> = []
  const { clientEmail, privateKeyId } = {
    clientEmail: serviceAccount.client_email,
    privateKeyId: serviceAccount.private_key_id
  }
  const simulator = makeSimulator({
    geminiApiKeys: [apiKey],
    accessTokens: [accessToken, issuedToken],
    serviceAccounts: [{ clientEmail, privateKeyId, publicKeyPem, projectId: project }]
  })
  let open = 0
  const behave = (request: IncomingMessage, response: ServerResponse): void => {
    let body = ""
    open++
    response.on("close", () => open--)
    request.on("data", (part: Buffer) => {
      if (body.length < 4_000) body += part.toString("latin1").slice(0, 4_000)
    })
    request.on("end", () =>
      (behaviours[wordOf(request.url ?? "", body) ?? ""] ?? refusal(404, "NOT_FOUND"))(
        response,
        /attack-echo-coded/.test(request.url ?? "") ? codedEcho(request) : echoOf(request, body),
        request.url ?? ""
      )
    )
  }
  const server = createServer((request, response) => {
    const { headers, url = "" } = request
    response.on("error", () => undefined)
    if (url.endsWith("/token")) {
      request.resume()
      return token(response)
    }
    calls.push({ url, headers: JSON.stringify(headers) })
    if (calls.length > keptCalls) calls.shift()
    return url.includes("attack-") ? behave(request, response) : simulator.handler(request, response)
  })
  const port = await listen(server)
  return { url: `http://127.0.0.1:${port}`, port, calls, open: () => open, close: () => closed(server) }
}

/** A host that must never receive a credential. */
export interface Trap {
  readonly url: string
  readonly taken: ReadonlyArray<string>
  readonly close: () => Promise<void>
}

export const startTrap = async (): Promise<Trap> => {
  const taken: Array<string> = []
  const server = createServer((request, response) => {
    taken.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`)
    request.resume()
    response.writeHead(200, json).end(gemini("thanks", "STOP"))
  })
  return { url: `http://127.0.0.1:${await listen(server)}`, taken, close: () => closed(server) }
}

/** An OpenTelemetry collector that passes on each body as text. */
export const startSink = async (
  take: (text: string) => void
): Promise<{ readonly url: string; readonly count: () => number; readonly close: () => Promise<void> }> => {
  let count = 0
  const server = createServer((request, response) => {
    const parts: Array<Buffer> = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.on("end", () => {
      count++
      take(Buffer.concat(parts).toString("utf8"))
      response.writeHead(200, json).end("{}")
    })
  })
  return { url: `http://127.0.0.1:${await listen(server)}`, count: () => count, close: () => closed(server) }
}
