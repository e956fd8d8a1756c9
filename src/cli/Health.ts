// `health`: asks a running gateway whether it is ready, and prints its state with what is wrong.
// Must not need a configuration without faults: the gateway may run on the one before.
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { isJsonObject, type JsonObject, parseJsonText } from "../domain/text/json.ts"
import { visible } from "../domain/text/printable.ts"
import { defaultServer } from "../domain/settings/Settings.ts"
import { commandFailure, type Failure, renderAddress, usageFailure } from "./Output.ts"
import { readConfiguration } from "./settings/LoadSettings.ts"

const waitMillis = 5_000

const readyUrl = (text: string): URL | undefined => {
  const url = URL.parse(text)
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return undefined
  return url.pathname.endsWith("/") ? new URL("health/ready", url) : url
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? visible(value) : undefined)

const memberOf = (report: JsonObject, name: string): JsonObject => {
  const value = report[name]
  return isJsonObject(value) ? value : {}
}

/** The JSON of readiness; empty for an answer of another shape, as a proxy may give. */
const readReport = (text: string): JsonObject => {
  const report = Result.getOrUndefined(parseJsonText(text))
  return isJsonObject(report) ? report : {}
}

/** One line for each dependency that is not ok: its name, its state and the text about it. */
const faultLines = (report: JsonObject): ReadonlyArray<string> => {
  const [checks, messages] = [memberOf(report, "checks"), memberOf(report, "messages")]
  return Object.keys({ ...checks, ...messages })
    .filter((name) => checks[name] !== "ok")
    .map((name) =>
      [visible(name), textOf(checks[name]), textOf(messages[name])].filter((part) => part !== undefined).join("  ")
    )
}

/** The address of the configuration. Without --config, one with faults counts as none. */
const addressOf = Effect.fnUntraced(function* (config: string | undefined): Effect.fn.Return<string, Failure> {
  const { outcome } = yield* readConfiguration({ config, flags: {} })
  if (Result.isFailure(outcome) && config !== undefined) return yield* usageFailure(outcome.failure)
  const server = Result.isSuccess(outcome) ? outcome.success.settings.server : defaultServer
  return `${renderAddress(server, server.port)}/`
})

export const health = Effect.fn("Cli.health")(function* (options: {
  readonly config: string | undefined
  readonly url: string | undefined
  readonly json: boolean
}): Effect.fn.Return<void, Failure> {
  const url = readyUrl(options.url ?? (yield* addressOf(options.config)))
  if (url === undefined) return yield* usageFailure("--url takes an http or https URL")
  const response = yield* Effect.tryPromise({
    try: () => fetch(url, { redirect: "manual", signal: AbortSignal.timeout(waitMillis) }),
    catch: () => commandFailure(`no answer from ${url.origin}`)
  })
  const text = yield* Effect.tryPromise({
    try: () => response.text(),
    catch: () => commandFailure(`the answer of ${url.origin} broke off`)
  })
  if (options.json) yield* Console.log(text)
  const report = readReport(text)
  const status = textOf(report["status"])
  if (response.status !== 200) {
    const state = status === undefined ? "" : ` (${status})`
    const lines = [`not ready: ${url.origin} answered ${response.status}${state}`, ...faultLines(report)]
    return yield* commandFailure(options.json ? "" : lines.join("\n"))
  }
  // A degraded gateway still takes requests, so the exit code stays 0.
  if (!options.json)
    yield* Console.log([status === undefined || status === "ok" ? "ready" : status, ...faultLines(report)].join("\n"))
})
