// The table of operations the simulated services know; a further one is one file and one line here.
// It must not know sockets or credentials.

import type { Answer } from "./answers.ts"
import { countMessages } from "./countMessages.ts"
import { countTokens } from "./countTokens.ts"
import { batchEmbedContents, embedContent } from "./embedContent.ts"
import type { SimulatedEndpoint } from "./endpoints.ts"
import { generateContent } from "./generateContent.ts"
import { openaiChat } from "./openaiChat.ts"
import { openaiEmbeddings } from "./openaiEmbeddings.ts"
import { predict } from "./predict.ts"
import { rawPredict } from "./rawPredict.ts"
import type { Route } from "./routes.ts"

export interface Call {
  readonly route: Route
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
  /** The self-deployed endpoint asked, for routes that lead to one. */
  readonly endpoint: SimulatedEndpoint | undefined
  /** How many calls this model or endpoint has had, this one included. */
  readonly callNumber: number
  /** Unique in the life of the simulator; response ids are made from it. */
  readonly serial: number
  readonly now: number
  readonly checkRequests: boolean
  readonly acceptForeignSignatures: boolean
  readonly tokensPerSecond: number
}

export interface Operation {
  readonly matches: (route: Route) => boolean
  /** Pure: the same call gets the same answer. */
  readonly answer: (call: Call) => Answer
}

const operations: ReadonlyArray<Operation> = [
  generateContent, countTokens, countMessages, rawPredict, openaiChat, openaiEmbeddings, predict, embedContent, batchEmbedContents
]

export const findOperation = (route: Route): Operation | undefined => operations.find((operation) => operation.matches(route))
