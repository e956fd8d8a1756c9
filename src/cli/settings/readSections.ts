// Reads the server, the store and its keys, and the export to a collector, from their sections and the environment.
// Must not know how they are opened or where a value was written. A secret never enters a fault.
import { type Fault, faultAt, quoteValue } from "../../domain/faults.ts"
import {
  anyOrigin,
  defaultServer,
  type ExportSetting,
  type Settings,
  type StoreSetting
} from "../../domain/settings/Settings.ts"
import {
  describeStore,
  parseStoreUrl,
  type StoreLocation,
  storeMemory,
  withAbsoluteFiles,
  withPostgresVariables
} from "../../domain/settings/storeLocation.ts"
import type { SettingsFile } from "../../domain/settings/settingsFile.ts"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type { Environment } from "./environment.ts"

type ServerSection = NonNullable<SettingsFile["server"]>

const hostGrammar = /^[A-Za-z0-9_.:-]{1,253}$/

const hostFaults = (host: string): ReadonlyArray<Fault> =>
  hostGrammar.test(host) ? [] : [faultAt(["server", "host"], `${quoteValue(host)} is not an address to listen on`)]

/** True for `*` and for texts that a browser sends as `Origin`: scheme, host and port only. */
const isOrigin = (text: string): boolean =>
  text === anyOrigin || (/^https?:/.test(text) && URL.parse(text)?.origin === text)

const corsFaults = (origins: ReadonlyArray<string>): ReadonlyArray<Fault> =>
  origins.flatMap((one, index) =>
    isOrigin(one)
      ? []
      : [
          faultAt(
            ["server", "cors", index],
            `${quoteValue(one)} is not an origin such as https://app.example.com, or *`
          )
        ]
  )

const adminFaults = ({ admin_host: host, admin_port: port }: ServerSection, mainPort: number): ReadonlyArray<Fault> => [
  ...(host !== undefined && !hostGrammar.test(host)
    ? [faultAt(["server", "admin_host"], `${quoteValue(host)} is not an address to listen on`)]
    : []),
  ...(host !== undefined && port === undefined
    ? [faultAt(["server", "admin_host"], "has no meaning without an admin_port")]
    : []),
  ...(port !== undefined && port !== 0 && port === mainPort
    ? [faultAt(["server", "admin_port"], "is the port of the API itself")]
    : [])
]

/** Workers keep their records in the store, so that it must be one that all of them open. */
export const workersFaults = ({ workers = 1 }: ServerSection, store: StoreSetting | undefined): ReadonlyArray<Fault> =>
  workers !== 1 && store !== undefined && describeStore(store.location) === describeStore(storeMemory)
    ? [
        faultAt(
          ["server", "workers"],
          "needs a store that all processes open; name a file or a PostgreSQL in store.url, or leave workers out"
        )
      ]
    : []

const basePathGrammar = /^(\/(?!\.{1,2}(\/|$))[A-Za-z0-9._~-]{1,64}){1,8}\/?$/

const basePathFaults = ({ base_path: path = "/" }: ServerSection): ReadonlyArray<Fault> =>
  path === "/" || basePathGrammar.test(path)
    ? []
    : [
        faultAt(
          ["server", "base_path"],
          `${quoteValue(path)} is not a path such as /llm, of letters, digits, and . _ ~ - in each segment`
        )
      ]

/** True for an address, and a range of addresses. */
const isProxy = (text: string): boolean => {
  const [address = "", prefix = "0", ...more] = text.split("/")
  const bits = address.includes(":") ? 128 : 32
  const isRange = more.length === 0 && /^\d{1,3}$/.test(prefix) && Number(prefix) <= bits
  return isRange && isAddress(address)
}

/** True for an address in the form of its family, without a zone. */
const isAddress = (text: string): boolean =>
  text.includes(":")
    ? /^[\dA-Fa-f:.]+$/.test(text) && URL.canParse(`http://[${text}]`)
    : /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/.test(text)

const proxyFaults = (proxies: ReadonlyArray<string>): ReadonlyArray<Fault> =>
  proxies.flatMap((one, index) =>
    isProxy(one)
      ? []
      : [
          faultAt(
            ["server", "trusted_proxies", index],
            `${quoteValue(one)} is not an address, or a range such as 10.0.0.0/8`
          )
        ]
  )

const consoleFaults = (hosts: ReadonlyArray<string>): ReadonlyArray<Fault> =>
  hosts.flatMap((host, index) =>
    /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(host)
      ? []
      : [
          faultAt(
            ["server", "console_hosts", index],
            `${quoteValue(host)} is not a host name in lower case without a port, such as gateway.example.com`
          )
        ]
  )

export interface ReadServer {
  readonly setting: Settings["server"]
  /** Faults of the main port's host. */
  readonly hostFaults: ReadonlyArray<Fault>
  /** Faults of the admin port and of the origins. */
  readonly otherFaults: ReadonlyArray<Fault>
}

/** The addresses to listen on and the rules of both ports, with their faults. */
export const readServer = (section: ServerSection): ReadServer => {
  const {
    admin_host: adminHost = defaultServer.host,
    admin_port: adminPort,
    base_path: basePath = "/",
    console: hasConsole = true,
    console_hosts: consoleHosts = [],
    cors = [],
    host = defaultServer.host,
    metrics_auth: metricsAuth,
    port = defaultServer.port,
    trusted_proxies: trustedProxies = [],
    workers
  } = section
  return {
    setting: {
      host,
      port,
      ...(adminPort === undefined ? {} : { admin: { host: adminHost, port: adminPort } }),
      ...(basePath === "/" ? {} : { basePath: basePath.replace(/\/$/, "") }),
      ...(cors.length === 0 ? {} : { cors }),
      ...(!hasConsole ? { console: false } : consoleHosts.length === 0 ? {} : { console: { hosts: consoleHosts } }),
      ...(trustedProxies.length === 0 ? {} : { trustedProxies }),
      ...(metricsAuth === undefined ? {} : { metricsAuth }),
      ...(workers === undefined ? {} : { workers })
    },
    hostFaults: hostFaults(host),
    otherFaults: [
      ...adminFaults(section, port),
      ...basePathFaults(section),
      ...corsFaults(cors),
      ...proxyFaults(trustedProxies),
      ...consoleFaults(consoleHosts)
    ]
  }
}

// Reads where the store is and which keys encrypt its secrets, from the file's URL and the environment.

/** Directories of this machine. */
export interface Places {
  /** The directory of the gateway's own files. */
  readonly data: string
  /** Makes a path absolute: relative to the file when written there, otherwise to the working directory. */
  readonly resolve: (path: string, writtenIn: "file" | "environment") => string
}

const secretKeyVariable = "GATEWAY_SECRET_KEY"
/** 32 bytes in base64. */
const base64Key = /^[A-Za-z0-9+/]{43}=?$/

const readSecretKeys = (env: Environment): Result.Result<StoreSetting["secretKeys"], Fault> => {
  const text = env[secretKeyVariable]
  if (text === undefined || text === "") return Result.succeed(undefined)
  const keys = text.split(",").map((one) => one.trim())
  return keys.every((one) => base64Key.test(one))
    ? Result.succeed(keys.map((one) => Redacted.make(one)))
    : Result.fail({
        path: secretKeyVariable,
        message:
          "must be 32 bytes in base64, as `openssl rand -base64 32` makes them; several are separated by commas, the first encrypts",
        at: undefined
      })
}

const resolveLocation = (location: StoreLocation, writtenIn: "file" | "environment", places: Places): StoreLocation =>
  location.kind === "sqlite" && location.path !== ":memory:"
    ? { kind: "sqlite", path: places.resolve(location.path, writtenIn) }
    : location

/** An address of PostgreSQL with what the variables of libpq add, and with absolute paths. */
const wholeUrl = (url: string, writtenIn: "file" | "environment", env: Environment, places: Places): string =>
  url.startsWith("postgres")
    ? withAbsoluteFiles(withPostgresVariables(url, env), (path) => places.resolve(path, writtenIn))
    : url

/** The setting or its faults. Without a URL: a SQLite database in the data directory. */
export const readStore = (
  url: string | undefined,
  writtenIn: "file" | "environment",
  env: Environment,
  places: Places
): { readonly setting: StoreSetting | undefined; readonly faults: ReadonlyArray<Fault> } => {
  const keys = readSecretKeys(env)
  const location =
    url === undefined
      ? Result.succeed<StoreLocation>({ kind: "sqlite", path: `${places.data}/gateway.db` })
      : Result.map(parseStoreUrl(wholeUrl(url, writtenIn, env, places)), (one) =>
          resolveLocation(one, writtenIn, places)
        )
  const faults = [
    ...(Result.isFailure(location) ? [faultAt(["store", "url"], location.failure)] : []),
    ...(Result.isFailure(keys) ? [keys.failure] : [])
  ]
  if (Result.isFailure(location) || Result.isFailure(keys)) return { setting: undefined, faults }
  const setting = { location: location.success, secretKeys: keys.success, keyFile: `${places.data}/secret.key` }
  return { setting, faults }
}

// Reads from the environment whether to export to an OpenTelemetry collector. The SDK reads most variables itself.

/** Empty counts as unset, as the OpenTelemetry specification requires. */
const valueOf = (env: Environment, name: string): string | undefined => {
  const value = Object.hasOwn(env, name) ? env[name]?.trim() : undefined
  return value === "" ? undefined : value
}

const isTrue = (env: Environment, name: string): boolean => valueOf(env, name)?.toLowerCase() === "true"

/** The protocol in use. */
const protocol = "http/json"
/** The usual value, for which the same address takes JSON as well. */
const protobuf = "http/protobuf"

const protocolNames = [
  "OTEL_EXPORTER_OTLP_PROTOCOL",
  "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
  "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL"
]

const protocolFaults = (env: Environment): ReadonlyArray<Fault> =>
  protocolNames.flatMap((path) => {
    const value = valueOf(env, path)
    return value === undefined || value === protocol || value === protobuf
      ? []
      : [
          {
            path,
            message: `only ${protocol} is spoken; leave it unset, and point the endpoint at the collector's port for HTTP, usually 4318`,
            at: undefined
          }
        ]
  })

const intervalName = "OTEL_METRIC_EXPORT_INTERVAL"

/** As the SDK chooses it. */
const endpointAt = (env: Environment, signal: "traces" | "metrics") => {
  const value =
    valueOf(env, `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_ENDPOINT`) ?? valueOf(env, "OTEL_EXPORTER_OTLP_ENDPOINT")
  return value === undefined ? {} : { [signal]: value }
}

export interface ReadExport {
  /** Undefined when export is off. */
  readonly setting: ExportSetting | undefined
  readonly faults: ReadonlyArray<Fault>
}

export const readExport = (env: Environment): ReadExport => {
  const everything = valueOf(env, "OTEL_EXPORTER_OTLP_ENDPOINT") !== undefined
  const traces = everything || valueOf(env, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") !== undefined
  const metrics = everything || valueOf(env, "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT") !== undefined
  if (isTrue(env, "OTEL_SDK_DISABLED") || (!traces && !metrics)) return { setting: undefined, faults: [] }
  const interval = valueOf(env, intervalName)
  const isInterval = interval === undefined || /^[1-9]\d{0,8}$/.test(interval)
  return {
    setting: {
      traces: traces && valueOf(env, "OTEL_TRACES_EXPORTER") !== "none",
      metrics:
        !metrics || valueOf(env, "OTEL_METRICS_EXPORTER") === "none"
          ? undefined
          : {
              intervalMillis: interval === undefined ? undefined : Number(interval),
              isDelta: valueOf(env, "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE")?.toLowerCase() === "delta"
            },
      endpoints: { ...endpointAt(env, "traces"), ...endpointAt(env, "metrics") },
      content: isTrue(env, "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"),
      isNamed:
        valueOf(env, "OTEL_SERVICE_NAME") !== undefined ||
        /(^|,)\s*service\.name\s*=/.test(valueOf(env, "OTEL_RESOURCE_ATTRIBUTES") ?? ""),
      ...(protocolNames.some((name) => valueOf(env, name) === protobuf) ? { asksProtobuf: true } : {})
    },
    faults: [
      ...protocolFaults(env),
      ...(isInterval ? [] : [{ path: intervalName, message: "expected a whole number of milliseconds", at: undefined }])
    ]
  }
}
