// Makes the spans of one ended request: the request, its routing, and each upstream call.
// Must not depend on an exporter, or on how the request ran.
import { errorFacts } from "../api/errorFacts.ts"
import { isNativeRoute } from "../domain/operations.ts"
import { responseAttributes, usageAttributes } from "../telemetry/genAi.ts"
import type { Attributes, SpanFacts } from "../telemetry/Tracing.ts"
import { adjustmentText } from "../translate/Translator.ts"
import {
  attemptFailure,
  type AttemptRecord,
  type AttemptTrace,
  type RequestError,
  type RequestRecord
} from "./RequestRecord.ts"
import { clientGone, type Ended, type Settled, shownError } from "./Settlement.ts"

/** `traceId` is the id of the exported trace; the response may have another one. */
export const requestSpans = (
  ended: Ended,
  settled: Settled,
  traceId: string,
  method: string,
  route: string
): SpanFacts => {
  const { meta, record } = ended
  const epoch = meta.startedMillis - record.startedAt
  return {
    name: route.startsWith("/") ? `${method} ${route}` : method,
    kind: "server",
    startMillis: meta.startedMillis,
    endMillis: epoch + ended.at,
    attributes: serverAttributes(ended, settled, traceId, method, route),
    failed: settled.status >= 500 || (record.error !== undefined && settled.status === 200),
    below: record.route === undefined || record.routedAt === 0 ? [] : [routeSpan(record.route, ended, settled, epoch)]
  }
}

const serverAttributes = (
  { meta, gone, record }: Ended,
  { status }: Settled,
  traceId: string,
  method: string,
  route: string
): Attributes => {
  return {
    "http.request.method": method,
    ...(route.startsWith("/") ? { "http.route": route } : {}),
    ...(isNativeRoute(route) ? { "gateway.dialect": "native" } : {}),
    "http.response.status_code": status,
    "url.scheme": "http",
    ...(gone ? { "error.type": clientGone.code } : errorAttributes(record.error)),
    "gateway.request_id": meta.requestId,
    ...(meta.traceId === traceId ? {} : { "gateway.trace_id": meta.traceId })
  }
}

/** The code, message and param of the log line, under the names of OpenTelemetry where it has one. */
const errorAttributes = (error: RequestError | undefined): Attributes => {
  const { errorCode, errorMessage, errorParam } = shownError(error)
  return {
    ...(errorCode === undefined ? {} : { "error.type": errorCode }),
    ...(errorMessage === undefined ? {} : { "error.message": errorMessage }),
    ...(errorParam === undefined ? {} : { "gateway.error_param": errorParam })
  }
}

/** From the plan to the response or the first chunk of a stream: the strategy and the upstream calls. */
const routeSpan = (
  { config, configId }: NonNullable<RequestRecord["route"]>,
  ended: Ended,
  settled: Settled,
  epoch: number
): SpanFacts => {
  const { attempts, error, served, skipped } = ended.record
  const last = attempts.at(-1)
  const root = config?.root
  return {
    name: "gateway route",
    kind: "internal",
    startMillis: epoch + ended.record.routedAt,
    endMillis: epoch + (last?.chunkAt || last?.endedAt || ended.at),
    attributes: {
      "gateway.strategy": root?.kind === "group" ? root.mode : "single",
      ...(configId === undefined ? {} : { "gateway.config_id": configId }),
      "gateway.attempts": attempts.length,
      ...(skipped.length === 0 ? {} : { "gateway.skipped_targets": skipped.map(String) }),
      ...(served === undefined ? {} : { "gateway.cache": served.cache }),
      ...(served === undefined || served.ignored.length === 0 ? {} : { "gateway.ignored_params": served.ignored }),
      ...(served?.adjusted === undefined ? {} : { "gateway.adjusted_params": served.adjusted.map(adjustmentText) }),
      ...(served === undefined && error !== undefined ? { "error.type": error.code } : {})
    },
    failed: served === undefined && settled.status >= 500,
    below: attempts.flatMap((attempt, position) =>
      attempt.trace === undefined
        ? []
        : [callSpan(attempt, attempt.trace, ended, epoch, position, attempt === last ? settled : undefined)]
    )
  }
}

/** `settled` is present for the call that decided the request, to which the usage belongs. */
const callSpan = (
  attempt: AttemptRecord,
  { answer, attributes, spanId }: AttemptTrace,
  ended: Ended,
  epoch: number,
  position: number,
  settled: Settled | undefined
): SpanFacts => {
  const failure = attemptFailure(attempt, ended.record, ended.gone)
  const error = attempt.error === undefined ? ended.record.error : errorFacts(attempt.error)
  const model = attributes["gen_ai.request.model"]
  return {
    name: `${attributes["gen_ai.operation.name"]} ${model}`,
    kind: "client",
    startMillis: epoch + attempt.startedAt,
    endMillis: epoch + (attempt.endedAt === 0 ? ended.at : attempt.endedAt),
    spanId,
    attributes: {
      ...attributes,
      "gateway.attempt": position + 1,
      ...responseAttributes(answer),
      ...answer.attributes,
      ...(attempt.chunkAt === 0
        ? {}
        : { "gen_ai.response.time_to_first_chunk": (attempt.chunkAt - attempt.startedAt) / 1000 }),
      ...(settled?.usage === undefined ? {} : usageAttributes(settled.usage)),
      ...(failure === "" ? {} : { ...(error?.code === failure ? errorAttributes(error) : {}), "error.type": failure })
    },
    failed: failure !== "" && !ended.gone
  }
}
