// `health`: asks a running gateway whether it is ready.
// It must not know the configuration.
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { failed, type Failure, usage } from "./Failure.ts"

const waitMillis = 5_000

const readyUrl = (text: string): URL | undefined => {
  const url = URL.parse(text)
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return undefined
  return url.pathname === "/" ? new URL("/health/ready", url) : url
}

export const health = Effect.fn("Cli.health")(function*(options: { readonly url: string }): Effect.fn.Return<void, Failure> {
  const url = readyUrl(options.url)
  if (url === undefined) return yield* usage("--url takes an http or https URL")
  const response = yield* Effect.tryPromise({
    try: () => fetch(url, { redirect: "manual", signal: AbortSignal.timeout(waitMillis) }),
    catch: () => failed(`no answer from ${url.origin}`)
  })
  if (response.status !== 200) return yield* failed(`not ready: ${url.origin} answered ${response.status}`)
  yield* Console.log("ready")
})
