// `serve`: runs the gateway until it is told to stop.
// It must not know what the gateway is made of.
import { randomBytes } from "node:crypto"
import * as Context from "effect/Context"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import type * as HttpServerError from "effect/http/HttpServerError"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { Limits } from "../domain/Limits.ts"
import type { KeySetting, Settings } from "../domain/Settings.ts"
import { Gateway, type GatewayServices } from "../Gateway.ts"
import type { Declarations } from "../store/Holdings.ts"
import type { ExporterMissing } from "../telemetry/Tracing.ts"
import { version } from "../domain/version.ts"
import { describeAccount } from "./describeAccount.ts"
import { failed, type Failure, usage } from "./Failure.ts"
import { FaultLog } from "./FaultLog.ts"
import { type LoadOptions, loadSettings } from "./LoadSettings.ts"
import type { StoreUnusable } from "../store/Sql.ts"
import { followConfiguration } from "./Reload.ts"

/** A new gateway key: 192 random bits behind the prefix that tells it from a provider's. */
export const makeKey = (): string => `mgk_${randomBytes(24).toString("base64url")}`

/** `http://host:port` as a client on this machine writes it. */
export const originOf = (host: string, port: number): string => {
  const near = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host
  return `http://${near.includes(":") ? `[${near}]` : near}:${port}`
}

/** Why the service could not start, in the operator's words. */
export const startFailure = (settings: Settings) => (error: HttpServerError.ServeError | ExporterMissing | StoreUnusable): Failure => {
  if (error._tag === "StoreUnusable") return failed(error.message)
  if (error._tag === "ExporterMissing") {
    return usage("an OTEL_EXPORTER_OTLP_ENDPOINT is set, but the packages that export are not installed: npm install --include=optional")
  }
  const cause = error.cause
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined
  const { admin, host, port } = settings.server
  const isAdmin = admin !== undefined && typeof cause === "object" && cause !== null && "port" in cause && cause.port === admin.port
  const where = isAdmin ? `${admin.host}:${admin.port}` : `${host}:${port}`
  const how = isAdmin ? "under server.admin_port" : "with --port"
  return failed(code === "EADDRINUSE"
    ? `cannot listen on ${where}: another process does; choose a port ${how}`
    : code === "EACCES"
      ? `cannot listen on ${where}: not permitted; choose a port above 1023 ${how}`
      : `cannot listen on ${where}${typeof code === "string" ? `: ${code}` : ""}`)
}

/** Starts the gateway, says where, and stays. Being stopped from then on is no failure. `beside` runs with its services as long as it does. */
export const runGateway = (
  settings: Settings,
  announce: (origin: string) => Effect.Effect<void>,
  beside: Effect.Effect<void, never, GatewayServices | Scope.Scope> = Effect.void
): Effect.Effect<never, Failure> =>
  Effect.scoped(Effect.gen(function*() {
    const surroundings = Layer.merge(FaultLog.layer(settings.log?.format === "json"), Layer.succeed(Limits, settings.limits))
    const context = yield* Layer.build(Layer.provideMerge(Gateway.layer(settings), surroundings)).pipe(Effect.mapError(startFailure(settings)))
    const { address } = Context.get(context, HttpServer.HttpServer)
    yield* Effect.provide(beside, context)
    yield* announce(originOf(settings.server.host, "port" in address ? address.port : settings.server.port))
    yield* Effect.sync(() => {
      process.exitCode = 0
    })
    return yield* Effect.never
  }))

export const serve = Effect.fn("Cli.serve")(function*(options: LoadOptions): Effect.fn.Return<void, Failure> {
  const { file, settings } = yield* loadSettings(options)
  const made = hasKey(settings) ? undefined : makeKey()
  const generated: ReadonlyArray<KeySetting> = made === undefined ? [] : [{ name: "generated", key: Redacted.make(made) }]
  const declarations = (read: Settings): Declarations => ({ ...read, keys: hasKey(read) ? read.keys : [...read.keys, ...generated] })
  const complete: Settings = {
    ...settings,
    ...declarations(settings),
    log: { ...settings.log, format: settings.log?.format ?? (process.stdout.isTTY ? "pretty" : "json") }
  }
  yield* runGateway(complete, (origin) => Console.error([
    `model-gateway ${version}   ${file ?? "no configuration file"}`,
    `API      ${origin}/v1`,
    ...(settings.server.admin === undefined ? [] : [`Admin    ${originOf(settings.server.admin.host, settings.server.admin.port)}/admin/v1`]),
    ...settings.accounts.map((account) => `Account  ${describeAccount(account)}`),
    ...(made === undefined ? [] : [`Key      ${made}   made for this run; set GATEWAY_API_KEY to keep one`])
  ].join("\n")), followConfiguration({ load: options, started: settings, declarations }))
})

/** Whether somebody may call models. */
const hasKey = ({ keys }: Settings): boolean => keys.some(({ scopes }) => scopes?.includes("inference") ?? true)
