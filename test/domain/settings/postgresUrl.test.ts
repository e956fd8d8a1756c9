// Tests the addresses of PostgreSQL, as libpq reads them.
// Must not open a file or a connection.
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { expect, it } from "vitest"
import {
  describePostgres,
  parsePostgresUrl,
  withAbsoluteFiles,
  withPostgresVariables
} from "../../../src/domain/settings/storeLocation.ts"

const parts = (url: string) =>
  Result.merge(
    Result.map(parsePostgresUrl(url), ({ hosts, user, password, database, sslMode, mustWrite }) =>
      [
        hosts.map(({ host, port }) => `${host} ${port}`).join(", "),
        user,
        password === undefined ? undefined : Redacted.value(password),
        database,
        sslMode,
        mustWrite ? "writes" : undefined
      ].join("|")
    )
  )

it("PostgreSQL address: has hosts, sockets, ports and parameters as libpq has them (K24)", () => {
  const rows: ReadonlyArray<readonly [string, string]> = [
    ["postgres://u:p%40x@db:5433/gw", "db 5433|u|p@x|gw||"],
    ["postgresql://db", "db 5432|||||"],
    ["postgres:///gw", "localhost 5432|||gw||"],
    ["postgres://u:p@/db?host=/cloudsql/project:region:one", "/cloudsql/project:region:one 5432|u|p|db||"],
    ["postgres://%2Fvar%2Frun/db", "/var/run 5432|||db||"],
    ["postgres://u:p@a:1,[::1]:2,c/db?target_session_attrs=read-write", "a 1, ::1 2, c 5432|u|p|db||writes"],
    ["postgres://a,b/db?port=6432&target_session_attrs=any", "a 6432, b 6432|||db||"],
    ["postgres://u@a/db?user=other&password=x&dbname=y&sslmode=verify-ca", "a 5432|other|x|y|verify-ca|"]
  ]
  expect(rows.map(([url]) => parts(url))).toEqual(rows.map(([, expected]) => expected))
})

it("PostgreSQL address: a fault quotes no part of it (K24)", () => {
  const port = "has a port that is none, or not one port for all hosts or one for each"
  expect(
    [
      "postgres://[",
      "postgres://u:%zz@h/d",
      "postgres://h:99999/d",
      "postgres://a,b,c/d?port=1,2",
      "postgres://h/d?sslmode=sekret",
      "postgres://h/d?target_session_attrs=standby"
    ].map(parts)
  ).toEqual([
    "is no URL",
    "is no URL",
    port,
    port,
    "has an sslmode that is none of disable, allow, prefer, require, no-verify, verify-ca, verify-full",
    "has target_session_attrs other than any, read-write and primary; the gateway writes"
  ])
})

it("PostgreSQL address: variables fill its gaps, and its files become absolute (K24)", () => {
  const env = { PGHOST: "db", PGPORT: "6432", PGUSER: "me", PGPASSWORD: "a&b", PGSSLMODE: "require", PGDATABASE: "" }
  expect(parts(withPostgresVariables("postgres:///gw", env))).toBe("db 6432|me|a&b|gw|require|")
  expect(parts(withPostgresVariables("postgres://u:p@h:1/d?sslmode=disable", env))).toBe("h 1|u|p|d|disable|")
  const moved = withAbsoluteFiles("postgres://h/d?sslrootcert=ca.pem&sslcert=system", (path) => `/etc/${path}`)
  expect(Result.map(parsePostgresUrl(moved), ({ cert, rootCert }) => [rootCert, cert])).toEqual(
    Result.succeed(["/etc/ca.pem", "system"])
  )
  expect(Result.map(parsePostgresUrl("postgres://u:p@a:1,[::1]/db?host=/cloudsql/x"), describePostgres)).toEqual(
    Result.fail("has a port that is none, or not one port for all hosts or one for each")
  )
  expect(Result.map(parsePostgresUrl("postgres://u:p@a:1,[::1]/db"), describePostgres)).toEqual(
    Result.succeed("postgres://a:1,[::1]/db")
  )
})
