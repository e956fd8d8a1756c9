// Holds the source tree to the house rules, and each rule to a planted violation.
// Must not know what any file does.
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { strayFolders } from "./support/mirrorRules.ts"
import { avoidedWords } from "./support/wordRules.ts"
import { cleanlinessViolations, type Source, tidyViolations } from "./support/tidyRules.ts"

const root = join(dirname(fileURLToPath(import.meta.url)), "..")

/** Violations that are allowed, word for word. */
const exceptions: ReadonlyArray<string> = []

const read = (path: string): Source => ({ path, text: readFileSync(join(root, path), "utf8") })
const below = (folder: string, ending: RegExp): ReadonlyArray<Source> =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => relative(join(root, folder), join(parentPath, name)))
    .map((name) => `${folder}/${name.replaceAll("\\", "/")}`)
    .filter((path) => ending.test(path))
    .sort()
    .map(read)

/** The folders that have files; without those of a move that left them empty. */
const foldersBelow = (folder: string): ReadonlyArray<string> => {
  const files = readdirSync(join(root, folder), { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  const folders = files.map(({ parentPath }) => relative(join(root, folder), parentPath).replaceAll("\\", "/"))
  return [...new Set(folders)].filter((one) => one !== "").sort()
}

/** A well-formed file with this body. */
const file = (path: string, ...lines: ReadonlyArray<string>): Source => ({
  path: `src/${path}`,
  text: ["// What it is.", "// It must not know more.", ...lines, ""].join("\n")
})

describe("source tree", () => {
  const src = below("src", /\.tsx?$/)
  const found = tidyViolations(src)

  it("source tree: keeps R1 to R8 and R10", () => {
    expect(found.filter((one) => !exceptions.includes(one))).toEqual([])
  })

  it("source tree: needs each of its exceptions", () => {
    expect(exceptions.filter((one) => !found.includes(one))).toEqual([])
  })

  it("source tree: keeps R9", () => {
    const sources = [...src, ...["test", "examples"].flatMap((folder) => below(folder, /\.tsx?$/))]
    const pages = ["README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(read)
    const words = [...sources, ...below("docs", /\.md$/), ...pages].flatMap(({ path, text }) =>
      avoidedWords(path, text)
    )
    expect(words).toEqual([])
  })

  it("source tree: keeps R11", () => {
    expect(strayFolders(foldersBelow("test"), foldersBelow("src"))).toEqual([])
  })

  it("source tree: names no machine and no registry, and leaves nothing unfinished", () => {
    const texts = [
      ...src,
      ...below("test", /\.(?:ts|json)$/),
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
      "flake.lock",
      ".ci/run"
    ].map(read)
    expect(cleanlinessViolations([...texts, ...single])).toEqual([])
  })
})

const rows: ReadonlyArray<readonly [rule: string, planted: ReadonlyArray<Source>, said: ReadonlyArray<string>]> = [
  [
    "refuses a higher floor (R1)",
    [file("domain/A.ts", 'import { b } from "../http/B.ts"'), file("http/B.ts")],
    ["src/domain/A.ts:3 R1 floors: may not import src/http/B.ts"]
  ],
  [
    "refuses the same floor, by type (R1)",
    [file("auth/A.ts", 'import type { B } from "../keys/B.ts"'), file("keys/B.ts")],
    ["src/auth/A.ts:3 R1 floors: may not import src/keys/B.ts"]
  ],
  [
    "refuses a pattern on model ids, and accepts the reader of facts (R10)",
    [
      file(
        "router/a.ts",
        "const isNew = (id: string) => /^gemini-3/.test(id)",
        'const isOld = (id: string) => id.startsWith("claude-3")'
      ),
      file("domain/models/b.ts", "const isNew = /^gemini-3/")
    ],
    ["src/router/a.ts:3 R10 models: the pattern /^gemini-3/", 'src/router/a.ts:4 R10 models: the pattern "claude-3"']
  ],
  ["accepts a lower floor (R1)", [file("http/A.ts", 'import { b } from "../domain/B.ts"'), file("domain/B.ts")], []],
  [
    "refuses an import of the service in the simulator (R1)",
    [file("demo/google/a.ts", 'import { b } from "../../domain/B.ts"'), file("domain/B.ts")],
    ["src/demo/google/a.ts:3 R1 floors: may not import src/domain/B.ts"]
  ],
  [
    "refuses the simulator outside the demo (R1)",
    [file("cli/A.ts", 'import { b } from "../demo/google/b.ts"'), file("demo/google/b.ts")],
    ["src/cli/A.ts:3 R1 floors: may not import src/demo/google/b.ts"]
  ],
  [
    "refuses the console outside its room, and all but the contract inside it (R1)",
    [
      file("cli/A.ts", 'import { b } from "../console/B.tsx"'),
      file("console/B.tsx", 'import type { C } from "../http/C.ts"', 'import type { D } from "../api/D.ts"'),
      file("http/C.ts"),
      file("api/D.ts")
    ],
    [
      "src/cli/A.ts:3 R1 floors: may not import src/console/B.tsx",
      "src/console/B.tsx:3 R1 floors: may not import src/http/C.ts"
    ]
  ],
  [
    "refuses code of the contract in the console (R1c)",
    [file("console/A.ts", 'import { b } from "../api/b.ts"', 'import type { C } from "../api/b.ts"'), file("api/b.ts")],
    ["src/console/A.ts:3 R1c console: takes code of src/api/b.ts"]
  ],
  [
    "refuses a folder without a floor (R1)",
    [file("utils/A.ts")],
    ["src/utils/A.ts:1 R1 floors: the file stands on no floor"]
  ],
  [
    "refuses a higher room, by type (R1b)",
    [file("demo/google/shared/a.ts", 'import type { B } from "../gemini/b.ts"'), file("demo/google/gemini/b.ts")],
    ["src/demo/google/shared/a.ts:3 R1b rooms: may not import src/demo/google/gemini/b.ts"]
  ],
  [
    "refuses a room of the same rank (R1b)",
    [file("demo/google/claude/a.ts", 'import { b } from "../gemini/b.ts"'), file("demo/google/gemini/b.ts")],
    ["src/demo/google/claude/a.ts:3 R1b rooms: may not import src/demo/google/gemini/b.ts"]
  ],
  [
    "refuses a room below the root of its folder (R1b)",
    [file("demo/google/service/a.ts", 'import { b } from "../B.ts"'), file("demo/google/B.ts")],
    ["src/demo/google/service/a.ts:3 R1b rooms: may not import src/demo/google/B.ts"]
  ],
  [
    "refuses a room without a rank (R1b)",
    [file("demo/google/more/inner/a.ts")],
    ["src/demo/google/more/inner/a.ts:1 R1b rooms: src/demo/google/more has no place in the order"]
  ],
  [
    "accepts the same room, lower rooms and the root (R1b)",
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
    "refuses a circle (R2)",
    [file("domain/A.ts", 'import { b } from "./B.ts"'), file("domain/B.ts", 'import { a } from "./A.ts"')],
    ["src/domain/A.ts:1 R2 circles: src/domain/A.ts -> src/domain/B.ts -> src/domain/A.ts"]
  ],
  [
    "refuses a circle that a type closes (R2)",
    [file("domain/A.ts", 'import { b } from "./B.ts"'), file("domain/B.ts", 'import type { A } from "./A.ts"')],
    ["src/domain/A.ts:1 R2 circles: src/domain/A.ts -> src/domain/B.ts -> src/domain/A.ts"]
  ],
  [
    "refuses an effect on floor 1 (R3)",
    [file("translate/A.ts", 'import * as Effect from "effect/Effect"')],
    ["src/translate/A.ts:3 R3 purity: may not import effect/Effect"]
  ],
  [
    "refuses an effect in a camelCase file above (R3)",
    [file("router/plan.ts", 'import { join, relative } from "node:path"', "export const now = () => Date.now()")],
    ["src/router/plan.ts:3 R3 purity: may not import node:path", "src/router/plan.ts:4 R3 purity: Date.now"]
  ],
  [
    "refuses clocks, chance and timers (R3)",
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
    "accepts fields of those names (R3)",
    [file("wire/a.ts", "const a = { fetch: 1, process: b.crypto }", "new Date(1)")],
    []
  ],
  [
    "refuses a long file (R4)",
    [file("router/A.ts", ...Array<string>(400).fill(""), "f()")],
    ["src/router/A.ts:1 R4 size: file of 403 lines, at most 400"]
  ],
  [
    "refuses a long function (R4)",
    [file("router/A.ts", "const f = () => {", ...Array<string>(69).fill(""), "}")],
    ["src/router/A.ts:3 R4 size: function of 71 lines, at most 70"]
  ],
  ["allows a schema file more lines (R4)", [file("wire/A.ts", ...Array<string>(450).fill(""), "f()")], []],
  [
    "refuses a full folder (R4)",
    Array.from({ length: 21 }, (_, index) => file(`demo/google/shapes/${String.fromCharCode(97 + index)}.ts`)),
    ["src/demo/google/shapes R4 size: folder of 21 files, at most 20"]
  ],
  [
    "accepts 20 files, and more in a room below (R4)",
    [...Array.from({ length: 20 }, (_, index) => file(`demo/A${index}.ts`)), file("demo/google/B.ts")],
    []
  ],
  [
    "refuses a path without .ts (R5)",
    [file("router/A.ts", 'import { b } from "./B"')],
    ["src/router/A.ts:3 R5 imports: ./B without .ts"]
  ],
  [
    "refuses barrels (R5)",
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
    "refuses casts that escape the types (R6)",
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
    "refuses readers elsewhere (R6)",
    [file("http/A.ts", "process.env.A", "JSON.parse(a)", "console.log(a)", "Effect.runSync(a)")],
    [
      "src/http/A.ts:3 R6 single readers: process.env here",
      "src/http/A.ts:4 R6 single readers: JSON.parse here",
      "src/http/A.ts:5 R6 single readers: console.log here",
      "src/http/A.ts:6 R6 single readers: Effect.runSync here"
    ]
  ],
  [
    "accepts readers in their places (R6)",
    [file("cli/settings/LoadSettings.ts", "process.env.A", "console.log(a)"), file("main.ts", "Effect.runFork(a)")],
    []
  ],
  [
    "refuses imports past a door (R7)",
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
  [
    "accepts the door itself (R7)",
    [
      file("upstream/ConnectionPool.ts", 'import Pool from "undici/lib/dispatcher/pool.js"', "Redacted.value(a)"),
      file("upstream/UndiciParts.d.ts", 'export { Pool as default } from "undici"')
    ],
    []
  ],
  [
    "refuses limits elsewhere (R8)",
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
    "accepts 1024 as small, and numbers in data (R8)",
    [file("router/A.ts", "const b = 1024"), file("translate/a.ts", "const b = 65_535")],
    []
  ],
  [
    "refuses a file without its opening lines",
    [{ path: "src/domain/A.ts", text: "// One line.\nconst a = 1\n" }],
    ["src/domain/A.ts:1 opening: two comment lines are missing"]
  ]
]

describe("planted violations", () => {
  it.each(rows)("house rule: %s", (_rule, planted, said) => {
    expect(tidyViolations(planted)).toEqual(said)
  })

  it("house rule: finds what is left unfinished", () => {
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

it("folders of tests: need a folder of src, unless their subject is the whole service (R11)", () => {
  expect(
    strayFolders(["compat", "fixtures/matrix", "router", "router/plans", "supports"], ["router", "router/plan"])
  ).toEqual([
    "test/router/plans R11 mirror: there is no src/router/plans",
    "test/supports R11 mirror: there is no src/supports"
  ])
})

const slashes = "//"

describe("avoided words", () => {
  it.each<readonly [title: string, path: string, text: string, found: ReadonlyArray<string>]>([
    ["comment", "src/a.ts", `const a = 1 ${slashes} read anew\n`, ['src/a.ts:1 R9 words: "anew": again']],
    ["docstring", "src/a.ts", "/**\n * Read anew.\n */\n", ['src/a.ts:2 R9 words: "anew": again']],
    [
      "test title",
      "test/a.test.ts",
      `${"it"}("a file is read anew", () => {})\n`,
      ['test/a.test.ts:1 R9 words: "anew": again']
    ],
    ["page", "docs/a.md", "Read anew.\n", ['docs/a.md:1 R9 words: "anew": again']],
    ["code, quotations and addresses keep their words", "docs/a.md", "`anew`\n\n```sh\nanew\n```\n", []],
    ["message", "src/a.ts", 'fail("read it anew")\n', ['src/a.ts:1 R9 words: "anew": again']],
    ["message with values", "src/a.ts", "fail(`${file} is read anew`)\n", ['src/a.ts:1 R9 words: "anew": again']],
    ["name in a program keeps its word", "src/a.ts", 'const a = "anew"\n', []],
    ["quotation of another service keeps its words", "src/demo/a.ts", 'fail("read it anew")\n', []]
  ])("avoided words: a %s (R9)", (_, path, text, found) => {
    expect(avoidedWords(path, text)).toEqual(found)
  })
})
