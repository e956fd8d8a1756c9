// Parses the URL of the store: SQLite path or Postgres address.
// It must not know how a store is opened.
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { describePostgres, parsePostgresUrl } from "./postgresUrl.ts"

export type StoreLocation =
  /** A file, or `:memory:`. */
  | { readonly kind: "sqlite"; readonly path: string }
  /** `where` is the URL without name and password. */
  | { readonly kind: "postgres"; readonly url: Redacted.Redacted<string>; readonly where: string }

export const storeMemory: StoreLocation = { kind: "sqlite", path: ":memory:" }

/** The location for messages, without secrets. */
export const describeStore = (location: StoreLocation): string =>
  location.kind === "sqlite" ? `sqlite:${location.path}` : location.where

/**
 * Parses `sqlite:PATH`, `sqlite::memory:`, `postgres://...` or `postgresql://...`. The failure never quotes the URL.
 */
export const parseStoreUrl = (text: string): Result.Result<StoreLocation, string> => {
  if (text.startsWith("sqlite:")) {
    const path = text.slice("sqlite:".length)
    return path === ""
      ? Result.fail("names no file; write sqlite:./gateway.db")
      : Result.succeed({ kind: "sqlite", path })
  }
  if (!/^postgres(?:ql)?:\/\//.test(text)) return Result.fail("must begin with sqlite: or postgres://")
  return Result.map(parsePostgresUrl(text), (address) => ({
    kind: "postgres",
    url: Redacted.make(text),
    where: describePostgres(address)
  }))
}
