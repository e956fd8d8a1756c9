// Tests media by address for Claude through the whole service: requests to media hosts, Claude's input, client errors.
// Must not reach the network: media hosts and upstreams are scripted.
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { HostAddresses } from "../../src/upstream/MediaFetch.ts"
import type { TransportScript } from "../../src/upstream/Transport.ts"
import { message, text, user } from "../support/claude.ts"
import { config, fallback } from "../support/config.ts"
import { reply } from "../support/gemini.ts"
import { gatewaysOver, replying, type ScriptedOptions } from "../support/scripted.ts"

const over = gatewaysOver()
const path = "/v1/chat/completions"
const model = "@vertex-ai/anthropic.claude-sonnet-4-5@20250929"
const place =
  "https://us-central1-aiplatform.googleapis.com/v1/projects/test-project/locations/us-central1/publishers/anthropic/models"
const address = "https://media.example/a.png"
const png = Buffer.concat([Buffer.of(0x89), Buffer.from("PNG\r\n\x1a\nrest")])
const part = (url: string) => ({ type: "image_url", image_url: { url } })
const asking = (...urls: ReadonlyArray<string>) => ({ model, max_tokens: 5, messages: [user(urls.map(part))] })
const block = { type: "image", source: { type: "base64", media_type: "image/png", data: png.toString("base64") } }
const param = "messages[0].content[0].image_url.url"

const names: HostAddresses = (host) => Effect.succeed(host === "inside.example" ? ["10.0.0.1"] : ["93.184.216.34"])
const found = { status: 200, headers: { "content-type": "image/png" }, chunks: [png] }
const isMedia = (url: string) => new URL(url).hostname.endsWith(".example")

/** A gateway that fetches: hosts answer by the script of media, Claude answers Hello. */
const fetching = (
  media: TransportScript = () => found,
  { settings, ...more }: ScriptedOptions = {},
  claude: TransportScript = () => replying(message([text("Hello")]))
) =>
  over((request) => (isMedia(request.url) ? media(request) : claude(request)), {
    settings: { media: { fetch: true }, ...settings },
    references: Layer.succeed(HostAddresses, names),
    ...more
  })
const told = async (answer: Response) => {
  const body: unknown = await answer.json()
  return [answer.status, body]
}
const refused = (code: string, words: string, at = param) => [
  400,
  { error: { message: words, type: "invalid_request_error", param: at, code } }
]
const instead = " Where this cannot be mended, send data:<type>;base64,<data>."

describe("chat with media.fetch", () => {
  it("media: Claude gets the bytes, and the host gets one request without data of the client (T1813)", async () => {
    const gateway = fetching()
    const answer = await gateway.post(path, asking(address, "https://media.example/b%20c.png?d=e#f", address), {
      "x-gateway-vertex-region": "us-central1",
      traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`
    })
    expect(answer.status).toBe(200)
    expect(gateway.seen).toEqual([
      { method: "GET", url: address, headers: {}, body: undefined },
      { method: "GET", url: "https://media.example/b%20c.png?d=e", headers: {}, body: undefined },
      {
        method: "POST",
        url: `${place}/claude-sonnet-4-5@20250929:rawPredict`,
        headers: { "content-type": "application/json" },
        body: {
          anthropic_version: "vertex-2023-10-16",
          max_tokens: 5,
          messages: [{ role: "user", content: [block, block, block] }]
        }
      }
    ])
  })
  it("media: fetched media are part of the token count (T1701)", async () => {
    const gateway = fetching(undefined, {}, () => replying({ input_tokens: 9 }))
    expect(await told(await gateway.post(`${path}/count_tokens`, asking(address)))).toEqual([
      200,
      { object: "token_count", model: "claude-sonnet-4-5@20250929", input_tokens: 9 }
    ])
    expect(gateway.seen.map(({ body }) => body)).toEqual([
      undefined,
      {
        anthropic_version: "vertex-2023-10-16",
        model: "claude-sonnet-4-5@20250929",
        messages: [{ role: "user", content: [block] }]
      }
    ])
  })
  it("media: a retry and another target of the same request reuse the fetched bytes (T1813)", async () => {
    const claude = { provider: "vertex-ai", retry: { attempts: 1 } }
    const gateway = fetching(
      undefined,
      { draw: () => 0, settings: { configs: { twice: config(fallback(claude, claude)) } } },
      () => ({ status: 503 })
    )
    const answer = await gateway.post(
      path,
      { ...asking(address), model: "anthropic.claude-sonnet-4-5@20250929" },
      { "x-gateway-config": "twice" }
    )
    expect(answer.status).toBe(503)
    expect(gateway.seen.map(({ method }) => method)).toEqual(["GET", "POST", "POST", "POST", "POST"])
  })
  it("media: an answer is cached by the fetched bytes (T1813)", async () => {
    let bytes = png
    const gateway = fetching(() => ({ ...found, chunks: [bytes] }))
    const status = async () =>
      (await gateway.post(path, asking(address), { "x-gateway-cache": "60" })).headers.get("x-gateway-cache-status")
    expect([await status(), await status()]).toEqual(["MISS", "HIT"])
    bytes = Buffer.concat([png, png])
    expect(await status()).toBe("MISS")
  })
  it("media: nothing is fetched for Gemini, for data, or without an address (T1813)", async () => {
    const gateway = fetching(undefined, {}, ({ url }) =>
      replying(url.includes("gemini") ? reply([{ text: "a" }], { finishReason: "STOP" }) : message([text("Hello")]))
    )
    for (const body of [
      { ...asking(address), model: "@vertex-ai/gemini-2.5-flash" },
      asking(`data:image/png;base64,${png.toString("base64")}`),
      { ...asking(), messages: [user("hi")] }
    ]) {
      expect((await gateway.post(path, body)).status).toBe(200)
    }
    expect(gateway.seen.map(({ method }) => method)).toEqual(["POST", "POST", "POST"])
  })
  it("media: nothing is fetched on /v1/messages, and the upstream's answer stays (T1910)", async () => {
    const gateway = fetching()
    const source = { type: "image", source: { type: "url", url: address } }
    await gateway.post("/v1/messages", { model, max_tokens: 5, messages: [{ role: "user", content: [source] }] })
    expect(
      gateway.seen.map(({ method, body }) => [
        method,
        body instanceof Uint8Array ? JSON.parse(Buffer.from(body).toString()) : body
      ])
    ).toEqual([
      [
        "POST",
        { max_tokens: 5, messages: [{ role: "user", content: [source] }], anthropic_version: "vertex-2023-10-16" }
      ]
    ])
  })
  it("media: a dry run fetches nothing and shows the place of the bytes (T1813)", async () => {
    const gateway = fetching()
    const answer = await gateway.post(path, asking(address), { "x-gateway-dry-run": "true" })
    expect(await answer.json()).toMatchObject({
      object: "dry_run",
      body: {
        messages: [
          {
            role: "user",
            content: [
              {
                type: "image",
                source: {
                  type: "base64",
                  media_type: "image/png",
                  data: `<what ${address} holds when the request is sent>`
                }
              }
            ]
          }
        ]
      }
    })
    expect(gateway.seen).toEqual([])
  })
})

describe("media that cannot be fetched", () => {
  it.each<readonly [string, string, TransportScript, string]>([
    ["an internal host", "https://inside.example/a.png", () => found, "The host of this URL has no public address."],
    [
      "a redirect",
      address,
      () => ({ status: 302, headers: { location: "http://169.254.169.254/" } }),
      "This URL answers with a redirect, which is not followed: send the address it leads to."
    ],
    [
      "an error status",
      address,
      () => ({ status: 404 }),
      "This URL answers with status 404: it must be readable without a login."
    ],
    [
      "another media type",
      address,
      () => ({ ...found, headers: { "content-type": "video/mp4" } }),
      "This URL does not hold an image, a PDF or text."
    ],
    [
      "bytes of another type",
      address,
      () => ({ ...found, chunks: ["<html>Log in</html>"] }),
      "What this URL holds is called image/png, but its bytes are not."
    ],
    [
      "an HTML page instead",
      address,
      () => ({ ...found, headers: { "content-type": "text/html" } }),
      "At this URL is text, such as a page in the place of an image or a document: it must be readable without a login."
    ],
    [
      "no network",
      address,
      () => ({ status: 200, headers: { "content-type": "image/png" }, chunks: ["x"], fault: "reset" }),
      "The host of this URL closed the connection before its answer was complete."
    ]
  ])("media: a failed fetch is refused: %s (B118)", async (_name, url, media, words) => {
    const gateway = fetching(media)
    expect(await told(await gateway.post(path, asking(url)))).toEqual(refused("media_fetch_failed", words + instead))
    expect(gateway.seen.filter(({ method }) => method === "POST")).toEqual([])
  })
  it("media: the error names the failed part, for a stream too (B118)", async () => {
    const gateway = fetching(({ url }) => (url.endsWith("b.png") ? { status: 403 } : found))
    expect(
      await told(await gateway.post(path, { ...asking(address, "https://media.example/b.png"), stream: true }))
    ).toEqual(
      refused(
        "media_fetch_failed",
        `This URL answers with status 403: it must be readable without a login.${instead}`,
        "messages[0].content[1].image_url.url"
      )
    )
  })
  it("media: addresses that are not fetched are refused without a connection, in words that hold (B118, W11)", async () => {
    const gateway = fetching()
    for (const url of [
      "http://media.example/a.png",
      "https://127.0.0.1/a.png",
      "https://169.254.169.254/a.png",
      "https://[::1]/a.png",
      "https://localhost/a.png",
      "https://u:p@media.example/a.png",
      "https://media.example:444/a.png"
    ]) {
      expect(await told(await gateway.post(path, asking(url)))).toEqual(
        refused(
          "invalid_media_url",
          "Claude reads media from the request itself, and the gateway fetches public https addresses only, without user name and port, and none of Google's files or of video pages: send such an address, or data:<type>;base64,<data>."
        )
      )
    }
    expect(gateway.seen).toEqual([])
  })
  it("media: too many bytes for one request, or for all requests together, are refused (B118)", async () => {
    const large = fetching(undefined, { limits: { mediaBytes: 10 } })
    expect(await told(await large.post(path, asking(address)))).toEqual(
      refused(
        "media_fetch_failed",
        `The media at the URLs of a request may have 10 bytes in all; these have more.${instead}`
      )
    )
    const busy = await fetching(undefined, { limits: { mediaInFlightBytes: 10 } }).post(path, asking(address))
    expect([busy.status, busy.headers.get("retry-after"), await busy.json()]).toEqual([
      503,
      "1",
      {
        error: {
          message: "The gateway is at its limit of requests; try again shortly.",
          type: "api_error",
          param: null,
          code: "overloaded"
        }
      }
    ])
  })
  it("media: a client deadline that passes during a fetch is a deadline error (B118)", async () => {
    const gateway = fetching(() => Effect.never)
    const answer = await gateway.post(path, asking(address), { "x-gateway-request-timeout": "20" })
    expect(await told(answer)).toEqual([
      504,
      {
        error: {
          message: "The deadline of the request had passed before the upstream was called.",
          type: "api_error",
          param: null,
          code: "upstream_timeout"
        }
      }
    ])
  })
})

describe("chat without media.fetch", () => {
  it("media: nothing is resolved or fetched, and the error names the setting (T1813)", async () => {
    const gateway = over(() => replying({}), { references: Layer.succeed(HostAddresses, () => Effect.die("asked")) })
    expect(await told(await gateway.post(path, asking(address)))).toEqual(
      refused(
        "invalid_media_url",
        "Claude reads media from the request itself only: send data:<type>;base64,<data>. The operator can have public addresses fetched by the setting media.fetch."
      )
    )
    expect(gateway.seen).toEqual([])
  })
})
