// The trace of one request: the trace headers of its upstream calls, and the attributes of their spans.
// Must not depend on an exporter. Made only where spans are exported or propagated.
import { randomBytes } from "node:crypto"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { operationLabel, operations } from "../domain/operations.ts"
import { decodeUtf8, isJsonObject, type JsonObject, parseJsonText } from "../domain/text/json.ts"
import type { ObservedAsking, ObservedAttempt, ObservedCall } from "../domain/Observed.ts"
import { providerName, requestAttributes } from "../telemetry/genAi.ts"
import { inChatWords } from "../telemetry/googleWords.ts"
import { inputContent } from "../telemetry/MessageContent.ts"
import type { Attributes, Tracer } from "../telemetry/Tracing.ts"
import { ResponseObserver } from "./ResponseObserver.ts"
import type { RequestMeta } from "./RequestMeta.ts"
import type { AttemptTrace, TracesAttempts } from "./RequestRecord.ts"
import { type TraceContext, traceContextOf, traceparentOf } from "./traceContext.ts"

export interface TraceOptions {
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
    const asked = operations[target.operation].dialect === "google" ? inChatWords(body) : body
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
