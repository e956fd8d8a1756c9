// The HTTP calls of the bare proxy over an undici Pool: whole answers, and streams translated piece by piece.
// Must not know dialects.
import type { ServerResponse } from "node:http"
import { type Dispatcher, Pool } from "undici"

export interface BareProxyHttp {
  /** Reads one answer whole and sends the result of `answer`. */
  readonly whole: (
    options: Dispatcher.DispatchOptions,
    response: ServerResponse,
    answer: (reply: Buffer) => string | Buffer
  ) => void
  /** Translates each read of a stream to text as it arrives, with back-pressure in both directions. `last` ends it. */
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

export const bareProxyHttp = (upstream: string): BareProxyHttp => {
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

/** The text of the complete frames received so far. The rest is kept. */
export const framesOf = (separator: string): ((bytes: Buffer) => ReadonlyArray<string>) => {
  const decoder = new TextDecoder()
  let held = ""
  return (bytes) => {
    const frames = (held + decoder.decode(bytes, { stream: true })).split(separator)
    held = frames.pop() ?? ""
    return frames
  }
}
