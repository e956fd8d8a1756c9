// Where the store is, by file, environment and default.
// It must not know how a store is opened.
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { readSettings } from "../../src/cli/settings/readSettings.ts"
import type { Json } from "../../src/domain/text/json.ts"

const key = Buffer.alloc(32, 1).toString("base64")
const other = Buffer.alloc(32, 2).toString("base64")
const places = { data: "/data", resolve: (path: string, writtenIn: string) => `/${writtenIn}/${path}` }
const read = (file: Json, env: Readonly<Record<string, string>> = {}) =>
  Result.map(readSettings({ file, env, flags: {}, fileText: () => Result.fail("none"), places }), ({ store }) => ({
    location:
      store?.location.kind === "postgres"
        ? { ...store.location, url: Redacted.value(store.location.url) }
        : store?.location,
    secretKeys: store?.secretKeys?.map((one) => Redacted.value(one)),
    keyFile: store?.keyFile
  }))
const sqlite = (path: string) =>
  Result.succeed({ location: { kind: "sqlite", path }, secretKeys: undefined, keyFile: "/data/secret.key" })
const postgres = (url: string, where: string) =>
  Result.succeed({ location: { kind: "postgres", url, where }, secretKeys: undefined, keyFile: "/data/secret.key" })
const refused = (path: string, message: string, at?: ReadonlyArray<string>) => Result.fail([{ path, message, at }])

describe("the store's location", () => {
  it("is a file in the data directory unless it is said", () => {
    expect(read(null)).toEqual(sqlite("/data/gateway.db"))
    expect(read({ store: null })).toEqual(sqlite("/data/gateway.db"))
    expect(read({ store: {} })).toEqual(sqlite("/data/gateway.db"))
  })
  it("starts at what it is written in", () => {
    expect(read({ store: { url: "sqlite:./a.db" } })).toEqual(sqlite("/file/./a.db"))
    expect(read({ store: { url: "sqlite:./a.db" } }, { GATEWAY_STORE_URL: "sqlite:b.db" })).toEqual(
      sqlite("/environment/b.db")
    )
    expect(read({ store: { url: "sqlite::memory:" } })).toEqual(sqlite(":memory:"))
  })
  it("may be PostgreSQL, whose password is in no message", () => {
    const url = "postgres://me:secret@db.example:5433/gw?sslmode=require"
    expect(read({ store: { url: "${DB}" } }, { DB: url })).toEqual(postgres(url, "postgres://db.example:5433/gw"))
    expect(read(null, { DATABASE_URL: url })).toEqual(postgres(url, "postgres://db.example:5433/gw"))
    expect(read(null, { DATABASE_URL: url, GATEWAY_STORE_URL: "postgresql://h/d" })).toEqual(
      postgres("postgresql://h/d", "postgres://h/d")
    )
    expect(read(null, { DATABASE_URL: "mysql://h/d" })).toEqual(sqlite("/data/gateway.db"))
  })
  it("is refused where it is none", () => {
    expect(read({ store: { url: "mysql://me:secret@h/d" } })).toEqual(
      refused("store.url", "must begin with sqlite: or postgres://", ["store", "url"])
    )
    expect(read({ store: { url: "sqlite:" } })).toEqual(
      refused("store.url", "names no file; write sqlite:./gateway.db", ["store", "url"])
    )
    expect(read(null, { GATEWAY_STORE_URL: "postgres://[" })).toEqual(refused("GATEWAY_STORE_URL", "is no URL"))
  })
})

describe("GATEWAY_SECRET_KEY", () => {
  it("is one key or several, the first of which encrypts", () => {
    expect(Result.map(read(null, { GATEWAY_SECRET_KEY: `${key}, ${other}` }), ({ secretKeys }) => secretKeys)).toEqual(
      Result.succeed([key, other])
    )
    expect(Result.map(read(null, { GATEWAY_SECRET_KEY: "" }), ({ secretKeys }) => secretKeys)).toEqual(
      Result.succeed(undefined)
    )
  })
  it("is refused without being quoted when it is no 32 bytes", () => {
    expect(read(null, { GATEWAY_SECRET_KEY: "c2hvcnQ=" })).toEqual(
      refused(
        "GATEWAY_SECRET_KEY",
        "must be 32 bytes in base64, as `openssl rand -base64 32` makes them; several are separated by commas, the first encrypts"
      )
    )
  })
})

it("nothing is kept where there is no place for it", () => {
  const settings = readSettings({ file: null, env: {}, flags: {}, fileText: () => Result.fail("none") })
  expect(Result.map(settings, ({ store }) => store)).toEqual(Result.succeed(undefined))
})
