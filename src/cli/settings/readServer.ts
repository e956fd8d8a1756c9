// Reads the `server` section: host, port, admin port, workers, CORS origins, authentication of /metrics.
// Must not know where a value was written.
import { type Fault, faultAt, quoteValue } from "../../domain/faults.ts"
import { anyOrigin, defaultServer, type Settings, type StoreSetting } from "../../domain/settings/Settings.ts"
import { describeStore, storeMemory } from "../../domain/settings/storeLocation.ts"
import type { SettingsFile } from "../../domain/settings/settingsFile.ts"

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
    console: hasConsole = true,
    console_hosts: consoleHosts = [],
    cors = [],
    host = defaultServer.host,
    metrics_auth: metricsAuth,
    port = defaultServer.port,
    workers
  } = section
  return {
    setting: {
      host,
      port,
      ...(adminPort === undefined ? {} : { admin: { host: adminHost, port: adminPort } }),
      ...(cors.length === 0 ? {} : { cors }),
      ...(!hasConsole ? { console: false } : consoleHosts.length === 0 ? {} : { console: { hosts: consoleHosts } }),
      ...(metricsAuth === undefined ? {} : { metricsAuth }),
      ...(workers === undefined ? {} : { workers })
    },
    hostFaults: hostFaults(host),
    otherFaults: [...adminFaults(section, port), ...corsFaults(cors), ...consoleFaults(consoleHosts)]
  }
}
