// Tests which hosts are reached by a proxy, and what an address of a proxy may be.
// Must not open a connection.
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { parseProxy, splitNoProxy } from "../../src/domain/settings/network.ts"
import { describeRoute, proxyChoice } from "../../src/upstream/Network.ts"

const https = Result.getOrThrow(parseProxy("http://user:sek%40ret@proxy.corp:3128"))
const http = Result.getOrThrow(parseProxy("https://other.corp"))
const networkOf = (noProxy: string) => ({ https, http, noProxy: splitNoProxy(noProxy), ca: undefined })

describe("choice of a proxy", () => {
  const rows: ReadonlyArray<readonly [noProxy: string, proxied: string, direct: string]> = [
    ["example.com", "https://notexample.com", "https://example.com https://a.b.example.com https://EXAMPLE.com."],
    [".example.com", "https://example.org", "https://a.example.com https://example.com"],
    ["*.example.com", "https://example.org", "https://a.example.com"],
    ["example.com:8443", "https://example.com", "https://example.com:8443 https://a.example.com:8443"],
    ["example.com:443", "http://example.com", "https://example.com"],
    ["10.0.0.0/8 , 192.168.1.0/24", "https://11.0.0.1 https://192.168.2.1", "https://10.1.2.3 http://192.168.1.9:81"],
    ["10.0.0.1", "https://10.0.0.10", "https://10.0.0.1"],
    ["10.0.0.1:81", "http://10.0.0.1", "http://10.0.0.1:81"],
    ["fd00::/8", "https://[fe00::1]", "https://[fd12::1]"],
    ["[2001:db8::1]:443", "https://[2001:db8::1]:444", "https://[2001:db8::1]"],
    ["2001:db8::1", "https://[2001:db8::2]", "https://[2001:DB8:0::1]"],
    ["*", "", "https://example.com http://10.0.0.1"],
    [
      "",
      "https://example.com",
      "http://localhost:1 https://127.0.0.9 http://[::1]:80 http://169.254.169.254 http://metadata.google.internal"
    ]
  ]
  it.each(rows)("proxy: NO_PROXY %s leaves %s proxied, and %s direct (K20)", (noProxy, proxied, direct) => {
    const choose = proxyChoice(networkOf(noProxy))
    const through = (urls: string) => urls.split(" ").filter((url) => url !== "" && choose(new URL(url).origin))
    expect([through(proxied), through(direct)]).toEqual([proxied.split(" ").filter((url) => url !== ""), []])
  })

  it("proxy: is one for https and one for http, and described without its credential (K20)", () => {
    const network = networkOf("direct.corp")
    const choose = proxyChoice(network)
    expect([choose("https://a.test")?.origin, choose("http://a.test")?.origin]).toEqual([
      "http://proxy.corp:3128",
      "https://other.corp"
    ])
    expect(https.authorization && Redacted.value(https.authorization)).toBe(
      `Basic ${Buffer.from("user:sek@ret").toString("base64")}`
    )
    expect(["https://a.test", "https://direct.corp"].map(describeRoute(network))).toEqual([
      ", reached by the proxy http://proxy.corp:3128",
      ", reached directly"
    ])
    expect(["https://a.test"].map(describeRoute({ ...network, https: undefined, http: undefined }))).toEqual([""])
    expect(`${JSON.stringify(https)} ${String(https.url)}`).not.toContain("sek")
  })

  it("proxy: an address is http or https, and needs no scheme (K20)", () => {
    expect(
      ["proxy:3128", "http://[::1]:3128/", "https://u@proxy"].map((text) =>
        Result.map(parseProxy(text), ({ origin }) => origin)
      )
    ).toEqual([
      Result.succeed("http://proxy:3128"),
      Result.succeed("http://[::1]:3128"),
      Result.succeed("https://proxy")
    ])
    expect(["socks5://proxy:1", "http://", "not an address"].map((text) => Result.isFailure(parseProxy(text)))).toEqual(
      [true, true, true]
    )
  })
})
