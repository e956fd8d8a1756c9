// The headers that every answer has: its ids, the targets that were passed over, and the remaining limits of the key.
// It must not depend on what is answered.
import { addAliases, answerHeaders } from "../../api/Headers.ts"
import { dialectOf } from "../../domain/operations.ts"
import type { IncomingRequest, RequestIds } from "../request/IncomingRequest.ts"
import { addLimits } from "./limitHeaders.ts"

/** The headers of every answer, also of answers to broken HTTP. */
export const idHeaders = ({ requestId, traceId, usesAlias }: RequestIds): Record<string, string> => {
  const headers = {
    "x-request-id": requestId,
    "request-id": requestId,
    [answerHeaders.traceId]: traceId,
    "cache-control": "no-store"
  }
  return usesAlias ? addAliases(headers) : headers
}

/** The headers of an answer on a route: the ids, and the remaining limits of the key. */
export const baseHeaders = (incoming: IncomingRequest): Record<string, string> => {
  const headers = idHeaders(incoming)
  const { limits, skipped = [] } = incoming.recorder ?? {}
  if (skipped.length > 0) headers[answerHeaders.skippedTargets] = skipped.join(",")
  if (limits === undefined) return headers
  return addLimits(headers, limits, dialectOf(incoming.path), incoming.startedMillis)
}
