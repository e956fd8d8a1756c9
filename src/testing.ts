// For tests of applications that embed the gateway: the service without a socket, a scripted network, Google simulated on loopback.
// It must not be imported by the service.
export { makeSimulator, type Simulator, type SimulatorOptions } from "./demo/google/Simulator.ts"
export { Demo, type DemoOptions } from "./demo/Demo.ts"
export { Gateway } from "./Gateway.ts"
export { WebHandler } from "./http/HttpApi.ts"
export { FreshId } from "./http/request/RequestContexts.ts"
export type { TransportRequest } from "./upstream/HttpExchange.ts"
export { type ScriptedResponse, Transport, type TransportScript } from "./upstream/Transport.ts"
