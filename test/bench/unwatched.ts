// Starts the gateway without a store, as an application embeds it, with or without observability.
// Must not know what it is compared with.
import "../../src/cli/process/V8Flags.ts"
import "effect/schema/SchemaJITCompiler/enable"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { readConfigs } from "../../src/domain/config/readConfigs.ts"
import { defaultLimits } from "../../src/domain/Limits.ts"
import { providerAccount } from "../../src/domain/ProviderAccount.ts"
import type { Settings } from "../../src/domain/settings/Settings.ts"
import { Gateway } from "../../src/Gateway.ts"
import { fallbackConfig } from "./careful.ts"

const [port, upstream, watched] = process.argv.slice(2)
if (port === undefined || upstream === undefined)
  throw new Error("usage: unwatched.ts <port> <upstream origin> [watched]")

const accounts = [
  providerAccount({
    slug: "google",
    kind: "google",
    credentials: { _tag: "ApiKey", key: Redacted.make("bench-key") },
    base_url: upstream
  }),
  providerAccount({
    slug: "vertex-ai",
    kind: "vertex-ai",
    project_id: "bench-project",
    region: "us-central1",
    base_url: upstream
  })
]
/** A log line per request, metrics, and a list of requests for admin keys. */
const watching: Partial<Settings> = {
  log: { format: "json" },
  configs: readConfigs({ careful: fallbackConfig }, accounts, defaultLimits).configs
}

NodeRuntime.runMain(
  Layer.launch(
    Gateway.layer({
      server: { host: "127.0.0.1", port: Number(port) },
      accounts,
      keys: [
        { name: "bench", key: Redacted.make("mgk_bench") },
        { name: "ops", key: Redacted.make("mgk_bench_ops"), scopes: ["admin"] }
      ],
      limits: defaultLimits,
      accounting: watched !== undefined,
      ...(watched === undefined ? {} : watching)
    })
  )
)
