// The gateway as a service of its own that nobody watches: no log, no metrics, no list of requests, no store.
// It must not know what it is compared with.
import "effect/schema/SchemaJITCompiler/enable"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { defaultLimits } from "../src/domain/Limits.ts"
import { providerAccount } from "../src/domain/ProviderAccount.ts"
import { Gateway } from "../src/Gateway.ts"

const [port, upstream] = process.argv.slice(2)
if (port === undefined || upstream === undefined) throw new Error("usage: unwatched.ts <port> <upstream origin>")

NodeRuntime.runMain(Layer.launch(Gateway.layer({
  server: { host: "127.0.0.1", port: Number(port) },
  accounts: [providerAccount({ slug: "google", kind: "google", credentials: { _tag: "ApiKey", key: Redacted.make("bench-key") }, baseUrl: upstream })],
  keys: [{ name: "bench", key: Redacted.make("mgk_bench") }],
  limits: defaultLimits,
  accounting: false
})))
