// What `doctor` looks at on this machine: Node and the port.
// It must not know providers.
import { createServer } from "node:net"
import * as Effect from "effect/Effect"
import type { Settings } from "../domain/Settings.ts"
import { fail, type Finding, ok, warn } from "./Finding.ts"
import { nodeVersionFault } from "./nodeVersion.ts"

export const nodeFinding = (version: string): Finding => {
  const fault = nodeVersionFault(version)
  return fault === undefined ? ok("node", version) : fail("node", fault)
}

/** Listens for a moment; undefined when that works, else the system's code. */
const listened = ({ host, port }: Settings["server"]): Effect.Effect<string | undefined> =>
  Effect.callback((resume) => {
    const server = createServer()
    server.once("error", (error: NodeJS.ErrnoException) => resume(Effect.succeed(error.code ?? "unknown")))
    server.listen(port, host, () => server.close(() => resume(Effect.succeed(undefined))))
    return Effect.sync(() => server.close())
  })

export const portFinding = (server: Settings["server"]): Effect.Effect<Finding> => {
  const where = `${server.host}:${server.port}`
  return Effect.map(listened(server), (code) => {
    switch (code) {
      case undefined:
        return ok("port", server.port === 0 ? "any free one" : `${where} is free`)
      case "EADDRINUSE":
        return warn("port", `${where} is in use, by a running gateway perhaps`, "model-gateway health says whether it is one; else choose another port with --port")
      case "EACCES":
        return fail("port", `${where} is not permitted`, "choose a port above 1023 with --port")
      case "EADDRNOTAVAIL":
        return fail("port", `${server.host} is no address of this machine`, "set server.host, or --host")
      default:
        return fail("port", `${where} cannot be listened on: ${code}`)
    }
  })
}
