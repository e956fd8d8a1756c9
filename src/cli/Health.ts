// `health`: asks a running gateway whether it is ready.
// Must not read the configuration.
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { commandFailure, type Failure, usageFailure } from "./Failure.ts"

const waitMillis = 5_000

const readyUrl = (text: string): URL | undefined => {
  const url = URL.parse(text)
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return undefined
  return url.pathname === "/" ? new URL("/health/ready", url) : url
}

export const health = Effect.fn("Cli.health")(function* (options: {
  readonly url: string
  readonly json: boolean
}): Effect.fn.Return<void, Failure> {
  const url = readyUrl(options.url)
  if (url === undefined) return yield* usageFailure("--url takes an http or https URL")
  const response = yield* Effect.tryPromise({
    try: () => fetch(url, { redirect: "manual", signal: AbortSignal.timeout(waitMillis) }),
    catch: () => commandFailure(`no answer from ${url.origin}`)
  })
  if (options.json)
    yield* Console.log(
      yield* Effect.tryPromise({
        try: () => response.text(),
        catch: () => commandFailure(`the answer of ${url.origin} broke off`)
      })
    )
  if (response.status !== 200)
    return yield* commandFailure(options.json ? "" : `not ready: ${url.origin} answered ${response.status}`)
  if (!options.json) yield* Console.log("ready")
})
