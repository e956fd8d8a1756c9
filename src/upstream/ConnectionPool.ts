// The connections to upstreams over undici: sends the requests of calls, with their credentials.
// Must not know providers, dialects or phases of a call.
import type { LookupFunction } from "node:net"
import * as Redacted from "effect/Redacted"
// undici's index also loads fetch, WebSocket, caches and mocks: 87 more files, 11 MiB and 40 ms of each start.
import type { Dispatcher } from "undici"
import buildConnector from "undici/lib/core/connect.js"
import Agent from "undici/lib/dispatcher/agent.js"
import Client from "undici/lib/dispatcher/client.js"
import Pool from "undici/lib/dispatcher/pool.js"
import type { LimitValues } from "../domain/Limits.ts"
import { type HiddenValue, redacted } from "../domain/text/redaction.ts"
import { version } from "../domain/version.ts"
import { type Call, toBytes, type Wire } from "./HttpCall.ts"
import type { AuthHeaders, TransportRequest } from "./HttpExchange.ts"
import { IdleSockets } from "./IdleSockets.ts"

/** What a paused socket reads ahead, next to the network read that reaches it; Node reads 64 KiB at a time. */
const readAheadBytes = 16 * 1024

type SentBody = Exclude<Dispatcher.DispatchOptions["body"], undefined> | Iterable<Buffer>

/** What undici's dispatchers take: their type lacks the iterable. */
interface Dispatching {
  dispatch(options: Omit<Dispatcher.DispatchOptions, "body"> & { readonly body?: SentBody }, handler: Call): boolean
}

/** An agent whose sockets are kept, and known to `idle`. */
const keepingAgent = (options: Agent.Options & { readonly connectTimeout: number }, idle: IdleSockets): Agent => {
  // undici hands it to Node's socket; its type does not have it.
  const sockets = { allowH2: false, timeout: options.connectTimeout, highWaterMark: readAheadBytes }
  const connect = buildConnector(sockets)
  const client = (origin: URL, clientOptions: object): Client => {
    const made: Client = new Client(origin, {
      ...clientOptions,
      connect: (asked, done) =>
        connect(asked, (...result) => {
          // With an error the socket is undefined, whatever the type is.
          if (result[0] === null) idle.add(made, result[1])
          done(...result)
        })
    })
    return made
  }
  return new Agent({
    ...options,
    factory: (origin, poolOptions) => new Pool(origin, { ...poolOptions, factory: client })
  })
}

/** `destroy` closes every connection. */
export const makeWire = (limits: LimitValues): Wire & { readonly destroy: () => Promise<unknown> } => {
  const options = {
    allowH2: false,
    connectTimeout: limits.connectMillis,
    keepAliveTimeout: limits.keepAliveMillis,
    // An upstream may ask for less by its header, and not for more.
    keepAliveMaxTimeout: limits.keepAliveMillis,
    maxHeaderSize: limits.headerBytes,
    // The timers of `Call` replace these: they separate the phases and stop while the socket is paused.
    headersTimeout: 0,
    bodyTimeout: 0
  }
  const idle = new IdleSockets(limits.idleSockets)
  const kept = keepingAgent({ ...options, pipelining: 1 }, idle)
  // Keeps no connection alive, so that every call gets its own socket.
  const fresh = new Agent({ ...options, pipelining: 0 })
  /** A connection to one of these addresses; the name is not resolved again. */
  const pinned = (origin: string, addresses: ReadonlyArray<string>) =>
    new Client(origin, { ...options, pipelining: 0, connect: { lookup: lookupOf(addresses) } })
  const wire = {
    windowBytes: limits.streamWindowBytes,
    staleMillis: limits.staleMillis,
    opened: false,
    dispatch: (request: TransportRequest, handler: Call) => {
      const { url, method, addresses } = request
      const slash = url.indexOf("/", url.indexOf("//") + 2)
      const origin = slash < 0 ? url : url.slice(0, slash)
      const dispatcher: Dispatching =
        addresses !== undefined ? pinned(origin, addresses) : request.isFresh === true ? fresh : kept
      const bytes = request.body === undefined ? null : toBytes(request.body)
      const headers = sentHeaders(request)
      let body: SentBody = bytes
      if (bytes !== null && bytes.length >= leastDropped) {
        // undici asks an iterable for no length.
        headers["content-length"] = String(bytes.length)
        body = new SentOnce(bytes)
      }
      dispatcher.dispatch({ origin, path: slash < 0 ? "/" : url.slice(slash), method, headers, body }, handler)
    },
    destroy: () => {
      idle.close()
      return Promise.all([kept.destroy(), fresh.destroy()])
    }
  }
  // undici emits the event synchronously before it writes the first request to the new socket.
  kept.on("connect", () => {
    wire.opened = true
    queueMicrotask(() => {
      wire.opened = false
    })
  })
  return wire
}

/** A DNS look-up for Node that returns these addresses. */
const lookupOf = (addresses: ReadonlyArray<string>): LookupFunction => {
  const all = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }))
  return (_host, options, done) => {
    if (options.all === true) return done(null, all)
    const [first] = all
    if (first !== undefined) done(null, first.address, first.family)
  }
}

/** The credentials of a call without their scheme. */
export const secretsIn = (auth: AuthHeaders): ReadonlyArray<string> =>
  Object.values(auth).map((value) => Redacted.value(value).replace(/^(Bearer|Basic)\s+/i, ""))

/** The same, for redaction. */
export const credentialsIn = (auth: AuthHeaders): ReadonlyArray<HiddenValue> =>
  secretsIn(auth).map((value) => ({ value, put: redacted }))

/** undici keeps the body it was given until the response has ended. Below this size that costs less than to avoid it. */
const leastDropped = 16 * 1024

/** The bytes of a body, which it forgets as they are taken. */
class SentOnce implements Iterable<Buffer> {
  private bytes: Buffer | undefined

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  *[Symbol.iterator](): Iterator<Buffer> {
    const { bytes } = this
    this.bytes = undefined
    if (bytes !== undefined) yield bytes
  }
}

const userAgent = `model-gateway/${version}`

const sentHeaders = ({ headers, auth }: TransportRequest): Record<string, string> => {
  const sent: Record<string, string> = { "user-agent": userAgent, "accept-encoding": "identity", ...headers }
  for (const name in auth) {
    const value = auth[name]
    if (value !== undefined) sent[name] = Redacted.value(value)
  }
  return sent
}
