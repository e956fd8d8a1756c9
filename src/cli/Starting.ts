// What every start of the service shares: its origin, its log format, and why it could not start.
// Must not load the gateway: the first process of several does without it.
import type * as HttpServerError from "effect/http/HttpServerError"
import type { PackageMissing } from "../domain/PackageMissing.ts"
import type { Settings } from "../domain/settings/Settings.ts"
import type { StoreUnusable } from "../store/database/Sql.ts"
import type { CassetteUnusable } from "../upstream/Cassette.ts"
import { commandFailure, type Failure, storeFailure, usageFailure } from "./Failure.ts"

/** `http://host:port` as a client on this machine writes it. A wildcard address becomes 127.0.0.1. */
export const renderOrigin = (host: string, port: number): string => {
  const near = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host
  return `http://${near.includes(":") ? `[${near}]` : near}:${port}`
}

/** The reason why the service could not start, for the operator. */
export const startFailure =
  (settings: Settings) =>
  (error: HttpServerError.ServeError | PackageMissing | StoreUnusable | CassetteUnusable): Failure => {
    if (error._tag === "CassetteUnusable") return commandFailure(error.message)
    if (error._tag === "StoreUnusable") return storeFailure(error)
    if (error._tag === "PackageMissing") return usageFailure(error.message)
    const cause = error.cause
    const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined
    const { admin, host, port } = settings.server
    const isAdmin =
      admin !== undefined && typeof cause === "object" && cause !== null && "port" in cause && cause.port === admin.port
    const where = isAdmin ? `${admin.host}:${admin.port}` : `${host}:${port}`
    const how = isAdmin ? "under server.admin_port" : "with --port"
    return commandFailure(
      code === "EADDRINUSE"
        ? `cannot listen on ${where}: another process does; choose a port ${how}`
        : code === "EACCES"
          ? `cannot listen on ${where}: not permitted; choose a port above 1023 ${how}`
          : `cannot listen on ${where}${typeof code === "string" ? `: ${code}` : ""}`
    )
  }

/** The settings with the log format of this terminal, unless one is set. */
export const withLogFormat = (settings: Settings): Settings => ({
  ...settings,
  log: { ...settings.log, format: settings.log?.format ?? (process.stdout.isTTY ? "pretty" : "json") }
})
