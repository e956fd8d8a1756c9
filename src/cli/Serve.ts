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
import type { Settings } from "../domain/Settings.ts"
import { Gateway } from "../Gateway.ts"
import type { ExporterMissing } from "../telemetry/Tracing.ts"
import { version } from "../domain/version.ts"
import { describeAccount } from "./describeAccount.ts"
import { failed, type Failure, usage } from "./Failure.ts"
import { FaultLog } from "./FaultLog.ts"
import { type LoadOptions, loadSettings } from "./LoadSettings.ts"

/** A new gateway key: 192 random bits behind the prefix that tells it from a provider's. */
export const makeKey = (): string => `mgk_${randomBytes(24).toString("base64url")}`

/** `http://host:port` as a client on this machine writes it. */
export const originOf = (host: string, port: number): string => {
  const near = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host
  return `http://${near.includes(":") ? `[${near}]` : near}:${port}`
}

/** Why the service could not start, in the operator's words. */
export const startFailure = (settings: Settings) => (error: HttpServerError.ServeError | ExporterMissing): Failure => {
  if (error._tag === "ExporterMissing") {
    return usage("an OTEL_EXPORTER_OTLP_ENDPOINT is set, but the packages that export are not installed: npm install --include=optional")
  }
  const cause = error.cause
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined
  const where = `${settings.server.host}:${settings.server.port}`
  return failed(code === "EADDRINUSE"
    ? `cannot listen on ${where}: another process does; choose a port with --port`
    : code === "EACCES"
      ? `cannot listen on ${where}: not permitted; choose a port above 1023 with --port`
      : `cannot listen on ${where}${typeof code === "string" ? `: ${code}` : ""}`)
}

/** Starts the gateway, says where, and stays. Being stopped from then on is no failure. */
export const runGateway = (
  settings: Settings,
  announce: (origin: string) => Effect.Effect<void>
): Effect.Effect<never, Failure> =>
  Effect.scoped(Effect.gen(function*() {
    const service = Gateway.layer(settings).pipe(Layer.provide(FaultLog.layer(settings.log?.format === "json")))
    const context = yield* Layer.build(service).pipe(Effect.mapError(startFailure(settings)))
    const { address } = Context.get(context, HttpServer.HttpServer)
    yield* announce(originOf(settings.server.host, "port" in address ? address.port : settings.server.port))
    yield* Effect.sync(() => {
      process.exitCode = 0
    })
    return yield* Effect.never
  }))

export const serve = Effect.fn("Cli.serve")(function*(options: LoadOptions): Effect.fn.Return<void, Failure> {
  const { file, settings } = yield* loadSettings(options)
  const made = settings.keys.some(({ scopes }) => scopes?.includes("inference") ?? true) ? undefined : makeKey()
  const complete: Settings = {
    ...settings,
    keys: made === undefined
      ? settings.keys
      : [...settings.keys, { name: "generated", key: Redacted.make(made), providers: undefined, models: undefined }],
    log: { ...settings.log, format: settings.log?.format ?? (process.stdout.isTTY ? "pretty" : "json") }
  }
  yield* runGateway(complete, (origin) => Console.error([
    `model-gateway ${version}   ${file ?? "no configuration file"}`,
    `API      ${origin}/v1`,
    ...settings.accounts.map((account) => `Account  ${describeAccount(account)}`),
    ...(made === undefined ? [] : [`Key      ${made}   made for this run; set GATEWAY_API_KEY to keep one`])
  ].join("\n")))
})
