// Tests the route that shows every setting with its origin, and the state of what the service runs on.
// Must not depend on how settings are read.
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"
import packageFile from "../../../package.json" with { type: "json" }
import { AdminSettings } from "../../../src/api/AdminReports.ts"
import { publicPricesVersion } from "../../../src/catalog/Prices.ts"
import { modelFactsDay } from "../../../src/domain/models/modelTable.ts"
import type { Settings } from "../../../src/domain/settings/Settings.ts"
import { version } from "../../../src/domain/version.ts"
import { ReadSettings, Surroundings } from "../../../src/http/admin/AdminService.ts"
import { Readiness } from "../../../src/http/edge/Readiness.ts"
import { adminKey } from "../../support/accounted.ts"
import { gatewayOver, replying } from "../../support/scripted.ts"
import { gatewayKey } from "../../support/TestGateway.ts"

const keys: Settings["keys"] = [
  { name: "test", key: Redacted.make(gatewayKey) },
  { name: "boss", key: Redacted.make(adminKey), scopes: ["admin"] }
]

const answerOf = async (references: Layer.Layer<never>, key = adminKey) => {
  const gateway = gatewayOver(() => replying({}), { settings: { keys }, references })
  const answer = await gateway.send("/admin/v1/settings", { headers: { "x-gateway-api-key": key } })
  const body: unknown = await answer.json()
  await gateway.dispose()
  return { status: answer.status, body }
}

const decode = Schema.decodeUnknownSync(AdminSettings, { onExcessProperty: "error" })
const moment = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
const common = {
  object: "settings",
  version,
  node: process.versions.node,
  started_at: moment,
  prices: { list: `@pydantic/genai-prices ${publicPricesVersion}`, models_as_of: modelFactsDay }
}

describe("admin settings", () => {
  it("admin settings: an embedded gateway in memory has no origins", async () => {
    const { body, status } = await answerOf(Layer.empty)
    expect([status, decode(body)]).toEqual([
      200,
      { ...common, file: null, store: { place: "in memory", state: "ok" }, redis: null, exporter: null, settings: [] }
    ])
  })

  it("admin settings: each setting has its origin, and a limit that the process lowered what is in force", async () => {
    const described = { from: undefined, description: undefined }
    const origins = [
      { name: "server.port", value: 1, source: "flag", from: "--port", description: "Port." },
      { name: "log.level", value: undefined, source: "default", ...described },
      { name: "limits.connections", value: 999_999, source: "file", from: "gateway.yaml:7", description: undefined },
      { name: "limits.jsonDepth", value: 128, source: "default", ...described }
    ] as const
    const references = Layer.mergeAll(
      Layer.succeed(ReadSettings, () => ({ file: "gateway.yaml", origins })),
      Layer.succeed(Surroundings, {
        store: "postgres://db/gateway",
        hasRedis: true,
        export: { traces: true, metrics: undefined, content: false, isNamed: false }
      }),
      Layer.succeed(Readiness, { store: () => "disk_full", redis: () => false })
    )
    expect(decode((await answerOf(references)).body)).toEqual({
      ...common,
      file: "gateway.yaml",
      store: { place: "postgres://db/gateway", state: "disk_full" },
      redis: { state: "down" },
      exporter: { traces: true, metrics: false },
      settings: [
        { name: "server.port", value: 1, source: "flag", from: "--port", description: "Port." },
        { name: "log.level", source: "default" },
        {
          name: "limits.connections",
          value: 999_999,
          source: "file",
          from: "gateway.yaml:7",
          effective: expect.any(Number)
        },
        { name: "limits.jsonDepth", value: 128, source: "default" }
      ]
    })
  })

  it("admin settings: no other key than one with the scope admin reads them", async () => {
    expect((await answerOf(Layer.empty, gatewayKey)).status).toBe(401)
  })

  it("prices: the version of the price list is that of the installed package", () => {
    expect(publicPricesVersion).toBe(packageFile.dependencies["@pydantic/genai-prices"])
  })
})
