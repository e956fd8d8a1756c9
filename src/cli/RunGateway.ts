// Runs the gateway of a process until it is stopped, and prints what it serves.
// Must not know the parts of the gateway.
import { flushCompileCache } from "node:module"
import { resolve } from "node:path"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { Limits } from "../domain/Limits.ts"
import type { ProviderAccount } from "../domain/ProviderAccount.ts"
import type { Settings } from "../domain/settings/Settings.ts"
import { describeStore } from "../domain/settings/storeLocation.ts"
import { version } from "../domain/version.ts"
import { Gateway, type GatewayServices } from "../Gateway.ts"
import type { GatewayParts } from "../GatewayParts.ts"
import type { CassetteUnusable } from "../upstream/Cassette.ts"
import type { Linked } from "./ConsoleLink.ts"
import { describeAccount } from "./describeAccount.ts"
import type { Failure } from "./Failure.ts"
import { FaultLog } from "./FaultLog.ts"
import type { FirstKeys } from "./FirstKeys.ts"
import type { Loaded } from "./settings/LoadSettings.ts"
import { fitLimits } from "./settings/FittedLimits.ts"
import { renderOrigin, startFailure } from "./Starting.ts"

/** No load balancer watches a gateway on a terminal, so Ctrl-C closes the listener without delay. */
const onTerminal = (settings: Settings): Settings =>
  process.stdin.isTTY && process.stdout.isTTY
    ? { ...settings, limits: { ...settings.limits, readyDelayMillis: 0 } }
    : settings

/**
 * Starts the gateway, runs `open` with its services once it listens, and stays. A stop is not a failure. `open` gets what
 * an operator should know of limits that were lowered.
 */
export const runGateway = (
  settings: Settings,
  open: (
    origin: string,
    warnings: ReadonlyArray<string>
  ) => Effect.Effect<void, Failure, GatewayServices | Scope.Scope>,
  parts: GatewayParts = {},
  around: Layer.Layer<never, CassetteUnusable> = Layer.empty
): Effect.Effect<never, Failure> =>
  Effect.scoped(
    Effect.gen(function* () {
      // A stop is the normal end of a service, also before it listens.
      process.exitCode = 0
      const waiting = onTerminal(settings)
      const { limits, warnings } = yield* fitLimits(waiting.limits)
      const surroundings = Layer.mergeAll(
        FaultLog.layer(settings.log?.format === "json"),
        Layer.succeed(Limits, limits),
        around
      )
      const context = yield* Layer.build(
        Layer.provideMerge(Gateway.layer({ ...waiting, limits }, parts), surroundings)
      ).pipe(Effect.mapError(startFailure(settings)))
      const { address } = Context.get(context, HttpServer.HttpServer)
      yield* Effect.provide(
        open(renderOrigin(settings.server.host, "port" in address ? address.port : settings.server.port), warnings),
        context
      )
      // Node keeps compiled code at a regular exit only, with that of all requests; this is what a start needs.
      yield* Effect.sync(flushCompileCache)
      return yield* Effect.never
    })
  )

/** The start-up lines on the services that this gateway uses: admin port, store, Redis. */
const describeServices = ({ redis, server, store }: Settings): ReadonlyArray<string> => [
  ...(server.admin === undefined ? [] : [`Admin    ${renderOrigin(server.admin.host, server.admin.port)}/admin/v1`]),
  `Store    ${store === undefined ? "in memory" : describeStore(store.location)}`,
  ...(redis === undefined ? [] : ["Redis    shared with other gateways"])
]

const adminOrigin = ({ server: { admin } }: Settings): string | undefined =>
  admin === undefined ? undefined : renderOrigin(admin.host, admin.port)

interface StartFacts {
  readonly workers: number
  /** The folder of recordings. */
  readonly record?: string | undefined
  /** The lines about the console on the port of this origin. */
  readonly console?: Linked["lines"]
}

/** The start-up lines: version, addresses, services, accounts, and the keys that were made. */
export const startLines = (
  origin: string,
  { file, settings }: Loaded,
  accounts: ReadonlyArray<ProviderAccount>,
  { admin, inference }: FirstKeys,
  { console: consoleLines, record, workers }: StartFacts
): string =>
  [
    `model-gateway ${version}   ${file ?? "no configuration file"}   pid ${process.pid}`,
    `API      ${origin}/v1`,
    ...(workers === 1 ? [] : [`Workers  ${workers} processes`]),
    ...(consoleLines?.(adminOrigin(settings) ?? origin) ?? []),
    ...describeServices(settings),
    ...(record === undefined ? [] : [`Record   ${resolve(record)}   every exchange, without credentials`]),
    ...accounts.map((account) => `Account  ${describeAccount(account)}`),
    ...(admin === undefined
      ? []
      : [`Admin    ${admin}   key for /admin/v1, shown only here; set GATEWAY_ADMIN_KEY to choose one`]),
    ...(inference === undefined
      ? []
      : [`Key      ${inference}   made for this run; keys create makes one to keep, or set GATEWAY_API_KEY`])
  ].join("\n")
