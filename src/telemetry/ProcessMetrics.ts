// Process metrics, read at each scrape or export: memory, CPU, event loop lag, and versions.
// Must not know requests.
import { monitorEventLoopDelay } from "node:perf_hooks"
import { getHeapStatistics } from "node:v8"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Version from "effect/Version"
import { metrics } from "./metrics.ts"
import { SeriesRegistry } from "./Series.ts"

/** The resolution of the event loop monitor; each sample costs about 1 µs. */
const sampleMillis = 20

const cpuSeconds = (): number => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1000 / 1000
}

/** Registers the metrics for the life of the scope. */
const layer = (version: string): Layer.Layer<never> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const registry = SeriesRegistry.of(yield* Effect.context<never>())
      const delay = yield* Effect.acquireRelease(
        Effect.sync(() => {
          const histogram = monitorEventLoopDelay({ resolution: sampleMillis })
          histogram.enable()
          return histogram
        }),
        (histogram) => Effect.sync(() => histogram.disable())
      )
      registry.gauge(metrics.buildInfo, {
        version,
        node: process.versions.node,
        effect: Version.getCurrentVersion()
      }).value = 1
      registry.read(metrics.cpu, {}, cpuSeconds)
      registry.read(metrics.residentMemory, {}, () => process.memoryUsage.rss())
      registry.gauge(metrics.startTime, {}).value = performance.timeOrigin / 1000
      registry.read(metrics.eventLoopLag, {}, () => {
        // The monitor's values include the wait of its own timer.
        const lag = Math.max(0, (delay.percentile(99) / 1000 / 1000 - sampleMillis) / 1000)
        delay.reset()
        return lag
      })
      registry.read(metrics.heapUsed, {}, () => getHeapStatistics().used_heap_size)
      registry.read(metrics.heapTotal, {}, () => getHeapStatistics().total_heap_size)
      registry.read(metrics.externalMemory, {}, () => getHeapStatistics().external_memory)
    })
  )

export const ProcessMetrics = { layer }
