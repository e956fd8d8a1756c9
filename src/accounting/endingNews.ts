// The log line about a model in use that ends: once an hour for each model of an account (M-703).
// It must not depend on where an ending is known from.
import { endingText } from "../domain/models/modelLife.ts"
import { dayMillis } from "../domain/text/days.ts"
import type { Called } from "./Settlement.ts"

const hourMillis = dayMillis / 24

/** Upstreams may report an end of any model that clients name, so that the memory is bounded. A full one is cleared. */
const mostModels = 512

/** The line, where one is due; undefined for a model without an end in sight, and within an hour of the last line. */
export const endingNews = (): ((called: Called, nowMillis: number) => string | undefined) => {
  const loggedAt = new Map<string, number>()
  return ({ ending, modelId, slug }, nowMillis) => {
    if (ending === undefined) return undefined
    const name = `${slug}/${modelId}`
    const before = loggedAt.get(name)
    if (before !== undefined && nowMillis - before < hourMillis) return undefined
    if (loggedAt.size >= mostModels) loggedAt.clear()
    loggedAt.set(name, nowMillis)
    return `Requests go to a model that ends: ${modelId} of "${slug}" is ${endingText(ending)}. Send them to another model.`
  }
}
