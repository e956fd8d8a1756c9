// The fault corpus: every fault that the simulated provider makes, with what a client must get.
// Must not know routes or how an answer is judged.
import { gzipSync } from "node:zlib"
import { type Behaviour, bytesOf, chunk, chunkedHead, type Exchange, fixedHead, lastChunk } from "./provider.ts"

/** `whole`: the sound answer. `failed`: an error, never an answer that looks complete. `either`: one of both. */
export type Expected = "whole" | "failed" | "either"

export interface Fault {
  readonly word: string
  readonly sentence: string
  readonly expected: Expected
  readonly behave: Behaviour
  /** Of streams only, or of whole answers only; both unless set. */
  readonly only?: "stream" | "whole"
  /** True: the place within the answer matters, so that many places are tried. */
  readonly isPlaced?: boolean
  /** True: the bytes are not of the provider's dialect. Routes that pass a provider's own bytes pass these too. */
  readonly isForeign?: boolean
}

const fault = (
  word: string,
  sentence: string,
  expected: Expected,
  behave: Behaviour,
  more: Pick<Fault, "only" | "isPlaced"> = {}
): Fault => ({ word, sentence, expected, behave, ...more })

const write =
  (text: (exchange: Exchange) => string | Buffer): Behaviour =>
  (exchange) =>
    void exchange.socket.write(text(exchange))
const end =
  (text: (exchange: Exchange) => string | Buffer): Behaviour =>
  (exchange) =>
    void exchange.socket.end(text(exchange))

/** Answers the first call with the fault and later ones soundly. */
const first =
  (behave: Behaviour): Behaviour =>
  (exchange) =>
    exchange.before === 0 ? behave(exchange) : void exchange.socket.write(bytesOf(exchange.answer))

/** At least one byte before the end of the body, so that it is never whole. */
const cutBytes = ({ answer, place }: Exchange): Buffer => {
  const all = Buffer.from(bytesOf(answer))
  const body = all.indexOf("\r\n\r\n") + 4
  return all.subarray(0, body + Math.floor((all.length - body - lastChunk.length - 1) * place))
}
const cutHead = ({ answer, place }: Exchange): Buffer => {
  const all = Buffer.from(bytesOf(answer))
  return all.subarray(0, Math.floor((all.indexOf("\r\n\r\n") + 3) * place))
}
const bodyOf = ({ answer }: Exchange): string => answer.pieces.join("")

const inBytes = ({ socket }: Exchange, bytes: Buffer, size: number, millis: number): void => {
  let at = 0
  const timer = setInterval(() => {
    socket.write(bytes.subarray(at, (at += size)))
    if (at >= bytes.length) clearInterval(timer)
  }, millis)
  socket.on("close", () => clearInterval(timer))
}

const errorBody = (code: number, status: string, details: ReadonlyArray<object> = []): string =>
  JSON.stringify({ error: { code, status, message: "as the fault asks", details } })
const retryInfo = (delay: string) => [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: delay }]
const refused = (line: string, body: string, more = "", type = "application/json"): Behaviour =>
  write(() => fixedHead(Buffer.byteLength(body), type, line, more) + body)

const statuses: ReadonlyArray<readonly [line: string, status: string]> = [
  ["400 Bad Request", "INVALID_ARGUMENT"],
  ["401 Unauthorized", "UNAUTHENTICATED"],
  ["403 Forbidden", "PERMISSION_DENIED"],
  ["404 Not Found", "NOT_FOUND"],
  ["408 Request Timeout", "CANCELLED"],
  ["409 Conflict", "ABORTED"],
  ["413 Too Large", "INVALID_ARGUMENT"],
  ["418 Teapot", "UNKNOWN"],
  ["429 Too Many Requests", "RESOURCE_EXHAUSTED"],
  ["499 Gone", "CANCELLED"],
  ["500 Internal", "INTERNAL"],
  ["501 Missing", "UNIMPLEMENTED"],
  ["503 Busy", "UNAVAILABLE"],
  ["504 Late", "DEADLINE_EXCEEDED"],
  ["529 Overloaded", "UNAVAILABLE"],
  ["599 Odd", "UNKNOWN"],
  ["999 Odder", "UNKNOWN"]
]

const connections: ReadonlyArray<Fault> = [
  fault(
    "reset-first",
    "the connection is reset before the head, once",
    "either",
    first(({ socket }) => void socket.resetAndDestroy())
  ),
  fault("reset", "the connection is reset before the head", "failed", ({ socket }) => void socket.resetAndDestroy()),
  fault("closed", "the connection closes before the head", "failed", ({ socket }) => void socket.end()),
  fault("silent", "the request is taken and never answered", "failed", () => undefined),
  fault("half-head", "the connection closes within the head", "failed", end(cutHead), { isPlaced: true }),
  fault(
    "no-http",
    "the head is not HTTP",
    "failed",
    end(() => "%%% garbage\r\n\r\n")
  ),
  fault(
    "early-hints",
    "a 103 comes before the answer",
    "either",
    write(({ answer }) => `HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${bytesOf(answer)}`)
  ),
  fault(
    "many-headers",
    "the head has 1,000 headers",
    "either",
    write(({ answer }) =>
      bytesOf(answer).replace("\r\n", `\r\n${Array.from({ length: 1_000 }, (_, at) => `x-${at}: ${at}\r\n`).join("")}`)
    )
  ),
  fault(
    "long-header",
    "a header has 200 KB",
    "failed",
    end(({ answer }) => bytesOf(answer).replace("\r\n", `\r\nx-long: ${"x".repeat(200_000)}\r\n`))
  ),
  fault(
    "two-lengths",
    "the head has two lengths",
    "failed",
    end(({ answer }) => bytesOf(answer).replace("\r\n", "\r\ncontent-length: 3\r\ncontent-length: 4\r\n"))
  ),
  fault("slow-head", "the answer comes in 16 bytes at a time", "whole", (exchange) =>
    inBytes(exchange, Buffer.from(bytesOf(exchange.answer)), 16, 1)
  ),
  fault(
    "closed-after",
    "the connection closes after a whole answer without a word of it",
    "whole",
    end(({ answer }) => bytesOf(answer))
  ),
  fault(
    "unasked",
    "a second answer follows that was not asked for",
    "either",
    end(({ answer }) => bytesOf(answer) + bytesOf(answer))
  )
]

const answers: ReadonlyArray<Fault> = [
  ...statuses.map(([line, status]) => {
    const code = Number(line.slice(0, 3))
    return fault(
      `status-${code}`,
      `status ${code} with an error body`,
      "failed",
      refused(line, errorBody(code, status))
    )
  }),
  ...[204, 301, 302, 307, 304].map((code) =>
    fault(
      `status-${code}`,
      `status ${code}`,
      "failed",
      end(() => `HTTP/1.1 ${code} Odd\r\nlocation: /trap\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
    )
  ),
  fault(
    "retry-info",
    "429 that asks for 7 s",
    "failed",
    refused("429 Busy", errorBody(429, "RESOURCE_EXHAUSTED", retryInfo("7s")))
  ),
  fault(
    "retry-garbage",
    "429 with a wait that is no time",
    "failed",
    refused("429 Busy", errorBody(429, "RESOURCE_EXHAUSTED", retryInfo("soon")), "retry-after: yesterday\r\n")
  ),
  fault(
    "retry-long",
    "429 that asks for an hour",
    "failed",
    refused("429 Busy", errorBody(429, "RESOURCE_EXHAUSTED"), "retry-after: 3600\r\n")
  ),
  fault(
    "busy-once",
    "503 once, then a sound answer",
    "either",
    first(refused("503 Busy", errorBody(503, "UNAVAILABLE")))
  ),
  fault("error-empty", "503 without a body", "failed", refused("503 Busy", "")),
  fault(
    "error-html",
    "502 with 1 MB of HTML",
    "failed",
    refused("502 Bad Gateway", `<html>${"x".repeat(1_000_000)}</html>`, "", "text/html")
  ),
  fault(
    "error-list",
    "400 with its error in a list",
    "failed",
    refused("400 Bad Request", `[${errorBody(400, "INVALID_ARGUMENT")}]`)
  ),
  fault(
    "error-cut",
    "500 with a body that is cut",
    "failed",
    end(() => `${fixedHead(500, "application/json", "500 Internal")}{"error":{"co`)
  ),
  fault(
    "error-garbage",
    "500 with bytes that are no text",
    "failed",
    write(() =>
      Buffer.concat([
        Buffer.from(fixedHead(4, "application/json", "500 Internal")),
        Buffer.from([0xff, 0xfe, 0x00, 0x80])
      ])
    )
  ),
  fault(
    "error-in-200",
    "an error body with 200",
    "failed",
    write(
      (exchange) =>
        fixedHead(errorBody(503, "UNAVAILABLE").length, exchange.answer.contentType) + errorBody(503, "UNAVAILABLE")
    )
  )
]

const fixedBody = (text: string): Behaviour =>
  write(({ answer }) => fixedHead(Buffer.byteLength(text), answer.contentType) + text)

const bodies: ReadonlyArray<Fault> = [
  fault("cut", "the connection closes within the body", "failed", end(cutBytes), { isPlaced: true }),
  fault(
    "cut-reset",
    "the connection is reset within the body",
    "failed",
    (exchange) => {
      exchange.socket.write(cutBytes(exchange), () => setTimeout(() => exchange.socket.resetAndDestroy(), 5))
    },
    { isPlaced: true }
  ),
  fault("stalls", "the body falls silent", "failed", write(cutBytes), { isPlaced: true }),
  fault(
    "length-long",
    "the length is longer than the body, and the connection closes",
    "failed",
    end(
      (exchange) => fixedHead(Buffer.byteLength(bodyOf(exchange)) + 9, exchange.answer.contentType) + bodyOf(exchange)
    ),
    { only: "whole" }
  ),
  fault(
    "length-short",
    "the length is shorter than the body",
    "failed",
    end(
      (exchange) =>
        fixedHead(Math.floor(Buffer.byteLength(bodyOf(exchange)) / 2), exchange.answer.contentType) + bodyOf(exchange)
    ),
    { only: "whole" }
  ),
  fault(
    "no-last-chunk",
    "the last chunk is missing, and the connection closes",
    "either",
    end(({ answer }) => chunkedHead(answer.contentType) + answer.pieces.map(chunk).join(""))
  ),
  fault(
    "bad-chunk",
    "a chunk has a size that is no number",
    "failed",
    end(({ answer }) => `${chunkedHead(answer.contentType)}xyz\r\n${answer.pieces[0]}\r\n`)
  ),
  fault(
    "half-json",
    "the body is half of its JSON, with the right length",
    "failed",
    write((exchange) => {
      const half = bodyOf(exchange).slice(0, Math.floor(bodyOf(exchange).length / 2))
      return fixedHead(Buffer.byteLength(half), exchange.answer.contentType) + half
    })
  ),
  fault("garbage", "the body is no JSON", "failed", fixedBody("%%% garbage")),
  fault(
    "not-utf8",
    "the body is not UTF-8",
    "failed",
    write(({ answer }) =>
      Buffer.concat([Buffer.from(fixedHead(6, answer.contentType)), Buffer.from([0xff, 0xc0, 0x80, 0xfe, 0x0a, 0x0a])])
    )
  ),
  fault("empty", "the body is empty", "failed", fixedBody("")),
  fault("null", "the body is null", "failed", fixedBody("null")),
  fault(
    "wrong-shape",
    "the members of the body have other types",
    "failed",
    fixedBody(
      '{"candidates":7,"content":"x","choices":{},"embeddings":1,"embedding":2,"predictions":"x","totalTokens":"x","input_tokens":"x"}'
    )
  ),
  fault("no-members", "the body is an empty object", "failed", fixedBody("{}")),
  fault(
    "deep",
    "the body is 10,000 lists within each other",
    "failed",
    fixedBody(`${"[".repeat(10_000)}${"]".repeat(10_000)}`)
  ),
  fault(
    "gzip-corrupt",
    "the body is declared as gzip and is none",
    "failed",
    write(
      (exchange) =>
        fixedHead(
          Buffer.byteLength(bodyOf(exchange)),
          exchange.answer.contentType,
          "200 OK",
          "content-encoding: gzip\r\n"
        ) + bodyOf(exchange)
    )
  ),
  fault(
    "gzip",
    "the body is gzip that was not asked for",
    "failed",
    write((exchange) => {
      const packed = gzipSync(bodyOf(exchange))
      return Buffer.concat([
        Buffer.from(fixedHead(packed.length, exchange.answer.contentType, "200 OK", "content-encoding: gzip\r\n")),
        packed
      ])
    })
  ),
  fault(
    "too-large",
    "the body is larger than the limit",
    "failed",
    write(({ answer }) => {
      const large = JSON.stringify({ text: "x".repeat(3_000_000) })
      return fixedHead(large.length, answer.contentType) + large
    }),
    { only: "whole" }
  ),
  fault(
    "other-type",
    "the content type is text/html",
    "whole",
    write(({ answer }) => bytesOf(answer).replace(answer.contentType, "text/html")),
    { only: "whole" }
  )
]

/** This JSON as one more event of the answer's own framing. */
const eventOf = ({ answer }: Exchange, text: string): string => {
  if (answer.contentType !== "text/event-stream") return `,\r\n${text}`
  return `data: ${text}\r\n\r\n`
}

/** An error of the provider as an event of its stream. */
const lateError = (exchange: Exchange): string =>
  exchange.url.includes("streamRawPredict")
    ? 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"as the fault asks"}}\n\n'
    : eventOf(exchange, errorBody(503, "UNAVAILABLE")) +
      (exchange.answer.contentType === "text/event-stream" ? "" : "]")
const raw = (exchange: Exchange, pieces: ReadonlyArray<string>): string =>
  chunkedHead(exchange.answer.contentType) + pieces.map(chunk).join("") + lastChunk
const half = ({ answer }: Exchange): ReadonlyArray<string> =>
  answer.pieces.slice(0, Math.ceil(answer.pieces.length / 2))

const streams: ReadonlyArray<Fault> = (
  [
    fault(
      "no-end",
      "the stream ends after half of its events",
      "failed",
      write((exchange) => raw(exchange, half(exchange)))
    ),
    fault(
      "no-events",
      "the stream ends before its first event",
      "failed",
      write((exchange) => raw(exchange, []))
    ),
    fault(
      "late-error",
      "an error event comes after half of the events",
      "failed",
      write((exchange) => raw(exchange, [...half(exchange), lateError(exchange)]))
    ),
    fault(
      "late-raw-error",
      "a bare error body comes after half of the events",
      "failed",
      write((exchange) => raw(exchange, [...half(exchange), errorBody(500, "INTERNAL")]))
    ),
    fault(
      "late-garbage",
      "an event that is no JSON comes after half of the events",
      "failed",
      write((exchange) => raw(exchange, [...half(exchange), eventOf(exchange, '{"candidates":[')]))
    ),
    fault("drips", "events come forever, each within the limit of silence", "failed", (exchange) => {
      exchange.socket.write(chunkedHead(exchange.answer.contentType) + chunk(exchange.answer.pieces[0] ?? ""))
      const timer = setInterval(() => exchange.socket.write(chunk(": wait\r\n\r\n")), 50)
      exchange.socket.on("close", () => clearInterval(timer))
    }),
    fault(
      "one-chunk",
      "all events come in one chunk",
      "whole",
      write(({ answer }) => chunkedHead(answer.contentType) + chunk(answer.pieces.join("")) + lastChunk)
    ),
    fault(
      "single-bytes",
      "every byte is a chunk",
      "whole",
      write(({ answer }) =>
        Buffer.concat([
          Buffer.from(chunkedHead(answer.contentType)),
          ...[...Buffer.from(answer.pieces.join(""))].map((byte) =>
            Buffer.concat([Buffer.from("1\r\n"), Buffer.from([byte]), Buffer.from("\r\n")])
          ),
          Buffer.from(lastChunk)
        ])
      )
    ),
    fault(
      "retry-lines",
      "comments, `retry:` lines and empty events stand between the events",
      "whole",
      write((exchange) =>
        raw(
          exchange,
          exchange.answer.pieces.map((piece) =>
            piece.includes("data:") ? `: note\r\n\r\nretry: 5\r\n\r\n${piece}` : piece
          )
        )
      )
    ),
    fault(
      "large-event",
      "an event is larger than the limit",
      "failed",
      write((exchange) =>
        raw(exchange, [...half(exchange), eventOf(exchange, JSON.stringify({ text: "x".repeat(3_000_000) }))])
      )
    ),
    fault(
      "after-end",
      "an event follows the end",
      "either",
      write((exchange) => raw(exchange, [...exchange.answer.pieces, exchange.answer.pieces[0] ?? ""]))
    )
  ] as const
).map((one) => ({ ...one, only: "stream" as const }))

const foreign: ReadonlySet<string> = new Set(["late-garbage"])

export const faults: ReadonlyArray<Fault> = [...connections, ...answers, ...bodies, ...streams].map((one) =>
  foreign.has(one.word) ? { ...one, isForeign: true } : one
)

interface TokenFault {
  readonly word: string
  readonly sentence: string
  readonly behave: Behaviour
}

const tokenReply = (body: string, line = "200 OK"): Behaviour =>
  write(() => fixedHead(body.length, "application/json", line) + body)
const token = (fields: object): string => JSON.stringify({ token_type: "Bearer", ...fields })

/** Faults of the token endpoint; without a token every request fails. */
export const tokenFaults: ReadonlyArray<TokenFault> = [
  { word: "down", sentence: "resets every connection", behave: ({ socket }) => void socket.resetAndDestroy() },
  { word: "silent", sentence: "never answers", behave: () => undefined },
  { word: "status-500", sentence: "answers 500", behave: tokenReply("{}", "500 Internal") },
  { word: "html", sentence: "answers HTML with 200", behave: tokenReply("<html></html>") },
  { word: "cut", sentence: "cuts its answer", behave: end(() => `${fixedHead(300, "application/json")}{"access_`) },
  { word: "no-token", sentence: "answers without a token", behave: tokenReply("{}") },
  {
    word: "empty-token",
    sentence: "answers an empty token",
    behave: tokenReply(token({ access_token: "", expires_in: 3_599 }))
  },
  {
    word: "line-token",
    sentence: "answers a token with a line break",
    behave: tokenReply(token({ access_token: "a\r\nb: c", expires_in: 3_599 }))
  },
  {
    word: "invalid-grant",
    sentence: "refuses the credential",
    behave: tokenReply('{"error":"invalid_grant"}', "400 Bad Request")
  }
]
