// Declares the type of an operation: the routes it matches, and its answer to one call.
// Must not depend on any particular operation.

import type { Answer } from "./answers.ts"
import type { SimulatedEndpoint } from "./endpoint.ts"
import type { Route } from "./routes.ts"

export interface Call {
  readonly route: Route
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
  /** The self-deployed endpoint of the route; `undefined` for other routes. */
  readonly endpoint: SimulatedEndpoint | undefined
  /** The number of calls to this model or endpoint, including this one. */
  readonly callNumber: number
  /** Unique in the lifetime of the simulator; response ids derive from it. */
  readonly serial: number
  readonly now: number
  readonly checkRequests: boolean
  /** Models that end until this day are shut down, and versions of APIs until it are known. */
  readonly day: string
  /** Every model is served in every location. */
  readonly anyLocation: boolean
  readonly acceptForeignSignatures: boolean
  readonly tokensPerSecond: number
}

export interface Operation {
  readonly matches: (route: Route) => boolean
  /** Pure: the same call gets the same answer. */
  readonly answer: (call: Call) => Answer
}
