// Spans as plain facts for a tracer. Without an exporter there is no tracer, and no spans are made.
// Must not know requests, nor any exporter.
import * as Context from "effect/Context"

export type AttributeValue = string | number | boolean | ReadonlyArray<string>
export type Attributes = Readonly<Record<string, AttributeValue>>

/** A span that has ended. Times are milliseconds since 1970, with fractions. */
export interface SpanFacts {
  readonly name: string
  readonly kind: "server" | "internal" | "client"
  readonly startMillis: number
  readonly endMillis: number
  /** The id that an upstream has received already; undefined: any id. */
  readonly spanId?: string | undefined
  readonly attributes: Attributes
  readonly failed: boolean
  /** The child spans. */
  readonly below?: ReadonlyArray<SpanFacts>
}

/** The position of a span in the caller's trace. */
export interface SpanPlace {
  readonly traceId: string
  readonly parent: { readonly spanId: string; readonly sampled: boolean } | undefined
  /** W3C `tracestate`, as received. */
  readonly state: string | undefined
}

export interface Tracer {
  /** Whether spans include the content of messages. */
  readonly content: boolean
  /** Takes a span with its children. Without a place the span begins a trace of its own. */
  readonly record: (span: SpanFacts, place?: SpanPlace) => void
}

export const Tracing: Context.Reference<Tracer | undefined> = Context.Reference<Tracer | undefined>(
  "gateway/telemetry/Tracing",
  {
    defaultValue: () => undefined
  }
)
