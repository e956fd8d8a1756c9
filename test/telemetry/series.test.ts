// Tests the metric series: they count like Effect's own, and are exported in Prometheus' text format.
// Must not depend on requests.
import * as Context from "effect/Context"
import * as Metric from "effect/Metric"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { metrics, type MetricSpec, prometheusName } from "../../src/telemetry/metrics.ts"
import { Histogram, SeriesRegistry } from "../../src/telemetry/Series.ts"
import { parseMetrics } from "../support/prometheus.ts"

const fresh = () => Context.make(Metric.MetricRegistry, new Map())
const spec: MetricSpec = { name: "h", kind: "histogram", description: "d", labels: [], buckets: [0.5, 1, 2] }

describe("a histogram", () => {
  it("histogram: counts every value in the same bucket as Effect's histogram", () => {
    const values = fc.array(fc.oneof(fc.constantFrom(0, 0.5, 1, 2, 3), fc.double({ min: 0, max: 4, noNaN: true })), {
      minLength: 1
    })
    fc.assert(
      fc.property(values, (some) => {
        const ours = new Histogram(spec)
        const context = fresh()
        const theirs = Metric.histogram("h", { boundaries: spec.buckets ?? [] })
        for (const value of some) {
          ours.observe(value)
          theirs.updateUnsafe(value, context)
        }
        expect(ours.state()).toEqual(theirs.valueUnsafe(context))
      })
    )
  })

  it("histogram: counts a repeated value and a merge like single values", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 1, max: 5 })), { minLength: 1 }),
        fc.nat(),
        (some, cut) => {
          const one = new Histogram(spec)
          const [first, second] = [new Histogram(spec), new Histogram(spec)]
          for (const [at, [value, times]] of some.entries()) {
            for (let again = 0; again < times; again++) one.observe(value)
            ;(at < cut % some.length ? first : second).observe(value, times)
          }
          first.merge(second)
          expect(first.state()).toEqual(one.state())
        }
      )
    )
  })
})

describe("a series registry", () => {
  it("series registry: returns the same series for the same labels, in every gateway of the process", () => {
    const context = fresh()
    const [one, other] = [SeriesRegistry.of(context), SeriesRegistry.of(context)]
    one.counter(metrics.requests, { route: "/a" }).add(2)
    other.counter(metrics.requests, { route: "/a" }).add(1)
    other.counter(metrics.requests, { route: "/b" }).add(5)
    SeriesRegistry.of(fresh()).counter(metrics.requests, { route: "/a" }).add(100)
    expect(PrometheusMetrics.formatUnsafe(context)).toBe(
      [
        "# HELP gateway_requests_total Requests to the API that have ended.",
        "# TYPE gateway_requests_total counter",
        'gateway_requests_total{route="/a"} 3',
        'gateway_requests_total{route="/b"} 5',
        ""
      ].join("\n")
    )
  })

  it("series registry: computes a read metric at each export only", () => {
    const context = fresh()
    let looks = 0
    SeriesRegistry.of(context).read(metrics.logQueue, {}, () => ++looks)
    expect(looks).toBe(0)
    expect(PrometheusMetrics.formatUnsafe(context).split("\n").at(-2)).toBe("gateway_log_queue_depth 1")
  })
})

it("metrics: every one is exported once, with its unit, under the name that dashboards of other gateways use", () => {
  const context = fresh()
  const registry = SeriesRegistry.of(context)
  for (const spec of Object.values<MetricSpec>(metrics)) {
    if (spec.kind === "histogram") registry.histogram(spec, {}).observe(1)
    else registry.read(spec, {}, () => 1)
  }
  const families = parseMetrics(PrometheusMetrics.formatUnsafe(context, { metricNameMapper: prometheusName }))
  expect(families.map(({ name, type }) => `${name} ${type}`)).toEqual([
    "gen_ai_client_token_usage histogram",
    "gen_ai_client_operation_duration_seconds histogram",
    "gen_ai_client_operation_time_to_first_chunk_seconds histogram",
    "gen_ai_client_operation_time_per_output_chunk_seconds histogram",
    "gen_ai_server_request_duration_seconds histogram",
    "gen_ai_server_time_to_first_token_seconds histogram",
    "gen_ai_server_time_per_output_token_seconds histogram",
    "http_server_request_duration_seconds histogram",
    "gateway_requests_total counter",
    "gateway_overhead_seconds histogram",
    "gateway_active_requests gauge",
    "gateway_active_streams gauge",
    "gateway_upstream_attempts_total counter",
    "gateway_retries_total counter",
    "gateway_fallbacks_total counter",
    "gateway_heals_total counter",
    "gateway_circuit_state gauge",
    "gateway_model_warnings_total counter",
    "gateway_cache_requests_total counter",
    "gateway_cost_usd_total counter",
    "gateway_rate_limited_total counter",
    "gateway_budget_remaining_usd gauge",
    "gateway_token_refresh_total counter",
    "gateway_token_refresh_timestamp_seconds gauge",
    "gateway_workers gauge",
    "gateway_worker_restarts_total counter",
    "gateway_config_reload_total counter",
    "gateway_responses_unstored_total counter",
    "gateway_carriers_cut_total counter",
    "gateway_log_queue_depth gauge",
    "gateway_log_dropped_total counter",
    "gateway_rate_fallbacks_total counter",
    "gateway_usage_queue_depth gauge",
    "gateway_content_dropped_total counter",
    "gateway_usage_dropped_total counter",
    "gateway_build_info gauge",
    "process_cpu_seconds_total counter",
    "process_resident_memory_bytes gauge",
    "process_start_time_seconds gauge",
    "nodejs_eventloop_lag_seconds gauge",
    "nodejs_heap_size_used_bytes gauge",
    "nodejs_heap_size_total_bytes gauge",
    "nodejs_external_memory_bytes gauge"
  ])
  const bounds = families.map(({ name, samples }) => [
    name,
    samples.flatMap(({ labels: { le } }) => le ?? []).join(" ")
  ])
  expect(Object.fromEntries(bounds.filter(([, les]) => les !== ""))).toEqual({
    gen_ai_client_token_usage: "1 4 16 64 256 1024 4096 16384 65536 262144 1048576 4194304 16777216 67108864 +Inf",
    gen_ai_client_operation_duration_seconds:
      "0.01 0.02 0.04 0.08 0.16 0.32 0.64 1.28 2.56 5.12 10.24 20.48 40.96 81.92 +Inf",
    gen_ai_client_operation_time_to_first_chunk_seconds:
      "0.01 0.02 0.04 0.08 0.16 0.32 0.64 1.28 2.56 5.12 10.24 20.48 40.96 81.92 +Inf",
    gen_ai_client_operation_time_per_output_chunk_seconds:
      "0.01 0.02 0.04 0.08 0.16 0.32 0.64 1.28 2.56 5.12 10.24 20.48 40.96 81.92 +Inf",
    gen_ai_server_request_duration_seconds:
      "0.01 0.02 0.04 0.08 0.16 0.32 0.64 1.28 2.56 5.12 10.24 20.48 40.96 81.92 +Inf",
    gen_ai_server_time_to_first_token_seconds:
      "0.001 0.005 0.01 0.02 0.04 0.06 0.08 0.1 0.25 0.5 0.75 1 2.5 5 7.5 10 +Inf",
    gen_ai_server_time_per_output_token_seconds: "0.01 0.025 0.05 0.075 0.1 0.15 0.2 0.3 0.4 0.5 0.75 1 2.5 +Inf",
    http_server_request_duration_seconds: "0.005 0.01 0.025 0.05 0.075 0.1 0.25 0.5 0.75 1 2.5 5 7.5 10 +Inf",
    gateway_overhead_seconds: "0.0001 0.00025 0.0005 0.001 0.0025 0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 +Inf"
  })
})
