// `demo`: runs the gateway in front of the simulated Google services, in one process.
// Must not know what the simulator answers.
import { isIP } from "node:net"
import { join, resolve } from "node:path"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { Demo, type DemoOptions } from "../demo/Demo.ts"
import { banner, demoKey, snippets } from "../demo/seed.ts"
import type { LogSetting, Settings, StoreSetting } from "../domain/settings/Settings.ts"
import { describeStore } from "../domain/settings/storeLocation.ts"
import { version } from "../domain/version.ts"
import { makeKey } from "../keys/GatewayKeys.ts"
import { readFolder } from "../upstream/Cassette.ts"
import { Transport } from "../upstream/Transport.ts"
import { describeAccount } from "./describeRecords.ts"
import { makeMissingKeys, runGateway, shownSettings, withLink, withOpenConsole } from "./RunGateway.ts"
import { commandFailure, type Failure, renderOrigin } from "./Output.ts"
import { loadDemoSettings } from "./settings/LoadSettings.ts"

export interface DemoFlags {
  readonly host?: string
  readonly port?: number
  readonly snippets: boolean
  /** Folder of a store. Without it, changes end with the demo. */
  readonly data?: string | undefined
  /** Folder of recordings that are played back instead of the simulation. */
  readonly replay?: string | undefined
}

/** True for an address that only this machine can reach. */
const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."))

export const demo = Effect.fn("Cli.demo")(function* (flags: DemoFlags): Effect.fn.Return<void, Failure> {
  const { data, replay: recordings, snippets: printsSnippets, ...listen } = flags
  const { key: chosenKey, origins, settings: given } = yield* loadDemoSettings(listen)
  const { host, port } = given.server
  const log = { ...given.log, format: given.log?.format ?? (process.stdout.isTTY ? "pretty" : "off") } as const
  const key = isLoopback(host) ? demoKey : (chosenKey ?? makeKey())
  if (printsSnippets) {
    const facts = { origin: renderOrigin(host, port), key, version }
    yield* Console.log(
      snippets(facts)
        .map(({ code, title }) => `--- ${title}\n${code}\n`)
        .join("\n")
    )
    return
  }
  if (recordings !== undefined) return yield* replay(resolve(recordings), { host, port, key }, log)
  yield* Effect.scoped(
    Effect.gen(function* () {
      const simulated = yield* Effect.mapError(Demo.settings({ host, port, key }), (error) =>
        commandFailure(error.message)
      )
      const stored = data === undefined ? simulated : { ...simulated, store: storeInFolder(data) }
      const { lines, settings } = isLoopback(host) ? withOpenConsole(stored) : withLink(stored)
      return yield* runGateway(
        { ...settings, log },
        Effect.fnUntraced(function* (origin) {
          const dataLines = settings.store === undefined ? [] : yield* describeDataFolder(settings)
          yield* Console.error([banner({ origin, key, version }), ...lines(origin), ...dataLines].join("\n"))
        }),
        {},
        shownSettings({ file: undefined, origins }).layer
      )
    })
  )
})

/** Runs the gateway over the recordings of a folder. */
const replay = Effect.fnUntraced(function* (folder: string, place: DemoOptions, log: LogSetting) {
  const exchanges = yield* Effect.mapError(readFolder(folder), (error) => commandFailure(error.message))
  const settings = Demo.replayed(
    place,
    exchanges.map(({ request }) => request.url)
  )
  return yield* runGateway(
    { ...settings, log },
    (origin) =>
      Console.error(
        [
          `model-gateway ${version}   demo: recorded answers are played back, nothing leaves this machine`,
          `API      ${origin}/v1        key  ${place.key}`,
          `Replay   ${folder}   ${exchanges.length} recorded`,
          ...settings.accounts.map((account) => `Account  ${describeAccount(account)}`)
        ].join("\n")
      ),
    {},
    Transport.layerReplay(folder)
  )
})

/** A store in this folder; it keeps changes of the admin API and of the record verbs. */
const storeInFolder = (folder: string): StoreSetting => {
  const whole = resolve(folder)
  return {
    location: { kind: "sqlite", path: join(whole, "gateway.db") },
    secretKeys: undefined,
    keyFile: join(whole, "secret.key")
  }
}

const describeDataFolder = Effect.fnUntraced(function* (settings: Settings) {
  const { admin } = yield* makeMissingKeys(settings)
  return [
    `Data     ${settings.store === undefined ? "in memory" : describeStore(settings.store.location)}`,
    ...(admin === undefined ? [] : [`Admin    ${admin}   key for /admin/v1, shown only here`])
  ]
})
