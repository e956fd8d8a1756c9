// Parses the URL of the store: an SQLite path, or an address of PostgreSQL as libpq reads it (hosts, sockets, TLS).
// It must not open a file or a connection. A fault never quotes the address. postgresql.org/docs/current/libpq-connect.html
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"

export interface PostgresHost {
  /** A name, an address, or the folder of a socket. */
  readonly host: string
  readonly port: number
}

const sslModes = ["disable", "allow", "prefer", "require", "no-verify", "verify-ca", "verify-full"] as const
export type SslMode = (typeof sslModes)[number]

export interface PostgresAddress {
  /** At least one. */
  readonly hosts: readonly [PostgresHost, ...ReadonlyArray<PostgresHost>]
  readonly user: string | undefined
  readonly password: Redacted.Redacted<string> | undefined
  readonly database: string | undefined
  readonly sslMode: SslMode | undefined
  /** Paths of PEM files. */
  readonly rootCert: string | undefined
  readonly cert: string | undefined
  readonly key: string | undefined
  /** True: a host that takes no writes is passed over. */
  readonly mustWrite: boolean
  readonly options: string | undefined
}

/** The parts of an address that may come from variables, with their names as parameters. */
export const postgresVariables: Readonly<Record<string, string>> = {
  PGHOST: "host",
  PGPORT: "port",
  PGUSER: "user",
  PGPASSWORD: "password",
  PGDATABASE: "dbname",
  PGSSLMODE: "sslmode",
  PGSSLROOTCERT: "sslrootcert",
  PGSSLCERT: "sslcert",
  PGSSLKEY: "sslkey",
  PGTARGETSESSIONATTRS: "target_session_attrs"
}

const urlGrammar = /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/
const hostGrammar = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]*))(?::(\d{1,5}))?$/
const defaultPort = 5432

const decode = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** What is written in an address: parameters win over its other parts. */
const partsOf = (url: string): ReadonlyMap<string, string> | undefined => {
  const [matched, credential = "", authority = "", path = "", query = ""] = urlGrammar.exec(url) ?? []
  if (matched === undefined) return undefined
  const colon = credential.indexOf(":")
  const hosts = authority.split(",").map((one) => hostGrammar.exec(one))
  if (hosts.includes(null)) return undefined
  const names = hosts.map((one) => decode(one?.[1] ?? one?.[2] ?? ""))
  const ports = hosts.map((one) => one?.[3] ?? "")
  const written: ReadonlyArray<readonly [string, string | undefined]> = [
    ["host", names.includes(undefined) ? undefined : names.join(",")],
    ["port", ports.join(",")],
    ["user", decode(colon < 0 ? credential : credential.slice(0, colon))],
    ["password", decode(colon < 0 ? "" : credential.slice(colon + 1))],
    ["dbname", decode(path)],
    ...new URLSearchParams(query)
  ]
  const parts = new Map<string, string>()
  for (const [name, value] of written) {
    if (value === undefined) return undefined
    if (value.replaceAll(",", "") !== "") parts.set(name, value)
  }
  return parts
}

/** The address with what variables have of it, where the address itself has nothing. */
export const withPostgresVariables = (url: string, env: Readonly<Record<string, string | undefined>>): string => {
  const parts = partsOf(url)
  const added = Object.entries(postgresVariables).flatMap(([variable, name]) => {
    const value = Object.hasOwn(env, variable) ? env[variable] : undefined
    return value === undefined || value === "" || parts?.has(name) !== false ? [] : [[name, value] as const]
  })
  return added.length === 0 ? url : withParameters(url, added)
}

const withParameters = (url: string, added: ReadonlyArray<readonly [string, string]>): string => {
  const text = added.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&")
  return `${url}${url.includes("?") ? (/[?&]$/.test(url) ? "" : "&") : "?"}${text}`
}

const fileParameters = ["sslrootcert", "sslcert", "sslkey"] as const

/** The address with absolute paths of its files. */
export const withAbsoluteFiles = (url: string, absolute: (path: string) => string): string => {
  const parts = partsOf(url)
  const files = fileParameters.flatMap((name) => {
    const path = parts?.get(name)
    return path === undefined || path === "system" ? [] : [[name, absolute(path)] as const]
  })
  // The last parameter of a name wins.
  return files.length === 0 ? url : withParameters(url, files)
}

const hostsOf = (parts: ReadonlyMap<string, string>): PostgresAddress["hosts"] | undefined => {
  const ports = (parts.get("port") ?? "").split(",")
  const hosts = (parts.get("host") ?? "").split(",").map((host, index) => {
    const port = Number((ports.length === 1 ? ports[0] : ports[index]) || defaultPort)
    return { host: host === "" ? "localhost" : host, port }
  })
  const [first, ...rest] = hosts
  const isSound = hosts.every(({ port }) => Number.isInteger(port) && port > 0 && port < 65_536)
  return first !== undefined && isSound && (ports.length === 1 || ports.length === hosts.length)
    ? [first, ...rest]
    : undefined
}

/** Values of target_session_attrs; the gateway always writes. */
const writingAttributes: ReadonlyMap<string | undefined, boolean> = new Map<string | undefined, boolean>([
  [undefined, false],
  ["any", false],
  ["read-write", true],
  ["primary", true]
])

export const parsePostgresUrl = (url: string): Result.Result<PostgresAddress, string> => {
  const parts = partsOf(url)
  if (parts === undefined) return Result.fail("is no URL")
  const hosts = hostsOf(parts)
  if (hosts === undefined) return Result.fail("has a port that is none, or not one port for all hosts or one for each")
  const mode = parts.get("sslmode")
  const sslMode = sslModes.find((one) => one === mode)
  if (mode !== undefined && sslMode === undefined)
    return Result.fail(`has an sslmode that is none of ${sslModes.join(", ")}`)
  const mustWrite = writingAttributes.get(parts.get("target_session_attrs"))
  if (mustWrite === undefined)
    return Result.fail("has target_session_attrs other than any, read-write and primary; the gateway writes")
  const password = parts.get("password")
  return Result.succeed({
    hosts,
    user: parts.get("user"),
    password: password === undefined ? undefined : Redacted.make(password, { label: "password" }),
    database: parts.get("dbname"),
    sslMode,
    rootCert: parts.get("sslrootcert"),
    cert: parts.get("sslcert"),
    key: parts.get("sslkey"),
    mustWrite,
    options: parts.get("options")
  })
}

/** The address for messages, without secrets. */
export const describePostgres = ({ database, hosts }: PostgresAddress): string => {
  const places = hosts.map(({ host, port }) => {
    const name = host.includes(":") ? `[${host}]` : host
    return port === defaultPort ? name : `${name}:${port}`
  })
  return `postgres://${places.join(",")}/${database ?? ""}`
}

// Parses the URL of the store: SQLite path or Postgres address.

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
