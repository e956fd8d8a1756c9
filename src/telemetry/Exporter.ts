// Exports spans and metrics to an OpenTelemetry collector, over OTLP as JSON. Loaded only when an endpoint is set.
// Must not know requests. The SDK itself reads endpoints, headers, batch sizes and samplers from OTEL_*.
import * as NodeSdk from "@effect/opentelemetry/NodeSdk"
import * as OtelMetrics from "@effect/opentelemetry/OtelMetrics"
import { OtelTracerProvider } from "@effect/opentelemetry/OtelTracer"
import * as Resource from "@effect/opentelemetry/Resource"
import {
  type Context,
  createTraceState,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags
} from "@opentelemetry/api"
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http"
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http"
import { PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics"
import { BatchSpanProcessor, type IdGenerator, RandomIdGenerator } from "@opentelemetry/sdk-trace-base"
import type { AgentOptions } from "node:https"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ExportSetting } from "../domain/settings/Settings.ts"
import { schemaUrl } from "./genAi.ts"
import { type SpanFacts, type SpanPlace, type Tracer, Tracing } from "./Tracing.ts"

const name = "model-gateway"
const shutdownTimeout = "5 seconds"

/** Random ids, except for ids that were sent to an upstream before their span was made. */
class PresetIds implements IdGenerator {
  private readonly random = new RandomIdGenerator()
  traceId: string | undefined
  spanId: string | undefined

  readonly generateTraceId = (): string => this.traceId ?? this.random.generateTraceId()
  readonly generateSpanId = (): string => this.spanId ?? this.random.generateSpanId()
}

const kinds = { server: SpanKind.SERVER, internal: SpanKind.INTERNAL, client: SpanKind.CLIENT }

/** The `tracestate` of the caller; undefined when it is malformed. */
const stateOf = (text: string) => {
  const state = createTraceState(text)
  return state.serialize() === "" ? undefined : state
}

const parentOf = ({ parent, state, traceId }: SpanPlace): SpanContext | undefined => {
  if (parent === undefined) return undefined
  const traceState = state === undefined ? undefined : stateOf(state)
  return {
    traceId,
    spanId: parent.spanId,
    traceFlags: parent.sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
    ...(traceState === undefined ? {} : { traceState })
  }
}

/** Copies lists, because the SDK keeps a reference to them. */
const attributesOf = ({ attributes }: SpanFacts) =>
  Object.fromEntries(
    Object.entries(attributes).map(([key, value]) => [key, typeof value === "object" ? [...value] : value])
  )

const tracerOf = (version: string, ids: PresetIds, content: boolean) =>
  Effect.map(OtelTracerProvider, (provider): Tracer => {
    const tracer = provider.getTracer(name, version, { schemaUrl })
    const record = (facts: SpanFacts, context: Context): void => {
      ids.spanId = facts.spanId
      const { kind, startMillis: startTime } = facts
      const span = tracer.startSpan(
        facts.name,
        { kind: kinds[kind], startTime, attributes: attributesOf(facts) },
        context
      )
      if (facts.failed) span.setStatus({ code: SpanStatusCode.ERROR })
      const inside = trace.setSpan(ROOT_CONTEXT, span)
      for (const one of facts.below ?? []) record(one, inside)
      span.end(facts.endMillis)
    }
    return {
      content,
      record: (facts, place) => {
        const parent = place === undefined ? undefined : parentOf(place)
        ids.traceId = place?.traceId
        record(facts, parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent))
        ids.traceId = undefined
        ids.spanId = undefined
      }
    }
  })

/** Options of the agents of the SDK's own connections. */
interface ExportAgents {
  readonly traces: AgentOptions
  readonly metrics: AgentOptions
}

/**
 * Exports while the scope is open. Closing it sends what waits, for at most five seconds. An unreachable collector has
 * no other effect.
 */
export const exporter = (
  version: string,
  { asksProtobuf, content, isNamed, metrics, traces }: ExportSetting,
  agents: ExportAgents | undefined
): Layer.Layer<never> => {
  const ids = new PresetIds()
  const by = (options: AgentOptions | undefined) => (options === undefined ? {} : { httpAgentOptions: options })
  const spans = Layer.effect(Tracing, tracerOf(version, ids, content)).pipe(
    Layer.provide(
      Layer.unwrap(
        Effect.sync(() =>
          NodeSdk.layerTracerProvider(new BatchSpanProcessor(new OTLPTraceExporter(by(agents?.traces))), {
            idGenerator: ids,
            shutdownTimeout
          })
        )
      )
    )
  )
  const series = OtelMetrics.layer(
    () =>
      new PeriodicExportingMetricReader({
        exporter: new OTLPMetricExporter(by(agents?.metrics)),
        ...(metrics?.intervalMillis === undefined ? {} : { exportIntervalMillis: metrics.intervalMillis })
      }),
    { shutdownTimeout, ...(metrics?.isDelta === true ? { temporality: "delta" as const } : {}) }
  )
  const warning =
    asksProtobuf === true
      ? Layer.effectDiscard(
          Effect.logWarning("OTEL_EXPORTER_OTLP_PROTOCOL asks for http/protobuf; http/json is sent to the same address")
        )
      : Layer.empty
  return Layer.mergeAll(warning, traces ? spans : Layer.empty, metrics === undefined ? Layer.empty : series).pipe(
    Layer.provide(Resource.layerFromEnv({ "service.version": version, ...(isNamed ? {} : { "service.name": name }) }))
  )
}
