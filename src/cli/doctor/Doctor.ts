// `doctor`: checks this machine, the configuration and every provider, and prints a fix for each fault.
// Must not check anything itself, nor send a request that costs money.
import * as Console from "effect/Console"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { TokenProvider } from "../../auth/TokenProvider.ts"
import { Catalog } from "../../catalog/Catalog.ts"
import { modelFactsDay } from "../../domain/models/modelTable.ts"
import { dayMillis } from "../../domain/time.ts"
import { mergedConfigs } from "../../catalog/mergedRecords.ts"
import { MergedPrompts } from "../../catalog/mergedPrompts.ts"
import { ConfigSnapshot } from "../../store/ConfigSnapshot.ts"
import { modelNotices, type NamingParts, placedModels } from "../../domain/models/modelLife.ts"
import { Limits } from "../../domain/Limits.ts"
import type { ProviderAccount } from "../../domain/ProviderAccount.ts"
import type { Settings } from "../../domain/settings/Settings.ts"
import {
  commandFailure,
  failFinding,
  type Failure,
  type Finding,
  findingLines,
  okFinding,
  printAnswer,
  renderJson,
  usageFailure,
  warnFinding
} from "../Output.ts"
import { Gateway } from "../../Gateway.ts"
import { WebHandler } from "../../http/HttpApi.ts"
import { makeKey, storedKeys } from "../../keys/GatewayKeys.ts"
import { SharedRedis } from "../../store/SharedRedis.ts"
import { directNetwork } from "../../domain/settings/network.ts"
import { describeRoute, Network } from "../../upstream/Network.ts"
import { Transport } from "../../upstream/Transport.ts"
import { type Loaded, readConfiguration } from "../settings/LoadSettings.ts"
import { isStoreReady, nodeFinding, portFindings, storeFindings, workerFindings } from "./LocalChecks.ts"
import { onlineFindings } from "./OnlineChecks.ts"
import {
  accountFindings,
  type PostToGateway,
  clockFinding,
  checkHost,
  readJsonObject,
  originOfAccount,
  type ProviderServices
} from "./ProviderChecks.ts"

export interface DoctorOptions {
  readonly config: string | undefined
  readonly json: boolean
  /** Compares the models of the configuration with those that each provider has. */
  readonly online: boolean
}

/** Time limit of a row in milliseconds. */
const rowMillis = 15_000
/** Rows checked in parallel. */
const rowConcurrency = 4

const limitTime =
  (check: string) =>
  (finding: Effect.Effect<Finding>): Effect.Effect<Finding> =>
    Effect.timeoutOrElse(finding, {
      duration: rowMillis,
      orElse: () => Effect.succeed(failFinding(check, `no answer within ${rowMillis / 1000} s`))
    })

const runTogether = <A>(effects: ReadonlyArray<Effect.Effect<A>>): Effect.Effect<ReadonlyArray<A>> =>
  Effect.all(effects, { concurrency: rowConcurrency })

/** The gateway of these settings, called without a socket, with a key of this run and without retries. */
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
  const network = Layer.succeed(Network, settings.network ?? directNetwork)
  const layer = Layer.merge(
    gateway,
    TokenProvider.layerWith({
      credentialsFile: settings.applicationCredentialsFile,
      metadataUrl: settings.metadataUrl
    })
  ).pipe(Layer.provideMerge(Transport.layer), Layer.provideMerge(network), Layer.provide(Layer.succeed(Limits, limits)))
  const services = Effect.gen(function* () {
    const send = yield* WebHandler
    const post: PostToGateway = (path, body, dryRun) =>
      Effect.promise(async () => {
        const headers = {
          "content-type": "application/json",
          "x-gateway-api-key": key,
          "x-gateway-dry-run": String(dryRun)
        }
        const answer = await send(
          new Request(`http://localhost${path}`, { method: "POST", headers, body: JSON.stringify(body) })
        )
        return { status: answer.status, json: readJsonObject(await answer.text()) }
      })
    const { list, models } = (yield* Catalog).now()
    const made: ProviderServices = {
      post,
      models,
      tokens: yield* TokenProvider,
      transport: yield* Transport,
      routeOf: describeRoute(yield* Network),
      millis
    }
    const state = (yield* ConfigSnapshot).current()
    const named: NamingParts = {
      ...settings,
      accounts: list(),
      configs: mergedConfigs(state, limits),
      keys: [...settings.keys, ...storedKeys(state)],
      prompts: new MergedPrompts(state, limits).all
    }
    return { made, named }
  })
  return { layer, services }
}

const providerFindings = Effect.fnUntraced(function* (
  accounts: ReadonlyArray<ProviderAccount>,
  services: ProviderServices
) {
  const origins = new Map(
    (yield* runTogether(
      accounts.map((account) =>
        Effect.map(originOfAccount(account, services), (origin) => ({ origin, tls: account.tls }))
      )
    )).flatMap(({ origin, tls }) => (origin === undefined ? [] : [[origin, tls] as const]))
  )
  const late = (origin: string) => ({
    finding: failFinding("host", `${origin}: no answer within ${rowMillis / 1000} s`),
    skewMillis: undefined
  })
  const hosts = yield* runTogether(
    [...origins].map(([origin, tls]) =>
      Effect.timeoutOrElse(checkHost(origin, tls, services), {
        duration: rowMillis,
        orElse: () => Effect.succeed(late(origin))
      })
    )
  )
  const rows = yield* runTogether(
    accounts.flatMap((account) => accountFindings(account, services).map(limitTime(`@${account.slug}`)))
  )
  const clock =
    origins.size === 0
      ? []
      : [clockFinding(hosts.map(({ skewMillis }) => skewMillis).filter((one) => one !== undefined))]
  return [...clock, ...hosts.map(({ finding }) => finding), ...rows]
})

const redisFinding = ({ limits, redis, redisTls }: Settings): ReadonlyArray<Effect.Effect<Finding>> =>
  redis === undefined
    ? []
    : [
        Effect.map(SharedRedis, ({ isUp }) =>
          isUp()
            ? okFinding("redis", "answers")
            : failFinding(
                "redis",
                "it does not answer; limits, circuits and signatures would be each process's own",
                "check redis.url and that it can be reached"
              )
        ).pipe(
          Effect.provide(SharedRedis.layer(redis, redisTls)),
          Effect.provideService(Limits, limits),
          Effect.catchTag("PackageMissing", ({ message }) => Effect.succeed(failFinding("redis", message)))
        )
      ]

/** Facts older than this may miss a model, or its end (M-104). */
const factDays = 90

/** The age of the facts, and the models of the configuration that the operator should know of. */
export const modelFindings = (settings: NamingParts, today: string): ReadonlyArray<Finding> => [
  ...(Date.parse(today) - Date.parse(modelFactsDay) > factDays * dayMillis
    ? [warnFinding("models", `the facts about models are of ${modelFactsDay}`, "install a newer version")]
    : []),
  ...modelNotices(settings, today).map(({ at, text }) => warnFinding("models", `${at}: ${text}`))
]

const collectFindings = Effect.fnUntraced(function* ({ credentialFaults, file, settings }: Loaded, online: boolean) {
  const here = yield* runTogether(
    [
      ...portFindings(settings.server),
      ...workerFindings(settings.server),
      ...storeFindings(settings),
      ...redisFinding(settings)
    ].map(limitTime("machine"))
  )
  // A store that cannot be used, or that a look would change, has its own row. The declared accounts are checked without it.
  const { store: _, ...alone } = settings
  const usable = isStoreReady(settings, here) ? settings : alone
  const { layer, services } = servicesOf(usable)
  const looked = Effect.provide(
    Effect.flatMap(services, ({ named, made }) =>
      Effect.map(
        Effect.all([
          providerFindings(named.accounts, made),
          online ? onlineFindings(placedModels(named), made) : Effect.succeed([])
        ]),
        (rows) => ({ named, rows: rows.flat() })
      )
    ),
    layer
  )
  // The entries of the store are looked at with the declared ones.
  const { named, rows } = yield* Effect.catchTag(looked, ["StoreUnusable", "PackageMissing"], ({ message }) =>
    Effect.succeed({ named: settings, rows: [failFinding("store", message)] })
  )
  return [
    nodeFinding(process.versions.node),
    okFinding("configuration", file ?? "no file; environment and defaults"),
    ...credentialFaults.map((fault) => failFinding("configuration", fault)),
    ...modelFindings(named, new Date(yield* Clock.currentTimeMillis).toISOString().slice(0, 10)),
    ...here,
    ...rows
  ]
})

export const doctor = Effect.fn("Cli.doctor")(function* (options: DoctorOptions): Effect.fn.Return<void, Failure> {
  const { outcome } = yield* readConfiguration({ config: options.config, flags: {} })
  if (Result.isFailure(outcome)) {
    const faults = outcome.failure.split("\n").map((fault) => failFinding("configuration", fault))
    if (options.json) yield* Console.log(renderJson(faults))
    return yield* usageFailure(options.json ? "" : outcome.failure)
  }
  const findings = yield* collectFindings(outcome.success, options.online)
  yield* printAnswer(options, findings, findingLines(findings))
  if (findings.some(({ status }) => status === "fail")) return yield* commandFailure("")
})
