// Generates one request from a seed and an index: any route, method, header and body, valid or not.
// Must not know the answer.
import { carriedKey, keys, type KeyName, serviceAccount } from "./canaries.ts"
import type { Request } from "./client.ts"
import { adminRequests, configs, donors, inferenceRequests, models, publicRequests, type Sound } from "./corpus.ts"
import { mutate, textOf } from "./mutate.ts"
import { type Random, randomOf } from "./random.ts"

export interface Generated {
  readonly request: Request
  /** Bytes that are sent instead of a request. */
  readonly raw?: ReadonlyArray<string | Uint8Array>
}

const clients: ReadonlyArray<KeyName> = [
  "plain",
  "plain",
  "plain",
  "other",
  "limited",
  "narrow",
  "crowded",
  "expired",
  "admin"
]
const keyHeaders = [
  "x-gateway-api-key",
  "x-gateway-api-key",
  "authorization",
  "x-api-key",
  "x-goog-api-key",
  "api-key",
  "x-portkey-api-key"
] as const

const keyOf = (random: Random, name: KeyName): Readonly<Record<string, string>> => {
  const header = random.pick(keyHeaders)
  return { [header]: header === "authorization" ? `Bearer ${keys[name]}` : keys[name] }
}

const odd = (random: Random): string =>
  random.pick([
    " ",
    "0",
    "-1",
    "true",
    "null",
    "{}",
    "[]",
    '"',
    "%00",
    "é",
    "a,b",
    "__proto__",
    "constructor",
    "1e400",
    "x".repeat(300),
    "x".repeat(6_000),
    "@google",
    "../x",
    "9007199254740993"
  ])

const json = (value: Parameters<typeof mutate>[0], random: Random): string =>
  JSON.stringify(random.chance(0.5) ? value : mutate(value, donors, random))
    .replaceAll(/[^\x20-\x7e]/g, "?")
    .slice(0, 7_000)

/** Optional headers, each with its probability. */
const others: ReadonlyArray<readonly [name: string, share: number, value: (random: Random) => string]> = [
  ["provider", 0.08, (random) => random.pick(["google", "@vertex-ai", "placed", "made-1", "gone"])],
  [
    "config",
    0.2,
    (random) =>
      random.chance(0.2) ? random.pick(["by-team", "hidden", "made-1", "none"]) : json(random.pick(configs), random)
  ],
  ["metadata", 0.12, (random) => json({ team: "b", plan: "a".repeat(200), constructor: "x" }, random)],
  ["trace-id", 0.05, () => "trace-1"],
  ["request-timeout", 0.06, (random) => random.pick(["1", "50", "1000", "0", "99999999999"])],
  ["cache", 0.06, (random) => random.pick(["off", "refresh", "60"])],
  ["cache-namespace", 0.03, () => "shared"],
  ["cache-force-refresh", 0.02, () => "true"],
  ["anthropic-beta", 0.03, () => "context-1m-2025-08-07,other"],
  ["dry-run", 0.12, () => "true"],
  ["unsupported-params", 0.05, () => "reject"],
  ["strict-schema-compliance", 0.15, () => "false"],
  ["vertex-project-id", 0.05, () => "other-project"],
  ["vertex-region", 0.05, () => "europe-west1"],
  ["vertex-service-account-json", 0.03, (random) => json(serviceAccount, random)]
]

const headersOf = (random: Random, client: KeyName): Readonly<Record<string, string>> => {
  const prefix = random.chance(0.15) ? "x-portkey-" : "x-gateway-"
  const chosen = others.flatMap(([name, share, value]) =>
    random.chance(share) ? [[prefix + name, random.chance(0.1) ? odd(random) : value(random)] as const] : []
  )
  return {
    "content-type": random.chance(0.97)
      ? "application/json"
      : random.pick(["text/plain", "application/json; charset=latin1", "multipart/form-data"]),
    ...(random.chance(0.05)
      ? { authorization: random.pick([`Bearer ${carriedKey}`, carriedKey, "Basic eDp5", "Bearer "]) }
      : {}),
    ...(random.chance(0.05) ? { "x-goog-api-key": carriedKey } : {}),
    ...(random.chance(0.95) ? keyOf(random, client) : {}),
    ...(random.chance(0.03) ? { "x-request-id": random.pick(["same-for-all", odd(random)]) } : {}),
    ...(random.chance(0.03)
      ? { traceparent: random.pick(["00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", odd(random)]) }
      : {}),
    ...(random.chance(0.02) ? { "content-encoding": "gzip" } : {}),
    ...(random.chance(0.02) ? { "if-match": random.pick(['"1"', "*", odd(random)]) } : {}),
    ...Object.fromEntries(chosen.map(([name, value]) => [name, value.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, "?")]))
  }
}

const methods = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE"] as const

const bodyOf = (random: Random, { body, models: own, path }: Sound): Request["body"] => {
  if (body === undefined) return undefined
  const isChat = path.startsWith("/v1/chat")
  const isResponse = path.startsWith("/v1/responses") && own !== undefined
  const sound = isChat
    ? { model: random.pick(models), ...Object(body) }
    : isResponse
      ? { ...Object(body), model: random.pick(own) }
      : body
  return textOf(random.chance(0.3) ? sound : mutate(sound, donors, random), random)
}

/** Parts of a path that parsers read in several ways. */
const oddParts = ["..", "%2e%2e", "%2F", "%252F", "%00", "@", "@google", "//", ":", "%E0%A4%A", ";a=b", "\\", "v1"]

/** The path with its model, sometimes with a hostile part, a hostile query, or the key where older clients write it. */
const pathOf = (random: Random, { models: own, path }: Sound, client: KeyName): string => {
  const named = own === undefined ? path : path.replace("{model}", () => random.pick(own))
  const [before = "", query] = named.split("?")
  const cut = 1 + random.below(before.length)
  const odd = random.chance(0.05) ? before.slice(0, cut) + random.pick(oddParts) + before.slice(cut) : before
  const keyed = random.chance(0.04) ? `key=${keys[client]}` : undefined
  const wild = random.chance(0.03)
    ? random.pick(["alt=sse", "alt=media", "$alt=json", "key=", "fields=x", "a=%"])
    : undefined
  const queries = [query, keyed, wild].filter((one) => one !== undefined)
  return queries.length === 0 ? odd : `${odd}?${queries.join("&")}`
}

/** Invalid HTTP, or two requests in one. */
const broken = (random: Random): ReadonlyArray<string | Uint8Array> => {
  const key = `x-gateway-api-key: ${keys.plain}\r\n`
  const body = JSON.stringify({ model: "@google/gemini-2.5-flash", messages: [{ role: "user", content: "Hello" }] })
  const post = "POST /v1/chat/completions HTTP/1.1\r\n"
  return random.pick<ReadonlyArray<string | Uint8Array>>([
    [`GET /v1/models HTTP/1.1\r\n${key}\r\n`],
    [`GET /v1/models HTTP/1.1\r\nhost: a\r\nhost: b\r\n${key}\r\n`],
    [
      `${post}host: x\r\n${key}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /metrics HTTP/1.1\r\n\r\n`
    ],
    [`${post}host: x\r\n${key}content-length: 5\r\ncontent-length: 50\r\n\r\n${body}`],
    [`${post}host: x\r\n${key}content-type: application/json\r\ncontent-length: ${body.length + 50}\r\n\r\n${body}`],
    [`${post}host: x\r\n${key}content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n${body}\r\n`],
    [
      `${post}host: x\r\n${key}content-type: application/json\r\nexpect: 100-continue\r\ncontent-length: ${body.length}\r\n\r\n`,
      body
    ],
    [`GET /v1/models HTTP/9.9\r\nhost: x\r\n\r\n`],
    [`get  /v1/models\r\n\r\n`],
    [Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00])],
    ["\r\n\r\n\r\n"],
    [`GET ${"/a".repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`],
    [`GET / HTTP/1.1\r\nhost: x\r\n${"x: y\r\n".repeat(3_000)}\r\n`],
    [`GET / HTTP/1.1\r\nhost: x\r\nbad header: \u0001\r\n\r\n`],
    [`CONNECT evil.example:443 HTTP/1.1\r\nhost: evil.example\r\n\r\n`],
    [`GET /v1/models HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n`],
    [`GET http://evil.example/v1/models HTTP/1.1\r\nhost: x\r\n${key}\r\n`],
    [`OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n`]
  ])
}

/** The request at this index of the seed. */
export const generateRequest = (seed: number, place: number): Generated => {
  const random = randomOf(seed, place)
  const kind = random.next()
  if (kind > 0.98) return { request: { method: "RAW", path: "/raw", headers: {} }, raw: broken(random) }
  const sound = random.pick(kind < 0.78 ? inferenceRequests : kind < 0.92 ? adminRequests : publicRequests)
  const client = sound.path.startsWith("/admin/") && random.chance(0.85) ? "admin" : random.pick(clients)
  const method = random.chance(0.96) ? sound.method : random.pick(methods)
  const body = bodyOf(random, sound)
  const headers = headersOf(random, client)
  const path = pathOf(random, sound, client)
  return {
    request: {
      method,
      path: random.chance(0.95)
        ? path
        : path + random.pick(["?a=b", "/", "//", "%00", "?limit=-1&cursor=x", `?${"q=1&".repeat(300)}`]),
      headers: body === undefined ? headers : { ...headers, "content-length": String(Buffer.byteLength(body)) },
      body,
      leaveAfter: random.chance(0.04) ? random.pick([1, 200]) : undefined
    }
  }
}
