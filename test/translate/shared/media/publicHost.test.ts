// Tests public Internet addresses against independent lists of reserved blocks.
// Must not open sockets or read clocks.
import { BlockList, isIPv6 } from "node:net"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { isGlobalAddress } from "../../../../src/translate/shared/media/media.ts"
import { runs } from "../../../support/release.ts"

/** Source: IANA, special-purpose address registries; multicast and blocks reserved for later. */
const blocks4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3"
]
const blocks6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"]

const inBlocks = new BlockList()
for (const block of [...blocks4, ...blocks6]) {
  const [address = "", bits] = block.split("/")
  inBlocks.addSubnet(address, Number(bits), isIPv6(address) ? "ipv6" : "ipv4")
}
const unicast = new BlockList()
unicast.addSubnet("2000::", 3, "ipv6")

const dotted = (bits: number): string => [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join(".")
/** The first and last address of each block, and their neighbours. */
const edges4 = blocks4.flatMap((block) => {
  const [address = "", bits] = block.split("/")
  const first = address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0)
  const size = 2 ** (32 - Number(bits))
  return [first - 1, first, first + size - 1, first + size].filter((one) => one >= 0 && one < 2 ** 32)
})
const v4 = fc.oneof(fc.constantFrom(...edges4), fc.nat(2 ** 32 - 1)).map(dotted)
const group = fc.oneof(fc.constantFrom(0, 1, 0xdb8, 0x1ff, 0x200, 0xfff, 0x1000, 0xffff), fc.nat(0xffff))
const head = fc.oneof(
  fc.constantFrom(0, 0x64, 0x100, 0x1fff, 0x2000, 0x2001, 0x2002, 0x3fff, 0x4000, 0xfc00, 0xfe80, 0xff02),
  fc.nat(0xffff)
)
const v6 = fc
  .tuple(head, fc.array(group, { minLength: 7, maxLength: 7 }))
  .map(([first, rest]) => [first, ...rest].map((one) => one.toString(16)).join(":"))

describe("public Internet addresses (TH7)", () => {
  it("an IPv4 address is public outside all reserved blocks", () => {
    fc.assert(
      fc.property(v4, (address) => {
        expect(isGlobalAddress(address)).toBe(!inBlocks.check(address, "ipv4"))
      }),
      { numRuns: runs(2_000) }
    )
  })
  it("an IPv6 address is public inside global unicast and outside reserved blocks, in any spelling", () => {
    const spelling = fc.constantFrom<(text: string) => string>(
      (text) => text,
      (text) => text.toUpperCase(),
      (text) =>
        text
          .split(":")
          .map((part) => part.padStart(4, "0"))
          .join(":"),
      (text) => new URL(`https://[${text}]`).hostname.slice(1, -1)
    )
    fc.assert(
      fc.property(v6, spelling, (address, spelt) => {
        expect(isGlobalAddress(spelt(address))).toBe(unicast.check(address, "ipv6") && !inBlocks.check(address, "ipv6"))
      }),
      { numRuns: runs(2_000) }
    )
  })
  it("an IPv6 address with an embedded IPv4 address is not public", () => {
    fc.assert(
      fc.property(v4, fc.constantFrom("::ffff:", "::", "64:ff9b::", "::ffff:0:"), (address, prefix) => {
        expect(isGlobalAddress(prefix + address)).toBe(false)
      })
    )
  })
  it("other texts are not public addresses", () => {
    for (const text of [
      "",
      "example.com",
      "1.2.3",
      "8.8.8.8.8",
      "256.8.8.8",
      "8.8.8.8:80",
      "[2600::1]",
      "2600::1%eth0",
      "2600:::1",
      "8.8.8.8/x",
      "a@8.8.8.8",
      "0x7f.0.0.1",
      "127.1",
      "abba",
      "ab.ba",
      "ab.c1",
      "::"
    ]) {
      expect([text, isGlobalAddress(text)]).toEqual([text, false])
    }
    for (const text of ["8.8.8.8", "1.1.1.1", "2606:4700::1111"])
      expect([text, isGlobalAddress(text)]).toEqual([text, true])
  })
  it("the check never throws", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(isGlobalAddress(text)).toBeTypeOf("boolean")
      })
    )
  })
})
