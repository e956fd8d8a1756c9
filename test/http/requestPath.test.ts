// Holds the files of a streaming request, as the architecture page lists them, to what runs.
// Must not judge the order of the files.
import { fork } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { beforeAll, expect, it } from "vitest"
import type { TracedRequest } from "../support/tracedRequests.ts"

const root = new URL("../../", import.meta.url)
const page = readFileSync(new URL("docs/internals/architecture.md", root), "utf8")
const table = /<!-- path -->([\s\S]*?)<!-- \/path -->/.exec(page)?.[1] ?? ""
const rows = [...table.matchAll(/^\| \[[^\]]+\]\(\.\.\/\.\.\/([^)]+)\) \| (both|chat|messages) \|/gm)]

/** The files of one kind of request. */
const filesOf = (kind: "chat" | "messages"): ReadonlyArray<string> =>
  rows.flatMap(([, file = "", of]) => (of === "both" || of === kind ? [file] : []))

let traced: ReadonlyArray<TracedRequest>
// The functions report the file that they are entered in, so that process loads them itself.
beforeAll(async () => {
  const child = fork(fileURLToPath(new URL("test/support/tracedRequests.ts", root)), { stdio: "ignore" })
  traced = (await once(child, "message"))[0]
}, 60_000)

const filesThatRun = (name: string): ReadonlySet<string> => {
  const request = traced.find((one) => one.name === name)
  expect(request?.status).toBe(200)
  return new Set(request?.files)
}

it("architecture page: lists a file once, and as many as the last count", () => {
  expect(new Set(rows.map(([, file]) => file)).size).toBe(rows.length)
  expect([filesOf("chat").length, filesOf("messages").length]).toEqual([23, 21])
})

it("architecture page: lists files that a streamed chat runs", () => {
  const ran = filesThatRun("streamed chat")
  expect(filesOf("chat").filter((file) => !ran.has(file))).toEqual([])
})

it("architecture page: lists files that a streamed message runs", () => {
  const ran = filesThatRun("streamed message")
  expect(filesOf("messages").filter((file) => !ran.has(file))).toEqual([])
})
