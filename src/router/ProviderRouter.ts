// The face of the router: one request in, one answer or one stream out.
// It must not know HTTP or any dialect's bodies.
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type { GatewayError } from "../domain/GatewayError.ts"
import type { Json } from "../domain/json.ts"
import type { ProviderKind } from "../domain/ProviderAccount.ts"
import type { ProviderError } from "../domain/ProviderError.ts"
import type { RequestContext } from "../domain/RequestContext.ts"
import type { Operations } from "../provider/Provider.ts"

/** Who served a request; becomes response headers. */
export interface Served {
  readonly slug: string
  readonly kind: ProviderKind
  readonly modelId: string
  readonly optionIndex: number
  readonly retryCount: number
  readonly cache: "DISABLED" | "MISS" | "HIT" | "REFRESH"
  readonly ignored: ReadonlyArray<string>
}

/** The upstream request that would have been sent; headers are redacted. */
export interface Explained {
  readonly object: "dry_run"
  readonly provider: string
  readonly target_index: number
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Json
  readonly ignored_params: ReadonlyArray<string>
}

export class ProviderRouter extends Context.Service<ProviderRouter, {
  readonly run: <Op extends keyof Operations>(
    operation: Op,
    request: Operations[Op]["request"],
    context: RequestContext
  ) => Effect.Effect<{ readonly value: Operations[Op]["out"]; readonly served: Served }, GatewayError>
  readonly open: <Op extends keyof Operations>(
    operation: Op,
    request: Operations[Op]["request"],
    context: RequestContext
  ) => Effect.Effect<
    { readonly chunks: Stream.Stream<Operations[Op]["chunk"], ProviderError>; readonly served: Served },
    GatewayError,
    Scope.Scope
  >
  readonly explain: <Op extends keyof Operations>(
    operation: Op,
    request: Operations[Op]["request"],
    context: RequestContext
  ) => Effect.Effect<Explained, GatewayError>
}>()("gateway/router/ProviderRouter") {}
