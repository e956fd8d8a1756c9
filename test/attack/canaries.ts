// The credentials of the attacked gateway, each with a unique mark, and the search for leaked marks.
// Must not know where a text was found.
import { generateKeyPairSync } from "node:crypto"

/** The mark inside a credential. Displayed prefixes and endings of keys contain no part of it. */
const mark = (name: string): string => `cnry${name}${Buffer.from(name).toString("hex").padEnd(8, "e").slice(0, 8)}q`

const gatewayKey = (name: string): string => `mgk_attacked_${mark(name)}_00000000`

/** Client keys by name. */
export const keys = {
  plain: gatewayKey("plain"),
  other: gatewayKey("other"),
  limited: gatewayKey("limited"),
  narrow: gatewayKey("narrow"),
  crowded: gatewayKey("crowded"),
  expired: gatewayKey("expired"),
  pictures: gatewayKey("pictures"),
  hangup: gatewayKey("hangup"),
  overrides: gatewayKey("overrides"),
  latest: gatewayKey("latest"),
  texts: gatewayKey("texts"),
  silent: gatewayKey("silent"),
  parallel: gatewayKey("parallel"),
  cut: gatewayKey("cut"),
  admin: gatewayKey("admin")
} as const
export type KeyName = keyof typeof keys

/** Provider keys. Their special characters change in a URL. */
export const apiKey = `AIza/${mark("gemini")}+stored=0000`
export const accessToken = `ya29.${mark("token")}/stored+0000=`
export const issuedToken = `ya29.${mark("issued")}/issued+0000=`
export const configKey = `AIza/${mark("config")}+within=0000`
export const carriedKey = `AIza/${mark("carried")}+brought=0000`
export const adminMadeKey = `AIza/${mark("made")}+managed=0000`

const pair = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" }
})

export const project = "attacked-project"
export const serviceAccount = {
  type: "service_account",
  project_id: project,
  private_key_id: "attacked-1",
  private_key: pair.privateKey,
  client_email: `gateway@${project}.iam.gserviceaccount.com`
}
export const publicKeyPem = pair.publicKey

/** The key that encrypts stored credentials. */
export const secretKey = Buffer.from(`${mark("secret")}${"s".repeat(32)}`)
  .subarray(0, 32)
  .toString("base64")

const marks: ReadonlyArray<readonly [name: string, text: string]> = [
  ...Object.keys(keys).map((name) => [`gateway key ${name}`, mark(name)] as const),
  ...["gemini", "token", "issued", "config", "carried", "made"].map(
    (name) => [`credential ${name}`, mark(name)] as const
  ),
  ["secret key", mark("secret")],
  ["secret key, encoded", secretKey.slice(0, 24)],
  ...pair.privateKey
    .split("\n")
    .slice(2, 6)
    .map((line, at) => [`private key, line ${at + 2}`, line] as const)
]
const search = new RegExp(marks.map(([, text]) => text.replaceAll(/[^\w]/g, "\\$&")).join("|"), "gi")

/** How an error may write a value: within text in base64 and hex, as entities, and with spaces. */
export const encodings = (text: string): ReadonlyArray<string> => [
  ...["", "a", "aa"].map((before) => Buffer.from(`${before}${text}`).toString("base64")),
  Buffer.from(text).toString("hex"),
  [...text].map((letter) => `&#${letter.charCodeAt(0)};`).join(""),
  [...text].map((letter) => `\\x${letter.charCodeAt(0).toString(16)}`).join(""),
  [...text].join(" ")
]

/** Without the letters of base64 that hold bits of what is around the mark. */
const encodedMarks = marks.flatMap(([name, text]) =>
  encodings(text).map((encoded) => [name, encoded.replace(/=+$/, "").slice(4, -4)] as const)
)

/** The same as `findLeak` for a credential in an encoding that changes its marks. */
export const findEncodedLeak = (text: string): string | undefined =>
  encodedMarks.find(([, encoded]) => text.includes(encoded))?.[0]

/**
 * The name of the first credential of which the text contains a part. URL and JSON encodings keep the marks unchanged.
 * Marks that `sent`, the request body, contains are not leaks: dry runs and models repeat bodies.
 */
export const findLeak = (text: string, sent = ""): string | undefined => {
  for (const [found] of text.matchAll(search)) {
    if (sent.includes(found)) continue
    return marks.find(([, mark]) => mark.toLowerCase() === found.toLowerCase())?.[0] ?? "a credential"
  }
  return undefined
}
