// Tests the settings of how the gateway is served: base path.
// Must not start a process.
import * as Result from "effect/Result"
import { expect, it } from "vitest"
import { readSettings } from "../../src/cli/settings/readSettings.ts"
import type { Json } from "../../src/domain/text/json.ts"

const read = (file: Json, env: Record<string, string> = {}) =>
  readSettings({ file, env, flags: {}, fileText: () => Result.fail("no file") })
const serverOf = (file: Json, env?: Record<string, string>) => Result.getOrThrow(read(file, env)).server

it.each([
  [{ server: { base_path: "/llm" } }, {}, "/llm"],
  [{ server: { base_path: "/a/b-c_d.~/" } }, {}, "/a/b-c_d.~"],
  [{ server: { base_path: "/" } }, {}, undefined],
  [null, {}, undefined],
  [{ server: { base_path: "/llm" } }, { GATEWAY_SERVER_BASE_PATH: "/other" }, "/other"]
])("server settings: the base path from file and variable (%#) (K23)", (file, env, basePath) => {
  expect(serverOf(file, env).basePath).toBe(basePath)
})

it.each(["llm", "//llm", "/llm//", "/a/../b", "/.", "/a b", "/a?b", "/a#b", "https://example.com/llm", "/%6c"])(
  "server settings: %s is no base path (K23)",
  (path) => {
    expect(read({ server: { base_path: path } })).toEqual(
      Result.fail([
        {
          path: "server.base_path",
          at: ["server", "base_path"],
          message: `"${path}" is not a path such as /llm, of letters, digits, and . _ ~ - in each segment`
        }
      ])
    )
  }
)
