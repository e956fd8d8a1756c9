// Runs the examples as their readers do, against a demo of the test file.
// Must not know what an example prints.
import { type ChildProcess, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { afterAll, beforeAll } from "vitest"
import { Demo } from "../../src/demo/Demo.ts"
import { demoKey } from "../../src/demo/seed.ts"
import { Gateway } from "../../src/Gateway.ts"
import { sharedCode } from "./buildProgram.ts"
import type { Ended } from "./process.ts"

export const examplesFolder = fileURLToPath(new URL("../../examples/", import.meta.url))
export const greeting = (family: string): string =>
  `Hello! I am a simulated ${family} model, so nothing you write leaves this machine. What would you like to try?`

type Env = Readonly<Record<string, string>>

export const endOf = (child: ChildProcess): Promise<Ended> => {
  let [out, err] = ["", ""]
  child.stdout?.on("data", (part) => (out += part))
  child.stderr?.on("data", (part) => (err += part))
  return new Promise((done) => child.once("close", (code) => done({ code, out, err })))
}

/** Examples of one test file; they call a demo on a free port, as fast as it can. */
export const examples = (): {
  readonly start: (name: string, env?: Env) => ChildProcess
  readonly run: (name: string) => Promise<Ended>
} => {
  const scope = Scope.makeUnsafe()
  let origin = ""
  beforeAll(async () => {
    const built = Effect.flatMap(
      Demo.settings({ host: "127.0.0.1", port: 0, key: demoKey, tokensPerSecond: 0 }),
      (settings) => Layer.build(Gateway.layer(settings))
    )
    const { address } = Context.get(await Effect.runPromise(Scope.provide(built, scope)), HttpServer.HttpServer)
    origin = `http://127.0.0.1:${"port" in address ? address.port : 0}`
  })
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  const start = (name: string, env: Env = {}): ChildProcess => {
    const [program, args] = name.endsWith(".sh")
      ? ["sh", [name]]
      : [process.execPath, ["--conditions=model-gateway-source", name]]
    return spawn(program, args, {
      cwd: examplesFolder,
      env: { PATH: process.env["PATH"], GATEWAY_URL: origin, ...sharedCode, ...env }
    })
  }
  return { start, run: (name) => endOf(start(name)) }
}
