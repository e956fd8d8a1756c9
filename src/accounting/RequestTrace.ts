// The trace of one request: the trace headers of its upstream calls, and the spans that are made when it has ended.
// Must not depend on an exporter. Made only where spans are exported or propagated.
import { randomBytes } from "node:crypto"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { isNativeRoute, operationLabel, operations } from "../domain/operations.ts"
import { decodeUtf8, isJsonObject, type JsonObject, parseJsonText } from "../domain/text/json.ts"
import type { ObservedAsking, ObservedAttempt, ObservedCall } from "../domain/RequestContext.ts"
import {
  googleAsChat,
  providerName,
  requestAttributes,
  responseAttributes,
  usageAttributes
} from "../telemetry/genAi.ts"
import { inputContent } from "../telemetry/MessageContent.ts"
import type { Attributes, SpanFacts, Tracer } from "../telemetry/Tracing.ts"
import { ResponseObserver } from "./ResponseObserver.ts"
import {
  attemptFailure,
  type AttemptRecord,
  type AttemptTrace,
  type RequestError,
  type RequestMeta,
  type RequestRecord,
  type TraceContext,
  traceContextOf,
  traceparentOf,
  type TracesAttempts
} from "./RequestRecord.ts"
import { errorFacts } from "../api/errorFacts.ts"
import { adjustmentText } from "../translate/Translator.ts"
import { shownError } from "./requestRow.ts"
import { clientGone, type Ended, type Settled } from "./Settlement.ts"

interface TraceOptions {
  /** Undefined without an exporter. */
  readonly tracer: Tracer | undefined
  /** Whether upstream calls carry the trace headers. */
  readonly propagate: boolean
}

export class RequestTrace implements TracesAttempts {
  readonly context: TraceContext
  private readonly options: TraceOptions

  constructor(options: TraceOptions, { freshId, headers, traceId }: RequestMeta) {
    this.options = options
    this.context = traceContextOf(headers, traceId, freshId)
  }

  attempt({ target, url }: ObservedCall, { context, request, stream }: ObservedAsking): AttemptTrace {
    const { propagate, tracer } = this.options
    const spanId = randomBytes(8).toString("hex")
    const conversation = context.metadata["conversation_id"]
    const body = tracer === undefined ? {} : bodyOf(request)
    const asked = operations[target.operation].dialect === "google" ? googleAsChat(body) : body
    return {
      headers: propagate ? this.headers(spanId) : undefined,
      spanId,
      attributes:
        tracer === undefined
          ? {}
          : {
              "gen_ai.operation.name": operationLabel(target.operation),
              "gen_ai.provider.name": providerName(target.kind),
              "gen_ai.request.model": target.modelId,
              ...requestAttributes(target.operation, { ...asked, stream }),
              ...(conversation === undefined ? {} : { "gen_ai.conversation.id": conversation }),
              ...addressOf(url),
              "gateway.provider": target.slug,
              "gateway.target": target.optionIndex,
              ...(tracer.content && Array.isArray(asked["messages"]) ? inputContent(asked) : {})
            },
      answer: new ResponseObserver(tracer?.content ?? false)
    }
  }

  /** The sampling decision of the client applies. Without one, the trace is sampled if there is an exporter. */
  private headers(spanId: string): ObservedAttempt["headers"] {
    const { parent, state, traceId } = this.context
    const sampled = parent?.sampled ?? this.options.tracer !== undefined
    return {
      traceparent: Redacted.make(traceparentOf({ traceId, spanId, sampled })),
      ...(state === undefined ? {} : { tracestate: Redacted.make(state) })
    }
  }
}

/** The request body in its own dialect; native bodies are bytes. */
const bodyOf = (request: unknown): JsonObject => {
  if (!isJsonObject(request)) return {}
  if (!(request["bytes"] instanceof Uint8Array)) return request
  const parsed = parseJsonText(decodeUtf8(request["bytes"]) ?? "")
  return Result.isSuccess(parsed) && isJsonObject(parsed.success) ? parsed.success : {}
}

const addressOf = (url: string): Attributes => {
  const { hostname, port, protocol } = new URL(url)
  return { "server.address": hostname, "server.port": port === "" ? (protocol === "http:" ? 80 : 443) : Number(port) }
}

// Makes the spans of one ended request: the request, its routing, and each upstream call.

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
  const { error_code: errorCode, error_message: errorMessage, error_param: errorParam } = shownError(error)
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
