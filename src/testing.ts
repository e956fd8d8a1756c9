// For tests of applications that embed the gateway: a scripted network, and Google simulated on loopback.
// It must not be imported by the service.
export { makeSimulator, type Simulator, type SimulatorOptions } from "./demo/google/Simulator.ts"
export { Gateway } from "./Gateway.ts"
export { Transport } from "./upstream/Transport.ts"
