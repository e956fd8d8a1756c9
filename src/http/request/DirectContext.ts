// The context of a request that an application makes itself, without HTTP: a key and defaults.
// It must not depend on headers, bodies or routes.
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { GatewayConfig } from "../../domain/config/GatewayConfig.ts"
import type { GatewayKey } from "../../domain/GatewayKey.ts"
import { plainContext, type RequestContext } from "../../domain/RequestContext.ts"
import { FreshId } from "./IncomingRequest.ts"

/** Any field of a context may be set; `key` is a name, or a record of which only the name is needed. */
export interface RequestContextOptions extends Partial<Omit<RequestContext, "key" | "config">> {
  readonly key: string | (Partial<GatewayKey> & Pick<GatewayKey, "name">)
  readonly config?: GatewayConfig | undefined
}

const keyOf = (key: RequestContextOptions["key"]): GatewayKey => {
  const { name, ...more } = typeof key === "string" ? { name: key } : key
  return { id: name, name, scopes: ["inference"], ...more }
}

/** Now, with a new id, in strict form, without a config: what `ProviderRouter` needs of a caller. */
export const requestContext = ({ key, ...more }: RequestContextOptions): Effect.Effect<RequestContext> =>
  Effect.gen(function* () {
    const startedMillis = yield* Clock.currentTimeMillis
    const id = (yield* FreshId)(startedMillis)
    return { ...plainContext(id, startedMillis, keyOf(key)), traceId: id.replaceAll("-", ""), ...more }
  })
