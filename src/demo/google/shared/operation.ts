// What an operation of the simulated services is: the routes it answers, and its answer to one call.
// It must not depend on any particular operation.

import type { Answer } from "./answers.ts"
import type { SimulatedEndpoint } from "./endpoint.ts"
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
