// The simulated provider: a raw server that answers soundly, or as the fault named in the model id asks.
// Must not know the gateway or what is proved. Loopback only.
import { createServer, type Socket } from "node:net"
import { listen } from "../../bench/contestants.ts"
import { type Answer, type Counts, soundAnswer } from "./answers.ts"

export interface Exchange {
  readonly socket: Socket
  readonly url: string
  readonly body: string
  /** The answer of a provider without faults. */
  readonly answer: Answer
  /** How many calls had the same model id before. */
  readonly before: number
  /** The place of a fault within the answer: at least 0, below 1. */
  readonly place: number
}

/** Answers one call. */
export type Behaviour = (exchange: Exchange) => void

export interface Call {
  /** The whole name of the model with its fault; empty for a call without one. */
  readonly name: string
  /** The word of the model id that names the fault; undefined for a sound answer. */
  readonly word: string | undefined
  /** When its request had been read, of `performance.now()`. */
  readonly at: number
  readonly counts: Counts
}

export interface Provider {
  readonly url: string
  readonly calls: Array<Call>
  /** Sockets that are open. */
  readonly open: () => number
  readonly close: () => Promise<void>
}

/** `gemini-2.5-flash-rel.cut-body.37.12` has the fault `cut-body`, at 37 hundredths, and 12 as its own number. */
export const modelWith = (model: string, word: string, percent: number, n: number): string =>
  `${model}-rel.${word}.${percent}.${n}`

const pattern = /-rel\.([a-z0-9-]+)\.(\d+)\.(\d+)/

export const fixedHead = (length: number, contentType: string, status = "200 OK", more = ""): string =>
  `HTTP/1.1 ${status}\r\ncontent-type: ${contentType}\r\n${more}content-length: ${length}\r\n\r\n`

export const chunkedHead = (contentType: string): string =>
  `HTTP/1.1 200 OK\r\ncontent-type: ${contentType}\r\ntransfer-encoding: chunked\r\n\r\n`

export const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
export const lastChunk = "0\r\n\r\n"

/** All bytes of a sound answer. */
export const bytesOf = ({ contentType, isStream, pieces }: Answer): string =>
  isStream
    ? chunkedHead(contentType) + pieces.map(chunk).join("") + lastChunk
    : fixedHead(Buffer.byteLength(pieces.join("")), contentType) + pieces.join("")

export const soundly: Behaviour = ({ answer, socket }) => void socket.write(bytesOf(answer))

interface Read {
  readonly url: string
  readonly body: string
  readonly rest: Buffer
}

const headEnd = Buffer.from("\r\n\r\n")

/** Where the head of the first request ends, and its body; undefined while the head is not whole. */
const extentOf = (bytes: Buffer): { readonly from: number; readonly to: number } | undefined => {
  const end = bytes.indexOf(headEnd)
  if (end < 0) return undefined
  const length = Number(/^content-length: (\d+)/im.exec(bytes.toString("latin1", 0, end))?.[1] ?? 0)
  const from = end + headEnd.length
  return { from, to: from + length }
}

/** The first whole request of these bytes; undefined while it is not whole. */
const readRequest = (bytes: Buffer): Read | undefined => {
  const extent = extentOf(bytes)
  if (extent === undefined || bytes.length < extent.to) return undefined
  const { from, to } = extent
  const line = bytes.toString("latin1", 0, bytes.indexOf("\r\n"))
  return { url: line.split(" ")[1] ?? "", body: bytes.toString("utf8", from, to), rest: bytes.subarray(to) }
}

/** Gives each whole request of a connection. The pieces of one that is not whole are not joined again for each piece. */
const requestsOf = (onRequest: (read: Read) => void): ((piece: Buffer) => void) => {
  let pieces: Array<Buffer> = []
  let size = 0
  let wanted = 0
  return (piece) => {
    pieces.push(piece)
    size += piece.length
    if (size < wanted) return
    let seen: Buffer = Buffer.concat(pieces)
    for (let read = readRequest(seen); read !== undefined; read = readRequest(seen)) {
      seen = read.rest
      onRequest(read)
    }
    pieces = [seen]
    size = seen.length
    wanted = extentOf(seen)?.to ?? 0
  }
}

const accessToken = JSON.stringify({ access_token: "reliability-token", expires_in: 3_599, token_type: "Bearer" })

const tokenPath = /^\/token\/([a-z0-9-]+)$/
const none: Counts = { input: 0, output: 0 }

interface Providing {
  /** Behaviours by the word in the model id. */
  readonly behaviours?: Readonly<Record<string, Behaviour>>
  /** Every call without a word; `soundly` unless set. */
  readonly usually?: Behaviour
  /** Behaviours of the token endpoint by the last word of its path. */
  readonly tokens?: Readonly<Record<string, Behaviour>>
  /** What a call bills; one and one unless set. */
  readonly counts?: (url: string, body: string) => Counts
}

export const startProvider = async (providing: Providing = {}): Promise<Provider> => {
  const { behaviours = {}, counts, tokens = {}, usually = soundly } = providing
  const calls: Array<Call> = []
  const sockets = new Set<Socket>()
  const times = new Map<string, number>()
  const answer = (socket: Socket, { body, url }: Read): void => {
    const asked = decodeURIComponent(url)
    const [, tokenWord] = tokenPath.exec(asked) ?? []
    if (tokenWord !== undefined) {
      const issued: Answer = { contentType: "application/json", pieces: [accessToken], isStream: false, counts: none }
      const behave = tokens[tokenWord] ?? soundly
      return behave({ socket, url: asked, body, answer: issued, before: 0, place: 0 })
    }
    const [name = "", word, percent] = pattern.exec(asked) ?? pattern.exec(body) ?? []
    const billed = counts?.(asked, body) ?? { input: 1, output: 1 }
    const before = times.get(name) ?? 0
    if (name !== "") times.set(name, before + 1)
    const sound = soundAnswer(asked, body, billed)
    calls.push({ name, word, at: performance.now(), counts: sound.counts })
    const behaviour = word === undefined ? usually : (behaviours[word] ?? soundly)
    behaviour({ socket, url: asked, body, answer: sound, before, place: Number(percent ?? 0) / 100 })
  }
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.on("error", () => undefined)
    socket.on("close", () => sockets.delete(socket))
    socket.on(
      "data",
      requestsOf((read) => answer(socket, read))
    )
  })
  const port = await listen(server)
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    open: () => sockets.size,
    close: () => {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    }
  }
}
