// Tests the location of the store, by file, environment and default.
// Must not know how a store is opened.
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

describe("location of the store", () => {
  it("the store's location: a file in the data directory by default", () => {
    expect(read(null)).toEqual(sqlite("/data/gateway.db"))
    expect(read({ store: null })).toEqual(sqlite("/data/gateway.db"))
    expect(read({ store: {} })).toEqual(sqlite("/data/gateway.db"))
  })
  it("the store's location: relative to the file or to the working directory", () => {
    expect(read({ store: { url: "sqlite:./a.db" } })).toEqual(sqlite("/file/./a.db"))
    expect(read({ store: { url: "sqlite:./a.db" } }, { GATEWAY_STORE_URL: "sqlite:b.db" })).toEqual(
      sqlite("/environment/b.db")
    )
    expect(read({ store: { url: "sqlite::memory:" } })).toEqual(sqlite(":memory:"))
  })
  it("the store's location: may be PostgreSQL, whose password is in no message", () => {
    const url = "postgres://me:secret@db.example:5433/gw?sslmode=require"
    expect(read({ store: { url: "${DB}" } }, { DB: url })).toEqual(postgres(url, "postgres://db.example:5433/gw"))
    expect(read(null, { DATABASE_URL: url })).toEqual(postgres(url, "postgres://db.example:5433/gw"))
    expect(read(null, { DATABASE_URL: url, GATEWAY_STORE_URL: "postgresql://h/d" })).toEqual(
      postgres("postgresql://h/d", "postgres://h/d")
    )
    expect(read(null, { DATABASE_URL: "mysql://h/d" })).toEqual(sqlite("/data/gateway.db"))
  })
  it("the store's location: refuses an invalid URL", () => {
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
  it("GATEWAY_SECRET_KEY: one key or several, the first of which encrypts", () => {
    expect(Result.map(read(null, { GATEWAY_SECRET_KEY: `${key}, ${other}` }), ({ secretKeys }) => secretKeys)).toEqual(
      Result.succeed([key, other])
    )
    expect(Result.map(read(null, { GATEWAY_SECRET_KEY: "" }), ({ secretKeys }) => secretKeys)).toEqual(
      Result.succeed(undefined)
    )
  })
  it("GATEWAY_SECRET_KEY: refuses a key that is not 32 bytes, without quoting it", () => {
    expect(read(null, { GATEWAY_SECRET_KEY: "c2hvcnQ=" })).toEqual(
      refused(
        "GATEWAY_SECRET_KEY",
        "must be 32 bytes in base64, as `openssl rand -base64 32` makes them; several are separated by commas, the first encrypts"
      )
    )
  })
})

it("settings: have no store without a data directory", () => {
  const settings = readSettings({ file: null, env: {}, flags: {}, fileText: () => Result.fail("none") })
  expect(Result.map(settings, ({ store }) => store)).toEqual(Result.succeed(undefined))
})
