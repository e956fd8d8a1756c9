// A user without a home directory: no entry in the system's list of users, and no HOME.
// Must not start a process.
import { syncBuiltinESMExports } from "node:module"
import os from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { commandLine, startCommand } from "../support/commandLine.ts"

const { homedir } = os
beforeAll(() => {
  os.homedir = () => {
    throw new Error("A system error occurred: uv_os_homedir returned ENOENT (no such file or directory)")
  }
  syncBuiltinESMExports()
})
afterAll(() => {
  os.homedir = homedir
  syncBuiltinESMExports()
})

it("serve starts for a user without a home directory, on the data of GATEWAY_DATA_DIR or of ./data", async () => {
  const env = { GATEWAY_LIMITS_READY_DELAY_MILLIS: "0", GATEWAY_LOG_FORMAT: "off" }
  const named = startCommand(["serve", "--port", "0"], { ...env, GATEWAY_DATA_DIR: "named" }, { files: {} })
  expect((await named.said(/Store {4}(\S+)/))[1]).toBe(`sqlite:${join(named.folder, "named", "gateway.db")}`)
  expect((await named.stop()).code).toBe(0)
  const unnamed = startCommand(["serve", "--port", "0"], env, { files: {} })
  expect((await unnamed.said(/Store {4}(\S+)/))[1]).toBe(`sqlite:${join(unnamed.folder, "data", "gateway.db")}`)
  expect((await unnamed.stop()).code).toBe(0)
})

it("check finds no configuration of a user without a home directory", async () => {
  expect((await commandLine(["check"], {}, { files: {} })).out.split("\n")[0]).toBe(
    "ok  no configuration file; environment and defaults"
  )
})
