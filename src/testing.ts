// Test API for applications that embed the gateway: the service without a socket, a scripted network, a simulated Google.
// Must not be imported by the service.
export { TokenProvider } from "./auth/TokenProvider.ts"
export { Catalog } from "./catalog/Catalog.ts"
export { GatewayKeys } from "./keys/GatewayKeys.ts"
export { makeSimulator, type Simulator, type SimulatorOptions } from "./demo/google/Simulator.ts"
export { Demo, type DemoOptions } from "./demo/Demo.ts"
export { Gateway } from "./Gateway.ts"
export { layerStandIns, type StandInOptions } from "./StandIns.ts"
export { WebHandler } from "./http/HttpApi.ts"
export { FreshId } from "./http/request/IncomingRequest.ts"
export type { TransportRequest } from "./upstream/HttpExchange.ts"
export {
  type ScriptedPause,
  type ScriptedResponse,
  Transport,
  type TransportScript,
  type TransportService
} from "./upstream/Transport.ts"
export type { DemoFailed } from "./demo/Demo.ts"
export type { PackageMissing } from "./domain/settings/Settings.ts"
export type { SharedState } from "./state/SharedState.ts"
export type { StoreUnusable } from "./store/database/Sql.ts"
