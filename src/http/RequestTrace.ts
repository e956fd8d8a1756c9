// The trace of one request: what its calls tell their upstreams of it, and the spans it is exported as.
// It must not know any exporter. Made only where somebody exports or asks for propagation.
import { randomBytes } from "node:crypto"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { decodeUtf8, isJsonObject, type JsonObject, parseJsonText } from "../domain/json.ts"
import type { ObservedAsking, ObservedAttempt, ObservedCall } from "../domain/Observed.ts"
import { answerAttributes, operationName, providerName, requestAttributes, usageAttributes } from "../telemetry/genAi.ts"
import { inputContent } from "../telemetry/MessageContent.ts"
import type { Attributes, SpanFacts, Tracer } from "../telemetry/Tracing.ts"
import { adjustmentText } from "../translate/Translator.ts"
import { AnswerNotes } from "./AnswerNotes.ts"
import type { Arrival } from "./RequestContexts.ts"
import type { AttemptRecord, RequestRecord } from "./RequestRecord.ts"
import { type Ended, failureOf, type Settled } from "./Settlement.ts"
import { type TraceContext, traceContextOf, traceparentOf } from "./traceContext.ts"

export interface TraceOptions {
  /** Undefined where spans go nowhere. */
  readonly tracer: Tracer | undefined
  /** Whether upstreams are told of the trace. */
  readonly propagate: boolean
}

/** What a span of an upstream call will say, noted when the call begins. */
export interface AttemptTrace {
  readonly headers: ObservedAttempt["headers"]
  readonly spanId: string
  readonly attributes: Attributes
  readonly answer: AnswerNotes
}

export class RequestTrace {
  private readonly options: TraceOptions
  private readonly context: TraceContext

  constructor(options: TraceOptions, { freshId, headers, traceId }: Arrival) {
    this.options = options
    this.context = traceContextOf(headers, traceId, freshId)
  }

  attempt({ target, url }: ObservedCall, { context, request, stream }: ObservedAsking): AttemptTrace {
    const { propagate, tracer } = this.options
    const spanId = randomBytes(8).toString("hex")
    const conversation = context.metadata["conversation_id"]
    const asked = tracer === undefined ? {} : bodyOf(request)
    return {
      headers: propagate ? this.headers(spanId) : undefined,
      spanId,
      attributes: tracer === undefined ? {} : {
        "gen_ai.operation.name": operationName(target.operation),
        "gen_ai.provider.name": providerName(target.kind),
        "gen_ai.request.model": target.modelId,
        ...requestAttributes(target.operation, { ...asked, stream }),
        ...(conversation === undefined ? {} : { "gen_ai.conversation.id": conversation }),
        ...addressOf(url),
        "gateway.provider": target.slug,
        "gateway.target": target.optionIndex,
        ...(tracer.content && Array.isArray(asked["messages"]) ? inputContent(asked) : {})
      },
      answer: new AnswerNotes(tracer?.content ?? false)
    }
  }

  /** Without an exporter nobody records: the caller's own decision stands, else nobody is asked to record. */
  private headers(spanId: string): ObservedAttempt["headers"] {
    const { parent, state, traceId } = this.context
    const sampled = parent?.sampled ?? this.options.tracer !== undefined
    return {
      traceparent: Redacted.make(traceparentOf({ traceId, spanId, sampled })),
      ...(state === undefined ? {} : { tracestate: Redacted.make(state) })
    }
  }

  /** Hands the request over, when it was counted. */
  ended(ended: Ended, settled: Settled, method: string, route: string): void {
    const { arrival, record } = ended
    const epoch = arrival.startedMillis - record.startedAt
    this.options.tracer?.ended(
      {
        name: route.startsWith("/") ? `${method} ${route}` : method,
        kind: "server",
        startMillis: arrival.startedMillis,
        endMillis: epoch + ended.at,
        attributes: this.serverAttributes(ended, settled, method, route),
        failed: settled.status >= 500 || (record.errorType !== undefined && settled.status === 200),
        below: record.route === undefined ? [] : [routeSpan(record.route, ended, settled, epoch)]
      },
      this.context
    )
  }

  private serverAttributes({ arrival, gone, record }: Ended, { status }: Settled, method: string, route: string): Attributes {
    const error = gone ? "cancelled" : record.errorType
    return {
      "http.request.method": method,
      ...(route.startsWith("/") ? { "http.route": route } : {}),
      "http.response.status_code": status,
      "url.scheme": "http",
      ...(error === undefined ? {} : { "error.type": error }),
      "gateway.request_id": arrival.requestId,
      ...(arrival.traceId === this.context.traceId ? {} : { "gateway.trace_id": arrival.traceId })
    }
  }
}

/** From the plan to the answer, or to the first chunk of a stream: what was chosen, and the calls that it took. */
const routeSpan = ({ config, configId, startedAt }: NonNullable<RequestRecord["route"]>, ended: Ended, settled: Settled, epoch: number): SpanFacts => {
  const { attempts, errorType, served } = ended.record
  const last = attempts.at(-1)
  const root = config?.root
  return {
    name: "gateway route",
    kind: "internal",
    startMillis: epoch + startedAt,
    endMillis: epoch + (last?.chunkAt || last?.endedAt || ended.at),
    attributes: {
      "gateway.strategy": root?.kind === "group" ? root.mode : "single",
      ...(configId === undefined ? {} : { "gateway.config_id": configId }),
      "gateway.attempts": attempts.length,
      ...(served === undefined ? {} : { "gateway.cache": served.cache }),
      ...(served === undefined || served.ignored.length === 0 ? {} : { "gateway.ignored_params": served.ignored }),
      ...(served?.adjusted === undefined ? {} : { "gateway.adjusted_params": served.adjusted.map(adjustmentText) }),
      ...(served === undefined && errorType !== undefined ? { "error.type": errorType } : {})
    },
    failed: served === undefined && settled.status >= 500,
    below: attempts.flatMap((attempt, position) =>
      attempt.trace === undefined ? [] : [callSpan(attempt, attempt.trace, ended, epoch, position, attempt === last ? settled : undefined)])
  }
}

/** `settled` of the call that decided the request; what was used is its doing. */
const callSpan = (
  attempt: AttemptRecord,
  { answer, attributes, spanId }: AttemptTrace,
  ended: Ended,
  epoch: number,
  position: number,
  settled: Settled | undefined
): SpanFacts => {
  const error = failureOf(attempt, ended)
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
      ...answerAttributes(answer),
      ...answer.attributes,
      ...(attempt.chunkAt === 0 ? {} : { "gen_ai.response.time_to_first_chunk": (attempt.chunkAt - attempt.startedAt) / 1000 }),
      ...(settled?.usage === undefined ? {} : usageAttributes(settled.usage)),
      ...(error === "" ? {} : { "error.type": error })
    },
    failed: error !== "" && !ended.gone
  }
}

/** A request in its own dialect; native ones are bytes. */
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
