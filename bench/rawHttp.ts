// The calls of the bare proxy: one answer read whole, or a stream turned piece by piece, over an undici Pool.
// It must not know dialects.
import type { ServerResponse } from "node:http"
import { type Dispatcher, Pool } from "undici"

export interface RawHttp {
  /** Reads one answer whole and sends what `answer` makes of it. */
  readonly whole: (
    options: Dispatcher.DispatchOptions,
    response: ServerResponse,
    answer: (reply: Buffer) => string | Buffer
  ) => void
  /** Turns each read of a stream into text as it comes, with backpressure both ways; `last` ends it. */
  readonly streamed: (
    options: Dispatcher.DispatchOptions,
    response: ServerResponse,
    turn: (bytes: Buffer) => string | Buffer,
    last?: string
  ) => void
}

const nothing = (): void => undefined

const fail = (response: ServerResponse): void => {
  if (response.headersSent) response.destroy()
  else {
    response.statusCode = 502
    response.end()
  }
}

export const rawHttp = (upstream: string): RawHttp => {
  const pool = new Pool(upstream, { connections: null, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 })
  return {
    whole: (options, response, answer) => {
      const parts: Array<Buffer> = []
      pool.dispatch(options, {
        onRequestStart: nothing,
        onResponseStart: nothing,
        onResponseData: (_controller, chunk) => {
          parts.push(chunk)
        },
        onResponseEnd: () => {
          const out = Buffer.from(answer(Buffer.concat(parts)))
          response.writeHead(200, { "content-type": "application/json", "content-length": out.length })
          response.end(out)
        },
        onResponseError: () => fail(response)
      })
    },
    streamed: (options, response, turn, last) => {
      pool.dispatch(options, {
        onRequestStart: (controller) => {
          response.on("close", () => controller.abort(new Error("client left")))
          response.on("drain", () => controller.resume())
        },
        onResponseStart: () => {
          response.writeHead(200, {
            "content-type": "text/event-stream; charset=utf-8",
            "cache-control": "no-cache, no-transform"
          })
        },
        onResponseData: (controller, bytes) => {
          const out = turn(bytes)
          if (out.length > 0 && !response.write(out)) controller.pause()
        },
        onResponseEnd: () => {
          response.end(last)
        },
        onResponseError: () => fail(response)
      })
    }
  }
}

/** The text of whole frames in what has come so far; the rest is held. */
export const framesOf = (separator: string): ((bytes: Buffer) => ReadonlyArray<string>) => {
  const decoder = new TextDecoder()
  let held = ""
  return (bytes) => {
    const frames = (held + decoder.decode(bytes, { stream: true })).split(separator)
    held = frames.pop() ?? ""
    return frames
  }
}
