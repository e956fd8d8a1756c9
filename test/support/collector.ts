// Runs an OpenTelemetry collector: accepts OTLP over HTTP as JSON and keeps what it receives.
// Must not depend on the sender.
import { createServer } from "node:http"

interface Value {
  readonly stringValue?: string
  readonly intValue?: number
  readonly doubleValue?: number
  readonly boolValue?: boolean
  readonly arrayValue?: { readonly values: ReadonlyArray<Value> }
}
interface KeyValue {
  readonly key: string
  readonly value: Value
}

const plain = ({ arrayValue, boolValue, doubleValue, intValue, stringValue }: Value): unknown =>
  stringValue ?? intValue ?? doubleValue ?? boolValue ?? arrayValue?.values.map(plain)
const attributesOf = (list: ReadonlyArray<KeyValue> = []): Record<string, unknown> =>
  Object.fromEntries(list.map(({ key, value }) => [key, plain(value)]))

export interface SeenSpan {
  readonly name: string
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly traceState: string | undefined
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly status: unknown
  readonly attributes: Record<string, unknown>
  readonly scope: unknown
  readonly schemaUrl: string
  readonly resource: Record<string, unknown>
}

export interface SeenMetric {
  readonly name: string
  readonly unit: string
  readonly points: ReadonlyArray<{ readonly attributes: Record<string, unknown>; readonly [field: string]: unknown }>
}

export interface Collector {
  readonly url: string
  readonly spans: Array<SeenSpan>
  /** Of the latest export. */
  metrics: ReadonlyArray<SeenMetric>
  readonly close: () => Promise<void>
}

export const startCollector = async (): Promise<Collector> => {
  const seen: { spans: Array<SeenSpan>; metrics: ReadonlyArray<SeenMetric> } = { spans: [], metrics: [] }
  const server = createServer((request, response) => {
    const parts: Array<Buffer> = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(parts).toString("utf8"))
      for (const { resource, scopeSpans } of body.resourceSpans ?? []) {
        for (const { schemaUrl, scope, spans } of scopeSpans) {
          for (const span of spans) {
            seen.spans.push({
              ...span,
              attributes: attributesOf(span.attributes),
              scope,
              schemaUrl,
              resource: attributesOf(resource.attributes)
            })
          }
        }
      }
      if (body.resourceMetrics !== undefined) {
        seen.metrics = body.resourceMetrics.flatMap(
          (one: { scopeMetrics: ReadonlyArray<{ metrics: ReadonlyArray<Record<string, never>> }> }) =>
            one.scopeMetrics.flatMap(({ metrics }) =>
              metrics.map((metric): SeenMetric => {
                const points: ReadonlyArray<{ attributes: ReadonlyArray<KeyValue> }> = Object(
                  metric["histogram"] ?? metric["sum"] ?? metric["gauge"]
                ).dataPoints
                return {
                  name: String(metric["name"]),
                  unit: String(metric["unit"]),
                  points: points.map((point) => ({ ...point, attributes: attributesOf(point.attributes) }))
                }
              })
            )
        )
      }
      response
        .writeHead(request.headers["content-type"] === "application/json" ? 200 : 415, {
          "content-type": "application/json"
        })
        .end("{}")
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("no port")
  return Object.assign(seen, {
    url: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      })
  })
}
