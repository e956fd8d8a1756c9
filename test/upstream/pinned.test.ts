// Tests calls to checked addresses over real sockets: DNS is not used, and certificates are still verified.
// Must not reach the network beyond its own sockets.
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { getCACertificates, setDefaultCACertificates } from "node:tls"
import { afterAll, beforeAll } from "vitest"
import { Transport } from "../../src/upstream/Transport.ts"
import { makeCertificates } from "../support/certificates.ts"
import { httpServer, tlsServer } from "./evilServer.ts"
import { times } from "./lines.ts"

const certificates = makeCertificates()
const trusted = getCACertificates()
beforeAll(() => setDefaultCACertificates([...trusted, certificates.authority]))
afterAll(() => setDefaultCACertificates(trusted))

const get = (url: string, addresses: ReadonlyArray<string>) =>
  Effect.flatMap(Transport, (transport) =>
    transport.collect(
      { method: "GET", url, addresses, headers: {}, auth: {}, body: undefined, ...times },
      { replyBytes: 1_000, errorBytes: 1_000 }
    )
  )
const kindOf = (url: string, addresses: ReadonlyArray<string>) =>
  Effect.match(get(url, addresses), {
    onFailure: ({ kind }) => kind,
    onSuccess: ({ bytes }) => Buffer.from(bytes).toString()
  })

describe("a call to checked addresses", () => {
  it.live("pinned call: reaches a host unknown to DNS, which receives its name and no client header (TH7)", () =>
    Effect.gen(function* () {
      const heads: Array<unknown> = []
      const server = yield* httpServer((request, response) => {
        heads.push([request.method, request.url, request.headers])
        response.end("fine")
      })
      const { port } = new URL(server.url)
      expect(yield* kindOf(`http://media.invalid:${port}/a%20b?c=d`, ["127.0.0.1"])).toBe("fine")
      expect(heads).toEqual([
        [
          "GET",
          "/a%20b?c=d",
          {
            host: `media.invalid:${port}`,
            connection: "close",
            "user-agent": "model-gateway/0.1.0",
            "accept-encoding": "identity"
          }
        ]
      ])
    }).pipe(Effect.provide(Transport.layer))
  )

  it.live("pinned call: never uses the connection of an earlier call (TH7)", () =>
    Effect.gen(function* () {
      const server = yield* httpServer((_, response) => response.end("fine"))
      const url = `http://media.invalid:${new URL(server.url).port}/`
      for (const n of [1, 2, 3]) {
        expect(yield* kindOf(url, ["127.0.0.1"])).toBe("fine")
        yield* Effect.promise(() => server.closed(n))
      }
      expect([server.accepted(), server.open()]).toEqual([3, 0])
    }).pipe(Effect.provide(Transport.layer))
  )

  it.live("pinned call: takes the next address when one refuses (TH7)", () =>
    Effect.gen(function* () {
      const server = yield* httpServer((_, response) => response.end("fine"))
      expect(yield* kindOf(`http://media.invalid:${new URL(server.url).port}/`, ["127.0.0.2", "127.0.0.1"])).toBe(
        "fine"
      )
      expect(yield* kindOf(`http://media.invalid:${new URL(server.url).port}/`, ["127.0.0.2"])).toBe("refused")
    }).pipe(Effect.provide(Transport.layer))
  )

  it.live("pinned call: verifies the certificate against the host name of the URL (TH7)", () =>
    Effect.gen(function* () {
      const answer = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfine"
      const server = yield* tlsServer(certificates.wrongHost, (socket) => void socket.write(answer))
      const { port } = new URL(server.url)
      expect(yield* kindOf(`https://elsewhere.test:${port}/`, ["127.0.0.1"])).toBe("fine")
      expect(yield* kindOf(`https://media.invalid:${port}/`, ["127.0.0.1"])).toBe("tls")
    }).pipe(Effect.provide(Transport.layer))
  )
})
