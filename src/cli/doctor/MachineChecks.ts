// What `doctor` looks at on this machine: Node and the ports.
// It must not know providers.
import { createServer } from "node:net"
import * as Effect from "effect/Effect"
import type { Settings } from "../../domain/settings/Settings.ts"
import { fail, type Finding, ok, warn } from "./Finding.ts"
import { nodeVersionFault } from "./nodeVersion.ts"

export const nodeFinding = (version: string): Finding => {
  const fault = nodeVersionFault(version)
  return fault === undefined ? ok("node", version) : fail("node", fault)
}

interface Place {
  readonly host: string
  readonly port: number
}

/** Listens for a moment; undefined when that works, else the system's code. */
const listened = ({ host, port }: Place): Effect.Effect<string | undefined> =>
  Effect.callback((resume) => {
    const server = createServer()
    server.once("error", (error: NodeJS.ErrnoException) => resume(Effect.succeed(error.code ?? "unknown")))
    server.listen(port, host, () => server.close(() => resume(Effect.succeed(undefined))))
    return Effect.sync(() => server.close())
  })

/** How the place is chosen. */
interface Chosen {
  readonly host: string
  readonly port: string
}

const placeFinding = (check: string, place: Place, by: Chosen): Effect.Effect<Finding> => {
  const where = `${place.host}:${place.port}`
  return Effect.map(listened(place), (code) => {
    switch (code) {
      case undefined:
        return ok(check, place.port === 0 ? "any free one" : `${where} is free`)
      case "EADDRINUSE":
        return warn(
          check,
          `${where} is in use, by a running gateway perhaps`,
          `model-gateway health says whether it is one; else choose another port ${by.port}`
        )
      case "EACCES":
        return fail(check, `${where} is not permitted`, `choose a port above 1023 ${by.port}`)
      case "EADDRNOTAVAIL":
        return fail(check, `${place.host} is no address of this machine`, by.host)
      default:
        return fail(check, `${where} cannot be listened on: ${code}`)
    }
  })
}

/** The port of the service, and the one of operators where they have their own. */
export const portFindings = ({ admin, ...main }: Settings["server"]): ReadonlyArray<Effect.Effect<Finding>> => [
  placeFinding("port", main, { host: "set server.host, or --host", port: "with --port" }),
  ...(admin === undefined
    ? []
    : [placeFinding("admin port", admin, { host: "set server.admin_host", port: "under server.admin_port" })])
]
