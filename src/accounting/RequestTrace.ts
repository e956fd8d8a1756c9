// The trace of one request: the headers its upstream calls carry, and the attributes of their spans.
// It must not depend on an exporter. Made only where spans are exported or propagated.
import { randomBytes } from "node:crypto"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { decodeUtf8, isJsonObject, type JsonObject, parseJsonText } from "../domain/text/json.ts"
import type { ObservedAsking, ObservedAttempt, ObservedCall } from "../domain/Observed.ts"
import { operationName, providerName, requestAttributes } from "../telemetry/genAi.ts"
import { inputContent } from "../telemetry/MessageContent.ts"
import type { Attributes, Tracer } from "../telemetry/Tracing.ts"
import { AnswerNotes } from "./AnswerNotes.ts"
import type { RequestMeta } from "./RequestMeta.ts"
import type { AttemptTrace, TracesAttempts } from "./RequestRecord.ts"
import { type TraceContext, traceContextOf, traceparentOf } from "./traceContext.ts"

export interface TraceOptions {
  /** Undefined where spans go nowhere. */
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
    const asked = tracer === undefined ? {} : bodyOf(request)
    return {
      headers: propagate ? this.headers(spanId) : undefined,
      spanId,
      attributes:
        tracer === undefined
          ? {}
          : {
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

  /** Without an exporter the sampling decision of the caller stands; without that either, the trace is not sampled. */
  private headers(spanId: string): ObservedAttempt["headers"] {
    const { parent, state, traceId } = this.context
    const sampled = parent?.sampled ?? this.options.tracer !== undefined
    return {
      traceparent: Redacted.make(traceparentOf({ traceId, spanId, sampled })),
      ...(state === undefined ? {} : { tracestate: Redacted.make(state) })
    }
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
