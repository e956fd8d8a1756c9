// Tests what an application reads and makes without HTTP: settings, key files, contexts, and the table of errors.
// Must not open a port or reach the network.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import { afterAll, expect, it } from "@effect/vitest"
import {
  errorFacts,
  FreshId,
  GatewayErrors,
  loadSettings,
  parseServiceAccount,
  readSettings,
  requestContext
} from "../src/index.ts"
import { serviceAccount } from "./support/TestGateway.ts"

const folder = mkdtempSync(join(tmpdir(), "embedding-"))
afterAll(() => rmSync(folder, { recursive: true }))

const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

it.effect("embedding: reads the settings of a file", () =>
  Effect.map(loadSettings(file("good.yaml", "server: { port: 9999 }\n")), ({ server }) =>
    expect(server).toEqual({ host: "127.0.0.1", port: 9999 })
  )
)

it.effect("embedding: reports every fault of a file", () =>
  Effect.map(Effect.flip(loadSettings(file("bad.yaml", "server: { port: x }\nkeys: 1\n"))), (error) =>
    expect([error._tag, error.faults.length, error.message.split("\n").length]).toEqual(["SettingsInvalid", 2, 2])
  )
)

it("embedding: reads settings as a pure function of a file and an environment", () => {
  const read = readSettings({
    file: { server: { port: 9998 } },
    env: { GATEWAY_SERVER_HOST: "0.0.0.0" },
    flags: {},
    fileText: () => Result.fail("there are no files")
  })
  expect(Result.map(read, ({ server }) => server)).toEqual(Result.succeed({ host: "0.0.0.0", port: 9998 }))
})

it("embedding: reads a key file of Google Cloud", () => {
  const key = parseServiceAccount({
    type: "service_account",
    client_email: serviceAccount.clientEmail,
    private_key_id: serviceAccount.privateKeyId,
    private_key: serviceAccount.privateKeyPem
  })
  expect(Result.map(key, ({ clientEmail }) => clientEmail)).toEqual(Result.succeed(serviceAccount.clientEmail))
})

it.effect("embedding: a context has defaults, and what is set", () =>
  Effect.gen(function* () {
    yield* TestClock.setTime(1_700_000_000_000)
    const context = yield* requestContext({ key: { name: "app", models: ["gemini-*"] }, strict: false })
    expect(context).toEqual({
      requestId: "00000000-0000-7000-8000-000000000001",
      traceId: "00000000000070008000000000000001",
      createdSeconds: 1_700_000_000,
      startedMillis: 1_700_000_000_000,
      deadlineMillis: undefined,
      key: { id: "app", name: "app", models: ["gemini-*"], scopes: ["inference"] },
      config: undefined,
      configId: undefined,
      providerHeader: undefined,
      carried: {
        authorization: undefined,
        googApiKey: undefined,
        vertexProjectId: undefined,
        vertexRegion: undefined,
        vertexServiceAccountJson: undefined
      },
      strict: false,
      dryRun: false,
      unsupported: "ignore",
      metadata: {},
      betas: [],
      cache: undefined,
      idSeed: "00000000-0000-7000-8000-000000000001",
      recorder: undefined
    })
  }).pipe(Effect.provide(Layer.succeed(FreshId, () => "00000000-0000-7000-8000-000000000001")))
)

it("embedding: an error has its status, type, code and headers", () => {
  const { code, headers, status, type } = errorFacts(new GatewayErrors.KeyMissing())
  expect({ code, headers, status, type }).toEqual({
    code: "missing_gateway_key",
    headers: { "x-should-retry": "false" },
    status: 401,
    type: "authentication_error"
  })
})
