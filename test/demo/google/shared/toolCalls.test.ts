import { describe, expect, it } from "vitest"
import { messagesToGenerateRequest } from "../../../../src/demo/google/claude/request.ts"
import type { GenerateRequest } from "../../../../src/demo/google/shared/generateRequest.ts"
import { planCalls } from "../../../../src/demo/google/shared/simulatedModel.ts"

const tools = [{ functionDeclarations: [{ name: "read_file", description: "Reads a file." }, { name: "weather" }] }]
const ask = (...texts: ReadonlyArray<string>): GenerateRequest => ({
  contents: [{ role: "user", parts: texts.map((text) => ({ text })) }],
  tools
})

describe("calls of simulated models", () => {
  const rows: ReadonlyArray<readonly [what: string, request: GenerateRequest, calls: ReadonlyArray<unknown>]> = [
    [
      "the call that the prompt spells out",
      ask(
        "Rules of this session.",
        'demo:call read_file {"path":"a b.txt","more":{"deep":[1]}}',
        "The weather {is} bad."
      ),
      [{ name: "read_file", args: { path: "a b.txt", more: { deep: [1] } } }]
    ],
    ["no function that is not offered", ask("demo:call write_file {}"), []],
    ["nothing where the arguments are not JSON", ask("demo:call read_file {path}"), []],
    ["nothing where the prompt forbids it", ask("Read the file with read_file. demo:no-call"), []],
    ["the function that the words ask for", ask("How is the weather?"), [{ name: "weather", args: {} }]]
  ]
  it.each(rows)("simulated calls: are %s", (_, request, calls) => {
    expect(planCalls(request)).toEqual(calls)
  })

  it("simulated Claude: answers the user, not a system message after it", () => {
    const view = messagesToGenerateRequest({
      system: "First.",
      messages: [
        { role: "user", content: "Hello" },
        { role: "system", content: "Second." }
      ]
    })
    expect(view).toEqual({
      contents: [{ role: "user", parts: [{ text: "Hello" }] }],
      systemInstruction: { parts: [{ text: "First." }, { text: "Second." }] }
    })
  })
})
