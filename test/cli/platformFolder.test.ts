// Tests the data directory of each operating system, as a pure function.
// Must not depend on the system that runs the test.
import { expect, it } from "vitest"
import { platformFolder } from "../../src/cli/process/platform.ts"

it.each([
  ["linux", {}, "/people/ann", "/people/ann/.local/share/model-gateway"],
  ["linux", { XDG_DATA_HOME: "/srv/data" }, "/people/ann", "/srv/data/model-gateway"],
  ["linux", { XDG_DATA_HOME: "" }, "/people/ann", "/people/ann/.local/share/model-gateway"],
  ["freebsd", {}, "/people/ann", "/people/ann/.local/share/model-gateway"],
  ["darwin", { XDG_DATA_HOME: "/srv/data" }, "/people/ann", "/people/ann/Library/Application Support/model-gateway"],
  ["win32", {}, "C:\\People\\ann", "C:\\People\\ann\\AppData\\Local\\model-gateway"],
  ["win32", { LOCALAPPDATA: "D:\\Data" }, "C:\\People\\ann", "D:\\Data\\model-gateway"],
  ["linux", {}, undefined, undefined],
  ["linux", { XDG_DATA_HOME: "/srv/data" }, undefined, "/srv/data/model-gateway"],
  ["darwin", {}, undefined, undefined],
  ["win32", {}, undefined, undefined]
])("data directory: on %s with %j and the home %s it is %s", (platform, env, home, folder) => {
  expect(platformFolder(platform, env, home)).toBe(folder)
})
