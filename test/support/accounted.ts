// A scripted gateway with fixed ids and a counting stopwatch, and its log lines, metrics and request lists.
// Must not depend on particular requests.
import { PassThrough } from "node:stream"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import { FreshId } from "../../src/http/request/IncomingRequest.ts"
import { LogSink } from "../../src/telemetry/LogWriter.ts"
import { Stopwatch } from "../../src/accounting/Accounting.ts"
import type { TransportScript } from "../../src/upstream/Transport.ts"
import { until } from "./eventually.ts"
import { gatewayOver, type ScriptedGateway, type ScriptedOptions } from "./scripted.ts"
import { gatewayKey } from "./TestGateway.ts"

export const adminKey = "mgk_admin000000000000000000000000000"

export interface AccountedGateway extends ScriptedGateway {
  /** Everything that was logged; the gateway is closed for it. */
  readonly lines: () => Promise<ReadonlyArray<string>>
  /** The metrics without those of the process. */
  readonly metrics: () => Promise<ReadonlyArray<string>>
  /** The JSON of an admin route. */
  readonly admin: (path: string) => Promise<unknown>
}

/** The stopwatch advances by a millisecond at each read. */
export const accountedGateway = (script: TransportScript, options: ScriptedOptions = {}): AccountedGateway => {
  const sink = new PassThrough()
  let text = ""
  sink.on("data", (bytes: Buffer) => {
    text += bytes.toString("utf8")
  })
  let ticks = 0
  const gateway = gatewayOver(script, {
    ...options,
    settings: {
      keys: [
        { name: "test", key: Redacted.make(gatewayKey) },
        { name: "boss", key: Redacted.make(adminKey), scopes: ["admin"] }
      ],
      log: { format: "json" },
      prices: {
        "gemini-2.5-flash": { input: 0.3, output: 2.5, cached_input: 0.03 },
        "gemini-2.5-pro": { input: 1.25, output: 10, cached_input: 0.125 },
        "claude-sonnet-4-6": { input: 3, output: 15, cached_input: 0.3 }
      },
      ...options.settings
    },
    references: Layer.mergeAll(
      Layer.succeed(LogSink, sink),
      Layer.succeed(Stopwatch, () => ticks++),
      Layer.succeed(FreshId, () => "01a1feb1-fd44-7fb5-884a-aa19e8c22cad"),
      Layer.sync(Metric.MetricRegistry, () => new Map()),
      options.references ?? Layer.empty
    )
  })
  return {
    ...gateway,
    lines: async () => {
      await gateway.dispose()
      return text.split("\n").slice(0, -1)
    },
    metrics: async () => {
      const answer = await gateway.send("/metrics")
      return (await answer.text()).split("\n").slice(0, -1)
    },
    admin: async (path) => {
      const answer = await gateway.send(path, { headers: { "x-gateway-api-key": adminKey } })
      return answer.json()
    }
  }
}

/** An upstream that waits longer than any test, for the chunks of a script. */
export const silence = { pauseMillis: 1e6 }

const active = /^gateway_active_requests\{route="(?!\/metrics)[^"]*"\} [^0]/m

/** Reads a stream up to a text, leaves it, and waits until it is accounted for. */
export const leaveStream = async (
  gateway: AccountedGateway,
  path: string,
  body: object,
  text: string
): Promise<void> => {
  const leaving = new AbortController()
  const answer = await gateway.send(path, {
    method: "POST",
    headers: { "content-type": "application/json", "x-gateway-api-key": gatewayKey },
    body: JSON.stringify(body),
    signal: leaving.signal
  })
  const reader = answer.body?.getReader()
  for (let read = ""; !read.includes(text);) {
    const piece = await reader?.read()
    if (piece?.value === undefined) throw new Error(`The stream ended: ${read}`)
    read += Buffer.from(piece.value).toString()
  }
  leaving.abort()
  await until(async () => !active.test((await gateway.metrics()).join("\n")))
}
