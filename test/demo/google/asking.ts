// A simulator on a free port for the length of a test file, and short ways to ask it.
import { afterAll, beforeAll } from "vitest"
import { makeSimulator } from "../../../src/demo/google/Simulator.ts"
import type { Simulator, SimulatorOptions } from "../../../src/demo/google/Simulator.ts"

export const place = "/v1/projects/test-project/locations/us-central1"
export const keyed = { "x-goog-api-key": "key" }
export const bearer = { authorization: "Bearer token" }

export interface Answered {
  readonly status: number
  readonly type: string | null
  readonly text: string
  /** The text as JSON. */
  readonly json: () => ReturnType<typeof JSON.parse>
}

export interface Asking {
  readonly simulator: Simulator
  readonly url: () => string
  /** Posts a body: under `/v1/projects` with a token, elsewhere with an API key. */
  readonly ask: (path: string, body: unknown, headers?: Record<string, string>) => Promise<Answered>
}

/** A simulator that takes one key and the token `token`; started and closed around the tests of the file. */
export const asking = (options: Partial<SimulatorOptions> = {}): Asking => {
  const simulator = makeSimulator({ geminiApiKeys: ["key"], accessTokens: ["token"], ...options })
  let base = ""
  let close = async () => {}
  beforeAll(async () => {
    const listening = await simulator.listen()
    base = listening.url
    close = listening.close
  })
  afterAll(() => close())
  return {
    simulator,
    url: () => base,
    ask: async (path, body, headers) => {
      const credential = headers ?? (path.includes("/projects/") ? bearer : keyed)
      const response = await fetch(base + path, {
        method: "POST",
        body: typeof body === "string" ? body : JSON.stringify(body),
        headers: { "content-type": "application/json", ...credential }
      })
      const text = await response.text()
      return { status: response.status, type: response.headers.get("content-type"), text, json: () => JSON.parse(text) }
    }
  }
}
