// Tests the prompts section of a configuration: the exact text and path of every fault, and the prompts read from it.
// Must not depend on the completions route.
import * as fc from "fast-check"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { Prompts } from "../../src/catalog/Catalog.ts"
import { describePrompt } from "../../src/cli/describeRecords.ts"
import { readSettings } from "../../src/cli/settings/readSettings.ts"
import { parseSettingsText } from "../../src/cli/settings/SettingsText.ts"
import type { Json } from "../../src/domain/text/json.ts"
import { promptsOf } from "../support/prompts.ts"

const read = (file: Json) =>
  readSettings({ file, env: {}, flags: {}, fileText: () => Result.fail("there are no files") })
const faults = (prompts: Json, more: object = {}) =>
  Result.match(read({ prompts, ...more }), {
    onSuccess: () => [],
    onFailure: (all) => all.map(({ message, path }) => `${path}  ${message}`)
  })

const messages = [{ role: "user", content: "Hi" }]
const sound = { id: "a", model: "@google/m", messages }
const forms = "a variable is written {{name}}, a partial {{>id}}, and braces that are text \\{{"

describe("faults of the prompts section", () => {
  it.each<readonly [string, Json, ReadonlyArray<string>]>([
    ["a value that is not a list", {}, ["prompts  expected a list"]],
    [
      "an empty entry",
      [{}],
      [
        "prompts[0].id  is missing",
        "prompts[0].model  is missing",
        "prompts[0].messages  is missing; a partial has text instead"
      ]
    ],
    [
      "no id",
      [{ ...sound, id: "a b" }],
      ['prompts[0].id  "a b" is not an id: letters, digits, "_", "." and "-", at most 64']
    ],
    [
      "an id that would be a version",
      [{ ...sound, id: "a@1" }],
      ['prompts[0].id  "a@1" is not an id: letters, digits, "_", "." and "-", at most 64']
    ],
    ["a typo", [{ ...sound, mesages: [] }], ["prompts[0].mesages  unknown key; did you mean messages?"]],
    [
      "neither prompt nor partial",
      [{ id: "a" }],
      ["prompts[0].model  is missing", "prompts[0].messages  is missing; a partial has text instead"]
    ],
    ["no messages", [{ ...sound, messages: [] }], ["prompts[0].messages  is missing; a partial has text instead"]],
    ["messages of another kind", [{ ...sound, messages: "Hi" }], ["prompts[0].messages  expected a list"]],
    [
      "a message of another kind",
      [{ ...sound, messages: ["Hi"] }],
      ["prompts[0].messages[0]  expected a mapping of keys"]
    ],
    [
      "both prompt and partial",
      [{ ...sound, text: "x" }],
      [
        "prompts[0].model  has no meaning next to text, which makes a partial",
        "prompts[0].messages  has no meaning next to text, which makes a partial"
      ]
    ],
    [
      "a parameter of another kind",
      [
        {
          ...sound,
          parameters: { temperature: "{{hot}}", stream: "yes", tools: 1, thinking: [], user: 5, brand_new: 1 }
        }
      ],
      [
        "prompts[0].parameters.stream  expected true or false",
        "prompts[0].parameters.temperature  expected a number",
        "prompts[0].parameters.user  expected text",
        "prompts[0].parameters.tools  expected a list",
        "prompts[0].parameters.thinking  expected a mapping of keys"
      ]
    ],
    [
      "a body in the parameters",
      [{ ...sound, parameters: { model: "x", variables: {} } }],
      ["prompts[0].parameters.model  is no parameter", "prompts[0].parameters.variables  is no parameter"]
    ],
    [
      "an unknown provider",
      [{ ...sound, model: "@gogle/m" }],
      ['prompts[0].model  "gogle" is no provider of this configuration; did you mean google?']
    ],
    [
      "an invalid slug",
      [{ ...sound, model: "@google" }],
      ['prompts[0].model  model names a provider but no model; write "@slug/model".']
    ],
    ["version 0", [{ ...sound, version: 0 }], ["prompts[0].version  expected a whole number from 1 to 999999999"]],
    ["a version twice", [sound, { ...sound, version: 1 }], ['prompts[1].version  version 1 of "a" is declared twice']],
    [
      "invalid labels",
      [
        { ...sound, labels: { production: 2, "1": 1, live: 1 } },
        { ...sound, version: 5, labels: { live: 5 } }
      ],
      [
        'prompts[0].labels.1  is not a label: a letter, then letters, digits, "_", "." and "-", at most 64',
        'prompts[0].labels.production  "a" has no version 2',
        "prompts[1].labels.live  is the label of version 1 as well"
      ]
    ],
    [
      "a section tag",
      [{ ...sound, messages: [{ role: "user", content: [{ type: "text", text: "{{#if}}" }] }] }],
      [`prompts[0].messages[0].content[0].text  "{{#if}}" is neither variable nor partial: ${forms}`]
    ],
    [
      "an open tag in a parameter",
      [{ ...sound, parameters: { stop: ["{{"] } }],
      [`prompts[0].parameters.stop[0]  "{{" has no closing braces: ${forms}`]
    ],
    [
      "an undeclared partial",
      [{ ...sound, messages: [{ role: "user", content: "{{>tone}}" }] }],
      ['prompts[0].messages[0].content  there is no prompt or partial "tone"']
    ],
    [
      "a prompt that is not text",
      [
        { ...sound, messages: [...messages, ...messages] },
        { id: "b", text: "{{>a}}" }
      ],
      ['prompts[1].text  "a" is more than one text, so no other prompt can hold it']
    ],
    [
      "a circle",
      [
        { id: "a", text: "{{>b}}" },
        { id: "b", text: "{{>a}}" }
      ],
      [
        "prompts[0].text  the partials b > a > b go round in a circle",
        "prompts[1].text  the partials a > b > a go round in a circle"
      ]
    ]
  ])("prompts section: reports the fault: %s", (_name, prompts, expected) => {
    expect(faults(prompts)).toStrictEqual(expected)
  })

  it("prompts section: depth and number of partials are limits of the operator", () => {
    const chain = [
      { id: "a", text: "{{>b}}" },
      { id: "b", text: "{{>c}}{{>c}}" },
      { id: "c", text: "" }
    ]
    expect(faults(chain, { limits: { promptDepth: 1 } })).toStrictEqual([
      "prompts[0].text  the partials b > c are nested deeper than 1"
    ])
    expect(faults(chain, { limits: { promptPartials: 2 } })).toStrictEqual([
      "prompts[0].text  more than 2 partials in one prompt"
    ])
    expect(faults(chain)).toStrictEqual([])
  })

  it("prompts section: any JSON gives prompts or faults", () => {
    const field = fc.oneof(fc.jsonValue(), fc.constantFrom("a", "{{x}}", "{{>a}}", "{{", 1, { live: 1 }))
    const entry = fc.record(
      { id: field, version: field, model: field, messages: field, parameters: field, text: field, labels: field },
      { requiredKeys: [] }
    )
    fc.assert(
      fc.property(fc.array(entry), (entries) => {
        const file: Json = JSON.parse(JSON.stringify({ prompts: entries }))
        expect(Result.isResult(read(file))).toBe(true)
      })
    )
  })

  it("prompts section: faults have their line in the file", () => {
    const text = Result.getOrThrow(
      parseSettingsText(
        "gateway.yaml",
        [
          "prompts:",
          "  - id: a",
          '    model: "@google/m"',
          "    messages:",
          "      - role: user",
          "        content: |",
          "          Write {{>gone}}.",
          "          content: x",
          "    labels: { production: 4 }"
        ].join("\n")
      )
    )
    const found = Result.match(read(text.value), { onSuccess: () => [], onFailure: (all) => all })
    expect(found.map(({ at = [], message }) => [text.locate(at), message])).toStrictEqual([
      [{ line: 9, column: 15 }, '"a" has no version 4'],
      [{ line: 6, column: 9 }, 'there is no prompt or partial "gone"']
    ])
  })
})

describe("valid prompts", () => {
  const declared = promptsOf([
    { id: "tone", text: "kindly" },
    { id: "a", name: "A greeting", model: "m", messages, labels: { production: 1 } },
    { id: "a", model: "m", messages: [{ role: "user", content: "{{>a@1}}, {{>tone}}" }] },
    { id: "b", model: "m", messages },
    { id: "b", version: 4, model: "m", messages }
  ])

  it("check: prints each fault in one line", () => {
    expect(declared.map(describePrompt)).toStrictEqual([
      "partial tone: version 1",
      "prompt a (A greeting): versions 1, 2; production is 1",
      "prompt b: versions 1, 4; the newest is served"
    ])
  })

  it("prompts: include one another, version by version", async () => {
    const { find } = Context.get(
      await Effect.runPromise(Effect.scoped(Layer.build(Prompts.layerMemory(declared)))),
      Prompts
    )
    expect(find("a@2")?.template.filledBy({})).toStrictEqual({ messages: [{ role: "user", content: "Hi, kindly" }] })
    expect([find("tone"), find("a@3"), find("")]).toStrictEqual([undefined, undefined, undefined])
  })

  it("prompts: faults in unchecked prompts are a defect", async () => {
    const content = { model: "m", messages: [{ role: "user", content: "{{" }], parameters: {} }
    const layer = Prompts.layerMemory([
      { id: "a", name: undefined, versions: new Map([[1, content]]), labels: new Map() }
    ])
    const exit = await Effect.runPromiseExit(Effect.scoped(Layer.build(layer)))
    expect(Exit.isFailure(exit) && Cause.squash(exit.cause)).toStrictEqual(
      new Error(`The prompt "a" cannot be used: "{{" has no closing braces: ${forms}.`)
    )
  })
})
