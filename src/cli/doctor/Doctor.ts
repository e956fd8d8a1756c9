// `doctor`: whether this machine, its configuration and every provider are fit to serve, and what to do where not.
// It must not know how anything is checked. It sends nothing that costs money.
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { TokenProvider } from "../../auth/TokenProvider.ts"
import { Catalog } from "../../catalog/Catalog.ts"
import { Limits } from "../../domain/Limits.ts"
import type { ProviderAccount } from "../../domain/ProviderAccount.ts"
import type { Settings } from "../../domain/settings/Settings.ts"
import { visibleLines } from "../../domain/text/printable.ts"
import { Gateway } from "../../Gateway.ts"
import { WebHandler } from "../../http/HttpApi.ts"
import { makeKey } from "../../keys/KeyText.ts"
import { SharedRedis } from "../../store/SharedRedis.ts"
import { Transport } from "../../upstream/Transport.ts"
import { failed, type Failure, usage } from "../Failure.ts"
import { fail, type Finding, findingLines, ok } from "./Finding.ts"
import { readConfiguration } from "../settings/LoadSettings.ts"
import { nodeFinding, portFindings } from "./MachineChecks.ts"
import {
  accountFindings,
  type Ask,
  clockFinding,
  hostMet,
  jsonOf,
  originOfAccount,
  type ProviderServices
} from "./ProviderChecks.ts"
import { storeFindings, withoutAbsentStore } from "./StoreChecks.ts"

export interface DoctorOptions {
  readonly config: string | undefined
  readonly json: boolean
}

/** No row takes longer, and so many are looked at together. */
const rowMillis = 15_000
const together = 4

const inTime =
  (check: string) =>
  (finding: Effect.Effect<Finding>): Effect.Effect<Finding> =>
    Effect.timeoutOrElse(finding, {
      duration: rowMillis,
      orElse: () => Effect.succeed(fail(check, `no answer within ${rowMillis / 1000} s`))
    })

const all = <A>(effects: ReadonlyArray<Effect.Effect<A>>): Effect.Effect<ReadonlyArray<A>> =>
  Effect.all(effects, { concurrency: together })

/** The gateway of these settings, called without a socket and by a key of this run; it repeats nothing, so that a failure is told at once. */
const servicesOf = (settings: Settings) => {
  const key = makeKey()
  const millis = Math.min(settings.limits.connectMillis, rowMillis)
  const limits = { ...settings.limits, retries: 0, unaryFirstByteMillis: millis, totalMillis: millis }
  const { redis: _, ...alone } = settings
  const gateway = WebHandler.layer.pipe(
    Layer.provideMerge(
      Gateway.layerNoDeps({
        ...alone,
        limits,
        accounting: false,
        keys: [{ name: "doctor", key: Redacted.make(key), scopes: ["inference", "admin"] }]
      })
    )
  )
  const layer = Layer.merge(
    gateway,
    TokenProvider.layerWith({ credentialsFile: settings.applicationCredentialsFile })
  ).pipe(Layer.provideMerge(Transport.layer), Layer.provide(Layer.succeed(Limits, limits)))
  const services = Effect.gen(function* () {
    const send = yield* WebHandler
    const ask: Ask = (path, body, dryRun) =>
      Effect.promise(async () => {
        const headers = {
          "content-type": "application/json",
          "x-gateway-api-key": key,
          "x-gateway-dry-run": String(dryRun)
        }
        const answer = await send(
          new Request(`http://localhost${path}`, { method: "POST", headers, body: JSON.stringify(body) })
        )
        return { status: answer.status, json: jsonOf(await answer.text()) }
      })
    const made: ProviderServices = { ask, tokens: yield* TokenProvider, transport: yield* Transport, millis }
    return { made, accounts: (yield* Catalog).list() }
  })
  return { layer, services }
}

const providerFindings = Effect.fnUntraced(function* (
  accounts: ReadonlyArray<ProviderAccount>,
  services: ProviderServices
) {
  const origins = new Set(
    (yield* all(accounts.map((account) => originOfAccount(account, services)))).filter((one) => one !== undefined)
  )
  const late = (origin: string) => ({
    finding: fail("host", `${origin}: no answer within ${rowMillis / 1000} s`),
    skewMillis: undefined
  })
  const hosts = yield* all(
    [...origins].map((origin) =>
      Effect.timeoutOrElse(hostMet(origin, services), {
        duration: rowMillis,
        orElse: () => Effect.succeed(late(origin))
      })
    )
  )
  const rows = yield* all(
    accounts.flatMap((account) => accountFindings(account, services).map(inTime(`@${account.slug}`)))
  )
  const clock =
    origins.size === 0
      ? []
      : [clockFinding(hosts.map(({ skewMillis }) => skewMillis).filter((one) => one !== undefined))]
  return [...clock, ...hosts.map(({ finding }) => finding), ...rows]
})

const redisFinding = ({ limits, redis }: Settings): ReadonlyArray<Effect.Effect<Finding>> =>
  redis === undefined
    ? []
    : [
        Effect.map(SharedRedis, ({ isUp }) =>
          isUp()
            ? ok("redis", "answers")
            : fail(
                "redis",
                "it does not answer; limits, circuits and signatures would be each process's own",
                "check redis.url and that it can be reached"
              )
        ).pipe(
          Effect.provide(SharedRedis.layer(redis)),
          Effect.provideService(Limits, limits),
          Effect.catchTag("PackageMissing", ({ message }) => Effect.succeed(fail("redis", message)))
        )
      ]

const findings = Effect.fnUntraced(function* (file: string | undefined, settings: Settings) {
  const here = yield* all(
    [...portFindings(settings.server), ...storeFindings(settings), ...redisFinding(settings)].map(inTime("machine"))
  )
  // A store that cannot be used has its own row; the declared accounts are looked at without it.
  const { store: _, ...alone } = settings
  const usable = here.some(({ check, status }) => check === "store" && status === "fail")
    ? alone
    : withoutAbsentStore(settings)
  const { layer, services } = servicesOf(usable)
  const looked = Effect.provide(
    Effect.flatMap(services, ({ accounts, made }) => providerFindings(accounts, made)),
    layer
  )
  const providers = yield* Effect.catchTag(looked, ["StoreUnusable", "PackageMissing"], ({ message }) =>
    Effect.succeed([fail("store", message)])
  )
  return [
    nodeFinding(process.versions.node),
    ok("configuration", file ?? "no file; environment and defaults"),
    ...here,
    ...providers
  ]
})

export const doctor = Effect.fn("Cli.doctor")(function* (options: DoctorOptions): Effect.fn.Return<void, Failure> {
  const { outcome } = yield* readConfiguration({ config: options.config, flags: {} })
  if (Result.isFailure(outcome)) {
    const faults = outcome.failure.split("\n").map((fault) => fail("configuration", fault))
    if (options.json) yield* Console.log(visibleLines(JSON.stringify(faults, null, 2)))
    return yield* usage(options.json ? "" : outcome.failure)
  }
  const { file, settings } = outcome.success
  const found = yield* findings(file, settings)
  yield* Console.log(options.json ? visibleLines(JSON.stringify(found, null, 2)) : findingLines(found).join("\n"))
  if (found.some(({ status }) => status === "fail")) return yield* failed("")
})
