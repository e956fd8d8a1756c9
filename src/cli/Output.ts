// What a command prints: JSON or lines, tables, findings, its failure with an exit code, and the log of unexpected faults.
// Must not know which command prints. Removes secrets that a fault might quote. Must not load the gateway.
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import type { StoreUnusable } from "../store/database/Sql.ts"
import * as Console from "effect/Console"
import type * as Effect from "effect/Effect"
import { visible, visibleLines } from "../domain/text/printable.ts"
import { styleText } from "node:util"
import type * as HttpServerError from "effect/http/HttpServerError"
import type { PackageMissing, Settings } from "../domain/settings/Settings.ts"
import type { CassetteUnusable } from "../upstream/Cassette.ts"
import type * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { publicText } from "../domain/text/publicText.ts"

/** Exit code 1: the command failed. Exit code 2: wrong flags or a wrong configuration. */
export class Failure extends Schema.TaggedError<Failure>()("Failure", {
  code: Schema.Literals([1, 2]),
  /** Lines for stderr. Empty when they are already printed. */
  message: Schema.String
}) {
  override readonly [Runtime.errorExitCode] = this.code
  override readonly [Runtime.errorReported] = false
}

/** A failure for wrong flags or a wrong configuration. */
export const usageFailure = (message: string): Failure => new Failure({ code: 2, message })

/** A failure for everything else. */
export const commandFailure = (message: string): Failure => new Failure({ code: 1, message })

/** A failure for a store that cannot be used. A missing package counts as a configuration fault. */
export const storeFailure = ({ isUninstalled, message }: StoreUnusable): Failure =>
  isUninstalled === true ? usageFailure(message) : commandFailure(message)

// Prints what a verb answers on stdout: JSON for programs, lines for people.

export const renderJson = (value: object): string => visibleLines(JSON.stringify(value, null, 2))

export const printAnswer = (
  { json }: { readonly json: boolean },
  value: object,
  lines: ReadonlyArray<string>
): Effect.Effect<void> => Console.log(json ? renderJson(value) : visibleLines(lines.join("\n")))

// Aligns rows of texts as a table with even columns. Control and direction characters are made visible.

const widthOf = (rows: ReadonlyArray<ReadonlyArray<string>>, column: number): number =>
  Math.max(...rows.map((row) => (row[column] ?? "").length))

/** Two spaces between columns, none after the last. */
export const alignColumns = (given: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => {
  const rows = given.map((row) => row.map(visible))
  const columns = Math.max(0, ...rows.map((row) => row.length))
  const widths = Array.from({ length: columns }, (_, column) => widthOf(rows, column))
  return rows.map((row) =>
    row
      .map((text, column) => (column === row.length - 1 ? text : text.padEnd(widths[column] ?? 0)))
      .join("  ")
      .trimEnd()
  )
}

// A finding of `doctor`: one row of its table.

export interface Finding {
  /** The subject of the check. */
  readonly check: string
  /** `warn`: it works, but probably not as intended. */
  readonly status: "ok" | "warn" | "fail"
  readonly detail: string
  /** The fix: a command to run, a variable to set or a role to grant. */
  readonly todo?: string
}

export const okFinding = (check: string, detail: string): Finding => ({ check, status: "ok", detail })
export const warnFinding = (check: string, detail: string, todo?: string): Finding => ({
  check,
  status: "warn",
  detail,
  ...(todo === undefined ? {} : { todo })
})
export const failFinding = (check: string, detail: string, todo?: string): Finding => ({
  check,
  status: "fail",
  detail,
  ...(todo === undefined ? {} : { todo })
})

const colours = { ok: "green", warn: "yellow", fail: "red" } as const

const colourStatus = ({ status }: Finding, line: string): string =>
  styleText(colours[status], status, { stream: process.stdout }) + line.slice(status.length)

/** One line per finding, and its fix on the line below. Coloured on a terminal that supports colours. */
export const findingLines = (findings: ReadonlyArray<Finding>): ReadonlyArray<string> => {
  const rows = findings.flatMap((finding) => [
    { finding, cells: [finding.status, finding.check, finding.detail] },
    ...(finding.todo === undefined ? [] : [{ finding: undefined, cells: ["", "", `-> ${finding.todo}`] }])
  ])
  const lines = alignColumns(rows.map(({ cells }) => cells))
  return rows.map(({ finding }, at) =>
    finding === undefined ? (lines[at] ?? "") : colourStatus(finding, lines[at] ?? "")
  )
}

// What every start of the service shares: its origin, its log format, and why it could not start.

/** `http://host:port` as a client on this machine writes it. A wildcard address becomes 127.0.0.1. */
export const renderOrigin = (host: string, port: number): string => {
  const near = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host
  return `http://${near.includes(":") ? `[${near}]` : near}:${port}`
}

/** The address of the API from this machine; `port` is the one that it listens on. */
export const renderAddress = (
  { server: { basePath = "", host }, serverTls }: Pick<Settings, "server" | "serverTls">,
  port: number
): string => {
  const origin = renderOrigin(host, port)
  return `${serverTls === undefined ? origin : origin.replace("http:", "https:")}${basePath}`
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

// The log of unexpected failures of the service: stderr, one line each. Stdout holds request lines only.

const mostBytes = 8 * 1024

/** One line: JSON or human-readable. */
export const renderFaultLine = (date: Date, level: string, message: unknown, isJson: boolean): string => {
  const words = publicText((Array.isArray(message) ? message : [message]).map(String).join("  "), mostBytes)
  return isJson
    ? JSON.stringify({ ts: date.toISOString(), level: level.toLowerCase(), msg: words })
    : `${date.toISOString().slice(11, 19)}  ${level.toLowerCase()}  ${words}`
}

const layer = (isJson: boolean): Layer.Layer<never> =>
  Logger.layer([
    Logger.withConsoleError(
      Logger.make(({ date, logLevel, message }) => renderFaultLine(date, logLevel, message, isJson))
    )
  ])

export const FaultLog = { layer }
