// Every metric of the service: its name, unit, buckets, labels and description. The only place that names metrics.
// Must not know how metrics are counted or exported.

export interface MetricSpec {
  readonly name: string
  readonly kind: "counter" | "gauge" | "histogram"
  readonly description: string
  /** Every label that a series may have, in Prometheus' spelling. */
  readonly labels: ReadonlyArray<string>
  readonly unit?: string
  /** How the values of several processes become one: the sum unless set. */
  readonly across?: "max" | "min"
  /** Upper bounds, for histograms. */
  readonly buckets?: ReadonlyArray<number>
}

const powers = (start: number, factor: number, count: number): ReadonlyArray<number> =>
  Array.from({ length: count }, (_, at) => Number((start * factor ** at).toPrecision(12)))

/** The buckets that the GenAI semantic conventions 1.41.1 recommend. */
const seconds = powers(0.01, 2, 14)
const tokens = powers(1, 4, 14)
const firstToken = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
const perToken = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5]
const httpSeconds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
const overheadSeconds = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1]

/** `dialect` is `native` on the paths of Google's own API, and absent on others. */
const genAi = ["gen_ai_operation_name", "gen_ai_provider_name", "gen_ai_request_model", "dialect"]
const failing = [...genAi, "error_type"]

const timing = (
  name: string,
  description: string,
  labels: ReadonlyArray<string>,
  buckets: ReadonlyArray<number> = seconds
): MetricSpec => ({
  name,
  kind: "histogram",
  description,
  labels,
  unit: "s",
  buckets
})
const counter = (name: string, description: string, ...labels: ReadonlyArray<string>): MetricSpec => ({
  name,
  kind: "counter",
  description,
  labels
})
const gauge = (name: string, description: string, ...labels: ReadonlyArray<string>): MetricSpec => ({
  name,
  kind: "gauge",
  description,
  labels
})

export const metrics = {
  tokenUsage: {
    name: "gen_ai.client.token.usage",
    kind: "histogram",
    description: "Tokens of one request.",
    labels: [...genAi, "gen_ai_token_type", "key_id"],
    unit: "{token}",
    buckets: tokens
  },
  operationDuration: timing(
    "gen_ai.client.operation.duration",
    "One upstream call, to the end of its answer.",
    failing
  ),
  firstChunk: timing(
    "gen_ai.client.operation.time_to_first_chunk",
    "From an upstream call to the first chunk of its stream.",
    genAi
  ),
  outputChunk: timing(
    "gen_ai.client.operation.time_per_output_chunk",
    "Between the chunks of a stream, after the first.",
    genAi
  ),
  requestDuration: timing("gen_ai.server.request.duration", "A whole request as its caller sees it.", failing),
  firstToken: timing(
    "gen_ai.server.time_to_first_token",
    "From the arrival of a request to the first bytes of its stream.",
    genAi,
    firstToken
  ),
  outputToken: timing(
    "gen_ai.server.time_per_output_token",
    "Time per output token of a stream, after the first.",
    genAi,
    perToken
  ),
  httpDuration: timing(
    "http.server.request.duration",
    "Any HTTP request to the API.",
    ["http_request_method", "http_route", "http_response_status_code"],
    httpSeconds
  ),
  requests: counter(
    "gateway_requests_total",
    "Requests to the API that have ended.",
    "route",
    "provider",
    "model",
    "status_class",
    "key_id"
  ),
  overhead: {
    name: "gateway_overhead_seconds",
    kind: "histogram",
    description: "Time in the gateway, upstreams and pauses between calls taken out.",
    labels: ["route", "streamed"],
    buckets: overheadSeconds
  },
  activeRequests: gauge("gateway_active_requests", "Requests whose answer is not complete.", "route"),
  activeStreams: gauge("gateway_active_streams", "Streams that are open.", "route"),
  attempts: counter(
    "gateway_upstream_attempts_total",
    "Upstream calls that have ended, by what became of them.",
    "provider",
    "outcome"
  ),
  retries: counter("gateway_retries_total", "Calls repeated at the same target, by why.", "provider", "reason"),
  fallbacks: counter("gateway_fallbacks_total", "Calls that went to another target, by why.", "provider", "reason"),
  heals: counter(
    "gateway_heals_total",
    "Requests that succeeded after a known refusal, by the row of the refusal; the facts about the model need an update.",
    "provider",
    "model",
    "row"
  ),
  circuitState: {
    ...gauge(
      "gateway_circuit_state",
      "Circuits of a target that has failed: 0 closed, 1 half open, 2 open; the worst where there are several.",
      "target"
    ),
    across: "max"
  },
  modelWarnings: counter(
    "gateway_model_warnings_total",
    "Requests to a model whose end is announced or past, by its stage: deprecated or shut_down.",
    "provider",
    "model",
    "stage"
  ),
  cache: counter("gateway_cache_requests_total", "Requests that asked for the cache, by what it had.", "result"),
  cost: counter("gateway_cost_usd_total", "US dollars spent upstream, by list prices.", "provider", "model", "key_id"),
  rateLimited: counter(
    "gateway_rate_limited_total",
    "Requests refused because of a limit: of a key, its requests, tokens or budget, its running requests or their memory.",
    "scope",
    "kind"
  ),
  budgetRemaining: {
    ...gauge(
      "gateway_budget_remaining_usd",
      "US dollars left of the budget of a key in its period, as this process knows it; with telemetry.key_label only.",
      "budget"
    ),
    across: "min"
  },
  tokenRefreshes: counter("gateway_token_refresh_total", "Access tokens asked for.", "provider", "result"),
  tokenRefreshed: {
    ...gauge(
      "gateway_token_refresh_timestamp_seconds",
      "When an access token was last asked for, in seconds since 1970.",
      "provider",
      "result"
    ),
    across: "max"
  },
  workers: gauge("gateway_workers", "Processes that serve together and are ready; with server.workers only."),
  workerRestarts: counter("gateway_worker_restarts_total", "Processes that ended by themselves and were replaced."),
  configReloads: counter("gateway_config_reload_total", "Reloads of the configuration, by result.", "result"),
  responsesUnstored: counter(
    "gateway_responses_unstored_total",
    "Responses that were to be kept and are not, because they are too large or the store did not take them.",
    "reason"
  ),
  carriersCut: counter(
    "gateway_carriers_cut_total",
    "Responses whose encrypted reasoning was over its limit, so that its largest entries were left out."
  ),
  logQueue: gauge("gateway_log_queue_depth", "Log lines that wait to be written."),
  logDropped: counter("gateway_log_dropped_total", "Log lines dropped because too many waited."),
  rateFallbacks: counter(
    "gateway_rate_fallbacks_total",
    "Looks at rate limits that this process answered alone, because what several processes share did not answer in time."
  ),
  usageQueue: gauge("gateway_usage_queue_depth", "Ended requests that wait to be written to the store."),
  contentDropped: counter(
    "gateway_content_dropped_total",
    "Captured contents of requests that were dropped, because too much waited to be stored or it could not be encrypted."
  ),
  usageDropped: counter(
    "gateway_usage_dropped_total",
    "Ended requests that are in no list and no sum, because too many waited or the database refused them."
  ),
  buildInfo: {
    ...gauge("gateway_build_info", "Always 1; its labels name the running versions.", "version", "node", "effect"),
    across: "max"
  },
  cpu: counter("process_cpu_seconds_total", "User and system CPU time."),
  residentMemory: gauge("process_resident_memory_bytes", "Resident memory."),
  startTime: {
    ...gauge("process_start_time_seconds", "When the process started, in seconds since 1970."),
    across: "min"
  },
  eventLoopLag: {
    ...gauge("nodejs_eventloop_lag_seconds", "99th percentile of the delay of the event loop since the last look."),
    across: "max"
  },
  heapUsed: gauge("nodejs_heap_size_used_bytes", "Heap in use."),
  heapTotal: gauge("nodejs_heap_size_total_bytes", "Heap taken from the system."),
  externalMemory: gauge("nodejs_external_memory_bytes", "Memory of buffers and other objects outside the heap.")
} as const satisfies Readonly<Record<string, MetricSpec>>

const timed = /\.(duration|time_(to_first|per)_[a-z_]+)$/

/** Prometheus has the unit in the name; its exporter replaces dots by underscores. */
export const prometheusName = (name: string): string => (timed.test(name) ? `${name}_seconds` : name)
