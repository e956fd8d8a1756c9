import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import {
  readShape,
  validateCount,
  validateGenerate,
  validateShape
} from "../../../../src/demo/google/gemini/validate.ts"
import type { Service } from "../../../../src/demo/google/gemini/validate.ts"
import { issueSignature } from "../../../../src/demo/google/shared/signatures.ts"
import { isRelease } from "../../../support/release.ts"
import { loudlySkipped, sharedDir } from "../../../support/shared.ts"
import { recordedRequests, schemaVerdict } from "./judge.ts"
import { mutate, seeded } from "../mutate.ts"

const google: Service = { backend: "google", version: "v1beta" }
const vertex: Service = { backend: "vertex", version: "v1" }

interface Fixture {
  readonly name: string
  readonly service: "google" | "vertex"
  readonly model?: string
  readonly body: unknown
  /** Absent: accepted. */
  readonly message?: string
}

const fixtures: ReadonlyArray<Fixture> = JSON.parse(
  readFileSync(new URL("../../../fixtures/google/verdicts.json", import.meta.url), "utf8")
)

const verdict = (service: Service, model: string, body: unknown): string => {
  const result = validateGenerate(body, { service, model, acceptForeignSignatures: false })
  return result.accepted ? "accepted" : result.error.message
}

describe("verdicts on Gemini fixtures", () => {
  for (const { name, service, model = "gemini-2.5-flash", body, message } of fixtures) {
    it(`Gemini verdict: ${name}`, () => {
      expect(verdict(service === "google" ? google : vertex, model, body)).toBe(message ?? "accepted")
    })
  }
})

describe("Gemini thought signatures", () => {
  const turn = (signature: string | undefined) => ({
    contents: [
      { role: "user", parts: [{ text: "What time is it?" }] },
      {
        role: "model",
        parts: [
          {
            functionCall: { name: "get_current_time", args: {} },
            ...(signature === undefined ? {} : { thoughtSignature: signature })
          }
        ]
      },
      { role: "user", parts: [{ functionResponse: { name: "get_current_time", response: { output: "noon" } } }] }
    ],
    tools: [{ functionDeclarations: [{ name: "get_current_time", description: "" }] }]
  })

  it("thought signature: its own is accepted on the service that issued it, refused on the other", () => {
    const signature = issueSignature("vertex", "seed")
    expect(verdict(vertex, "gemini-3-pro-preview", turn(signature))).toBe("accepted")
    expect(verdict(google, "gemini-3-pro-preview", turn(signature))).toBe("Corrupted thought signature.")
  })
  it("thought signature: a foreign and an altered one are refused", () => {
    const signature = issueSignature("google", "seed")
    const altered = `${signature.slice(0, 20)}${signature[20] === "A" ? "B" : "A"}${signature.slice(21)}`
    expect(verdict(google, "gemini-3-pro-preview", turn("AY89a1AAAA"))).toBe("Corrupted thought signature.")
    expect(verdict(google, "gemini-3-pro-preview", turn(altered))).toBe("Corrupted thought signature.")
  })
  it("thought signature: the literal that skips the check is accepted", () => {
    expect(verdict(google, "gemini-3-pro-preview", turn("skip_thought_signature_validator"))).toBe("accepted")
  })
  it("thought signature: is required on Gemini 3 only, with the message of each service", () => {
    expect(verdict(google, "gemini-2.5-pro", turn(undefined))).toBe("accepted")
    expect(verdict(google, "gemini-3-pro-preview", turn(undefined))).toBe(
      "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing " +
        "thought_signature may lead to degraded model performance. Additional data, function call `default_api:get_current_time` , position 2. " +
        "Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details."
    )
    expect(verdict(vertex, "gemini-3-pro-preview", turn(undefined))).toBe(
      "Unable to submit request because function call `default_api:get_current_time` in the 2. content block is missing a " +
        "`thought_signature`. Learn more: https://docs.cloud.google.com/vertex-ai/generative-ai/docs/thought-signatures"
    )
  })
  it("thought signature: is not required in earlier turns", () => {
    const body = turn(undefined)
    const contents = [
      ...body.contents,
      { role: "model", parts: [{ text: "Noon." }] },
      { role: "user", parts: [{ text: "Thanks" }] }
    ]
    expect(verdict(google, "gemini-3-pro-preview", { ...body, contents })).toBe("accepted")
  })
})

describe("Gemini error bodies", () => {
  it("Gemini error: names the field of an unknown name", () => {
    const result = validateGenerate(
      { contents: [], generation_config: { temperatur: 1 } },
      { service: google, model: "gemini-2.5-flash", acceptForeignSignatures: false }
    )
    const description =
      "Invalid JSON payload received. Unknown name \"temperatur\" at 'generation_config': Cannot find field."
    expect(result).toEqual({
      accepted: false,
      error: {
        code: 400,
        message: description,
        status: "INVALID_ARGUMENT",
        details: [
          {
            "@type": "type.googleapis.com/google.rpc.BadRequest",
            fieldViolations: [{ field: "generation_config", description }]
          }
        ]
      }
    })
  })
  it("Gemini request: both spellings, nulls and enum names are normalised", () => {
    const body = {
      contents: [{ parts: [{ inline_data: { mime_type: "image/png", data: "AA==" }, thought: null }] }],
      generation_config: { thinking_config: { thinking_level: "low" } }
    }
    expect(readShape(google, "GenerateContentRequest", body)).toEqual({
      violations: [],
      value: {
        contents: [{ parts: [{ inlineData: { mimeType: "image/png", data: "AA==" } }] }],
        generationConfig: { thinkingConfig: { thinkingLevel: "LOW" } }
      }
    })
  })
})

if (sharedDir() === undefined)
  loudlySkipped("the comparison of the simulated Gemini with published schemas and recordings")

describe.skipIf(sharedDir() === undefined)("comparison with the published Gemini schemas", () => {
  it("Gemini verdict: agrees with the published schemas on every recorded request", () => {
    const differing = recordedRequests.filter(
      ({ service, entry, body }) =>
        schemaVerdict(service, entry, body) !== (readShape(service, entry, body).violations.length === 0)
    )
    expect(differing.map(({ name }) => name)).toEqual([])
  })

  it("Gemini verdict: agrees with the published schemas on mutated requests", () => {
    const differing: Array<string> = []
    const counts = { accepted: 0, refused: 0 }
    // A fifth of the mutants does for a change of the rules.
    const share = isRelease ? 1 : 5
    for (const [index, recorded] of recordedRequests.entries()) {
      const random = seeded(index + 1)
      // Few recordings hold the small bodies: each of those is mutated more often.
      const rounds = (recorded.entry === "GenerateContentRequest" ? 40 : 300) / share
      for (let round = 0; round < rounds; round++) {
        const first = mutate(recorded.body, random)
        const { body, done } = round % 4 === 0 ? mutate(first.body, random) : first
        const services = recorded.service.backend === "google" ? [google] : [vertex, { ...vertex, version: "v1beta1" }]
        for (const service of services) {
          const expected = schemaVerdict(service, recorded.entry, body)
          counts[expected ? "accepted" : "refused"] += 1
          const reading = readShape(service, recorded.entry, body)
          if (expected !== (reading.violations.length === 0)) {
            differing.push(
              `${recorded.name} ${service.version} ${first.done}; ${done}: schema ${expected}, ours ${JSON.stringify(reading.violations)}`
            )
          }
        }
      }
    }
    expect(differing).toEqual([])
    expect(Math.min(counts.accepted, counts.refused)).toBeGreaterThan(1000 / share)
  })

  it("Gemini verdict: accepts every recorded request whose body was not at fault", () => {
    // No recorded refusal with a kept request is about its body: 401, 404, 429, a wrong key, and a text cut out by the recorder.
    const refused = recordedRequests.filter(({ service, entry, model, body }) => {
      const checking = { service, model, acceptForeignSignatures: true }
      if (entry === "GenerateContentRequest") return !validateGenerate(body, checking).accepted
      return !(entry === "CountTokensRequest" ? validateCount(body, checking) : validateShape(body, service, entry))
        .accepted
    })
    expect(refused.map(({ name }) => name)).toEqual([])
  })
})
