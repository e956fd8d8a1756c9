// Holds the source tree to the house rules, and each rule to a planted violation.
// It must not know what any file does.
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { cleanlinessViolations, type Source, tidyViolations } from "./support/tidyRules.ts"

const root = join(dirname(fileURLToPath(import.meta.url)), "..")

/** Violations that are allowed, word for word. */
const exceptions: ReadonlyArray<string> = []

const read = (path: string): Source => ({ path, text: readFileSync(join(root, path), "utf8") })
const below = (folder: string, ending: RegExp): ReadonlyArray<Source> =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((name) => `${folder}/${name.replaceAll("\\", "/")}`)
    .filter((path) => ending.test(path))
    .sort()
    .map(read)

/** A well-formed file with this body. */
const file = (path: string, ...lines: ReadonlyArray<string>): Source => ({
  path: `src/${path}`,
  text: ["// What it is.", "// It must not know more.", ...lines, ""].join("\n")
})

describe("the tree", () => {
  it("keeps R1 to R8", () => {
    const found = tidyViolations(below("src", /\.ts$/))
    expect(found.filter((one) => !exceptions.includes(one))).toEqual([])
  })

  it("has no exception that nothing needs", () => {
    const found = tidyViolations(below("src", /\.ts$/))
    expect(exceptions.filter((one) => !found.includes(one))).toEqual([])
  })

  it("names no machine, no registry and leaves no word open", () => {
    const texts = [
      ...below("src", /\.ts$/),
      ...below("test", /\.(?:ts|json)$/),
      ...below("bench", /\.ts$/),
      ...below("attack", /\.ts$/),
      ...below("docs", /\.md$/),
      ...below("examples", /./),
      ...below("deploy", /./)
    ]
    const single = [
      "README.md",
      "SECURITY.md",
      "CONTRIBUTING.md",
      "CHANGELOG.md",
      "package.json",
      "package-lock.json",
      "flake.nix",
      ".ci/run"
    ].map(read)
    expect(cleanlinessViolations([...texts, ...single])).toEqual([])
  })
})

const rows: ReadonlyArray<readonly [rule: string, planted: ReadonlyArray<Source>, said: ReadonlyArray<string>]> = [
  [
    "R1 a higher floor",
    [file("domain/A.ts", 'import { b } from "../http/B.ts"'), file("http/B.ts")],
    ["src/domain/A.ts:3 R1 floors: may not import src/http/B.ts"]
  ],
  [
    "R1 the same floor, by type",
    [file("auth/A.ts", 'import type { B } from "../keys/B.ts"'), file("keys/B.ts")],
    ["src/auth/A.ts:3 R1 floors: may not import src/keys/B.ts"]
  ],
  ["R1 a lower floor is fine", [file("http/A.ts", 'import { b } from "../domain/B.ts"'), file("domain/B.ts")], []],
  [
    "R1 the simulator imports nothing of ours",
    [file("demo/google/a.ts", 'import { b } from "../../domain/B.ts"'), file("domain/B.ts")],
    ["src/demo/google/a.ts:3 R1 floors: may not import src/domain/B.ts"]
  ],
  [
    "R1 only the demo imports the simulator",
    [file("cli/A.ts", 'import { b } from "../demo/google/b.ts"'), file("demo/google/b.ts")],
    ["src/cli/A.ts:3 R1 floors: may not import src/demo/google/b.ts"]
  ],
  ["R1 a folder without a floor", [file("utils/A.ts")], ["src/utils/A.ts:1 R1 floors: the file stands on no floor"]],
  [
    "R1b a higher room, by type",
    [file("demo/google/shared/a.ts", 'import type { B } from "../gemini/b.ts"'), file("demo/google/gemini/b.ts")],
    ["src/demo/google/shared/a.ts:3 R1b rooms: may not import src/demo/google/gemini/b.ts"]
  ],
  [
    "R1b a room of the same rank",
    [file("demo/google/claude/a.ts", 'import { b } from "../gemini/b.ts"'), file("demo/google/gemini/b.ts")],
    ["src/demo/google/claude/a.ts:3 R1b rooms: may not import src/demo/google/gemini/b.ts"]
  ],
  [
    "R1b a room below the root of its folder",
    [file("demo/google/service/a.ts", 'import { b } from "../B.ts"'), file("demo/google/B.ts")],
    ["src/demo/google/service/a.ts:3 R1b rooms: may not import src/demo/google/B.ts"]
  ],
  [
    "R1b a room without a rank",
    [file("demo/google/more/inner/a.ts")],
    ["src/demo/google/more/inner/a.ts:1 R1b rooms: src/demo/google/more has no place in the order"]
  ],
  [
    "R1b the same room, lower rooms and the root are fine",
    [
      file("demo/google/A.ts", 'import { b } from "./service/b.ts"', 'import { d } from "./D.ts"'),
      file("demo/google/service/b.ts", 'import { c } from "./c.ts"'),
      file("demo/google/service/c.ts", 'import { d } from "../shapes/d.ts"'),
      file("demo/google/shapes/d.ts"),
      file("demo/google/D.ts")
    ],
    []
  ],
  [
    "R2 a circle",
    [file("domain/A.ts", 'import { b } from "./B.ts"'), file("domain/B.ts", 'import { a } from "./A.ts"')],
    ["src/domain/A.ts:1 R2 circles: src/domain/A.ts -> src/domain/B.ts -> src/domain/A.ts"]
  ],
  [
    "R2 a circle that a type closes",
    [file("domain/A.ts", 'import { b } from "./B.ts"'), file("domain/B.ts", 'import type { A } from "./A.ts"')],
    ["src/domain/A.ts:1 R2 circles: src/domain/A.ts -> src/domain/B.ts -> src/domain/A.ts"]
  ],
  [
    "R3 an effect on floor 1",
    [file("translate/A.ts", 'import * as Effect from "effect/Effect"')],
    ["src/translate/A.ts:3 R3 purity: may not import effect/Effect"]
  ],
  [
    "R3 a camelCase file above",
    [file("router/plan.ts", 'import { join } from "node:path"', "export const now = () => Date.now()")],
    ["src/router/plan.ts:3 R3 purity: may not import node:path", "src/router/plan.ts:4 R3 purity: Date.now"]
  ],
  [
    "R3 clocks, chance, timers",
    [
      file(
        "wire/a.ts",
        "Math.random()",
        "new Date()",
        "setTimeout(f, 1)",
        "const b = process",
        "fetch(u)",
        "crypto.randomUUID()"
      )
    ],
    [
      "src/wire/a.ts:3 R3 purity: Math.random",
      "src/wire/a.ts:4 R3 purity: new Date()",
      "src/wire/a.ts:5 R3 purity: setTimeout",
      "src/wire/a.ts:6 R3 purity: process",
      "src/wire/a.ts:7 R3 purity: fetch",
      "src/wire/a.ts:8 R3 purity: crypto"
    ]
  ],
  [
    "R3 fields of those names are fine",
    [file("wire/a.ts", "const a = { fetch: 1, process: b.crypto }", "new Date(1)")],
    []
  ],
  [
    "R4 a long file",
    [file("router/A.ts", ...Array<string>(400).fill(""), "f()")],
    ["src/router/A.ts:1 R4 size: file of 403 lines, at most 400"]
  ],
  [
    "R4 a long function",
    [file("router/A.ts", "const f = () => {", ...Array<string>(69).fill(""), "}")],
    ["src/router/A.ts:3 R4 size: function of 71 lines, at most 70"]
  ],
  ["R4 a schema file may have more", [file("wire/A.ts", ...Array<string>(450).fill(""), "f()")], []],
  [
    "R4 a full folder",
    Array.from({ length: 21 }, (_, index) => file(`demo/google/shapes/${String.fromCharCode(97 + index)}.ts`)),
    ["src/demo/google/shapes R4 size: folder of 21 files, at most 20"]
  ],
  [
    "R4 20 files, and more in a room below, are fine",
    [...Array.from({ length: 20 }, (_, index) => file(`demo/A${index}.ts`)), file("demo/google/B.ts")],
    []
  ],
  [
    "R5 a path without .ts",
    [file("router/A.ts", 'import { b } from "./B"')],
    ["src/router/A.ts:3 R5 imports: ./B without .ts"]
  ],
  [
    "R5 barrels",
    [
      file(
        "router/A.ts",
        'import { Effect } from "effect"',
        'import { NodeRuntime } from "@effect/platform-node"',
        'export * from "./B.ts"'
      )
    ],
    [
      "src/router/A.ts:3 R5 imports: the barrel effect",
      "src/router/A.ts:4 R5 imports: the barrel @effect/platform-node",
      "src/router/A.ts:5 R5 imports: export * is a barrel"
    ]
  ],
  [
    "R6 escapes",
    [
      file(
        "router/A.ts",
        "const a: any = 1",
        "const b = a as never",
        "const c = a as unknown as B",
        "// @ts-ignore",
        "type L = Layer.Layer<unknown>"
      )
    ],
    [
      "src/router/A.ts:6 R6 honest types: @ts-ignore",
      "src/router/A.ts:3 R6 honest types: any",
      "src/router/A.ts:4 R6 honest types: as never",
      "src/router/A.ts:5 R6 honest types: as unknown as",
      "src/router/A.ts:7 R6 honest types: Layer of unknown"
    ]
  ],
  [
    "R6 readers",
    [file("http/A.ts", "process.env.A", "JSON.parse(a)", "console.log(a)", "Effect.runSync(a)")],
    [
      "src/http/A.ts:3 R6 single readers: process.env here",
      "src/http/A.ts:4 R6 single readers: JSON.parse here",
      "src/http/A.ts:5 R6 single readers: console.log here",
      "src/http/A.ts:6 R6 single readers: Effect.runSync here"
    ]
  ],
  [
    "R6 in their places",
    [file("cli/settings/LoadSettings.ts", "process.env.A", "console.log(a)"), file("main.ts", "Effect.runFork(a)")],
    []
  ],
  [
    "R7 doors",
    [
      file(
        "router/A.ts",
        'import { Pool } from "undici"',
        'import { DatabaseSync } from "node:sqlite"',
        'import * as R from "effect/http/HttpServerResponse"',
        "Redacted.value(a)"
      )
    ],
    [
      "src/router/A.ts:3 R7 doors: may not import undici",
      "src/router/A.ts:4 R7 doors: may not import node:sqlite",
      "src/router/A.ts:5 R7 doors: may not import effect/http/HttpServerResponse",
      "src/router/A.ts:6 R7 doors: Redacted.value here"
    ]
  ],
  ["R7 the door itself", [file("upstream/Transport.ts", 'import { Pool } from "undici"', "Redacted.value(a)")], []],
  [
    "R8 limits",
    [
      file(
        "router/A.ts",
        "Queue.unbounded()",
        'f({ concurrency: "unbounded" })',
        "const a = Infinity",
        "const b = 1025",
        "const c = 60_000"
      )
    ],
    [
      "src/router/A.ts:3 R8 limits: Queue.unbounded",
      'src/router/A.ts:4 R8 limits: concurrency: "unbounded"',
      "src/router/A.ts:5 R8 limits: Infinity",
      "src/router/A.ts:6 R8 limits: the number 1025",
      "src/router/A.ts:7 R8 limits: the number 60_000"
    ]
  ],
  [
    "R8 1024 is small, and data may hold numbers",
    [file("router/A.ts", "const b = 1024"), file("translate/a.ts", "const b = 65_535")],
    []
  ],
  [
    "the opening",
    [{ path: "src/domain/A.ts", text: "// One line.\nconst a = 1\n" }],
    ["src/domain/A.ts:1 opening: two comment lines are missing"]
  ]
]

describe("a planted violation", () => {
  it.each(rows)("%s", (_rule, planted, said) => {
    expect(tidyViolations(planted)).toEqual(said)
  })

  it("of cleanliness", () => {
    const words = [
      `// TO${"DO"} later`,
      `it.on${"ly"}(f)`,
      `const a = "${"/ho"}me/me/x"`,
      `"resolved": "${"ht"}tps://r/a.tgz"`
    ]
    expect(cleanlinessViolations([{ path: "test/a.ts", text: words.join("\n") }])).toEqual([
      `test/a.ts:1 left open: TO${"DO"}`,
      `test/a.ts:2 left open: it.on${"ly"}`,
      `test/a.ts:3 host path: ${"/ho"}me/me`,
      `test/a.ts:4 registry address: "resolved": "${"ht"}tp`
    ])
  })
})
