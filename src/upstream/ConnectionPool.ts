// The connections to upstreams over undici: sends the requests of calls, with their credentials, and closes idle sockets.
// Must not know providers, dialects or phases of a call.
import type { LookupFunction, Socket } from "node:net"
import * as Redacted from "effect/Redacted"
// undici's index also loads fetch, WebSocket, caches and mocks: 87 more files, 11 MiB and 40 ms of each start.
import type { Dispatcher } from "undici"
import Agent from "undici/lib/dispatcher/agent.js"
import Client from "undici/lib/dispatcher/client.js"
import Pool from "undici/lib/dispatcher/pool.js"
import type { LimitValues } from "../domain/Limits.ts"
import { type HiddenValue, redacted } from "../domain/text/redaction.ts"
import type { AccountTls, NetworkSetting } from "../domain/settings/network.ts"
import { version } from "../domain/version.ts"
import { type Call, toBytes, type Wire } from "./HttpCall.ts"
import type { AuthHeaders, TransportRequest } from "./HttpExchange.ts"
import { type ChooseProxy, type Connect, connectorOf, proxyChoice } from "./Network.ts"

/** What a paused socket reads ahead, next to the network read that reaches it; Node reads 64 KiB at a time. */
const readAheadBytes = 16 * 1024

type SentBody = Exclude<Dispatcher.DispatchOptions["body"], undefined> | Iterable<Buffer>

/** What undici's dispatchers take: their type lacks the iterable. */
interface Dispatching {
  dispatch(options: Omit<Dispatcher.DispatchOptions, "body"> & { readonly body?: SentBody }, handler: Call): boolean
}

/** An agent whose sockets are kept, and known to `idle`. */
const keepingAgent = (options: Agent.Options, connect: Connect, idle: IdleSockets): Agent => {
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

/** An account with certificates of its own has its own connections; beyond this number the oldest are given up. */
const mostOwnAgents = 64

/** The connections of accounts with certificates of their own, by what these are. */
const ownAgents = (make: (tls: AccountTls) => Agent) => {
  const agents = new Map<string, Agent>()
  return {
    find: (tls: AccountTls): Agent => {
      const { ca, cert, key, serverName } = tls
      const name = JSON.stringify([ca, cert, key === undefined ? undefined : Redacted.value(key), serverName])
      const known = agents.get(name)
      if (known !== undefined) return known
      const [oldest] = agents
      if (oldest !== undefined && agents.size >= mostOwnAgents) {
        agents.delete(oldest[0])
        void oldest[1].close()
      }
      const made = make(tls)
      agents.set(name, made)
      return made
    },
    destroy: () => Promise.all([...agents.values()].map((agent) => agent.destroy()))
  }
}

/** The pools of all kinds of calls; `onConnect` runs before the first request of a kept socket is written. */
const makePools = (limits: LimitValues, network: NetworkSetting, choose: ChooseProxy, onConnect: () => void) => {
  const options = {
    allowH2: false,
    keepAliveTimeout: limits.keepAliveMillis,
    // An upstream may ask for less by its header, and not for more.
    keepAliveMaxTimeout: limits.keepAliveMillis,
    maxHeaderSize: limits.headerBytes,
    // The timers of `Call` replace these: they separate the phases and stop while the socket is paused.
    headersTimeout: 0,
    bodyTimeout: 0
  }
  const timeout = limits.connectMillis
  const idle = new IdleSockets(limits.idleSockets)
  const sockets = { timeout, highWaterMark: readAheadBytes }
  // undici emits the event synchronously before it writes the first request to the new socket.
  const keeping = (tls?: AccountTls) =>
    keepingAgent({ ...options, pipelining: 1 }, connectorOf(network, choose, sockets, tls), idle).on(
      "connect",
      onConnect
    )
  // Keeps no connection alive, so that every call gets its own socket.
  const refreshing = (tls?: AccountTls) =>
    new Agent({ ...options, pipelining: 0, connect: connectorOf(network, choose, { timeout }, tls) })
  const [kept, fresh] = [keeping(), refreshing()]
  const [ownKept, ownFresh] = [ownAgents(keeping), ownAgents(refreshing)]
  return {
    /** The pool of one origin for all calls of a kind. */
    pool: (isFresh: boolean, tls: AccountTls | undefined): Dispatching =>
      tls === undefined ? (isFresh ? fresh : kept) : (isFresh ? ownFresh : ownKept).find(tls),
    /** A connection to one of these addresses; the name is not resolved again. */
    pinned: (origin: string, addresses: ReadonlyArray<string>): Dispatching =>
      new Client(origin, {
        ...options,
        pipelining: 0,
        connect: connectorOf(network, choose, { timeout, lookup: lookupOf(addresses), address: addresses[0] })
      }),
    destroy: () => {
      idle.close()
      return Promise.all([kept.destroy(), fresh.destroy(), ownKept.destroy(), ownFresh.destroy()])
    }
  }
}

/** `destroy` closes every connection. */
export const makeWire = (
  limits: LimitValues,
  network: NetworkSetting
): Wire & { readonly destroy: () => Promise<unknown> } => {
  const choose = proxyChoice(network)
  const pools = makePools(limits, network, choose, () => {
    wire.opened = true
    queueMicrotask(() => {
      wire.opened = false
    })
  })
  const wire = {
    windowBytes: limits.streamWindowBytes,
    staleMillis: limits.staleMillis,
    opened: false,
    dispatch: (request: TransportRequest, handler: Call) => {
      const { addresses, isFresh = false, method, tls, url } = request
      const slash = url.indexOf("/", url.indexOf("//") + 2)
      const origin = slash < 0 ? url : url.slice(0, slash)
      const bytes = request.body === undefined ? null : toBytes(request.body)
      const headers = sentHeaders(request)
      let body: SentBody = bytes
      if (bytes !== null && bytes.length >= leastDropped) {
        // undici asks an iterable for no length.
        headers["content-length"] = String(bytes.length)
        body = new SentOnce(bytes)
      }
      // Through a proxy, http takes the whole address in the place of the path; https takes a tunnel.
      const proxy = url.startsWith("http:") ? choose(origin) : undefined
      if (proxy !== undefined) {
        headers["host"] = origin.slice(origin.indexOf("//") + 2)
        if (proxy.authorization !== undefined) headers["proxy-authorization"] = Redacted.value(proxy.authorization)
        const path = addressedTo(url, addresses)
        pools.pool(isFresh, undefined).dispatch({ origin: proxy.origin, path, method, headers, body }, handler)
        return
      }
      const dispatcher = addresses === undefined ? pools.pool(isFresh, tls) : pools.pinned(origin, addresses)
      dispatcher.dispatch({ origin, path: slash < 0 ? "/" : url.slice(slash), method, headers, body }, handler)
    },
    destroy: pools.destroy
  }
  return wire
}

/** The address as a proxy of http gets it; it resolves no name that was checked before. */
const addressedTo = (url: string, addresses: ReadonlyArray<string> | undefined): string => {
  const [address] = addresses ?? []
  if (address === undefined) return url
  const moved = new URL(url)
  moved.hostname = address.includes(":") ? `[${address}]` : address
  return moved.href
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

/** A connection of the pool, with the number of its requests. */
interface Owner {
  readonly stats: { readonly size: number }
}

interface OpenSocket {
  readonly owner: Owner
  readonly socket: Socket
  /** Bytes that the socket had sent by the last look. */
  sent: number
}

/** A socket that nothing used from one look to the next is idle; it serves no burst. */
const lookMillis = 1_000

/** The sockets that rested since the last look are closed beyond a bound. */
export class IdleSockets {
  private readonly open = new Set<OpenSocket>()
  private readonly most: number
  private readonly timer: NodeJS.Timeout

  constructor(most: number) {
    this.most = most
    this.timer = setInterval(() => this.look(), lookMillis)
    this.timer.unref()
  }

  add(owner: Owner, socket: Socket): void {
    const entry = { owner, socket, sent: -1 }
    this.open.add(entry)
    socket.on("close", () => this.open.delete(entry))
  }

  /** Destroys the idle sockets beyond the bound, the newest first: the pool uses the oldest first. */
  look(): void {
    let idle = 0
    // Not for-of, which makes an object of each entry.
    this.open.forEach((entry) => {
      const { owner, sent, socket } = entry
      entry.sent = socket.bytesWritten
      if (sent === entry.sent && owner.stats.size === 0 && ++idle > this.most) socket.destroy()
    })
  }

  close(): void {
    clearInterval(this.timer)
  }
}
