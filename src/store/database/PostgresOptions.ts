// The options of the driver for an address of PostgreSQL: hosts in order, sockets, TLS as libpq has it.
// Must not run a statement of the gateway, or know any table.
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { readFile } from "node:fs/promises"
import { connect, isIP } from "node:net"
import type { ConnectionOptions } from "node:tls"
import type { PostgresAddress, PostgresHost } from "../../domain/settings/storeLocation.ts"

/** Which the driver reads from an address only. */
const preferred = Redacted.make("postgres://?sslmode=prefer")

const text = (path: string | undefined, what: string): Effect.Effect<string | undefined, string> =>
  path === undefined || path === "system"
    ? Effect.succeed(undefined)
    : Effect.tryPromise({ try: () => readFile(path, "utf8"), catch: () => `the file of ${what} cannot be read` })

/**
 * TLS by sslmode: `require` checks nothing unless it names a root, `verify-ca` the chain, `verify-full` the name too.
 * Undefined: `allow` and `prefer`, which the driver knows by its URL only.
 */
export const tlsOf = (address: PostgresAddress): Effect.Effect<ConnectionOptions | false | undefined, string> =>
  Effect.gen(function* () {
    const { sslMode: mode } = address
    if (mode === undefined || mode === "disable") return false
    if (mode === "allow" || mode === "prefer") return undefined
    const ca = yield* text(address.rootCert, "sslrootcert")
    const cert = yield* text(address.cert, "sslcert")
    const key = yield* text(address.key, "sslkey")
    const isUnchecked = mode === "no-verify" || (mode === "require" && address.rootCert === undefined)
    return {
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
      ...(isUnchecked ? { rejectUnauthorized: false } : {}),
      ...(mode === "verify-full" ? {} : { checkServerIdentity: () => undefined })
    }
  })

/** Host, and TLS with its name: the driver knows no name for sockets of its caller. */
export const hostOptions = ({ host, port }: PostgresHost, tls: ConnectionOptions | false | undefined) => ({
  host,
  port,
  ...(tls === undefined ? { url: preferred } : { ssl: host.startsWith("/") ? false : tls })
})

/** The host in use of several, and what to do when it refuses a connection. */
interface HostChoice {
  readonly current: () => PostgresHost
  readonly onFailure: (host: PostgresHost) => void
}

/** Chooses the first host that is fit, now and after each failure of the one in use; one search runs at a time. */
export const hostChoice = <R>(
  hosts: PostgresAddress["hosts"],
  isFit: (host: PostgresHost) => Effect.Effect<boolean, never, R>
): Effect.Effect<HostChoice, never, R | Scope.Scope> =>
  Effect.gen(function* () {
    let [current] = hosts
    const search = Effect.gen(function* () {
      for (const host of hosts) {
        if (!(yield* isFit(host))) continue
        current = host
        return
      }
    })
    yield* search
    const failures = yield* Queue.sliding<PostgresHost>(1)
    const followUp = Effect.flatMap(Queue.take(failures), (host) => (host === current ? search : Effect.void))
    yield* Effect.forkScoped(Effect.forever(followUp))
    return {
      current: () => current,
      onFailure: (host) => void Queue.offerUnsafe(failures, host)
    }
  })

/**
 * Options that connect to the host in use. A connection that fails asks for another host, while its own failure is
 * reported as any other.
 */
export const movingOptions = ({ current, onFailure }: HostChoice, tls: ConnectionOptions | false | undefined) => ({
  stream: () => {
    const used = current()
    const { host, port } = used
    const socket = host.startsWith("/") ? connect(`${host}/.s.PGSQL.${port}`) : connect({ host, port, noDelay: true })
    const failed = () => onFailure(used)
    socket.once("error", failed).once("connect", () => socket.off("error", failed))
    return socket
  },
  ...(tls === undefined
    ? { url: preferred }
    : {
        ssl:
          tls === false
            ? false
            : {
                ...tls,
                // Read at each connection.
                get host() {
                  return current().host
                },
                get servername() {
                  return isIP(current().host) === 0 ? current().host : undefined
                }
              }
      })
})
