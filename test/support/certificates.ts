// Generates X.509 certificates for tests: of an authority, for a host, and expired ones.
// Must not depend on a server.
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto"

export interface Certificate {
  /** PEM. */
  readonly cert: string
  readonly key: string
}

const tlv = (tag: number, ...contents: ReadonlyArray<Uint8Array>): Buffer => {
  const body = Buffer.concat(contents)
  const length =
    body.length < 128
      ? [body.length]
      : body.length < 256
        ? [0x81, body.length]
        : [0x82, body.length >> 8, body.length & 255]
  return Buffer.concat([Buffer.of(tag, ...length), body])
}
const sequence = (...contents: ReadonlyArray<Uint8Array>) => tlv(0x30, ...contents)
const bits = (content: Uint8Array) => tlv(0x03, Buffer.of(0), content)
const octets = (content: Uint8Array) => tlv(0x04, content)
const oid = (...bytes: ReadonlyArray<number>) => tlv(0x06, Buffer.of(...bytes))
const time = (year: number) => tlv(0x18, Buffer.from(`${year}0101000000Z`))

/** SHA-256 with ECDSA; a common name; a name of a host; whether it is an authority. */
const ecdsa = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02))
const named = (name: string) => sequence(tlv(0x31, sequence(oid(0x55, 0x04, 0x03), tlv(0x0c, Buffer.from(name)))))
const forHost = (host: string) => sequence(oid(0x55, 0x1d, 0x11), octets(sequence(tlv(0x82, Buffer.from(host)))))
const authority = sequence(
  oid(0x55, 0x1d, 0x13),
  tlv(0x01, Buffer.of(255)),
  octets(sequence(tlv(0x01, Buffer.of(255))))
)

const pem = (der: Uint8Array): string =>
  `-----BEGIN CERTIFICATE-----\n${Buffer.from(der)
    .toString("base64")
    .match(/.{1,64}/g)
    ?.join("\n")}\n-----END CERTIFICATE-----\n`

const signed = (
  issuer: string,
  issuerKey: KeyObject,
  subject: string,
  subjectKey: KeyObject,
  until: number,
  extension: Uint8Array
): string => {
  const publicKey = subjectKey.export({ type: "spki", format: "der" })
  const serial = createHash("sha256").update(publicKey).digest().subarray(0, 8)
  serial[0] = 1
  const body = sequence(
    tlv(0xa0, tlv(0x02, Buffer.of(2))),
    tlv(0x02, serial),
    ecdsa,
    named(issuer),
    sequence(time(2000), time(until)),
    named(subject),
    publicKey,
    tlv(0xa3, sequence(extension))
  )
  return pem(sequence(body, ecdsa, bits(sign("sha256", body, issuerKey))))
}

const keyPair = () => generateKeyPairSync("ec", { namedCurve: "P-256" })
const pemOf = (key: KeyObject): string => key.export({ type: "pkcs8", format: "pem" }).toString()
const far = 2099
const past = 2001

/** An authority made for this process, and what it has signed. */
export const makeCertificates = () => {
  const name = "Authority of the tests"
  const { privateKey, publicKey } = keyPair()
  const of = (host: string, until: number): Certificate => {
    const own = keyPair()
    return { cert: signed(name, privateKey, host, own.publicKey, until, forHost(host)), key: pemOf(own.privateKey) }
  }
  const alone = keyPair()
  return {
    authority: signed(name, privateKey, name, publicKey, far, authority),
    good: of("localhost", far),
    wrongHost: of("elsewhere.test", far),
    host: (name: string) => of(name, far),
    /** The name in the subject only, as Memorystore has it. */
    withoutAltName: (host: string): Certificate => {
      const own = keyPair()
      return { cert: signed(name, privateKey, host, own.publicKey, far, authority), key: pemOf(own.privateKey) }
    },
    expired: of("localhost", past),
    selfSigned: {
      cert: signed("localhost", alone.privateKey, "localhost", alone.publicKey, far, forHost("localhost")),
      key: pemOf(alone.privateKey)
    } satisfies Certificate
  }
}
