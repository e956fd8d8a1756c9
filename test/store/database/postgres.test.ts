// Tests PostgreSQL as companies run it: pooled by PgBouncer, over sockets, with TLS of its own, on several hosts.
// Must not depend on any table.
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as SqlClient from "effect/sql/SqlClient"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { chmodSync, mkdtempSync, writeFileSync } from "node:fs"
import { connect, createServer, type Server, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { TLSSocket } from "node:tls"
import { defaultLimits, Limits } from "../../../src/domain/Limits.ts"
import { parseStoreUrl } from "../../../src/domain/settings/storeLocation.ts"
import { durableTransaction, sqlClientLayer } from "../../../src/store/database/Sql.ts"
import { makeCertificates } from "../../support/certificates.ts"
import { until, within } from "../../support/eventually.ts"

const given = process.env["TEST_POSTGRES_URL"]
const target = URL.parse(given ?? "") ?? new URL("postgres://postgres:postgres@127.0.0.1:5432/postgres")
const targetPort = target.port === "" ? 5432 : Number(target.port)
const credential = `${target.username}:${target.password}`
const database = target.pathname.slice(1)

const hasPooler = spawnSync("pgbouncer", ["--version"]).status === 0
if (given === undefined || !hasPooler)
  console.warn(
    "\n*** LEFT OUT: PostgreSQL pooled by PgBouncer: no TEST_POSTGRES_URL or no pgbouncer on this machine ***\n"
  )

const over = (url: string) =>
  sqlClientLayer(Result.getOrThrow(parseStoreUrl(url))).pipe(
    Layer.provide(Layer.succeed(Limits, { ...defaultLimits, storeAnswerMillis: 20_000 }))
  )

/** The number that the server at this address gives, or the reason why it gives none. */
const asked = (url: string) =>
  Effect.scoped(
    Effect.flatMap(SqlClient.SqlClient, (sql) => sql<{ readonly n: number }>`SELECT ${41} + 1 AS n`).pipe(
      Effect.map(([row]) => row?.n),
      Effect.provide(over(url)),
      Effect.catch((error) => Effect.succeed(String(error.message)))
    )
  )

/** A server in front of PostgreSQL; `accept` decides what becomes of a connection. */
const front = (accept: (socket: Socket, upstream: Socket) => void, path?: string) =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<{ readonly server: Server; readonly port: number; readonly open: Set<Socket> }>((resolve) => {
          const open = new Set<Socket>()
          const server = createServer((socket) => {
            open.add(socket)
            const upstream = connect(targetPort, target.hostname)
            upstream.on("error", () => socket.destroy())
            socket.on("error", () => upstream.destroy()).on("close", () => upstream.destroy())
            accept(socket, upstream)
          })
          server.listen(path === undefined ? { port: 0, host: "127.0.0.1" } : { path }, () => {
            const address = server.address()
            resolve({ server, open, port: typeof address === "object" && address !== null ? address.port : 0 })
          })
        })
    ),
    ({ open, server }) =>
      Effect.sync(() => {
        for (const socket of open) socket.destroy()
        server.close()
      })
  )
const piped = (socket: Socket, upstream: Socket) => void socket.pipe(upstream).pipe(socket)

const startPooler = (port: number): Promise<ChildProcess> => {
  const folder = mkdtempSync(join(tmpdir(), "pgbouncer-"))
  const file = join(folder, "pgbouncer.ini")
  const where = `host=${target.hostname} port=${targetPort} user=${target.username} password=${target.password}`
  const settings = {
    listen_addr: "127.0.0.1",
    listen_port: port,
    unix_socket_dir: "",
    auth_type: "any",
    pool_mode: "transaction",
    default_pool_size: 3,
    max_client_conn: 100
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
  writeFileSync(file, ["[databases]", `* = ${where}`, "[pgbouncer]", ...lines, ""].join("\n"))
  for (const path of [folder, file]) chmodSync(path, 0o755)
  // As root it refuses to run.
  const user = process.getuid?.() === 0 ? ["-u", "nobody"] : []
  const child = spawn("pgbouncer", [...user, file], { stdio: ["ignore", "ignore", "pipe"] })
  return within(
    "pgbouncer to be up",
    new Promise((resolve, reject) => {
      child.once("exit", () => reject(new Error("pgbouncer has ended")))
      child.stderr.on("data", (bytes: Buffer) => {
        if (bytes.toString().includes("process up")) resolve(child)
      })
    })
  )
}

const freePort = Effect.scoped(Effect.map(front(piped), ({ port }) => port))

describe.runIf(given !== undefined && hasPooler)("PostgreSQL pooled by PgBouncer", () => {
  it.live("PostgreSQL: 60 parallel transactions of two clients pass a pool of three sessions (K24)", () =>
    Effect.gen(function* () {
      const port = yield* freePort
      yield* Effect.acquireRelease(
        Effect.promise(() => startPooler(port)),
        (child) => Effect.sync(() => child.kill())
      )
      const url = `postgres://${credential}@127.0.0.1:${port}/${database}`
      const [one, two] = [yield* Layer.build(over(url)), yield* Layer.build(over(url))]
      const work = (n: number) =>
        Effect.flatMap(SqlClient.SqlClient, (sql) =>
          durableTransaction(sql)(
            // Each text is a statement of its own.
            Effect.map(sql.unsafe<{ readonly n: number }>(`SELECT $1::int + ${n % 7} AS n`, [n]), ([row]) => row?.n)
          )
        )
      const numbers = Array.from({ length: 60 }, (_, n) => n)
      const found = yield* Effect.all(
        numbers.map((n) => Effect.provide(work(n), n % 2 === 0 ? one : two)),
        { concurrency: "unbounded" }
      )
      expect(found).toEqual(numbers.map((n) => n + (n % 7)))
    })
  )
})

describe.runIf(given !== undefined)("ways to PostgreSQL", () => {
  it.live("PostgreSQL: is reached over the socket of a folder (K24)", () =>
    Effect.gen(function* () {
      const folder = mkdtempSync(join(tmpdir(), "pg-"))
      yield* front(piped, join(folder, ".s.PGSQL.5432"))
      expect(yield* asked(`postgres://${credential}@/${database}?host=${folder}`)).toBe(42)
    })
  )

  it.live("PostgreSQL: TLS is checked as sslmode has it (K24)", () =>
    Effect.gen(function* () {
      const certificates = makeCertificates()
      const { cert, key } = certificates.host("elsewhere.test")
      const folder = mkdtempSync(join(tmpdir(), "pg-"))
      const root = join(folder, "root.pem")
      writeFileSync(root, certificates.authority)
      const other = join(folder, "other.pem")
      writeFileSync(other, makeCertificates().authority)
      const { port } = yield* front((socket, upstream) => {
        socket.once("data", () => {
          socket.write("S")
          const secure = new TLSSocket(socket, { isServer: true, cert, key })
          secure.on("error", () => socket.destroy())
          secure.pipe(upstream).pipe(secure)
        })
      })
      const url = (query: string) => `postgres://${credential}@127.0.0.1:${port}/${database}?${query}`
      const modes = [
        "sslmode=require",
        "sslmode=no-verify",
        `sslmode=verify-ca&sslrootcert=${root}`,
        `sslmode=require&sslrootcert=${other}`,
        `sslmode=verify-ca&sslrootcert=${other}`,
        `sslmode=verify-full&sslrootcert=${root}`,
        "sslmode=verify-ca"
      ]
      const found = yield* Effect.forEach(modes, (query) => asked(url(query)))
      expect(found.map((one) => (one === 42 ? "reached" : "refused"))).toEqual([
        "reached",
        "reached",
        "reached",
        "refused",
        "refused",
        "refused",
        "refused"
      ])
      expect(yield* asked(url(`sslmode=verify-ca&sslrootcert=${folder}/gone`))).toContain(
        "the file of sslrootcert cannot be read"
      )
    })
  )

  it.live("PostgreSQL: the next of several hosts is used where one is away or takes no writes (K24)", () =>
    Effect.gen(function* () {
      const first = yield* front(piped)
      const second = yield* front(piped)
      const hosts = `127.0.0.1:1,127.0.0.1:${first.port},127.0.0.1:${second.port}`
      const url = `postgres://${credential}@${hosts}/${database}?target_session_attrs=read-write`
      expect(yield* asked(url)).toBe(42)
      expect([first.open.size > 0, second.open.size]).toEqual([true, 0])
      const readOnly = `${url}&options=${encodeURIComponent("-c default_transaction_read_only=on")}`
      expect(yield* asked(readOnly)).not.toBe(undefined)
      expect(second.open.size > 0).toBe(true)

      const context = yield* Layer.build(over(url))
      const ask = Effect.provide(
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT 1`),
        context
      )
      yield* ask
      const before = second.open.size
      first.server.close()
      for (const socket of first.open) socket.destroy()
      yield* Effect.promise(() => until(async () => Result.isSuccess(await Effect.runPromise(Effect.result(ask)))))
      expect(second.open.size).toBeGreaterThan(before)
    })
  )
})
