// The demo: simulated Google services on a loopback port, or recordings, and the settings of a gateway that calls them.
// It must not know the command line. The gateway started from its settings is an ordinary one.
import * as Redacted from "effect/Redacted"
import { type ProviderAccount, providerAccount, type ServiceAccountKey } from "../domain/ProviderAccount.ts"
import { generateKeyPair } from "node:crypto"
import { promisify } from "node:util"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { defaultLimits } from "../domain/Limits.ts"
import type { Settings } from "../domain/settings/Settings.ts"
import { makeSimulator } from "./google/Simulator.ts"
import { demoProject, demoPrompts, demoRegion, endpointFacts } from "./seed.ts"

/** The address of an operator's own host; Google's own follow from the account. */
const baseOf = ({ hostname, origin }: URL): string | undefined =>
  hostname.endsWith(".googleapis.com") ? undefined : origin

const vertexPath = /\/projects\/([^/]+)\/locations\/([^/]+)\//
const googlePath = /^\/v1(?:beta|alpha)?\/models\//

/** One account for each provider that was recorded. Vertex AI has the project and region of its first recording. */
const replayedAccounts = (addresses: ReadonlyArray<string>): ReadonlyArray<ProviderAccount> => {
  const urls = addresses.map((address) => new URL(address))
  const google = urls.find(({ pathname }) => googlePath.test(pathname))
  const vertex = urls.find(({ pathname }) => vertexPath.test(pathname))
  const [, projectId, region] = vertexPath.exec(vertex?.pathname ?? "") ?? []
  return [
    ...(google === undefined
      ? []
      : [
          providerAccount({
            slug: "google",
            kind: "google",
            credentials: { _tag: "ApiKey", key: Redacted.make("replayed") },
            base_url: baseOf(google)
          })
        ]),
    ...(vertex === undefined
      ? []
      : [
          providerAccount({
            slug: "vertex-ai",
            kind: "vertex-ai",
            credentials: { _tag: "AccessToken", token: Redacted.make("replayed") },
            project_id: projectId,
            region,
            base_url: baseOf(vertex)
          })
        ])
  ]
}

// The demo: the simulated Google services on a loopback port, and the settings of a gateway that calls them.

/** The simulator could not listen on loopback. */
export class DemoFailed extends Schema.TaggedError<DemoFailed>()("DemoFailed", { message: Schema.String }) {}

export interface DemoOptions {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  /** The gateway key to accept. */
  readonly key: string
  /** Pace of streams in tokens per second. Reading speed by default; 0 sends without delay. */
  readonly tokensPerSecond?: number
}

const readingSpeed = 30
const apiKey = "demo-gemini-key"
const identity = {
  clientEmail: `demo@${demoProject}.iam.gserviceaccount.com`,
  privateKeyId: "demo",
  projectId: demoProject
}

const makeKeyPair = Effect.promise(() =>
  promisify(generateKeyPair)("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" }
  })
)

/** Starts a simulator that listens until the scope closes. Returns its origin. */
const simulator = (publicKeyPem: string, tokensPerSecond: number): Effect.Effect<string, DemoFailed, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: () =>
        makeSimulator({
          geminiApiKeys: [apiKey],
          serviceAccounts: [{ ...identity, publicKeyPem }],
          projects: [demoProject],
          anyLocation: true,
          tokensPerSecond
        }).listen(0, "127.0.0.1"),
      catch: () => new DemoFailed({ message: "The simulated Google services cannot listen on 127.0.0.1." })
    }),
    (listening) => Effect.promise(() => listening.close())
  ).pipe(Effect.map((listening) => listening.url))

/** The two built-in slugs, with credentials that only the simulator accepts. */
const accounts = (origin: string, key: ServiceAccountKey): ReadonlyArray<ProviderAccount> => [
  providerAccount({
    slug: "google",
    kind: "google",
    credentials: { _tag: "ApiKey", key: Redacted.make(apiKey) },
    base_url: origin
  }),
  providerAccount({
    slug: "vertex-ai",
    kind: "vertex-ai",
    credentials: { _tag: "ServiceAccount", key },
    project_id: demoProject,
    region: demoRegion,
    endpoints: endpointFacts,
    base_url: origin,
    token_url: `${origin}/token`
  })
]

/** Starts the simulator for the lifetime of the scope. Returns the settings of the gateway in front of it. */
const settings = (options: DemoOptions): Effect.Effect<Settings, DemoFailed, Scope.Scope> =>
  Effect.gen(function* () {
    const pair = yield* makeKeyPair
    const origin = yield* simulator(pair.publicKey, options.tokensPerSecond ?? readingSpeed)
    const key = { ...identity, privateKey: Redacted.make(pair.privateKey) }
    return settingsOf(options, accounts(origin, key))
  })

const settingsOf = ({ host, key, port }: DemoOptions, accounts: ReadonlyArray<ProviderAccount>): Settings => ({
  server: { host, port },
  accounts,
  keys: [{ name: "demo", key: Redacted.make(key) }],
  prompts: demoPrompts,
  // A demo shows every client on every model.
  messages: { otherModels: "translate" },
  // No load balancer waits for a demo, so it stops without the usual delays.
  limits: { ...defaultLimits, readyDelayMillis: 0, drainMillis: 500 }
})

/** Settings of a gateway that plays recordings back; `addresses` are the recorded ones. */
const replayed = (options: DemoOptions, addresses: ReadonlyArray<string>): Settings =>
  settingsOf(options, replayedAccounts(addresses))

export const Demo = { replayed, settings }
