// Tests the gateway's routes mounted in an application's router, on a socket: the application's middleware applies.
// Must not reach the network beyond its own socket.
import { createServer } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { afterEach, beforeEach, expect, it } from "vitest"
import { HttpApi } from "../../src/http/HttpApi.ts"
import { within } from "../support/eventually.ts"
import { fullChunks, hello, key, type Script, script, services } from "./face.ts"

/** The statuses the application saw. */
let seen: Array<number> = []

/** What an application does to every answer of its server. */
const branded = HttpRouter.middleware(
  (app) =>
    Effect.map(app, (answer) => {
      seen.push(answer.status)
      return HttpServerResponse.setHeader(answer, "x-brand", "acme")
    }),
  { global: true }
)

const app = (scripted: Script) =>
  HttpRouter.serve(
    Layer.mergeAll(HttpApi.layer, branded, HttpRouter.cors({ allowedOrigins: ["https://app.example"] })),
    {
      disableLogger: true,
      disableListenLog: true
    }
  ).pipe(
    Layer.provide(services(scripted, { pingMillis: 20 })),
    Layer.provideMerge(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 })),
    Layer.orDie
  )

let scope = Scope.makeUnsafe()
let scripted = script()
let origin = ""
beforeEach(async () => {
  seen = []
  scope = Scope.makeUnsafe()
  scripted = script()
  const { address } = Context.get(
    await Effect.runPromise(Layer.buildWithScope(app(scripted), scope)),
    HttpServer.HttpServer
  )
  origin = `http://127.0.0.1:${"port" in address ? address.port : 0}`
})
afterEach(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const post = (body: object, signal?: AbortSignal) =>
  fetch(`${origin}/v1/chat/completions`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-gateway-api-key": key,
      "x-request-id": "r1",
      origin: "https://app.example"
    },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal })
  })

const told = ({ headers, status }: Response) => [
  status,
  ...["x-brand", "access-control-allow-origin", "x-request-id", "x-gateway-provider"].map((name) => headers.get(name))
]

it("mounted routes: an answer passes the application's middleware", async () => {
  const answer = await post(hello)
  expect([...told(answer), JSON.parse(await answer.text()).object]).toEqual([
    200,
    "acme",
    "https://app.example",
    "r1",
    "gemini",
    "chat.completion"
  ])
  expect(seen).toEqual([200])
})

it("mounted routes: a refusal passes the application's middleware", async () => {
  const answer = await post({ ...hello, messages: [] })
  expect([...told(answer), JSON.parse(await answer.text()).error.code]).toEqual([
    400,
    "acme",
    "https://app.example",
    "r1",
    null,
    "empty_array"
  ])
  expect(seen).toEqual([400])
})

/** A stream that sends one chunk, and the rest once resumed; and whether its client left. */
const held = () => {
  const go = Deferred.makeUnsafe<void>()
  const left = Deferred.makeUnsafe<boolean>()
  scripted.chunks = Stream.concat(
    Stream.fromIterable(fullChunks.slice(0, 1)),
    Stream.fromEffect(Deferred.await(go)).pipe(Stream.flatMap(() => Stream.fromIterable(fullChunks.slice(3, 4))))
  ).pipe(Stream.ensuring(Deferred.succeed(left, true)))
  return { go: Deferred.succeed(go, undefined), left: Deferred.await(left) }
}

it("mounted routes: a stream passes, and comment lines bridge its silence", async () => {
  const { go } = held()
  const answer = await post({ ...hello, stream: true })
  const text = (answer.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()).getReader()
  let all = ""
  const pinged = async () => {
    while (all.split(": ping\n\n").length < 3)
      all += (await text.read()).value ?? expect.fail(`the stream ended after ${all}`)
  }
  await within("two pings", pinged())
  await Effect.runPromise(go)
  for (let part = await text.read(); !part.done; part = await text.read()) all += part.value
  expect(told(answer)).toEqual([200, "acme", "https://app.example", "r1", "gemini"])
  const frames = all.split("\n\n").filter((frame) => frame !== ": ping")
  expect([frames.length, frames.at(-2), frames.at(-1)]).toEqual([4, "data: [DONE]", ""])
})

it("mounted routes: a stream ends when its client leaves", async () => {
  const { left } = held()
  const leaving = new AbortController()
  await post({ ...hello, stream: true }, leaving.signal)
  leaving.abort()
  expect(await Effect.runPromise(left)).toBe(true)
})
