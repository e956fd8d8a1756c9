// Starts the whole gateway on a real socket, with the simulated Google services as its upstream.
// Must not depend on a test.
import { generateKeyPairSync } from "node:crypto"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as Context from "effect/Context"
import * as HttpServer from "effect/http/HttpServer"
import { makeSimulator, type Simulator, type SimulatorOptions } from "../../src/demo/google/Simulator.ts"
import { defaultLimits, type LimitValues } from "../../src/domain/Limits.ts"
import { endpointFacts } from "../../src/demo/seed.ts"
import type { Settings } from "../../src/domain/settings/Settings.ts"
import { Gateway } from "../../src/Gateway.ts"
import { googleAccount, vertexAccount } from "./account.ts"
import { patientLimits } from "./patientLimits.ts"

export const gatewayKey = "mgk_test0000000000000000000000000000"
export const geminiKey = "AIzaSimulatedKeyForTests000000000000000"

/** A service account made for this process, and the public half the simulator checks with. */
const keyPair = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" }
})
export const serviceAccount = {
  clientEmail: "gateway@test-project.iam.gserviceaccount.com",
  privateKeyId: "test-key-1",
  privateKeyPem: keyPair.privateKey,
  publicKeyPem: keyPair.publicKey,
  projectId: "test-project"
}

export interface TestGateway {
  readonly url: string
  /** The simulator's address. */
  readonly upstream: string
  readonly simulator: Simulator
  readonly close: () => Promise<void>
}

export type MoreSettings = Partial<Pick<Settings, "accounts" | "configs" | "keys" | "messages" | "prompts">> & {
  readonly limits?: Partial<LimitValues>
}

/** Settings with both providers pointing at one base URL. */
export const settingsFor = (baseUrl: string, more: MoreSettings = {}): Settings => ({
  server: { host: "127.0.0.1", port: 0 },
  accounts: more.accounts ?? [
    { ...googleAccount, credentials: { _tag: "ApiKey", key: Redacted.make(geminiKey) }, base_url: baseUrl },
    {
      ...vertexAccount,
      endpoints: endpointFacts,
      base_url: baseUrl,
      token_url: `${baseUrl}/token`,
      credentials: {
        _tag: "ServiceAccount",
        key: {
          clientEmail: serviceAccount.clientEmail,
          privateKeyId: serviceAccount.privateKeyId,
          privateKey: Redacted.make(serviceAccount.privateKeyPem),
          projectId: serviceAccount.projectId
        }
      }
    }
  ],
  ...(more.messages === undefined ? {} : { messages: more.messages }),
  ...(more.configs === undefined ? {} : { configs: more.configs }),
  ...(more.prompts === undefined ? {} : { prompts: more.prompts }),
  keys: more.keys ?? [{ name: "test", key: Redacted.make(gatewayKey) }],
  // How often a failed call is repeated is a matter of its own tests.
  limits: { ...defaultLimits, ...patientLimits, readyDelayMillis: 0, retries: 0, ...more.limits }
})

/** Starts a gateway with these settings on a free port; `references` are clocks, ids and sinks of the test. */
export const startGateway = async (
  settings: Settings,
  references: Layer.Layer<never> = Layer.empty
): Promise<{ url: string; close: () => Promise<void> }> => {
  const scope = await Effect.runPromise(Scope.make())
  const context = await Effect.runPromise(
    Layer.buildWithScope(Gateway.layer(settings).pipe(Layer.provide(references)), scope)
  )
  const address = Context.get(context, HttpServer.HttpServer).address
  const port = "port" in address ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

/** A gateway in front of a fresh simulator. */
export const startTestGateway = async ({
  simulator: options,
  ...more
}: MoreSettings & { readonly simulator?: Partial<SimulatorOptions> } = {}): Promise<TestGateway> => {
  const simulator = makeSimulator({
    geminiApiKeys: [geminiKey],
    serviceAccounts: [serviceAccount],
    // The locations of models have tests of their own.
    anyLocation: true,
    ...options
  })
  const upstream = await simulator.listen()
  const gateway = await startGateway(settingsFor(upstream.url, more))
  return {
    url: gateway.url,
    upstream: upstream.url,
    simulator,
    close: async () => {
      await gateway.close()
      await upstream.close()
    }
  }
}
