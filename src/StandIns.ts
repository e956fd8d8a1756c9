// Every service that the routes need, the router excepted, in memory and small, for tests of an application.
// Must not know how requests are served, and must not be imported by the service.
import * as Layer from "effect/Layer"
import { Administration } from "./admin/Administration.ts"
import { ProviderTest } from "./admin/ProviderTest.ts"
import { Catalog, Configs, Prompts } from "./catalog/Catalog.ts"
import { Prices } from "./catalog/Prices.ts"
import type { Settings } from "./domain/settings/Settings.ts"
import type { HttpApiServices } from "./http/HttpApi.ts"
import { Admission } from "./keys/Admission.ts"
import { GatewayKeys } from "./keys/GatewayKeys.ts"
import { UsageLog } from "./keys/UsageLog.ts"
import type { ProviderRouter } from "./router/ProviderRouter.ts"
import { LearnedRemedies } from "./state/LearnedRemedies.ts"
import { Carriers } from "./store/Carriers.ts"
import { ConfigSnapshot } from "./store/ConfigSnapshot.ts"
import { Records } from "./store/Records.ts"
import { ContentStore } from "./store/ContentStore.ts"
import { ResponseStore } from "./store/ResponseStore.ts"

/** What the stand-ins know: accounts, gateway keys, configs by id, prompts. */
export type StandInOptions = Partial<Pick<Settings, "accounts" | "keys" | "configs" | "prompts">>

/**
 * The services of the routes without a network and without a file; only the router is left to be provided, as a
 * script: `Layer.mock(ProviderRouter, { run: ... })`.
 */
export const layerStandIns = ({
  accounts = [],
  configs = {},
  keys = [],
  prompts = []
}: StandInOptions = {}): Layer.Layer<Exclude<HttpApiServices, ProviderRouter>, never, ProviderRouter> => {
  const catalog = Catalog.layerMemory(accounts)
  const gatewayKeys = GatewayKeys.layerStatic(keys)
  const snapshot = Layer.provideMerge(ConfigSnapshot.layerAlone({ accounts, keys }), Records.layerMemory)
  return Layer.mergeAll(
    Administration.layer.pipe(Layer.provide([gatewayKeys, snapshot])),
    Admission.layerMemory,
    Carriers.layerMemory,
    Configs.layerMemory(configs),
    ContentStore.layerMemory,
    LearnedRemedies.layerMemory,
    Prices.layerWith({}).pipe(Layer.provide(catalog)),
    Prompts.layerMemory(prompts),
    ProviderTest.layer.pipe(Layer.provide(catalog)),
    ResponseStore.layerMemory,
    UsageLog.layerMemory,
    catalog,
    gatewayKeys
  )
}
