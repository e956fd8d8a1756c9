// The checks of `doctor` on this machine: the Node version and the ports.
// Must not know providers.
import { createServer } from "node:net"
import { availableParallelism } from "node:os"
import * as Effect from "effect/Effect"
import type { Settings } from "../../domain/settings/Settings.ts"
import { failFinding, type Finding, okFinding, warnFinding } from "./Finding.ts"
import { nodeVersionFault } from "./nodeVersion.ts"

export const nodeFinding = (version: string): Finding => {
  const fault = nodeVersionFault(version)
  return fault === undefined ? okFinding("node", version) : failFinding("node", fault)
}

interface ListenAddress {
  readonly host: string
  readonly port: number
}

/** Listens and closes again. Undefined on success, otherwise the error code of the system. */
const tryListen = ({ host, port }: ListenAddress): Effect.Effect<string | undefined> =>
  Effect.callback((resume) => {
    const server = createServer()
    server.once("error", (error: NodeJS.ErrnoException) => resume(Effect.succeed(error.code ?? "unknown")))
    server.listen(port, host, () => server.close(() => resume(Effect.succeed(undefined))))
    return Effect.sync(() => server.close())
  })

/** Where an operator sets host and port; used in the fix. */
interface AddressSource {
  readonly host: string
  readonly port: string
}

const addressFinding = (check: string, place: ListenAddress, by: AddressSource): Effect.Effect<Finding> => {
  const where = `${place.host}:${place.port}`
  return Effect.map(tryListen(place), (code) => {
    switch (code) {
      case undefined:
        return okFinding(check, place.port === 0 ? "any free one" : `${where} is free`)
      case "EADDRINUSE":
        return warnFinding(
          check,
          `${where} is in use, by a running gateway perhaps`,
          `model-gateway health shows whether it is one; else choose another port ${by.port}`
        )
      case "EACCES":
        return failFinding(check, `${where} is not permitted`, `choose a port above 1023 ${by.port}`)
      case "EADDRNOTAVAIL":
        return failFinding(check, `${place.host} is no address of this machine`, by.host)
      default:
        return failFinding(check, `${where} cannot be listened on: ${code}`)
    }
  })
}

/** The processes that serve together; none unless the configuration has workers. */
export const workerFindings = ({ workers }: Settings["server"]): ReadonlyArray<Effect.Effect<Finding>> =>
  workers === undefined || workers === 1
    ? []
    : [
        Effect.sync(() =>
          process.platform === "linux"
            ? okFinding("workers", `${workers} on ${availableParallelism()} processors; limits and caches are shared`)
            : failFinding("workers", `they need Linux, this is ${process.platform}`, "leave server.workers out")
        )
      ]

/** The port of the service, and the admin port where one is set. */
export const portFindings = ({ admin, ...main }: Settings["server"]): ReadonlyArray<Effect.Effect<Finding>> => [
  addressFinding("port", main, { host: "set server.host, or --host", port: "with --port" }),
  ...(admin === undefined
    ? []
    : [addressFinding("admin port", admin, { host: "set server.admin_host", port: "under server.admin_port" })])
]
