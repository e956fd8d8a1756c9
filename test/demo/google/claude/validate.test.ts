import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { validateCountMessages, validateMessages } from "../../../../src/demo/google/claude/validate.ts"
import { readClaude } from "../../../../src/demo/google/shapes/claude.ts"
import type { ModelViolation } from "../../../../src/demo/google/shapes/modelShape.ts"
import { issueSignature } from "../../../../src/demo/google/shared/signatures.ts"
import { isRelease } from "../../../support/release.ts"
import { loudlySkipped, recordings, schemaOracle, sharedDir } from "../../../support/shared.ts"
import type { Recording } from "../../../support/shared.ts"
import { mutate, seeded } from "../mutate.ts"
import type { Random } from "../mutate.ts"
import { sample } from "./sample.ts"

interface Fixture {
  readonly name: string
  /** Absent: Claude Haiku 4.5. */
  readonly model?: string
  readonly betas?: string
  /** Applied to a plain question. */
  readonly body: Readonly<Record<string, unknown>>
  /** Absent: accepted. */
  readonly message?: string
}

const fixtures: ReadonlyArray<Fixture> = JSON.parse(
  readFileSync(new URL("../../../fixtures/google/claude-verdicts.json", import.meta.url), "utf8")
)
const question = {
  anthropic_version: "vertex-2023-10-16",
  max_tokens: 2000,
  messages: [{ role: "user", content: "Hi" }]
}

const verdict = (
  body: unknown,
  model = "claude-haiku-4-5@20251001",
  betaHeader?: string,
  acceptForeignSignatures = false
): string => {
  const result = validateMessages(body, { model, betaHeader, acceptForeignSignatures })
  return result.accepted ? "accepted" : result.message
}

describe("verdicts on Claude fixtures", () => {
  for (const { name, model, betas, body, message } of fixtures) {
    it(`Claude verdict: ${name}`, () => {
      expect(verdict({ ...question, ...body }, model, betas)).toBe(message ?? "accepted")
    })
  }
  it("Claude verdict: refuses a body without a required field", () => {
    expect(verdict({})).toBe("anthropic_version: Field required")
    expect(verdict({ anthropic_version: "vertex-2023-10-16" })).toBe("max_tokens: Field required")
    expect(verdict({ anthropic_version: "vertex-2023-10-16", max_tokens: 5 })).toBe("messages: Field required")
    expect(verdict([])).toBe("Input should be an object")
  })
  it("Claude verdict: refuses a prompt longer than the context of the model", () => {
    const words = "word ".repeat(170_000)
    expect(verdict({ ...question, messages: [{ role: "user", content: words }] })).toBe(
      "prompt is too long: 212506 tokens > 200000 maximum"
    )
    expect(
      verdict({ ...question, max_tokens: 64_000, messages: [{ role: "user", content: words.slice(0, 640_000) }] })
    ).toBe(
      "input length and `max_tokens` exceed context limit: 160006 + 64000 > 200000, decrease input length or `max_tokens` and try again"
    )
  })
})

describe("signatures of thinking", () => {
  const turn = (
    block: Readonly<Record<string, unknown>>,
    thinking: unknown = { type: "enabled", budget_tokens: 1024 }
  ) => ({
    ...question,
    thinking,
    messages: [
      { role: "user", content: "What time is it?" },
      { role: "assistant", content: [block, { type: "tool_use", id: "a", name: "clock", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "noon" }] }
    ]
  })
  const thought = (signature: string, thinking = "I look at the clock.") => ({ type: "thinking", thinking, signature })
  const own = issueSignature("claude", "I look at the clock.")

  it("thinking signature: its own is accepted", () => {
    expect(verdict(turn(thought(own)))).toBe("accepted")
    expect(verdict(turn({ type: "redacted_thinking", data: issueSignature("claude", "anything") }))).toBe("accepted")
  })
  it("thinking signature: a block without its text is accepted", () => {
    expect(verdict(turn(thought(own, ""), { type: "adaptive" }), "claude-opus-4-7")).toBe("accepted")
  })
  it("thinking signature: one of another issuer, or an altered one, is refused", () => {
    const refusal = "messages.1.content.0: Invalid `signature` in `thinking` block"
    const altered = `${own.slice(0, 20)}${own[20] === "A" ? "B" : "A"}${own.slice(21)}`
    const foreign = [
      issueSignature("vertex", "I look at the clock."),
      issueSignature("google", "I look at the clock."),
      altered,
      ""
    ]
    expect(foreign.map((signature) => verdict(turn(thought(signature))))).toEqual(foreign.map(() => refusal))
    expect(verdict(turn({ type: "redacted_thinking", data: "AAAA" }))).toBe(
      "messages.1.content.0: Invalid `data` in `redacted_thinking` block"
    )
    expect(verdict(turn(thought("AAAA")), undefined, undefined, true)).toBe("accepted")
  })
  it("thinking signature: changed thinking is refused in the latest turn, not in an earlier one", () => {
    const changed = turn(thought(own, "I look away."))
    expect(verdict(changed)).toBe(
      "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. " +
        "These blocks must remain as they were in the original response."
    )
    const later = [
      { role: "assistant", content: "Noon." },
      { role: "user", content: "Thanks" }
    ]
    expect(verdict({ ...changed, messages: [...changed.messages, ...later] })).toBe("accepted")
  })
})

describe("bodies of count-tokens", () => {
  const counted = {
    anthropic_version: "vertex-2023-10-16",
    model: "claude-haiku-4-5@20251001",
    messages: question.messages
  }
  const count = (body: unknown): string => {
    const result = validateCountMessages(body, { betaHeader: undefined, acceptForeignSignatures: false })
    return result.accepted ? "accepted" : result.message
  }
  it("count-tokens body: names the model and has no fields of an answer", () => {
    expect(count(counted)).toBe("accepted")
    expect(
      count({
        ...counted,
        system: "Be short",
        tools: [{ name: "a", input_schema: { type: "object" } }],
        tool_choice: { type: "auto" }
      })
    ).toBe("accepted")
    expect(count({ messages: question.messages })).toBe("model: Field required")
    for (const [field, value] of [
      ["max_tokens", 5],
      ["stream", false],
      ["temperature", 1],
      ["stop_sequences", []],
      ["metadata", {}]
    ] as const) {
      expect(count({ ...counted, [field]: value })).toBe(`${field}: Extra inputs are not permitted`)
    }
    expect(count({ ...counted, tool_choice: { type: "auto" } })).toBe(
      "tool_choice: tool_choice may only be specified while providing tools"
    )
  })
})

const file = "anthropic.schema.json"

/** Recorded bodies of both services, in the form of Vertex AI. */
const recorded = (): ReadonlyArray<{
  readonly recording: Recording
  readonly model: string
  readonly body: unknown
  readonly betas: string | undefined
}> =>
  [...recordings("vertex-anthropic"), ...recordings("anthropic-api")].flatMap((recording) => {
    const { body, url, headers = {} } = recording.request
    if (typeof body !== "object" || body === null) return []
    const { model, ...rest }: { model?: string } = body
    const onVertex = /models\/([^:]+):/.exec(url)?.[1]
    return [
      {
        recording,
        model: onVertex ?? (model ?? "").replace(/-([0-9]{8})$/, "@$1"),
        body: { anthropic_version: "vertex-2023-10-16", ...rest },
        // The recorder kept the header of some beta calls only; the query has it for all.
        betas: headers["anthropic-beta"] ?? (url.includes("beta=true") ? "structured-outputs-2025-11-13" : undefined)
      }
    ]
  })

interface Contest {
  readonly entry: "VertexBetaMessageCreateRequest" | "VertexMessageCreateRequest" | "VertexCountTokensRequest"
  readonly mine: "MessagesRequest" | "CountRequest"
  readonly betas: boolean
}

const contests: ReadonlyArray<Contest> = [
  { entry: "VertexBetaMessageCreateRequest", mine: "MessagesRequest", betas: true },
  { entry: "VertexMessageCreateRequest", mine: "MessagesRequest", betas: false },
  { entry: "VertexCountTokensRequest", mine: "CountRequest", betas: false }
]

/**
 * True where only a bound of ours refuses. The published schema has each block twice, once with bounds and once, from the types of
 * an SDK, without; the service has the bounds.
 */
const boundsOnly = (violations: ReadonlyArray<ModelViolation>): boolean =>
  violations.every((violation) => violation.bound)

const compare = ({ entry, mine, betas }: Contest, bodies: Iterable<readonly [name: string, body: unknown]>) => {
  const oracle = schemaOracle(file, entry)
  if (oracle === undefined) throw new Error(`no schema ${entry}`)
  const differing: Array<string> = []
  const counts = { accepted: 0, refused: 0 }
  for (const [name, body] of bodies) {
    const expected = oracle(body) === true
    const violations = readClaude(mine, body, betas)
    counts[expected ? "accepted" : "refused"] += 1
    if (expected === (violations.length === 0) || (expected && boundsOnly(violations))) continue
    differing.push(`${entry} ${name}: schema ${expected}, ours ${JSON.stringify(violations)}`)
  }
  return { differing, counts }
}

/** A fifth of the bodies does for a change of the rules. */
const share = isRelease ? 1 : 5

function* drawn(
  defs: Readonly<Record<string, unknown>>,
  entry: string,
  random: Random
): Generator<readonly [string, unknown]> {
  for (let round = 0; round < 1500 / share; round++) {
    const whole = sample(defs, entry, random)
    yield ["as drawn", whole]
    const { body, done } = mutate(whole, random)
    yield [done, body]
  }
}

function* mutants(): Generator<readonly [string, unknown]> {
  for (const [index, { recording, body }] of recorded().entries()) {
    yield [recording.id, body]
    const random = seeded(index + 1)
    for (let round = 0; round < 40 / share; round++) {
      const first = mutate(body, random)
      const { body: mutant, done } = round % 4 === 0 ? mutate(first.body, random) : first
      yield [`${recording.id} ${first.done}; ${done}`, mutant]
    }
  }
}

/** Accepted by Anthropic itself, refused by Vertex AI or by the recorder's pen; and refused for something other than the body. */
const exceptions: Readonly<Record<string, string>> = {
  "anthropic-api/messages-claude-3-opus-20240229-error-401-authentication-error": "accepted",
  "anthropic-api/messages-claude-sonnet-4-0-error-401-authentication-error": "accepted",
  "anthropic-api/messages-claude-sonet-4-5-error-404-not-found-error": "accepted",
  "anthropic-api/messages-there-is-no-such-model-error-404-not-found-error": "accepted",
  "anthropic-api/messages-this-model-does-not-exist-12345-error-404-not-found-error-2": "accepted",
  // Tools Vertex AI does not run.
  "anthropic-api/messages-claude-haiku-4-5-20251001-code-execution": "tools.0: Input tag 'code_execution_20260521'",
  "anthropic-api/messages-claude-sonnet-4-0-code-execution-tool-choice": "tools.0: Input tag 'code_execution_20250522'",
  "anthropic-api/messages-claude-sonnet-4-5-text": "tools.1: Input tag 'web_fetch_20250910'",
  // Vertex AI reads no URLs.
  "anthropic-api/messages-claude-sonnet-4-0-image-input":
    "messages.0.content.1.image.source.base64.data: URL sources are not supported",
  "anthropic-api/messages-claude-sonnet-4-6-citations-document-input":
    "messages.0.content.0.image.source.base64.data: URL sources are not supported",
  // The id lost its prefix while it was redacted.
  "anthropic-api/messages-claude-opus-4-8-multi-turn":
    "messages.0.content.1.web_search_tool_result.tool_use_id: String should match pattern"
}

describe.skipIf(sharedDir() === undefined)("comparison with the published Claude schemas", () => {
  it.each(contests)("Claude verdict: agrees with $entry on bodies drawn from it, and on their mutants", (contest) => {
    const defs = JSON.parse(readFileSync(join(sharedDir() ?? "", "specs", file), "utf8")).$defs
    const { differing, counts } = compare(contest, drawn(defs, contest.entry, seeded(contest.entry.length)))
    expect(differing).toEqual([])
    expect(Math.min(counts.accepted, counts.refused)).toBeGreaterThan(700 / share)
  })

  it.each(contests.slice(0, 2))(
    "Claude verdict: agrees with $entry on every recorded request, and on their mutants",
    (contest) => {
      const { differing, counts } = compare(contest, mutants())
      expect(differing).toEqual([])
      expect(Math.min(counts.accepted, counts.refused)).toBeGreaterThan(500 / share)
    }
  )

  it("Claude verdict: accepts and refuses every recorded request as the service did", () => {
    const odd = recorded().flatMap(({ recording, model, body, betas }) => {
      const said = verdict(body, model, betas, true)
      const expected = exceptions[recording.id] ?? (recording.response.status < 400 ? "accepted" : "")
      const asRecorded =
        expected === ""
          ? JSON.stringify(recording.response.body).includes(JSON.stringify(said).slice(1, -1))
          : said.startsWith(expected)
      return asRecorded ? [] : [`${recording.id}: ${said}`]
    })
    expect(odd).toEqual([])
  })
})
if (sharedDir() === undefined)
  loudlySkipped("the comparison of the simulated Claude with published schemas and recordings")
