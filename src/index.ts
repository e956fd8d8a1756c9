// The public API of the package for embedding: every service as an Effect Layer, and its types.
// Must not contain logic.
export { Gateway, type GatewayParts, type GatewayServices } from "./Gateway.ts"
export { TokenProvider } from "./auth/TokenProvider.ts"
export { Catalog } from "./catalog/Catalog.ts"
export { Prompts } from "./catalog/Prompts.ts"
export { Prices } from "./catalog/Prices.ts"
export { publicPrices } from "./catalog/PublicPrices.ts"
export { Configs } from "./catalog/Configs.ts"
export type { GatewayConfig } from "./domain/config/GatewayConfig.ts"
export * as GatewayErrors from "./domain/GatewayError.ts"
export { defaultLimits, Limits, type LimitValues } from "./domain/Limits.ts"
export {
  type BuiltInKind,
  type CarriedCredentials,
  type Credentials,
  type ProviderAccount,
  providerAccount,
  type ProviderKind
} from "./domain/ProviderAccount.ts"
export type { Prompt, PromptContent } from "./domain/Prompt.ts"
export { ProviderError, Reason, retryOf } from "./domain/ProviderError.ts"
export { readConfig } from "./domain/config/readConfig.ts"
export type { RequestContext } from "./domain/RequestContext.ts"
export type { KeySetting, Settings } from "./domain/settings/Settings.ts"
export type { Price, Usage } from "./domain/Usage.ts"
export { accountingLayer } from "./accounting/Accounting.ts"
export { HttpApi, type HttpApiServices, WebHandler } from "./http/HttpApi.ts"
export { GatewayKeys } from "./keys/GatewayKeys.ts"
export { UsageLog } from "./keys/UsageLog.ts"
export { Circuits } from "./state/Circuits.ts"
export { ResponseCache } from "./state/ResponseCache.ts"
export { SignatureMemory } from "./state/SignatureMemory.ts"
export { CloudPlatformProvider } from "./provider/CloudPlatformProvider.ts"
export { type CallInput, callInput } from "./provider/callInput.ts"
export { ModelMakerProvider } from "./provider/ModelMakerProvider.ts"
export { openAiChat } from "./provider/openAiChat.ts"
export type { AttemptContext, Operations, Prepare, Provider } from "./provider/Provider.ts"
export { type MoreProviders, Providers } from "./provider/Providers.ts"
export type { Route, RouteOf, TargetModel } from "./provider/callRoute.ts"
export { type Explained, ProviderRouter, type ServedBy } from "./router/ProviderRouter.ts"
export { type Prepared, prepare, prepareUnary } from "./upstream/Prepared.ts"
export { HostAddresses } from "./upstream/HostAddresses.ts"
export { MediaFetch, mediaFetchLayer } from "./upstream/MediaFetch.ts"
export type { AuthHeaders } from "./upstream/HttpExchange.ts"
export { Transport } from "./upstream/Transport.ts"
export { Upstream } from "./upstream/Upstream.ts"
