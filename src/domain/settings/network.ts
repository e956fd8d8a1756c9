// How the gateway reaches other hosts: proxies, hosts that are reached without one, authorities and client certificates.
// It must not know a connection, or where a text was written.
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"

/** A proxy, with the credential of its address apart. */
export interface ProxyAddress {
  /** The whole address. */
  readonly url: Redacted.Redacted<string>
  /** Scheme, host and port. */
  readonly origin: string
  /** The header `proxy-authorization`. */
  readonly authorization: Redacted.Redacted<string> | undefined
}

export interface NetworkSetting {
  /** For upstreams of https; undefined: they are reached directly. */
  readonly https: ProxyAddress | undefined
  /** The same for http. */
  readonly http: ProxyAddress | undefined
  /** Hosts, suffixes, address ranges and `*`, each perhaps with a port. */
  readonly noProxy: ReadonlyArray<string>
  /** PEM of further authorities. */
  readonly ca: string | undefined
}

/** Certificates of one account's host. */
export interface AccountTls {
  /** PEM of an authority, next to those of the system. */
  readonly ca: string | undefined
  /** PEM of the client's certificate and its key. */
  readonly cert: string | undefined
  readonly key: Redacted.Redacted<string> | undefined
  /** The name in the host's certificate, where it is not that of the address. */
  readonly serverName: string | undefined
}

/** The certificate of the gateway's own servers. */
export interface ServerTls {
  /** PEM of the certificate and those between it and an authority. */
  readonly cert: string
  readonly key: Redacted.Redacted<string>
}

export const directNetwork: NetworkSetting = { https: undefined, http: undefined, noProxy: [], ca: undefined }

/** Reads the address of a proxy; a text without a scheme is one of http. The failure contains no part of the text. */
export const parseProxy = (text: string): Result.Result<ProxyAddress, string> => {
  const url = URL.parse(text.includes("://") ? text : `http://${text}`)
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:") || url.hostname === "")
    return Result.fail("is not the address of an HTTP proxy, such as http://user:password@proxy.example.com:3128")
  const { origin, password, username } = url
  const user = [username, password].map((part) => decoded(part)).join(":")
  return Result.succeed({
    url: Redacted.make(url.href, { label: "proxy" }),
    origin,
    authorization:
      username === ""
        ? undefined
        : Redacted.make(`Basic ${Buffer.from(user).toString("base64")}`, { label: "proxy authorization" })
  })
}

/** A percent sign may also stand for itself. */
const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The entries of NO_PROXY: separated by commas or blanks. */
export const splitNoProxy = (text: string): ReadonlyArray<string> =>
  text.split(/[\s,]+/).filter((entry) => entry !== "")
