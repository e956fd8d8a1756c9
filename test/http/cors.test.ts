// Tests requests from pages of other origins (CORS): refused unless the operator lists the origin.
// Must not depend on any particular operation.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { describe, expect, it } from "vitest"
import { CorsOrigins, firstOfHour } from "../../src/http/edge/Cors.ts"
import { HttpApi } from "../../src/http/HttpApi.ts"
import { Server } from "../../src/http/Server.ts"
import { hello, key, script, services } from "./face.ts"

type Send = (path: string, init: RequestInit) => Promise<Response>

const page = "https://app.example"
const chat = "/v1/chat/completions"

/** What a browser looks at before it shows an answer to a page. */
const told = ({ headers, status }: Response) => [
  status,
  ...["access-control-allow-origin", "access-control-expose-headers", "vary"].map((name) => headers.get(name))
]

/** Does this with a gateway on a socket and with one without, and expects the same of both. */
const both = async <A>(origins: ReadonlyArray<string>, work: (send: Send) => Promise<A>): Promise<A> => {
  const allowed = Layer.succeed(CorsOrigins, origins)
  const face = HttpApi.webHandler(services(script()).pipe(Layer.provideMerge(allowed)))
  const without = await work((path, init) => face.handler(new Request(`http://gateway${path}`, init)))
  await face.dispose()
  const served = Layer.build(
    Server.layer({ host: "127.0.0.1", port: 0 }).pipe(
      Layer.provide(services(script(), { readyDelayMillis: 0 })),
      Layer.provide(allowed)
    )
  )
  const over = await Effect.runPromise(
    Effect.scoped(
      Effect.flatMap(served, (context) => {
        const { address } = Context.get(context, HttpServer.HttpServer)
        return Effect.promise(() =>
          work((path, init) => fetch(`http://127.0.0.1:${"port" in address ? address.port : 0}${path}`, init))
        )
      })
    )
  )
  expect(over).toEqual(without)
  return over
}

const post = (send: Send, origin: string, body: object = hello): Promise<Response> =>
  send(chat, {
    method: "POST",
    headers: { "content-type": "application/json", "x-gateway-api-key": key, origin },
    body: JSON.stringify(body)
  })

const asking = (send: Send, origin: string, path = chat): Promise<Response> =>
  send(path, {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "content-type,x-gateway-api-key"
    }
  })

describe("pages of other origins", () => {
  it("CORS: other origins may call nothing by default", async () => {
    expect(await both([], async (send) => [told(await post(send, page)), told(await asking(send, page))])).toEqual([
      [200, null, null, null],
      [405, null, null, null]
    ])
  })

  it("CORS: a listed origin may read answers, streams, refusals and unknown paths", async () => {
    const permitted = [page, "*", "Origin"]
    expect(
      await both(["https://other.example", page], async (send) => {
        const stream = await post(send, page, { ...hello, stream: true })
        const answers = [
          await post(send, page),
          stream,
          await post(send, page, { messages: 1 }),
          await send("/v1/none", { headers: { origin: page } })
        ]
        await Promise.all(answers.map((answer) => answer.text()))
        return answers.map(told)
      })
    ).toEqual([
      [200, ...permitted],
      [200, ...permitted],
      [400, ...permitted],
      [404, ...permitted]
    ])
  })

  it("CORS: a preflight lists what a listed origin may send", async () => {
    expect(
      await both([page], async (send) => {
        const answer = await asking(send, page)
        return [
          answer.status,
          ...["origin", "methods", "headers", "credentials"].map((name) =>
            answer.headers.get(`access-control-allow-${name}`)
          ),
          answer.headers.get("access-control-max-age")
        ]
      })
    ).toEqual([204, page, "GET, POST, DELETE", "*, authorization", null, "600"])
  })

  it("CORS: a listed origin reads nothing of other origins, the admin API or health", async () => {
    expect(
      await both([page], async (send) => [
        told(await post(send, "https://evil.example")),
        told(await asking(send, "https://evil.example")),
        told(await asking(send, page, "/admin/v1/keys")),
        told(await send("/health/live", { headers: { origin: page } }))
      ])
    ).toEqual([
      [200, null, null, null],
      [405, null, null, null],
      [405, null, null, null],
      [200, null, null, null]
    ])
  })

  it("CORS: a refused origin is a line of the log, once an hour, with or without a list", async () => {
    const linesOf = async (origins: ReadonlyArray<string>) => {
      const lines: Array<unknown> = []
      const logger = Logger.make(({ logLevel, message }) => void lines.push([logLevel, message]))
      const face = HttpApi.webHandler(
        services(script()).pipe(
          Layer.provideMerge(Layer.succeed(CorsOrigins, origins)),
          Layer.provideMerge(Logger.layer([logger]))
        )
      )
      const send: Send = (path, init) => face.handler(new Request(`http://gateway${path}`, init))
      await asking(send, page)
      await asking(send, page)
      await asking(send, "https://other.example")
      await asking(send, page, "/admin/v1/keys")
      await post(send, page)
      await face.dispose()
      return lines
    }
    const line = (origin: string) => [
      "Warn",
      [
        `A page of "${origin}" may not call this gateway: its origin is not in server.cors. Add it there to let its pages call /v1.`
      ]
    ]
    const other = line("https://other.example")
    expect([await linesOf([]), await linesOf([page]), await linesOf(["*"])]).toEqual([[line(page), other], [other], []])
  })

  it("CORS: the log names at most 32 refused origins an hour", () => {
    const isFirst = firstOfHour()
    const count = (millis: number) =>
      Array.from({ length: 100 }, (_, at) => isFirst(String(at), millis)).filter(Boolean).length
    expect([count(0), count(1), count(60 * 60 * 1000)]).toEqual([32, 0, 32])
  })

  it("CORS: a star allows every origin", async () => {
    expect(await both(["*"], async (send) => told(await post(send, page)))).toEqual([200, "*", "*", null])
  })

  it("CORS: callers without an origin are unaffected", async () => {
    expect(
      await both([page], async (send) => told(await send("/v1/models", { headers: { "x-gateway-api-key": key } })))
    ).toEqual([200, null, null, null])
  })
})
