// Tests how the metric series of several processes become one set.
// Must not start a process.
import { describe, expect, it } from "vitest"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import { lastingSeries, mergeSeries, registryOf, type SeriesValue, seriesValues } from "../../src/telemetry/Series.ts"

const count = (value: number, route = "/a"): SeriesValue => ({
  id: "gateway_requests_total",
  description: "d",
  attributes: { route },
  value
})
const gauge = (id: string, value: number): SeriesValue => ({ id, description: "d", attributes: {}, value })
const histogram = (low: number, high: number): SeriesValue => ({
  id: "http.server.request.duration",
  description: "d",
  attributes: { unit: "s" },
  value: {
    buckets: [
      [0.5, low],
      [1, low + high]
    ],
    count: low + high,
    sum: low * 0.25 + high * 0.75,
    min: 0.25,
    max: 0.75
  }
})

describe("series of several processes", () => {
  it("series: counts, histograms and gauges are added; start time is the earliest, delay and circuit states the highest", () => {
    const one = [
      count(1),
      gauge("gateway_active_streams", 2),
      gauge("process_start_time_seconds", 10),
      gauge("nodejs_eventloop_lag_seconds", 0.5),
      histogram(1, 2)
    ]
    const other = [
      count(2),
      count(4, "/b"),
      gauge("gateway_active_streams", 3),
      gauge("process_start_time_seconds", 20),
      gauge("nodejs_eventloop_lag_seconds", 0.1),
      histogram(3, 0)
    ]
    expect(mergeSeries([one, other])).toEqual([
      count(3),
      gauge("gateway_active_streams", 5),
      gauge("process_start_time_seconds", 10),
      gauge("nodejs_eventloop_lag_seconds", 0.5),
      histogram(4, 2),
      count(4, "/b")
    ])
  })

  it("series: of a process that has ended, counters and histograms stay", () => {
    expect(lastingSeries([count(1), gauge("gateway_active_streams", 2), histogram(1, 0)])).toEqual([
      count(1),
      histogram(1, 0)
    ])
  })

  it("series: a registry of values shows the same values", () => {
    const values = [count(3), gauge("gateway_workers", 2)]
    const registry = registryOf(values)
    expect(seriesValues(registry)).toEqual(values)
    expect(PrometheusMetrics.formatUnsafe(registry, {})).toBe(
      [
        "# HELP gateway_requests_total d",
        "# TYPE gateway_requests_total counter",
        'gateway_requests_total{route="/a"} 3',
        "# HELP gateway_workers d",
        "# TYPE gateway_workers gauge",
        "gateway_workers 2",
        ""
      ].join("\n")
    )
  })
})
