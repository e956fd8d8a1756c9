// Sessions and one-time codes of the console in the store, for all processes on it: digests, never the texts themselves.
// Must not know cookies, keys, or what begins a session.
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { lazyTransaction, makeStoreCall, makeStoreWrite } from "./database/Sql.ts"

/** Most rows; a further one removes the one that ends first. */
const mostRows = 256

interface StoredSession {
  /** The digest of the gateway key that began it. */
  readonly keyDigest: string | undefined
  readonly expiresMillis: number
}

interface Row {
  readonly key_digest: string | null
  readonly expires_millis: number
}

const sessionOf = ({ expires_millis: expiresMillis, key_digest: keyDigest }: Row): StoredSession => ({
  keyDigest: keyDigest ?? undefined,
  expiresMillis
})

export class SessionTable extends Context.Service<
  SessionTable,
  {
    readonly add: (digest: string, session: StoredSession) => Effect.Effect<void, StoreUnavailable>
    /** Undefined for an unknown or ended one. */
    readonly find: (digest: string) => Effect.Effect<StoredSession | undefined, StoreUnavailable>
    /** The same, and removes it: of several callers one gets it. */
    readonly take: (digest: string) => Effect.Effect<StoredSession | undefined, StoreUnavailable>
  }
>()("gateway/store/SessionTable") {
  static readonly layer: Layer.Layer<SessionTable, never, SqlClient.SqlClient> = Layer.effect(
    SessionTable,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const within = yield* makeStoreCall
      const written = yield* makeStoreWrite
      const inTransaction = lazyTransaction(sql)
      const running = (rows: ReadonlyArray<Row>) =>
        Effect.map(Clock.currentTimeMillis, (now) =>
          rows
            .filter((row) => now < row.expires_millis)
            .map(sessionOf)
            .at(0)
        )
      const add = Effect.fnUntraced(function* (digest: string, { expiresMillis, keyDigest }: StoredSession) {
        const now = yield* Clock.currentTimeMillis
        yield* sql`DELETE FROM console_sessions WHERE expires_millis <= ${now} OR digest IN (
          SELECT digest FROM console_sessions ORDER BY expires_millis DESC LIMIT ${mostRows} OFFSET ${mostRows - 1})`
        yield* sql`INSERT INTO console_sessions (digest, key_digest, expires_millis)
          VALUES (${digest}, ${keyDigest ?? null}, ${expiresMillis})`
      })
      return {
        add: (digest, session) => written(inTransaction(add(digest, session))),
        find: (digest) =>
          Effect.flatMap(
            within(sql<Row>`SELECT key_digest, expires_millis FROM console_sessions WHERE digest = ${digest}`),
            running
          ),
        take: (digest) =>
          Effect.flatMap(
            written(
              inTransaction(
                sql<Row>`DELETE FROM console_sessions WHERE digest = ${digest} RETURNING key_digest, expires_millis`
              )
            ),
            running
          )
      }
    })
  )
}
