// Request metrics: the series of each route and each target, created once and kept, so that requests need no look-up.
// Must not know how a request ran; it takes numbers.
import { isNativeRoute, operationLabel } from "../domain/operations.ts"
import type { ProviderKind } from "../domain/ProviderAccount.ts"
import type { Usage } from "../domain/Usage.ts"
import { providerName } from "./genAi.ts"
import { metrics } from "./metrics.ts"
import { type Counter, type Gauge, type Histogram, type Labels, type SeriesRegistry } from "./Series.ts"

/** The account that answered. */
interface Account {
  readonly slug: string
  readonly kind: ProviderKind
}

/** Series by name, created when a name is first needed. The set of names is small. */
class ByName<Series, Name extends string | number = string> {
  private readonly made = new Map<Name, Series>()
  private readonly make: (name: Name) => Series

  constructor(make: (name: Name) => Series) {
    this.make = make
  }

  get(name: Name): Series {
    const existing = this.made.get(name)
    if (existing !== undefined) return existing
    const series = this.make(name)
    this.made.set(name, series)
    return series
  }
}

/** Outcomes of an upstream call; a failure is counted under the tag of its reason. */
export const okOutcome = "ok"
export const cancelledOutcome = "cancelled"

/** The series of one target on one route. */
export class TargetMeters {
  private readonly tokens: ByName<Histogram>
  readonly outputChunk: ByName<Histogram>
  /** By the tag of the failure; `""` without a failure. */
  readonly operation: ByName<Histogram>
  readonly request: ByName<Histogram>
  readonly firstChunk: ByName<Histogram>
  readonly firstToken: ByName<Histogram>
  readonly outputToken: ByName<Histogram>
  readonly attempts: ByName<Counter>
  readonly retries: ByName<Counter>
  readonly fallbacks: ByName<Counter>
  /** By the row of the refusal. */
  readonly heals: ByName<Counter>
  /** By HTTP status; the label has its class only, such as `2xx`. */
  readonly requests: ByName<Counter, number>
  readonly costs: ByName<Counter>
  readonly endings: ByName<Counter>

  /** `key` is the id of the gateway key, where the setting `telemetry.key_label` is on. */
  constructor(
    registry: SeriesRegistry,
    route: string,
    { kind, slug }: Account,
    operation: string,
    model: string,
    key: string | undefined
  ) {
    const genAi = {
      gen_ai_operation_name: operationLabel(operation),
      gen_ai_provider_name: providerName(kind),
      gen_ai_request_model: model,
      ...(isNativeRoute(route) ? { dialect: "native" } : {})
    }
    const keyed = key === undefined ? {} : { key_id: key }
    const labels = { provider: slug, model, ...keyed }
    const timing = (spec: (typeof metrics)[keyof typeof metrics]) =>
      new ByName((error) => registry.histogram(spec, error === "" ? genAi : { ...genAi, error_type: error }))
    const counter = (spec: (typeof metrics)[keyof typeof metrics], labels: Labels, name: string) =>
      new ByName((value) => registry.counter(spec, name === "" ? labels : { ...labels, [name]: value }))
    this.tokens = new ByName((gen_ai_token_type) =>
      registry.histogram(metrics.tokenUsage, { ...genAi, ...keyed, gen_ai_token_type })
    )
    this.operation = timing(metrics.operationDuration)
    this.request = timing(metrics.requestDuration)
    this.firstChunk = timing(metrics.firstChunk)
    this.firstToken = timing(metrics.firstToken)
    this.outputToken = timing(metrics.outputToken)
    this.outputChunk = timing(metrics.outputChunk)
    this.attempts = counter(metrics.attempts, { provider: slug }, "outcome")
    this.retries = counter(metrics.retries, { provider: slug }, "reason")
    this.fallbacks = counter(metrics.fallbacks, { provider: slug }, "reason")
    this.heals = counter(metrics.heals, { provider: slug, model }, "row")
    this.requests = new ByName((status) =>
      registry.counter(metrics.requests, { route, ...labels, status_class: statusClass(status) })
    )
    this.costs = counter(metrics.cost, labels, "")
    this.endings = counter(metrics.modelWarnings, { provider: slug, model }, "stage")
  }

  observeUsage({ input, output }: Usage): void {
    this.tokens.get("input").observe(input)
    this.tokens.get("output").observe(output)
  }
}

const statusClass = (status: number): string => `${Math.trunc(status / 100)}xx`
/** The label of requests that reached no target. */
const none = "none"

/** The series of one route. */
export class RouteMeters {
  readonly activeRequests: Gauge
  private readonly registry: SeriesRegistry
  private readonly route: string
  private readonly targets = new Map<string, Map<string, TargetMeters>>()
  private readonly http: ByName<Histogram, number>
  private readonly refused: ByName<Counter, number>
  private readonly cache: ByName<Counter>
  private readonly overheads: ByName<Histogram>

  constructor(registry: SeriesRegistry, method: string, route: string) {
    this.registry = registry
    this.route = route
    this.activeRequests = registry.gauge(metrics.activeRequests, { route })
    this.http = new ByName((status) =>
      registry.histogram(metrics.httpDuration, {
        http_request_method: method,
        http_route: route,
        http_response_status_code: String(status)
      })
    )
    this.refused = new ByName((status) =>
      registry.counter(metrics.requests, { route, provider: none, model: none, status_class: statusClass(status) })
    )
    this.cache = new ByName((result) => registry.counter(metrics.cache, { result }))
    this.overheads = new ByName((streamed) => registry.histogram(metrics.overhead, { route, streamed }))
  }

  /** Only routes that stream have this series. */
  get activeStreams(): Gauge {
    return this.registry.gauge(metrics.activeStreams, { route: this.route })
  }

  /** `model` is a name of a closed set, so that the number of series stays bounded. */
  target(account: Account, operation: string, model: string, key: string | undefined): TargetMeters {
    const name = key === undefined ? model : `${model}\n${key}`
    const ofSlug = this.targets.get(account.slug)
    const existing = ofSlug?.get(name)
    if (existing !== undefined) return existing
    const made = new TargetMeters(this.registry, this.route, account, operation, model, key)
    if (ofSlug === undefined) this.targets.set(account.slug, new Map([[name, made]]))
    else ofSlug.set(name, made)
    return made
  }

  observeRequest(status: number, durationSeconds: number, target: TargetMeters | undefined): void {
    this.http.get(status).observe(durationSeconds)
    ;(target?.requests ?? this.refused).get(status).add(1)
  }

  observeOverhead(seconds: number, stream: boolean): void {
    this.overheads.get(stream ? "true" : "false").observe(seconds)
  }

  countCacheResult(result: string): void {
    this.cache.get(result).add(1)
  }
}
