// Headers of an answer: the account that served it, what it ignored or changed, and the end of its connection.
// It must not depend on what is answered.
import { addAliases, answerHeaders } from "../../api/Headers.ts"
import { endingText } from "../../domain/models/modelLife.ts"
import type { ServedBy } from "../../router/ProviderRouter.ts"
import { endingOf } from "../../translate/shared/google/modelStatus.ts"
import { adjustmentText } from "../../translate/Translator.ts"
import type { ModelStatus } from "../../wire/openai/ChatReply.ts"
import type { IncomingRequest } from "../request/IncomingRequest.ts"
import { baseHeaders } from "./baseHeaders.ts"

/** While the server leaves, no answer keeps its connection. */
export const closing = (headers: Record<string, string>, { traffic }: IncomingRequest): Record<string, string> =>
  traffic.drainingSince !== undefined ? Object.assign(headers, { connection: "close" }) : headers

const longestParams = 1024

/** Names from a client may contain any character; a header may not. */
const paramsText = (names: ReadonlyArray<string>): string =>
  names
    .join(",")
    .slice(0, longestParams)
    .replace(/[^\x21-\x7e]/g, "?")

/** What an answer lacks. */
export interface AnswerEnding {
  /** The rest of a long answer could not be had. */
  readonly isInterrupted?: boolean
  /** What OpenAI's schema has no place for. */
  readonly omitted?: ReadonlyArray<string>
}

export const servedHeaders = (
  incoming: IncomingRequest,
  served: ServedBy,
  { isInterrupted = false, omitted = [] }: AnswerEnding = {}
): Record<string, string> => {
  const headers = baseHeaders(incoming)
  headers[answerHeaders.provider] = served.slug
  headers[answerHeaders.optionIndex] = String(served.optionIndex)
  headers[answerHeaders.retryCount] = String(served.retryCount)
  headers[answerHeaders.cacheStatus] = served.cache
  if (served.ignored.length > 0) headers[answerHeaders.ignoredParams] = paramsText(served.ignored)
  if (served.translated !== undefined) headers[answerHeaders.translated] = served.translated
  if (served.adjusted !== undefined)
    headers[answerHeaders.adjustedParams] = paramsText(served.adjusted.map(adjustmentText))
  if (omitted.length > 0) headers[answerHeaders.omittedContent] = omitted.join(",")
  if (isInterrupted) headers[answerHeaders.continuation] = "interrupted"
  if (served.ending !== undefined)
    headers[answerHeaders.modelWarning] = endingText(served.ending).replace(/[^\x20-\x7e]/g, "?")
  return incoming.usesAlias ? addAliases(headers) : headers
}

/** The provider's own word on the end of its model counts where the facts are silent (M-703). */
export const withEnding = (served: ServedBy, status: ModelStatus | undefined): ServedBy =>
  status === undefined || served.ending !== undefined ? served : { ...served, ending: endingOf(status) }
