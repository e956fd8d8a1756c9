// Checks that a URL's host or an IP address is public (SSRF protection), by spelling alone, without DNS.
// Must not depend on the purpose of the URL.

const localNames = /(^|\.)(localhost|local|internal|localdomain|home\.arpa)$/

/** False for loopback, private, link-local, metadata and other non-global hosts, and for disguised addresses. */
export const isPublicHost = (url: URL, text: string): boolean => {
  const host = url.hostname.toLowerCase().replace(/\.$/, "")
  if (host.startsWith("[")) return isGlobalV6(host.slice(1, -1))
  const parts = host.split(".")
  if (parts.length === 4 && parts.every((part) => /^\d{1,3}$/.test(part))) {
    // The parser turns 0x7f.1 and circled digits into dotted form; only a literal dotted address passes.
    return isGlobalV4(parts.map(Number)) && text.toLowerCase().startsWith(`https://${host}`)
  }
  return parts.length > 1 && !localNames.test(host)
}

/**
 * True for a public Internet address in any spelling; false for all other addresses and for texts that are not
 * addresses.
 */
export const isGlobalAddress = (text: string): boolean => {
  const host = text.includes(":") ? `[${text}]` : text
  const url = /^(\[[\da-f:.]+\]|[\d.]+)$/i.test(host) ? URL.parse(`https://${host}`) : null
  return url !== null && isPublicHost(url, `https://${host}`)
}

const isGlobalV4 = ([a = 0, b = 0, c = 0]: ReadonlyArray<number>): boolean =>
  !(
    a === 0 ||
    a === 10 ||
    a === 127 ||
    a >= 224 ||
    (a === 100 && b >= 64 && b <= 127) ||
    (a === 169 && b === 254) ||
    (a === 172 && b >= 16 && b <= 31) ||
    (a === 192 && b === 168) ||
    (a === 192 && b === 0 && (c === 0 || c === 2)) ||
    (a === 192 && b === 88 && c === 99) ||
    (a === 198 && (b === 18 || b === 19)) ||
    (a === 198 && b === 51 && c === 100) ||
    (a === 203 && b === 0 && c === 113)
  )

/**
 * Global unicast is 2000::/3. Excluded: 2001::/23 (protocols), 6to4 and Teredo (embed other addresses), two blocks for
 * documentation.
 */
const isGlobalV6 = (address: string): boolean =>
  /^[23][0-9a-f]{3}:/.test(address) &&
  !/^(2002:|2001:db8:|2001:(1?[0-9a-f]{1,2})?:|3fff:([0-9a-f]{1,3})?:)/.test(address)
