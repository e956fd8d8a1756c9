// Every captured request of an unchanged client of Google's through the whole service against the simulator: served, or refused by name.
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

const captured = clientRequests().filter(({ request }) => !/\/(responses|chat)/.test(request.path))

/** Headers that fetch writes itself. */
const own = /^(host|content-length|connection|upgrade|sec-.*|accept-encoding)$/

/** The captures' key and project are no valid ones. */
const real = (text: string): string =>
  text.replaceAll("mgk_test", gatewayKey).replace("/projects/p1/", "/projects/test-project/")

/** Status, and the reason of a refusal. */
const outcome = async ({ request }: (typeof captured)[number]): Promise<string> => {
  const headers = Object.entries(request.headers).filter(([name]) => !own.test(name))
  const answer = await fetch(gateway.url + real(request.path), {
    method: request.method,
    headers: Object.fromEntries(headers.map(([name, value]) => [name, real(value)])),
    ...(request.body === null ? {} : { body: JSON.stringify(request.body) })
  })
  const text = await answer.text()
  if (answer.status === 200) return "200"
  const { code, details, status } = JSON.parse(text).error
  return `${answer.status} ${code} ${status} ${details[0].reason}`
}

const refusedByName = "400 400 FAILED_PRECONDITION UNSUPPORTED_OPERATION"
const refused: Readonly<Record<string, string>> = {
  "genai-004": refusedByName,
  "genai-010": refusedByName,
  "genai-011": refusedByName,
  "genai-012": refusedByName,
  "genai-013": refusedByName,
  "genai-014": refusedByName,
  "genai-015-upgrade": refusedByName
}

describe.skipIf(captured.length === 0)("captured requests of clients", () => {
  it("client requests: each is served, or refused by name (N901, N902, N1101)", async () => {
    const found: Array<readonly [string, string]> = []
    for (const one of captured) found.push([one.id, await outcome(one)])
    expect(found).toStrictEqual(captured.map(({ id }) => [id, refused[id] ?? "200"]))
  })
})
