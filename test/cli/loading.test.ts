// Lazy loading: the price list and the export SDK load on first use.
// Must not look inside these packages.
import { execFile } from "node:child_process"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, it } from "vitest"
import { startCollector } from "../support/collector.ts"

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..")

/** Starts and stops a gateway in its own process. Returns the large packages it loaded. */
const loadedBy = async (settings: object, env: Record<string, string> = {}): Promise<ReadonlyArray<string>> => {
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
    const settings = { server: { host: "127.0.0.1", port: 0 }, accounts: [], keys: [], limits: { ...defaultLimits, readyDelayMillis: 0 }, ...${JSON.stringify(settings)} }
    await Effect.runPromise(Effect.scoped(Layer.build(Gateway.layer(settings))))
    console.log(JSON.stringify([...found].sort()))
  `
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], {
    cwd: root,
    env: { PATH: process.env["PATH"] ?? "", ...env }
  })
  // The last line: the end of the service is logged before it.
  return JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "")
}

it("lazy loading: the gateway loads no large package without an endpoint and before the first request", async () => {
  expect(await loadedBy({})).toEqual([])
})

it("lazy loading: the gateway loads the SDK with an endpoint", async () => {
  const collector = await startCollector()
  const wanted = { traces: true, metrics: { isDelta: false }, content: false, isNamed: false }
  const loaded = await loadedBy({ export: wanted }, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
  await collector.close()
  expect(loaded).toEqual(["@effect/opentelemetry", "@opentelemetry"])
})
