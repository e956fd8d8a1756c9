// Metrics of the process itself, read when somebody looks: memory, CPU, the event loop, and what runs.
// It must not know requests.
import { monitorEventLoopDelay } from "node:perf_hooks"
import { getHeapStatistics } from "node:v8"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Version from "effect/Version"
import { metrics } from "./metrics.ts"
import { SeriesRegistry } from "./Series.ts"

/** How often the event loop is looked at; a look costs a microsecond. */
const lookMillis = 20

const cpuSeconds = (): number => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1000 / 1000
}

/** For as long as the scope lives. */
const layer = (version: string): Layer.Layer<never> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const registry = SeriesRegistry.of(yield* Effect.context<never>())
      const delay = yield* Effect.acquireRelease(
        Effect.sync(() => {
          const histogram = monitorEventLoopDelay({ resolution: lookMillis })
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
        // What the timer itself waits is no lag.
        const lag = Math.max(0, (delay.percentile(99) / 1000 / 1000 - lookMillis) / 1000)
        delay.reset()
        return lag
      })
      registry.read(metrics.heapUsed, {}, () => getHeapStatistics().used_heap_size)
      registry.read(metrics.heapTotal, {}, () => getHeapStatistics().total_heap_size)
      registry.read(metrics.externalMemory, {}, () => getHeapStatistics().external_memory)
    })
  )

export const ProcessMetrics = { layer }
