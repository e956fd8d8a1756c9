// Runs the whole service in this process with a scripted network below and a face of web requests above.
// Must not depend on requests or answers.
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import { afterAll, afterEach } from "vitest"
import { Limits } from "../../src/domain/Limits.ts"
import type { Settings } from "../../src/domain/settings/Settings.ts"
import { Gateway } from "../../src/Gateway.ts"
import { webFace, type WebFace } from "./ways.ts"
import { Transport, type TransportScript } from "../../src/upstream/Transport.ts"
import { googleAccount, vertexAccount } from "./account.ts"
import { gatewayKey, type MoreSettings, settingsFor } from "./TestGateway.ts"

/** A call as it reached the network. */
export interface SeenCall {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

export interface ScriptedGateway {
  /** All calls so far, in the order they began. */
  readonly seen: Array<SeenCall>
  /** A POST of JSON with the gateway key. */
  readonly post: (path: string, body: unknown, headers?: Record<string, string>) => Promise<Response>
  readonly send: (path: string, init?: RequestInit) => Promise<Response>
  readonly dispose: () => Promise<void>
}

export interface ScriptedOptions extends MoreSettings {
  /** Randomness; Effect's own by default. */
  readonly draw?: () => number
  /** What serves it; the ring by default. */
  readonly over?: WebFace
  /** Applied to the settings of every test. */
  readonly settings?: Partial<Settings>
  /** Clocks, ids and sinks of the test. */
  readonly references?: Layer.Layer<never>
}

export const gatewayOver = (
  script: TransportScript,
  { draw, over = webFace, ...more }: ScriptedOptions = {}
): ScriptedGateway => {
  const seen: Array<SeenCall> = []
  const settings = {
    ...settingsFor("http://unused.invalid", { accounts: [googleAccount, vertexAccount], ...more }),
    ...more.settings
  }
  const { dispose, handler } = over(
    Gateway.layerNoDeps(settings).pipe(
      Layer.provide(
        Transport.layerTest((request) => {
          const body: unknown = typeof request.body === "string" ? JSON.parse(request.body) : request.body
          seen.push({ method: request.method, url: request.url, headers: request.headers, body })
          return script(request)
        })
      ),
      Layer.merge(Layer.succeed(Limits, settings.limits)),
      draw === undefined
        ? (layer) => layer
        : Layer.provide(Layer.succeed(Random.Random, { nextDoubleUnsafe: draw, nextIntUnsafe: () => 0 })),
      Layer.provideMerge(more.references ?? Layer.empty)
    )
  )
  const send: ScriptedGateway["send"] = (path, init) => handler(new Request(`http://gateway${path}`, init))
  return {
    seen,
    send,
    post: (path, body, headers = {}) =>
      send(path, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "x-gateway-api-key": gatewayKey,
          "x-request-id": "request-1",
          ...headers
        },
        body: JSON.stringify(body)
      }),
    dispose
  }
}

/** A 200 of one JSON value. */
export const replying = (value: unknown) => ({ status: 200, chunks: [JSON.stringify(value)] })

/** `gatewayOver` for one test file, which disposes of its gateways after each test. */
export const gatewaysOver = (): typeof gatewayOver => {
  const open: Array<ScriptedGateway> = []
  afterEach(async () => {
    for (const gateway of open.splice(0)) await gateway.dispose()
  })
  return (...args) => {
    const gateway = gatewayOver(...args)
    open.push(gateway)
    return gateway
  }
}

/**
 * One gateway for all tests of a file, which costs as much as ten requests. Each call gives it another script and forgets
 * its calls. For tests that leave nothing in a gateway, one after the other.
 */
export const gatewayOfFile = (options: ScriptedOptions = {}): ((script: TransportScript) => ScriptedGateway) => {
  let gateway: ScriptedGateway | undefined
  let current: TransportScript
  afterAll(() => gateway?.dispose())
  return (script) => {
    current = script
    gateway ??= gatewayOver((request) => current(request), options)
    gateway.seen.length = 0
    return gateway
  }
}
