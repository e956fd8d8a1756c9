// `serve`: runs the gateway until the process is stopped.
// Must not know the parts of the gateway.
import * as Context from "effect/Context"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import type * as HttpServerError from "effect/http/HttpServerError"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { Catalog } from "../catalog/Catalog.ts"
import { Limits } from "../domain/Limits.ts"
import type { PackageMissing } from "../domain/PackageMissing.ts"
import type { Settings } from "../domain/settings/Settings.ts"
import { Gateway, type GatewayServices } from "../Gateway.ts"
import { version } from "../domain/version.ts"
import { withLink } from "./ConsoleLink.ts"
import { describeAccount } from "./describeAccount.ts"
import { commandFailure, type Failure, storeFailure, usageFailure } from "./Failure.ts"
import { FaultLog } from "./FaultLog.ts"
import { type LoadOptions, loadSettings } from "./settings/LoadSettings.ts"
import { describeStore } from "../domain/settings/storeLocation.ts"
import type { StoreUnusable } from "../store/database/Sql.ts"
import { makeMissingKeys, declareWithKey } from "./FirstKeys.ts"
import { followConfiguration } from "./Reload.ts"

/** `http://host:port` as a client on this machine writes it. A wildcard address becomes 127.0.0.1. */
export const renderOrigin = (host: string, port: number): string => {
  const near = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host
  return `http://${near.includes(":") ? `[${near}]` : near}:${port}`
}

/** The reason why the service could not start, for the operator. */
export const startFailure =
  (settings: Settings) =>
  (error: HttpServerError.ServeError | PackageMissing | StoreUnusable): Failure => {
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

/** Starts the gateway, runs `open` with its services once it listens, and stays. A stop after that is not a failure. */
export const runGateway = (
  settings: Settings,
  open: (origin: string) => Effect.Effect<void, Failure, GatewayServices | Scope.Scope>
): Effect.Effect<never, Failure> =>
  Effect.scoped(
    Effect.gen(function* () {
      const surroundings = Layer.merge(
        FaultLog.layer(settings.log?.format === "json"),
        Layer.succeed(Limits, settings.limits)
      )
      const context = yield* Layer.build(Layer.provideMerge(Gateway.layer(settings), surroundings)).pipe(
        Effect.mapError(startFailure(settings))
      )
      const { address } = Context.get(context, HttpServer.HttpServer)
      yield* Effect.provide(
        open(renderOrigin(settings.server.host, "port" in address ? address.port : settings.server.port)),
        context
      )
      yield* Effect.sync(() => {
        process.exitCode = 0
      })
      return yield* Effect.never
    })
  )

/** The start-up lines on the services that this gateway uses: admin port, store, Redis. */
const describeServices = ({ redis, server, store }: Settings): ReadonlyArray<string> => [
  ...(server.admin === undefined ? [] : [`Admin    ${renderOrigin(server.admin.host, server.admin.port)}/admin/v1`]),
  `Store    ${store === undefined ? "in memory" : describeStore(store.location)}`,
  ...(redis === undefined ? [] : ["Redis    shared with other gateways"])
]

export const serve = Effect.fn("Cli.serve")(function* (options: LoadOptions): Effect.fn.Return<void, Failure> {
  const { file, settings } = yield* loadSettings(options)
  const format = settings.log?.format ?? (process.stdout.isTTY ? "pretty" : "json")
  const linked = withLink(settings)
  const adminPlace = settings.server.admin
  yield* runGateway(
    { ...linked.settings, log: { ...settings.log, format } },
    Effect.fnUntraced(function* (origin) {
      const { admin, inference } = yield* makeMissingKeys(settings)
      const accounts = (yield* Catalog).list()
      yield* followConfiguration({ load: options, started: settings, declarations: declareWithKey(inference) })
      yield* Console.error(
        [
          `model-gateway ${version}   ${file ?? "no configuration file"}`,
          `API      ${origin}/v1`,
          ...linked.lines(adminPlace === undefined ? origin : renderOrigin(adminPlace.host, adminPlace.port)),
          ...describeServices(settings),
          ...accounts.map((account) => `Account  ${describeAccount(account)}`),
          ...(admin === undefined
            ? []
            : [`Admin    ${admin}   key for /admin/v1, told this once; set GATEWAY_ADMIN_KEY to choose one`]),
          ...(inference === undefined
            ? []
            : [`Key      ${inference}   made for this run; keys create makes one to keep, or set GATEWAY_API_KEY`])
        ].join("\n")
      )
    })
  )
})
