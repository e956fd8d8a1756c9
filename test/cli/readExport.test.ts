// Reading the export settings from the environment.
// Must not import the SDK.
import { describe, expect, it } from "vitest"
import { readExport } from "../../src/cli/settings/readSections.ts"

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" }
const url = endpoint.OTEL_EXPORTER_OTLP_ENDPOINT
const everything = {
  endpoints: { traces: url, metrics: url },
  traces: true,
  metrics: { intervalMillis: undefined, isDelta: false },
  content: false,
  isNamed: false
}

describe("export settings", () => {
  it.each([
    ["nothing is exported without an endpoint", {}, undefined],
    ["nothing is exported with an empty endpoint", { OTEL_EXPORTER_OTLP_ENDPOINT: " " }, undefined],
    ["nothing is exported when the SDK is turned off", { ...endpoint, OTEL_SDK_DISABLED: "TRUE" }, undefined],
    ["the common endpoint exports both signals", endpoint, everything],
    [
      "the traces endpoint exports traces only",
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://x" },
      { ...everything, endpoints: { traces: "http://x" }, metrics: undefined }
    ],
    [
      "the metrics endpoint exports metrics only",
      { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "http://x" },
      { ...everything, endpoints: { metrics: "http://x" }, traces: false }
    ],
    [
      "a signal can be turned off",
      { ...endpoint, OTEL_TRACES_EXPORTER: "none", OTEL_METRICS_EXPORTER: "none" },
      { ...everything, traces: false, metrics: undefined }
    ],
    [
      "every variable is read",
      {
        ...endpoint,
        OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
        OTEL_METRIC_EXPORT_INTERVAL: "5000",
        OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: "DELTA",
        OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true",
        OTEL_SERVICE_NAME: "mine"
      },
      { ...everything, metrics: { intervalMillis: 5000, isDelta: true }, content: true, isNamed: true }
    ],
    [
      "protobuf is answered with JSON at the same address",
      { ...endpoint, OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/protobuf" },
      { ...everything, asksProtobuf: true }
    ],
    [
      "the service name comes from the resource",
      { ...endpoint, OTEL_RESOURCE_ATTRIBUTES: "a=b, service.name=mine" },
      { ...everything, isNamed: true }
    ]
  ])("export settings: %s", (_, env, setting) => {
    expect(readExport(env)).toEqual({ setting, faults: [] })
  })

  it("export settings: another protocol and an invalid interval are faults", () => {
    const { faults } = readExport({
      ...endpoint,
      OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
      OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: "http/thrift",
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
