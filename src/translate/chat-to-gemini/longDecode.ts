// Reports whether the answer to a chat request may be longer than one request to Gemini gives.
// Must not depend on how the rest of an answer is asked for.
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import { ParamReader } from "../shared/chat-request/paramReader.ts"
import type { ModelFacts } from "../shared/google/modelFacts.ts"

/** True when the client asks for more than one request gives, and for one answer only (M-601). */
export const mayContinue = (request: ChatRequest, { longDecode }: ModelFacts, stream: boolean): boolean => {
  if (longDecode === undefined || (request.n ?? 1) !== 1) return false
  const params = new ParamReader(request)
  const { maxTokens: most } = params.maxTokens()
  return params.fault === undefined && most !== undefined && most > (stream ? longDecode.stream : longDecode.unary)
}

/** True for a request with the token of an earlier answer, in any of the places that the translation reads. */
export const continuesAnswer = ({ continuation_token, extra_body, google }: ChatRequest): boolean =>
  [continuation_token, tokenIn(extra_body?.["google"]), tokenIn(google)].some(
    (token) => token !== undefined && token !== null
  )

const tokenIn = (extras: unknown): unknown =>
  typeof extras === "object" && extras !== null && "continuation_token" in extras
    ? extras.continuation_token
    : undefined
