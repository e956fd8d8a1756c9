// Tests the service without its optional packages: it starts and serves, and a setting that needs a package is refused.
// Must not need a database, a Redis or a collector.
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { processes } from "../support/process.ts"
import { isRelease } from "../support/release.ts"

/** `peerDependenciesMeta` names the optional ones among peer dependencies. */
const {
  optionalDependencies,
  peerDependenciesMeta
}: Readonly<Record<"optionalDependencies" | "peerDependenciesMeta", Readonly<Record<string, unknown>>>> = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8")
)
const without = {
  NODE_OPTIONS: `--import=${new URL("../support/withoutPackages.ts", import.meta.url).pathname}`,
  WITHOUT_PACKAGES: Object.keys({ ...optionalDependencies, ...peerDependenciesMeta }).join(","),
  GATEWAY_SERVER_PORT: "0",
  GATEWAY_API_KEY: "mgk_optional_0123456789",
  GATEWAY_ADMIN_KEY: "mgk_optional_admin_0123"
}
const { run, start } = processes()

describe("service without optional packages", () => {
  it("optional packages: the service starts and serves without them (TH29)", async () => {
    const { child, ended, said } = start(["serve"], { env: without, isSource: true })
    const [, origin] = await said(/API\s+(http:\S+)\/v1\n/)
    const answer = await fetch(`${origin}/v1/models/@google/gemini-2.5-flash`, {
      headers: { authorization: "Bearer mgk_optional_0123456789" }
    })
    expect([answer.status, await answer.json()]).toEqual([
      200,
      { id: "@google/gemini-2.5-flash", object: "model", created: 1_750_118_400, owned_by: "google" }
    ])
    const ready = await fetch(`${origin}/health/ready`)
    expect(ready.status).toBe(200)
    child.kill("SIGKILL")
    await ended
  })

  interface Row {
    readonly what: string
    readonly env: Readonly<Record<string, string>>
    readonly fault: string
    /** The bundle has the package in itself, so that only the sources can lack it. */
    readonly isBundled?: boolean
  }
  const rows: ReadonlyArray<Row> = [
    {
      what: "traces and metrics",
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" },
      fault:
        "an OTEL_EXPORTER_OTLP_ENDPOINT is set, but the packages of OpenTelemetry cannot be loaded: run npm install --include=optional @effect/opentelemetry"
    },
    {
      what: "PostgreSQL",
      env: { GATEWAY_STORE_URL: "postgres://127.0.0.1:9/gateway" },
      fault:
        "a store.url of PostgreSQL is set, but the package @effect/sql-pg cannot be loaded: run npm install --include=optional",
      isBundled: true
    },
    {
      what: "Redis",
      env: { GATEWAY_REDIS_URL: "redis://127.0.0.1:9" },
      fault: "redis.url is set, but the package redis cannot be loaded: run npm install --include=optional"
    }
  ]
  it.each(rows)(
    "optional packages: a setting for $what is a fault that names the package (TH29)",
    async ({ env, fault, isBundled = false }) => {
      expect(await run(["serve"], { env: { ...without, ...env }, isSource: isRelease || isBundled })).toEqual({
        code: 2,
        out: "",
        err: `${fault}, or take the setting out\n`
      })
    }
  )
})
