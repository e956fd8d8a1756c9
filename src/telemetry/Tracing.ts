// Spans as plain facts, for whoever exports them; nobody does unless an exporter is given.
// It must not know requests, nor any exporter.
import * as Context from "effect/Context"

export type AttributeValue = string | number | boolean | ReadonlyArray<string>
export type Attributes = Readonly<Record<string, AttributeValue>>

/** Something that has ended. Moments are milliseconds since 1970, with fractions. */
export interface SpanFacts {
  readonly name: string
  readonly kind: "server" | "internal" | "client"
  readonly startMillis: number
  readonly endMillis: number
  /** Where it was told to somebody already; undefined: any. */
  readonly spanId?: string | undefined
  readonly attributes: Attributes
  readonly failed: boolean
  /** Spans of which this one is the parent. */
  readonly below?: ReadonlyArray<SpanFacts>
}

/** Where a span stands in a trace of others. */
export interface SpanPlace {
  readonly traceId: string
  readonly parent: { readonly spanId: string; readonly sampled: boolean } | undefined
  /** W3C `tracestate`, as it came. */
  readonly state: string | undefined
}

export interface Tracer {
  /** Whether the content of messages is wanted as well. */
  readonly content: boolean
  /** Takes a span with all below it; without a place it begins a trace of its own. */
  readonly ended: (span: SpanFacts, place?: SpanPlace) => void
}

export const Tracing: Context.Reference<Tracer | undefined> = Context.Reference<Tracer | undefined>(
  "gateway/telemetry/Tracing",
  {
    defaultValue: () => undefined
  }
)
