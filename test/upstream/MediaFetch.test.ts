// Tests media fetches over real sockets from misbehaving servers; the test's transport redirects calls to loopback.
// Must not reach the network beyond its own sockets.
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import type { RequestListener } from "node:http"
import { gzipSync } from "node:zlib"
import { defaultLimits, Limits, type LimitValues } from "../../src/domain/Limits.ts"
import type { FetchedMedia } from "../../src/translate/Translator.ts"
import { HostAddresses, MediaFetch, mediaFetchLayer } from "../../src/upstream/MediaFetch.ts"
import type { TransportRequest } from "../../src/upstream/HttpExchange.ts"
import { Transport } from "../../src/upstream/Transport.ts"
import { closedPort, httpServer, rawServer } from "./evilServer.ts"

const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3, 4])
const image = "https://media.example/a.png"
const fetched = (data: Buffer): FetchedMedia => ({
  _tag: "Fetched",
  contentType: "image/png",
  data: data.toString("base64")
})
const failed = (message: string): FetchedMedia => ({ _tag: "Failed", message })

interface World {
  /** The address that receives every call. */
  readonly to: string
  readonly addresses?: HostAddresses
  readonly limits?: Partial<LimitValues>
  readonly calls?: Array<TransportRequest>
}

/** The real transport, except that a call to a checked address goes to loopback in clear text. */
const redirected = ({ calls = [], to }: World): Layer.Layer<Transport> =>
  Layer.effect(
    Transport,
    Effect.map(Transport, (real): Transport["Service"] => {
      const turned = (request: TransportRequest): TransportRequest => {
        calls.push(request)
        const { host, pathname, search } = new URL(request.url)
        return {
          ...request,
          url: `${to}${pathname}${search}`,
          addresses: ["127.0.0.1"],
          headers: { ...request.headers, host }
        }
      }
      return {
        open: (request) => real.open(turned(request)),
        collect: (request, bounds) => real.collect(turned(request), bounds)
      }
    })
  ).pipe(Layer.provide(Transport.layer))

const fetching = (urls: ReadonlyArray<string>, world: World, millis = 60_000) =>
  Effect.flatMap(MediaFetch, (fetch) => (fetch === undefined ? Effect.die("off") : fetch(urls, millis))).pipe(
    Effect.provide(
      mediaFetchLayer.pipe(
        Layer.provide(redirected(world)),
        Layer.provide(Layer.succeed(HostAddresses, world.addresses ?? (() => Effect.succeed(["93.184.216.34"])))),
        Layer.provide(Layer.succeed(Limits, { ...defaultLimits, ...world.limits }))
      )
    )
  )

const one = (world: World, url = image) => Effect.map(fetching([url], world), (all) => all.get(url))

/** The outcome of one image from this server. */
const from = (answer: RequestListener, world: Omit<World, "to"> = {}) =>
  Effect.flatMap(httpServer(answer), ({ url }) => one({ ...world, to: url }))

const typed =
  (bytes: Buffer, type = "image/png"): RequestListener =>
  (_, response) =>
    response.writeHead(200, type === "" ? {} : { "content-type": type }).end(bytes)

describe("accepted media fetches", () => {
  it.live("media fetch: returns the bytes, with a call that has no credential and no client header (TH7)", () =>
    Effect.gen(function* () {
      const heads: Array<unknown> = []
      const calls: Array<TransportRequest> = []
      const server = yield* httpServer((request, response) => {
        heads.push([request.method, request.url, request.headers])
        typed(png)(request, response)
      })
      const url = "https://Media.Example/a%2Fb.png?X-Sig=1#part"
      expect(yield* one({ to: server.url, calls }, url)).toEqual(fetched(png))
      expect(heads).toEqual([
        [
          "GET",
          "/a%2Fb.png?X-Sig=1",
          {
            host: "media.example",
            connection: "close",
            "user-agent": "model-gateway/0.1.0",
            "accept-encoding": "identity"
          }
        ]
      ])
      expect(calls.map(({ auth, body, url: called, addresses }) => ({ auth, body, called, addresses }))).toEqual([
        { auth: {}, body: undefined, called: "https://media.example/a%2Fb.png?X-Sig=1", addresses: ["93.184.216.34"] }
      ])
    })
  )
  it.live("media fetch: accepts types of images, documents and unknown content (TH7)", () =>
    Effect.gen(function* () {
      for (const type of [
        "image/png; x=y",
        "application/pdf",
        "text/html; charset=utf-8",
        "application/octet-stream",
        "binary/octet-stream",
        "",
        "nonsense"
      ]) {
        expect(yield* from(typed(png, type))).toEqual({
          _tag: "Fetched",
          contentType: type === "" ? undefined : type,
          data: png.toString("base64")
        })
      }
    })
  )
  it.live("media fetch: fetches each of several URLs separately (TH7)", () =>
    Effect.gen(function* () {
      const server = yield* httpServer((request, response) =>
        request.url === "/b.png" ? void response.writeHead(404).end() : typed(png)(request, response)
      )
      const urls = ["https://a.example/a.png", "https://a.example/b.png", "https://a.example/c.png"]
      expect([...(yield* fetching(urls, { to: server.url }))]).toEqual([
        [urls[0], fetched(png)],
        [urls[1], failed("This URL answers with status 404: it must be readable without a login.")],
        [urls[2], fetched(png)]
      ])
    })
  )
})

describe("refused media fetches", () => {
  const nobody = failed("The host of this URL has no public address.")
  it.live.each<readonly [string, ReadonlyArray<string>]>([
    ["no address", []],
    ["loopback", ["127.0.0.1"]],
    ["the metadata server", ["169.254.169.254"]],
    ["one private address among public ones", ["93.184.216.34", "10.0.0.1"]],
    ["IPv6 loopback", ["::1"]],
    ["IPv4 inside IPv6", ["::ffff:127.0.0.1"]],
    ["translated IPv4", ["64:ff9b::7f00:1"]],
    ["a unique local address", ["93.184.216.34", "fd00:ec2::254"]]
  ])("media fetch: refuses a host with %s (TH7)", ([, addresses]) =>
    Effect.gen(function* () {
      const calls: Array<TransportRequest> = []
      expect(yield* one({ to: "http://127.0.0.1:1", calls, addresses: () => Effect.succeed(addresses) })).toEqual(
        nobody
      )
      expect(calls).toEqual([])
    })
  )
  it.live("media fetch: refuses a URL that is not public by its spelling, without a look-up or a call (TH7)", () =>
    Effect.gen(function* () {
      const calls: Array<TransportRequest> = []
      const asked: Array<string> = []
      const addresses: HostAddresses = (host) => {
        asked.push(host)
        return Effect.succeed(["93.184.216.34"])
      }
      const urls = [
        "http://media.example/a.png",
        "https://127.0.0.1/a.png",
        "https://[::1]/a.png",
        "https://[::ffff:169.254.169.254]/a.png",
        "https://0x7f.1/a.png",
        "https://2852039166/a.png",
        "https://user:pw@media.example/a.png",
        "https://media.example:8443/a.png",
        "https://metadata.google.internal/a.png",
        "file:///etc/passwd",
        "x"
      ]
      const all = yield* fetching(urls, { to: "http://127.0.0.1:1", calls, addresses })
      expect([...all]).toEqual(urls.map((url) => [url, nobody]))
      expect([calls, asked]).toEqual([[], []])
    })
  )
  it.live("media fetch: accepts a URL with a public address, which is called without a look-up (TH7)", () =>
    Effect.gen(function* () {
      const server = yield* httpServer(typed(png))
      const calls: Array<TransportRequest> = []
      const addresses: HostAddresses = () => Effect.die("asked")
      const urls = ["https://93.184.216.34/a.png", "https://[2606:4700::1111]/a.png"]
      yield* fetching(urls, { to: server.url, calls, addresses })
      expect(calls.map((call) => call.addresses).sort()).toEqual([["2606:4700::1111"], ["93.184.216.34"]])
    })
  )
  it.live("media fetch: calls the checked address of a rebinding name (TH7)", () =>
    Effect.gen(function* () {
      const server = yield* httpServer(typed(png))
      const calls: Array<TransportRequest> = []
      let asked = 0
      const addresses: HostAddresses = () => Effect.sync(() => (asked++ % 2 === 0 ? ["93.184.216.34"] : ["127.0.0.1"]))
      expect(yield* one({ to: server.url, calls, addresses })).toEqual(fetched(png))
      expect([asked, calls.map((call) => call.addresses)]).toEqual([1, [["93.184.216.34"]]])
    })
  )
  it.live("media fetch: refuses a redirect to any location (TH7)", () =>
    Effect.gen(function* () {
      for (const location of ["https://media.example/b.png", "http://169.254.169.254/latest/meta-data", "//x"]) {
        const calls: Array<TransportRequest> = []
        expect(yield* from((_, response) => void response.writeHead(302, { location }).end(), { calls })).toEqual(
          failed("This URL answers with a redirect, which is not followed: send the address it leads to.")
        )
        expect(calls.length).toBe(1)
      }
    })
  )
  it.live("media fetch: refuses statuses other than 200, including 204 and 206 (TH7)", () =>
    Effect.gen(function* () {
      for (const status of [204, 206, 401, 403, 404, 500]) {
        expect(yield* from((_, response) => void response.writeHead(status).end("x"))).toEqual(
          failed(`This URL answers with status ${status}: it must be readable without a login.`)
        )
      }
    })
  )
  it.live("media fetch: refuses other types and an empty body (TH7)", () =>
    Effect.gen(function* () {
      for (const type of [
        "image/svg+xml",
        "image/tiff",
        "audio/wav",
        "video/mp4",
        "application/zip",
        "application/msword"
      ]) {
        expect(yield* from(typed(png, type))).toEqual(failed("This URL does not hold an image, a PDF or text."))
      }
      expect(yield* from(typed(Buffer.alloc(0)))).toEqual(failed("This URL holds nothing."))
    })
  )
  it.live("media fetch: refuses a compressed response, which may be larger than it appears (TH7)", () =>
    Effect.gen(function* () {
      expect(
        yield* from(
          (_, response) =>
            void response.writeHead(200, { "content-type": "image/png", "content-encoding": "gzip" }).end(gzipSync(png))
        )
      ).toEqual(failed("The host of this URL answered in a content encoding that was not asked for."))
    })
  )
  it.live("media fetch: refuses hosts that refuse the connection, break off or do not speak HTTP (TH7)", () =>
    Effect.gen(function* () {
      expect(yield* one({ to: yield* closedPort })).toEqual(failed("The host of this URL refused the connection."))
      const raw = (text: string) =>
        Effect.flatMap(
          rawServer((socket) => void socket.end(text)),
          ({ url }) => one({ to: url })
        )
      expect(yield* raw("HTTP/1.1 200 OK\r\ncontent-type: image/png\r\ncontent-length: 9\r\n\r\nabc")).toEqual(
        failed("The host of this URL closed the connection before its answer was complete.")
      )
      expect(yield* raw("SSH-2.0-x\r\n\r\n")).toEqual(failed("The host of this URL did not answer in valid HTTP."))
    })
  )
})

describe("limits of media fetches", () => {
  const large = failed("The media at the URLs of a request may have 20 bytes in all; these have more.")
  const endless =
    (written: { bytes: number }): RequestListener =>
    (_, response) => {
      response.writeHead(200, { "content-type": "image/png" })
      const more = (): void => {
        written.bytes += 65_536
        if (response.write(Buffer.alloc(65_536))) setImmediate(more)
        else response.once("drain", more)
      }
      more()
    }
  it.live("media fetch: a body declared too large is not read, and an endless one is cut (TH7)", () =>
    Effect.gen(function* () {
      expect(yield* from(typed(Buffer.alloc(21)), { limits: { mediaBytes: 20 } })).toEqual(large)
      expect(
        yield* from(
          (_, response) => {
            response.writeHead(200, { "content-type": "image/png" }).write(Buffer.alloc(21))
          },
          { limits: { mediaBytes: 20 } }
        )
      ).toEqual(large)
      const server = yield* httpServer(endless({ bytes: 0 }))
      expect(yield* one({ to: server.url, limits: { mediaBytes: 20 } })).toEqual(large)
      yield* Effect.promise(() => server.closed(1))
      expect(server.open()).toBe(0)
    })
  )
  it.live("media fetch: the size of all media of a request together is limited (TH7)", () =>
    Effect.gen(function* () {
      const server = yield* httpServer(typed(Buffer.alloc(12)))
      const urls = ["https://a.example/a.png", "https://a.example/b.png"]
      const all = yield* fetching(urls, { to: server.url, limits: { mediaBytes: 20 } })
      expect([...all.values()].filter(({ _tag }) => _tag === "Failed")).toEqual([large])
    })
  )
  it.live(
    "media fetch: the size for all requests together is limited, and a request over it is refused with a retry delay (TH7)",
    () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(from(typed(Buffer.alloc(30)), { limits: { mediaInFlightBytes: 20 } }))
        expect(error).toMatchObject({ _tag: "Busy", code: "overloaded", retryAfterMillis: 1_000 })
      })
  )
  it.live("media fetch: the size limit counts bytes in flight only: delivered media no longer count (TH7)", () =>
    Effect.gen(function* () {
      const server = yield* httpServer(typed(Buffer.alloc(15)))
      const fetch = yield* MediaFetch
      for (const url of [image, image, image]) {
        const all = fetch === undefined ? undefined : yield* fetch([url], 60_000)
        expect(all?.get(url)?._tag).toBe("Fetched")
      }
      expect(server.accepted()).toBe(0)
    }).pipe(
      Effect.provide(
        mediaFetchLayer.pipe(
          Layer.provide(Transport.layerTest(() => ({ status: 200, chunks: [Buffer.alloc(15)] }))),
          Layer.provide(Layer.succeed(HostAddresses, () => Effect.succeed(["93.184.216.34"]))),
          Layer.provide(Layer.succeed(Limits, { ...defaultLimits, mediaInFlightBytes: 20 }))
        )
      )
    )
  )
  it.live("media fetch: the number of URLs of one request is limited (TH7)", () =>
    Effect.gen(function* () {
      const calls: Array<TransportRequest> = []
      const urls = ["https://a.example/a.png", "https://a.example/b.png"]
      const all = yield* fetching(urls, { to: "http://127.0.0.1:1", calls, limits: { mediaUrls: 1 } })
      expect([...all.values()]).toEqual(urls.map(() => failed("A request may name 1 media URLs; this one names more.")))
      expect(calls).toEqual([])
    })
  )

  /** A transport in which every call waits, and which reports the number of concurrent calls. */
  const waiting = (limits: Partial<LimitValues>) => {
    const seen = { now: 0, most: 0 }
    const layer = mediaFetchLayer.pipe(
      Layer.provide(
        Transport.layerTest(() =>
          Effect.suspend(() => {
            seen.most = Math.max(seen.most, ++seen.now)
            return Effect.onExit(Effect.as(Effect.sleep(1_000), { status: 200, chunks: [png] }), () =>
              Effect.sync(() => void seen.now--)
            )
          })
        )
      ),
      Layer.provide(Layer.succeed(HostAddresses, () => Effect.succeed(["93.184.216.34"]))),
      Layer.provide(Layer.succeed(Limits, { ...defaultLimits, ...limits }))
    )
    return { seen, layer }
  }
  const urls = [1, 2, 3, 4].map((n) => `https://a.example/${n}.png`)
  const late = failed("What this URL holds did not come in the time allowed.")
  const run = (limits: Partial<LimitValues>, millis: number) => {
    const { layer, seen } = waiting(limits)
    return Effect.gen(function* () {
      const fetch = yield* MediaFetch
      const running = yield* Effect.forkChild(fetch === undefined ? Effect.die("off") : fetch(urls, millis))
      yield* TestClock.adjust("1 minute")
      return {
        outcomes: [...(yield* Fiber.join(running)).values()].map((one) => (one._tag === "Fetched" ? "fetched" : one)),
        seen
      }
    }).pipe(Effect.provide(layer))
  }
  it.effect("media fetch: the number of connections is limited (TH7)", () =>
    Effect.gen(function* () {
      expect(yield* run({ mediaConnections: 2 }, 60_000)).toEqual({
        outcomes: ["fetched", "fetched", "fetched", "fetched"],
        seen: { now: 0, most: 2 }
      })
    })
  )
  it.effect(
    "media fetch: the time is limited, including the wait for a connection; the client may set less (TH7)",
    () =>
      Effect.gen(function* () {
        const expected = { outcomes: ["fetched", "fetched", late, late], seen: { now: 0, most: 1 } }
        expect(yield* run({ mediaConnections: 1, mediaMillis: 2_500 }, 60_000)).toEqual(expected)
        expect(yield* run({ mediaConnections: 1 }, 2_500)).toEqual(expected)
      })
  )
  it.effect("media fetch: one key never holds all connections, and another starts immediately (TH20b)", () =>
    Effect.gen(function* () {
      const { layer, seen } = waiting({ mediaConnections: 10 })
      const many = Array.from({ length: 8 }, (_, n) => `https://a.example/${n}.png`)
      yield* Effect.gen(function* () {
        const fetch = (yield* MediaFetch) ?? (() => Effect.die("off"))
        const greedy = yield* Effect.forkChild(
          Effect.all(
            [1, 2, 3].map(() => fetch(many, 60_000, undefined, "key_1")),
            { concurrency: "unbounded" }
          )
        )
        yield* TestClock.adjust(0)
        expect(seen).toEqual({ now: 8, most: 8 })
        const other = yield* Effect.forkChild(fetch(urls.slice(0, 1), 60_000, undefined, "key_2"))
        yield* TestClock.adjust(0)
        expect(seen).toEqual({ now: 9, most: 9 })
        yield* TestClock.adjust(1_000)
        expect([...(yield* Fiber.join(other)).values()].map(({ _tag }) => _tag)).toEqual(["Fetched"])
        yield* Fiber.interrupt(greedy)
        expect(seen.now).toBe(0)
      }).pipe(Effect.provide(layer))
    })
  )
  it.effect("media fetch: the time is limited when DNS does not answer (TH7)", () =>
    Effect.gen(function* () {
      const running = yield* Effect.forkChild(one({ to: "http://127.0.0.1:1", addresses: () => Effect.never }))
      yield* TestClock.adjust("14999 millis")
      expect(running.pollUnsafe()).toBe(undefined)
      yield* TestClock.adjust("1 millis")
      expect(yield* Fiber.join(running)).toEqual(late)
    })
  )
})
