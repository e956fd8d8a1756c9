// Every captured request of an unchanged client through the whole service against the simulator: served, or refused by name.
import { request as send } from "node:http"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { clientRequests } from "../../support/clientRequests.ts"
import { loudlySkipped, sharedDir } from "../../support/shared.ts"
import { gatewayKey, startTestGateway, type TestGateway } from "../../support/TestGateway.ts"

if (sharedDir() === undefined) loudlySkipped("captured requests of clients")

/** The token of the client that brings its own. */
const carriedToken = "ya29.fake"

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway({
    simulator: { accessTokens: [carriedToken], acceptForeignSignatures: true, day: "2025-12-01" }
  })
})
afterAll(() => gateway.close())

const captured = clientRequests()

/** Headers that the captures leave to the connection. */
const ofConnection = /^(host|content-length|accept-encoding)$/

/** The captures' key and project are no valid ones. */
const real = (text: string): string =>
  text.replaceAll("mgk_test", gatewayKey).replace("/projects/p1/", "/projects/test-project/")

interface Answered {
  readonly status: number
  readonly text: string
}

/** Sends a capture as its client did, with its request for a WebSocket. */
const ask = ({ request }: (typeof captured)[number]): Promise<Answered> =>
  new Promise((resolve, reject) => {
    const given = Object.entries(request.headers).filter(([name]) => !ofConnection.test(name))
    const headers = Object.fromEntries(given.map(([name, value]) => [name, real(value)]))
    const upgrade = headers["upgrade"] === undefined ? {} : { connection: "upgrade" }
    const url = gateway.url + real(request.path)
    const sent = send(url, { method: request.method, headers: { ...headers, ...upgrade } }, (response) => {
      let text = ""
      response.setEncoding("utf8")
      response.on("data", (part: string) => (text += part))
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }))
    })
    sent.on("error", reject)
    sent.end(request.body === null ? undefined : JSON.stringify(request.body))
  })

/** Status, and the reason of a refusal in Google's form or OpenAI's. */
const outcome = async (one: (typeof captured)[number]): Promise<string> => {
  const { status, text } = await ask(one)
  if (status === 200) return "200"
  const { code, details, status: word } = JSON.parse(text).error
  return details === undefined ? `${status} ${code}` : `${status} ${code} ${word} ${details[0].reason}`
}

const refusedByName = "400 400 FAILED_PRECONDITION UNSUPPORTED_OPERATION"
const refused: Readonly<Record<string, string>> = {
  // A WebSocket is refused with the status after which this client asks by POST.
  "codexoai-001-upgrade": "426 upgrade_required",
  // Its model is OpenAI's own, and no provider here has it; an alias gives the name a model.
  "codexcust-001": "400 provider_missing",
  "genai-004": refusedByName,
  "genai-010": refusedByName,
  "genai-011": refusedByName,
  "genai-012": refusedByName,
  "genai-013": refusedByName,
  "genai-014": refusedByName,
  "genai-015-upgrade": refusedByName
}

describe.skipIf(captured.length === 0)("captured requests of clients", () => {
  it.each(captured.map((one) => [one.id, one] as const))(
    "client request %s: is served, or refused by name (N901, N902, N1101)",
    async (id, one) => {
      expect(await outcome(one)).toBe(refused[id] ?? "200")
    }
  )
})
