// Every recorded exchange of Gemini, Vertex AI and Claude through its own path of the whole service: bytes up and bytes down.
import { createHash } from "node:crypto"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { ScriptedResponse } from "../../../src/upstream/Transport.ts"
import { gatewayOver, type ScriptedGateway } from "../../support/scripted.ts"
import { loudlySkipped, type Recording, recordings, sharedDir } from "../../support/shared.ts"
import { gatewayKey } from "../../support/TestGateway.ts"

if (sharedDir() === undefined) loudlySkipped("recorded exchanges through native paths")

const folders = [
  "gemini-api",
  "vertex-gemini",
  "gemini-embeddings",
  "gemini-count-tokens",
  "vertex-predict",
  "vertex-count-tokens",
  "vertex-anthropic"
]

const hash = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")
const encoder = new TextEncoder()
const bytesOf = (body: unknown): Uint8Array =>
  body instanceof Uint8Array ? body : encoder.encode(typeof body === "string" ? body : JSON.stringify(body))

const replyText = ({ response }: Recording): string => response.bodyText ?? JSON.stringify(response.body, null, 2)

interface Exchange {
  readonly recording: Recording
  readonly path: string
  readonly sent: string
}

/** Exchanges of a model's path with a body; the text is one that a client could have sent. */
const exchanges: ReadonlyArray<Exchange> = folders
  .flatMap((folder) => recordings(folder))
  .flatMap((recording): ReadonlyArray<Exchange> => {
    const { body, url } = recording.request
    if (!/\/models\/[^/:?]+:[A-Za-z]+/.test(url) || typeof body !== "object" || body === null) return []
    const { pathname, search } = new URL(url)
    return [{ recording, path: `${pathname}${search}`, sent: JSON.stringify(body, null, 1) }]
  })

let reply: ScriptedResponse = { status: 200 }
let gateway: ScriptedGateway
beforeAll(() => {
  gateway = gatewayOver(() => reply)
})
afterAll(() => gateway.dispose())

const ask = async ({ path, recording, sent }: Exchange) => {
  gateway.seen.length = 0
  const { headers, status } = recording.response
  reply = {
    status,
    headers: { "content-type": headers["content-type"] ?? "application/json" },
    chunks: [replyText(recording)]
  }
  const answer = await gateway.send(path, {
    method: "POST",
    headers: { "content-type": "application/json", "x-gateway-api-key": gatewayKey, "x-request-id": "r1" },
    body: sent
  })
  return { status: answer.status, text: await answer.text(), up: gateway.seen[0] }
}

describe.skipIf(exchanges.length === 0)("recorded exchanges by their own paths", () => {
  it.each(exchanges.map((one) => [one.recording.id, one] as const))(
    "recorded exchange %s: passes byte for byte (N301, N401)",
    async (_id, exchange) => {
      const { recording, sent } = exchange
      const { status, text, up } = await ask(exchange)
      expect(hash(bytesOf(up?.body))).toBe(hash(bytesOf(sent)))
      if (recording.response.status !== 200) return
      expect([status, text]).toStrictEqual([200, replyText(recording)])
    }
  )
  it("recorded exchanges: all of them are compared (N301, N401)", () => {
    const answered = exchanges.filter(({ recording }) => recording.response.status === 200)
    expect([exchanges.length, answered.length]).toStrictEqual([213, 205])
  })
})
