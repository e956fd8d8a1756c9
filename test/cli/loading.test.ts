// Lazy loading: the price list and the export SDK load on first use.
// Must not look inside these packages.
import { execFile } from "node:child_process"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { beforeAll, expect, it } from "vitest"
import { sharedCode } from "../support/buildProgram.ts"
import { startCollector } from "../support/collector.ts"

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..")

/** One process starts and stops a gateway without an endpoint, then one with it; the large packages loaded until then. */
const program = `
  import { registerHooks } from "node:module"
  const found = new Set()
  registerHooks({ load: (url, context, next) => {
    const name = /node_modules\\/(@opentelemetry|@effect\\/opentelemetry|@pydantic)/.exec(url)?.[1]
    if (name !== undefined) found.add(name)
    return next(url, context)
  } })
  const [Effect, Layer, { Gateway }, { defaultLimits }] = await Promise.all([
    import("effect/Effect"), import("effect/Layer"), import("./src/Gateway.ts"), import("./src/domain/Limits.ts")
  ])
  const loadedBy = async (more) => {
    const settings = { server: { host: "127.0.0.1", port: 0 }, accounts: [], keys: [], limits: { ...defaultLimits, readyDelayMillis: 0 }, ...more }
    await Effect.runPromise(Effect.scoped(Layer.build(Gateway.layer(settings))))
    return [...found].sort()
  }
  const plain = await loadedBy({})
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = process.argv[1]
  const exporting = await loadedBy({ export: { traces: true, metrics: { isDelta: false }, content: false, isNamed: false } })
  console.log(JSON.stringify({ plain, exporting }))
`

let loaded: Readonly<Record<"plain" | "exporting", ReadonlyArray<string>>>
beforeAll(async () => {
  const collector = await startCollector()
  const args = ["--input-type=module", "-e", program, collector.url]
  const env = { PATH: process.env["PATH"], ...sharedCode }
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, env })
  await collector.close()
  // The last line: the end of the service is logged before it.
  loaded = JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "")
})

it("lazy loading: the gateway loads no large package without an endpoint and before the first request", () => {
  expect(loaded.plain).toEqual([])
})

it("lazy loading: the gateway loads the SDK with an endpoint", () => {
  expect(loaded.exporting).toEqual(["@effect/opentelemetry", "@opentelemetry"])
})
