// What the environment says about exporting.
import { describe, expect, it } from "vitest"
import { readExport } from "../../src/cli/settings/readExport.ts"

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" }
const everything = {
  traces: true,
  metrics: { intervalMillis: undefined, isDelta: false },
  content: false,
  isNamed: false
}

describe("exporting", () => {
  it.each([
    ["nothing without an endpoint", {}, undefined],
    ["nothing with an empty one", { OTEL_EXPORTER_OTLP_ENDPOINT: " " }, undefined],
    ["nothing when the SDK is turned off", { ...endpoint, OTEL_SDK_DISABLED: "TRUE" }, undefined],
    ["both signals with the common endpoint", endpoint, everything],
    [
      "traces alone with theirs",
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://x" },
      { ...everything, metrics: undefined }
    ],
    [
      "metrics alone with theirs",
      { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "http://x" },
      { ...everything, traces: false }
    ],
    [
      "a signal can be left out",
      { ...endpoint, OTEL_TRACES_EXPORTER: "none", OTEL_METRICS_EXPORTER: "none" },
      { ...everything, traces: false, metrics: undefined }
    ],
    [
      "with everything said",
      {
        ...endpoint,
        OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
        OTEL_METRIC_EXPORT_INTERVAL: "5000",
        OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: "DELTA",
        OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true",
        OTEL_SERVICE_NAME: "mine"
      },
      { traces: true, metrics: { intervalMillis: 5000, isDelta: true }, content: true, isNamed: true }
    ],
    [
      "named by its resource",
      { ...endpoint, OTEL_RESOURCE_ATTRIBUTES: "a=b, service.name=mine" },
      { ...everything, isNamed: true }
    ]
  ])("%s", (_, env, setting) => {
    expect(readExport(env)).toEqual({ setting, faults: [] })
  })

  it("another protocol and an interval that is none are faults", () => {
    const { faults } = readExport({
      ...endpoint,
      OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
      OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: "http/protobuf",
      OTEL_METRIC_EXPORT_INTERVAL: "5s"
    })
    const message =
      "only http/json is spoken; leave it unset, and point the endpoint at the collector's port for HTTP, usually 4318"
    expect(faults).toEqual([
      { path: "OTEL_EXPORTER_OTLP_PROTOCOL", message, at: undefined },
      { path: "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", message, at: undefined },
      { path: "OTEL_METRIC_EXPORT_INTERVAL", message: "expected a whole number of milliseconds", at: undefined }
    ])
  })
})
