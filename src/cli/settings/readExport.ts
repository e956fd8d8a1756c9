// Reads from the environment whether to export to an OpenTelemetry collector. The SDK reads most variables itself.
// Must not import the SDK. Source: opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables.
import type { ExportSetting } from "../../domain/settings/Settings.ts"
import type { Fault } from "../../domain/faults.ts"
import type { Environment } from "./substitute.ts"

/** Empty counts as unset, as the OpenTelemetry specification requires. */
const valueOf = (env: Environment, name: string): string | undefined => {
  const value = Object.hasOwn(env, name) ? env[name]?.trim() : undefined
  return value === "" ? undefined : value
}

const isTrue = (env: Environment, name: string): boolean => valueOf(env, name)?.toLowerCase() === "true"

/** The protocol in use. */
const protocol = "http/json"
/** The usual value, for which the same address takes JSON as well. */
const protobuf = "http/protobuf"

const protocolNames = [
  "OTEL_EXPORTER_OTLP_PROTOCOL",
  "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
  "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL"
]

const protocolFaults = (env: Environment): ReadonlyArray<Fault> =>
  protocolNames.flatMap((path) => {
    const value = valueOf(env, path)
    return value === undefined || value === protocol || value === protobuf
      ? []
      : [
          {
            path,
            message: `only ${protocol} is spoken; leave it unset, and point the endpoint at the collector's port for HTTP, usually 4318`,
            at: undefined
          }
        ]
  })

const intervalName = "OTEL_METRIC_EXPORT_INTERVAL"

/** As the SDK chooses it. */
const endpointAt = (env: Environment, signal: "traces" | "metrics") => {
  const value =
    valueOf(env, `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_ENDPOINT`) ?? valueOf(env, "OTEL_EXPORTER_OTLP_ENDPOINT")
  return value === undefined ? {} : { [signal]: value }
}

export interface ReadExport {
  /** Undefined when export is off. */
  readonly setting: ExportSetting | undefined
  readonly faults: ReadonlyArray<Fault>
}

export const readExport = (env: Environment): ReadExport => {
  const everything = valueOf(env, "OTEL_EXPORTER_OTLP_ENDPOINT") !== undefined
  const traces = everything || valueOf(env, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") !== undefined
  const metrics = everything || valueOf(env, "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT") !== undefined
  if (isTrue(env, "OTEL_SDK_DISABLED") || (!traces && !metrics)) return { setting: undefined, faults: [] }
  const interval = valueOf(env, intervalName)
  const isInterval = interval === undefined || /^[1-9]\d{0,8}$/.test(interval)
  return {
    setting: {
      traces: traces && valueOf(env, "OTEL_TRACES_EXPORTER") !== "none",
      metrics:
        !metrics || valueOf(env, "OTEL_METRICS_EXPORTER") === "none"
          ? undefined
          : {
              intervalMillis: interval === undefined ? undefined : Number(interval),
              isDelta: valueOf(env, "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE")?.toLowerCase() === "delta"
            },
      endpoints: { ...endpointAt(env, "traces"), ...endpointAt(env, "metrics") },
      content: isTrue(env, "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"),
      isNamed:
        valueOf(env, "OTEL_SERVICE_NAME") !== undefined ||
        /(^|,)\s*service\.name\s*=/.test(valueOf(env, "OTEL_RESOURCE_ATTRIBUTES") ?? ""),
      ...(protocolNames.some((name) => valueOf(env, name) === protobuf) ? { asksProtobuf: true } : {})
    },
    faults: [
      ...protocolFaults(env),
      ...(isInterval ? [] : [{ path: intervalName, message: "expected a whole number of milliseconds", at: undefined }])
    ]
  }
}
