// Lists the operations of the simulated services; a new operation is one file and one row here.
// It must not depend on sockets or credentials.

import { countMessages } from "../claude/countMessages.ts"
import { rawPredict } from "../claude/rawPredict.ts"
import { countTokens } from "../gemini/countTokens.ts"
import { batchEmbedContents, embedContent } from "../gemini/embedContent.ts"
import { generateContent } from "../gemini/generateContent.ts"
import { openaiChat } from "../openai/chat.ts"
import { openaiEmbeddings } from "../openai/embeddings.ts"
import { predict } from "../predict/predict.ts"
import type { Operation } from "../shared/operation.ts"
import type { Route } from "../shared/routes.ts"

const operations: ReadonlyArray<Operation> = [
  generateContent,
  countTokens,
  countMessages,
  rawPredict,
  openaiChat,
  openaiEmbeddings,
  predict,
  embedContent,
  batchEmbedContents
]

export const findOperation = (route: Route): Operation | undefined =>
  operations.find((operation) => operation.matches(route))
