// Recorded requests sent to the simulator: accepted or refused as the real service did, answers with the same members.
import { describe, expect, it } from "vitest"
import { loudlySkipped, recordings, sharedDir } from "../../support/shared.ts"
import type { Recording } from "../../support/shared.ts"
import { asking } from "./asking.ts"

if (sharedDir() === undefined) loudlySkipped("recorded requests against the simulated services")

const { ask } = asking({
  projects: ["test-project"],
  acceptForeignSignatures: true,
  now: () => Date.UTC(2025, 11, 1)
})

const folders = ["vertex-openapi", "vertex-predict", "gemini-embeddings", "gemini-count-tokens", "vertex-count-tokens"]
const withRequest = folders
  .flatMap(recordings)
  .filter(({ request }) => request.body !== null && request.body !== undefined)

/** Answers that depend on the model of that moment, not on the request. */
const otherwise: Readonly<Record<string, string>> = {
  "vertex-openapi/chat-meta-llama-llama-4-scout-17b-16e-instruct-error-400-invalid-request-error-2":
    "the recorded model wrote arguments that missed the schema"
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Recordings of other hosts, with path and model rewritten as on Vertex AI. */
const asked = ({ provider, request }: Recording): { readonly path: string; readonly body: unknown } => {
  if (provider !== "vertex-openapi") {
    const { pathname, search } = new URL(request.url)
    return { path: pathname + search, body: request.body }
  }
  const body = isRecord(request.body) ? { ...request.body, model: "meta/llama-3.3-70b-instruct-maas" } : request.body
  return { path: "/v1/projects/test-project/locations/us-central1/endpoints/openapi/chat/completions", body }
}

const answerTo = async (recording: Recording) => {
  const { path, body } = asked(recording)
  return ask(path, body)
}

/** Members of a value, lists by their first item. */
const members = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.length === 0 ? [] : [members(value[0])]
  if (!isRecord(value)) return typeof value
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, members(value[key])])
  )
}

describe.skipIf(withRequest.length === 0)("recorded requests to the simulator", () => {
  it("recorded requests: are accepted or refused as recorded", async () => {
    const differing: Array<string> = []
    for (const recording of withRequest) {
      const { status } = await answerTo(recording)
      if (status !== recording.response.status && otherwise[recording.id] === undefined) {
        differing.push(`${recording.id}: recorded ${recording.response.status}, simulated ${status}`)
      }
    }
    expect(differing).toEqual([])
    expect(withRequest.length).toBeGreaterThan(20)
  })

  it("recorded requests: need each of their exceptions", async () => {
    const needless: Array<string> = []
    for (const id of Object.keys(otherwise)) {
      const recording = withRequest.find((one) => one.id === id)
      if (recording === undefined || (await answerTo(recording)).status === recording.response.status) needless.push(id)
    }
    expect(needless).toEqual([])
  })

  it("recorded requests: embeddings and counts get answers with the recorded members", async () => {
    for (const recording of withRequest.filter(({ provider }) => provider !== "vertex-openapi")) {
      const { json } = await answerTo(recording)
      expect([recording.id, members(json())]).toEqual([recording.id, members(recording.response.body)])
    }
  })

  it("recorded requests: vectors have the recorded lengths", async () => {
    const lengths = (value: unknown): ReadonlyArray<number> => {
      if (Array.isArray(value))
        return value.every((item) => typeof item === "number") ? [value.length] : value.flatMap(lengths)
      return isRecord(value) ? Object.values(value).flatMap(lengths) : []
    }
    for (const recording of withRequest.filter(({ id }) => id.includes("embed"))) {
      expect([recording.id, lengths((await answerTo(recording)).json())]).toEqual([
        recording.id,
        lengths(recording.response.body)
      ])
    }
  })
})
