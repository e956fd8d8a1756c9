// Runs the gateway of a process until it is stopped: its console link, its first keys, and the lines about what it serves.
// Must not know the parts of the gateway, or print a key that was not made here.
import { flushCompileCache } from "node:module"
import { resolve } from "node:path"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { Limits } from "../domain/Limits.ts"
import type { ProviderAccount } from "../domain/ProviderAccount.ts"
import type { ConsoleSetting, Settings } from "../domain/settings/Settings.ts"
import { describeStore } from "../domain/settings/storeLocation.ts"
import { version } from "../domain/version.ts"
import { Gateway, type GatewayServices } from "../Gateway.ts"
import type { GatewayParts } from "../GatewayParts.ts"
import type { CassetteUnusable } from "../upstream/Cassette.ts"
import { describeAccount } from "./describeRecords.ts"
import { commandFailure, type Failure, FaultLog, renderAddress, startFailure, withLogFormat } from "./Output.ts"
import { type Loaded, type LoadOptions, warnOfCredentials } from "./settings/LoadSettings.ts"
import { fitLimits } from "./settings/FittedLimits.ts"
import { randomBytes } from "node:crypto"
import * as Redacted from "effect/Redacted"
import { Administration } from "../admin/Administration.ts"
import { hasKey } from "../admin/KeyRecords.ts"
import { defaultScopes } from "../domain/GatewayKey.ts"
import { errorFacts } from "../api/errorFacts.ts"
import { makeKey } from "../keys/GatewayKeys.ts"
import { ConfigSnapshot, type Declarations } from "../store/ConfigSnapshot.ts"
import { Certificate } from "../http/node/Certificate.ts"
import { ReadSettings } from "../http/admin/AdminService.ts"
import * as Console from "effect/Console"
import * as Result from "effect/Result"
import { Catalog } from "../catalog/Catalog.ts"
import { Transport } from "../upstream/Transport.ts"
import { followConfiguration } from "./Reload.ts"

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
        open(renderAddress(settings, "port" in address ? address.port : settings.server.port), warnings),
        context
      )
      // Node keeps compiled code at a regular exit only, with that of all requests; this is what a start needs.
      yield* Effect.sync(flushCompileCache)
      return yield* Effect.never
    })
  )

/** The start-up lines on the services that this gateway uses: admin port, store, Redis. */
const describeServices = (settings: Settings): ReadonlyArray<string> => {
  const { redis, server, store } = settings
  return [
    ...(server.admin === undefined ? [] : [`Admin    ${adminAddress(settings)}/admin/v1`]),
    `Store    ${store === undefined ? "in memory" : describeStore(store.location)}`,
    ...(redis === undefined ? [] : ["Redis    shared with other gateways"])
  ]
}

const adminAddress = ({ server, ...rest }: Settings): string | undefined =>
  server.admin === undefined
    ? undefined
    : renderAddress({ ...rest, server: { ...server, ...server.admin } }, server.admin.port)

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
    ...(consoleLines?.(adminAddress(settings) ?? origin) ?? []),
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

// The console of a started gateway: its one-time code, and the link with it that the start-up lines print.

/** Settings with a console. */
export interface Linked {
  readonly settings: Settings
  /** The start-up lines about the console; none where it is off. `origin` is that of the port it is on. */
  readonly lines: (origin: string) => ReadonlyArray<string>
}

const withSetting = (settings: Settings, console: ConsoleSetting): Settings => ({
  ...settings,
  server: { ...settings.server, console }
})

/** A console that takes the link of another process on the store, unless it is off. */
export const withConsole = (settings: Settings): Linked => {
  const { console: written } = settings.server
  return {
    settings: written === false ? settings : withSetting(settings, { hosts: written?.hosts ?? [] }),
    lines: () => []
  }
}

/** A console that takes a fresh code once, unless it is off. */
export const withLink = (settings: Settings): Linked => {
  const { console: written } = settings.server
  if (written === false) return withConsole(settings)
  const code = randomBytes(32).toString("base64url")
  return {
    settings: withSetting(settings, { hosts: written?.hosts ?? [], code: Redacted.make(code) }),
    lines: (origin) => [`Console  ${origin}/console/#code=${code}   valid once, for 10 minutes`]
  }
}

/** A console that signs pages in by itself, for a demo that only this machine can reach. */
export const withOpenConsole = (settings: Settings): Linked => ({
  settings: withSetting(settings, { hosts: [], isOpen: true }),
  lines: (origin) => [`Console  ${origin}/console/`]
})

// The first gateway keys of a service without any: an inference key for this run and an admin key in the store.

export interface FirstKeys {
  /** Text of the key that was made; undefined when the service already had one. */
  readonly inference: string | undefined
  readonly admin: string | undefined
}

/** The declarations, with the key made for this run unless another declared key may call models. */
export const declareWithKey =
  (made: string | undefined) =>
  (read: Settings): Declarations => {
    const isMissing =
      made !== undefined && !read.keys.some(({ scopes = defaultScopes }) => scopes.includes("inference"))
    return isMissing ? { ...read, keys: [...read.keys, { name: "generated", key: Redacted.make(made) }] } : read
  }

/** Takes over what a configuration has that needs no restart: the declarations, and the certificate of the servers. */
export const reloadOf = Effect.fnUntraced(function* (inference: string | undefined) {
  const { declare } = yield* ConfigSnapshot
  const certificate = yield* Certificate
  return (read: Settings): Effect.Effect<void> => {
    if (read.serverTls !== undefined) certificate?.replace(read.serverTls)
    return declare(declareWithKey(inference)(read))
  }
})

/** Makes the missing inference key and admin key. The gateway accepts both when this completes. */
export const makeMissingKeys = Effect.fnUntraced(
  function* (settings: Settings) {
    const { keys } = yield* Administration
    const holdings = yield* ConfigSnapshot
    yield* holdings.refresh
    const made = hasKey(holdings.current(), "inference") ? undefined : makeKey()
    yield* holdings.declare(declareWithKey(made)(settings))
    const admin = yield* keys.createFirst("admin", { id: "cli", requestId: undefined })
    const first: FirstKeys = { inference: made, admin: admin?.key }
    return first
  },
  Effect.mapError((error) => commandFailure(`the first keys cannot be made: ${errorFacts(error).message}`))
)

// The settings that the admin API shows: those of the start, with what reloads have taken over since.

/** Sections whose new values a reload takes over; all others wait for a restart. */
const isReloaded = (name: string): boolean => /^(aliases|defaults|messages|models|models_file)(\.|$)/.test(name)

export interface ShownSettings {
  readonly layer: Layer.Layer<never>
  readonly reload: (read: ReadSettings) => void
}

export const shownSettings = (started: ReadSettings): ShownSettings => {
  let { origins } = started
  return {
    layer: Layer.succeed(ReadSettings, () => ({ file: started.file, origins })),
    reload: ({ origins: changed }) => {
      origins = [...origins.filter(({ name }) => !isReloaded(name)), ...changed.filter(({ name }) => isReloaded(name))]
    }
  }
}

// `serve` in one process: the gateway, its first keys, and reloads of its configuration.

/** `record` is the folder in which every exchange with a provider is recorded. */
export const serveAlone = (
  options: LoadOptions,
  loaded: Loaded,
  record: string | undefined
): Effect.Effect<void, Failure> => {
  const linked = withLink(loaded.settings)
  const shown = shownSettings(loaded)
  return runGateway(
    withLogFormat(linked.settings),
    Effect.fnUntraced(function* (origin, warnings) {
      const { settings } = loaded
      const keys = yield* makeMissingKeys(settings)
      const accounts = (yield* Catalog).list()
      const reload = yield* reloadOf(keys.inference)
      yield* followConfiguration({
        load: options,
        started: loaded,
        apply: (reading, changed) => {
          if (Result.isSuccess(reading.outcome)) shown.reload(reading.outcome.success)
          return reload(changed)
        }
      })
      yield* Console.error(startLines(origin, loaded, accounts, keys, { workers: 1, record, console: linked.lines }))
      yield* warnOfCredentials(loaded)
      for (const warning of warnings) yield* Effect.logWarning(warning)
    }),
    {},
    Layer.merge(
      shown.layer,
      record === undefined
        ? Layer.empty
        : Layer.provide(Transport.layerRecord(resolve(record)), Layer.succeed(Limits, loaded.settings.limits))
    )
  )
}
