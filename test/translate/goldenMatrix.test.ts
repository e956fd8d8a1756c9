// Tests the bodies of the same chat requests for every pair against the pages of test/fixtures/matrix.
// Must not depend on rules: UPDATE_MATRIX=1 writes the pages again, and their diff shows the effect of a changed rule.
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, describe, expect, it } from "vitest"
import { openMatrix, pageOf, readCase, sendCase } from "../support/matrix.ts"
import { loudlySkipped, schemaOracle, sharedDir } from "../support/shared.ts"

const folder = join(dirname(fileURLToPath(import.meta.url)), "..", "fixtures", "matrix")
const pages = readdirSync(folder)
  .filter((name) => name.endsWith(".json"))
  .toSorted()
const matrix = openMatrix()
afterAll(() => matrix.dispose())

/** The published schema of a pair's bodies. chat-to-openai passes the client's fields, so its bodies are as valid as the request. */
const oracles: Readonly<Record<string, readonly [file: string, entry: string]>> = {
  "chat-to-gemini on google": ["google-generativelanguage-v1beta.schema.json", "GenerateContentRequest"],
  "chat-to-gemini on vertex-ai": ["google-aiplatform-v1.schema.json", "GenerateContentRequest"],
  "chat-to-gemini on vertex-ai, Gemini 3": ["google-aiplatform-v1.schema.json", "GenerateContentRequest"],
  "chat-to-claude, thinking by budget": ["anthropic.schema.json", "VertexMessageCreateRequest"],
  "chat-to-claude, thinking by effort": ["anthropic.schema.json", "VertexMessageCreateRequest"]
}
if (sharedDir() === undefined) loudlySkipped("the golden matrix against the published request schemas")

describe.each(pages)("golden matrix: %s", (name) => {
  const path = join(folder, name)

  it("a page shows the bodies of every pair", async () => {
    const request = readCase(readFileSync(path, "utf8"))
    const page = pageOf(request, await sendCase(matrix, request))
    if (process.env["UPDATE_MATRIX"] === "1") writeFileSync(path, page)
    expect(page).toBe(readFileSync(path, "utf8"))
  })

  it("a page contains only bodies that the published schemas allow (L12)", async () => {
    const sent = await sendCase(matrix, readCase(readFileSync(path, "utf8")))
    const refused = sent.flatMap(({ pair, fields, result: { body } }) => {
      const check = body === undefined || oracles[pair] === undefined ? undefined : schemaOracle(...oracles[pair])
      return check === undefined || check(JSON.parse(JSON.stringify(body)))
        ? []
        : [{ pair, fields, errors: check.errors }]
    })
    expect(refused).toEqual([])
  })
})

describe("golden matrix", () => {
  it("the matrix has twenty pages", () => {
    expect(pages).toHaveLength(20)
  })
})
