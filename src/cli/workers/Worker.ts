// One process of `serve --workers`: the gateway, on the state and the configuration of the first process.
// Must not read files of the configuration, or start other processes.
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { Catalog } from "../../catalog/Catalog.ts"
import { Limits } from "../../domain/Limits.ts"
import type { Settings } from "../../domain/settings/Settings.ts"
import { isJsonObject } from "../../domain/text/json.ts"
import type { GatewayParts } from "../../GatewayParts.ts"
import { workersState } from "../../http/edge/Readiness.ts"
import { SharedSlots } from "../../keys/FairShares.ts"
import { layerPrimaryState } from "../../state/WorkersState.ts"
import { ChangeNotice, ConfigSnapshot } from "../../store/ConfigSnapshot.ts"
import { registryOf, seriesValues, SharedRegistry } from "../../telemetry/Series.ts"
import { lineSink, LogSink } from "../../telemetry/LogWriter.ts"
import { type Link, makeLink, type Port } from "../../state/Link.ts"
import {
  declareWithKey,
  type FirstKeys,
  makeMissingKeys,
  reloadOf,
  runGateway,
  shownSettings,
  startLines,
  withConsole,
  withLink
} from "../RunGateway.ts"
import { type Failure, usageFailure, withLogFormat } from "../Output.ts"
import { type FilesCopy, type Loaded, loadForCommand } from "../settings/LoadSettings.ts"
import type { Begin, Presence, PrimaryCalls, WorkerCalls } from "./Crew.ts"

type ToPrimary = Link<PrimaryCalls>

const port: Port = {
  send: (message, failed) => {
    process.send?.(message, undefined, {}, (error) => {
      if (error !== null) failed(error)
    })
  },
  listen: (listener) => {
    process.on("message", listener)
    return () => process.off("message", listener)
  }
}

/** The first message. Later ones wait until the link listens. */
const begun: Effect.Effect<Begin> = Effect.callback((resume) => {
  process.once("message", (message) => {
    // The process that started this one is of the same program.
    if (isJsonObject(message)) resume(Effect.succeed(message as object as Begin))
  })
})

/**
 * Signals of a terminal or a supervisor reach workers too; the first process decides what they mean. Without that
 * process a worker ends: as on SIGTERM, or immediately when it is ending already.
 */
const followPrimary: Effect.Effect<void> = Effect.sync(() => {
  let isEnding = false
  const end = () => {
    isEnding = true
  }
  process.on("SIGTERM", end)
  process.on("SIGINT", end)
  process.on("SIGHUP", () => undefined)
  process.on("disconnect", () => (isEnding ? process.exit(1) : process.kill(process.pid, "SIGTERM")))
})

/** Slots that the first process counts. While it does not answer, the limit of this process holds. */
const slotsOf = ({ ask, isAway, tell }: ToPrimary): SharedSlots => {
  let last = 0
  return {
    enter: (key, most) =>
      Effect.suspend(() => {
        // Nothing is sent, so that messages to a process that has stopped do not pile up.
        if (isAway()) return Effect.succeed(() => undefined)
        const slot = ++last
        const free = () => tell("leave", slot)
        return Effect.match(ask("enter", { slot, key, most }), {
          onSuccess: (isEntered) => (isEntered ? free : undefined),
          // The slot may have been taken after all, so it is freed at the end.
          onFailure: () => free
        })
      })
  }
}

/** How often a worker looks whether the first process answers. */
const lookMillis = 500

/** Logs when an outage of the first process begins and ends. */
const reportOutages = ({ isAway }: ToPrimary): Effect.Effect<never> => {
  let isReported = false
  const look = Effect.suspend(() => {
    if (isAway() === isReported) return Effect.void
    isReported = isAway()
    return isReported
      ? Effect.logWarning(
          "The first process does not answer: until it does, limits, circuits, signatures and cached answers are this worker's own."
        )
      : Effect.logInfo("The first process answers again: limits, circuits, signatures and cached answers are shared.")
  })
  return Effect.forever(Effect.andThen(Effect.sleep(lookMillis), look))
}

/** What the gateway of a worker has in place of its own: registry, slots, log. */
const aroundOf = (link: ToPrimary): Layer.Layer<never> =>
  Layer.mergeAll(
    Layer.succeed(SharedSlots, slotsOf(link)),
    Layer.succeed(ChangeNotice, Effect.ignore(link.ask("changed", null))),
    Layer.succeed(LogSink, lineSink(process.stdout)),
    Layer.effect(
      SharedRegistry,
      Effect.map(Effect.context<never>(), (registry) =>
        Effect.match(link.ask("allSeries", null), { onSuccess: registryOf, onFailure: () => registry })
      )
    )
  )

/** The settings with the addresses that the first process chose. */
const placed = (settings: Settings, { adminPort, port: mainPort }: Begin): Settings => {
  const { admin, ...server } = settings.server
  return {
    ...settings,
    server: {
      ...server,
      port: mainPort,
      reusePort: true,
      ...(admin === undefined ? {} : { admin: { ...admin, port: adminPort ?? admin.port } })
    }
  }
}

/** The keys of the run: those of another worker, or made here. */
const keysOf = Effect.fnUntraced(function* ({ keys }: Begin, settings: Settings) {
  if (keys === undefined) return yield* makeMissingKeys(settings)
  const first: FirstKeys = { inference: keys.inference ?? undefined, admin: undefined }
  yield* (yield* ConfigSnapshot).declare(declareWithKey(first.inference)(settings))
  return first
})

const runWorker = Effect.fnUntraced(function* (begin: Begin): Effect.fn.Return<void, Failure, Scope.Scope> {
  const read = (copy: FilesCopy): Effect.Effect<Loaded, Failure> => loadForCommand({ ...begin.load, copy })
  const loaded = yield* read(begin.copy)
  const placedSettings = withLogFormat(placed(loaded.settings, begin))
  // The store has the sessions and the code, so a worker that starts later makes no further link.
  const { lines: consoleLines, settings } =
    begin.keys === undefined ? withLink(placedSettings) : withConsole(placedSettings)
  const shown = shownSettings(loaded)
  let presence: Presence = { ready: 0, silent: 0, count: begin.count }
  const snapshot = yield* Deferred.make<{
    readonly refresh: ConfigSnapshot["Service"]["refresh"]
    readonly reload: (copy: FilesCopy) => Effect.Effect<void>
  }>()
  const context = yield* Effect.context<never>()
  const link: ToPrimary = yield* Effect.provideService(
    makeLink<WorkerCalls, PrimaryCalls>(port, {
      ownSeries: () => Effect.sync(() => seriesValues(context)),
      refresh: () => Effect.flatMap(Deferred.await(snapshot), ({ refresh }) => Effect.ignore(refresh)),
      presence: (now) => Effect.sync(() => void (presence = now)),
      reload: (copy) => Effect.flatMap(Deferred.await(snapshot), ({ reload }) => reload(copy))
    }),
    Limits,
    settings.limits
  )
  const parts: GatewayParts = {
    shared: layerPrimaryState(link),
    readiness: { workers: () => workersState(presence, link.isAway()) }
  }
  const open = Effect.fnUntraced(function* (origin: string, warnings: ReadonlyArray<string>) {
    const keys = yield* keysOf(begin, loaded.settings)
    const { refresh } = yield* ConfigSnapshot
    const takeOver = yield* reloadOf(keys.inference)
    const accounts = (yield* Catalog).list()
    const reload = (copy: FilesCopy) =>
      Effect.matchEffect(read(copy), {
        onSuccess: (changed) => {
          shown.reload(changed)
          return takeOver(changed.settings)
        },
        onFailure: ({ message }) => Effect.logError(`worker ${begin.worker} cannot reload: ${message}`)
      })
    yield* Deferred.succeed(snapshot, { refresh, reload })
    yield* Effect.forkScoped(reportOutages(link))
    const lines = startLines(origin, loaded, accounts, keys, { workers: begin.count, console: consoleLines })
    link.tell("started", { lines, inference: keys.inference ?? null })
    // The limits of all workers are lowered alike.
    if (begin.worker === 1) for (const warning of warnings) yield* Effect.logWarning(warning)
  })
  yield* runGateway(settings, open, parts, Layer.merge(aroundOf(link), shown.layer))
})

export const work: Effect.Effect<void, Failure> = Effect.suspend(() => {
  if (process.send === undefined)
    return Effect.fail(usageFailure("worker is a process that serve --workers starts; run serve"))
  return Effect.andThen(
    followPrimary,
    Effect.flatMap(begun, (begin) => {
      process.title = `model-gateway worker ${begin.worker}`
      return Effect.scoped(runWorker(begin))
    })
  )
})
