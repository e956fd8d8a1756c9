// Lists the operations of the simulated services; a new operation is one file and one row here.
// Must not depend on sockets or credentials.

import { countMessages } from "../claude/countMessages.ts"
import { rawPredict } from "../claude/rawPredict.ts"
import { computeTokens, countTokens } from "../gemini/countTokens.ts"
import { batchEmbedContents, embedContent } from "../gemini/embedContent.ts"
import { generateContent } from "../gemini/generateContent.ts"
import { getModel, listModels } from "../gemini/listModels.ts"
import { openaiChat } from "../openai/chat.ts"
import { openaiEmbeddings } from "../openai/embeddings.ts"
import { predict } from "../predict/predict.ts"
import type { Operation } from "../shared/operation.ts"
import type { Route } from "../shared/routes.ts"

const operations: ReadonlyArray<Operation> = [
  generateContent,
  countTokens,
  computeTokens,
  countMessages,
  rawPredict,
  openaiChat,
  openaiEmbeddings,
  predict,
  embedContent,
  batchEmbedContents,
  listModels,
  getModel
]

export const findOperation = (route: Route): Operation | undefined =>
  operations.find((operation) => operation.matches(route))
