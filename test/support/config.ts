// Short builders of gateway configs for tests.
// Must not depend on the router.
import * as Result from "effect/Result"
import type { GatewayConfig } from "../../src/domain/config/GatewayConfig.ts"
import type { Json } from "../../src/domain/text/json.ts"
import { defaultLimits } from "../../src/domain/Limits.ts"
import { readConfig } from "../../src/domain/config/readConfig.ts"

/** A config made ready; a fault in it is an error of the test. */
export const config = (value: Json): GatewayConfig =>
  Result.getOrThrowWith(readConfig(value, defaultLimits), (fault) => new Error(`${fault.path} ${fault.message}`))

/** The header that brings a config with a request. */
export const inline = (value: Json): Record<string, string> => ({ "x-gateway-config": JSON.stringify(value) })

export const fallback = (...targets: ReadonlyArray<Json>): { [key: string]: Json } => ({
  strategy: { mode: "fallback" },
  targets
})
