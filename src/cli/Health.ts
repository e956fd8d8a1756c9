// `health`: asks a running gateway whether it is ready, and prints its state with what is wrong.
// Must not need a configuration without faults: the gateway may run on the one before.
import { type IncomingMessage, request as httpRequest } from "node:http"
import { request as httpsRequest } from "node:https"
import { text } from "node:stream/consumers"
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

/**
 * Asks by GET. The gateway of this machine shows a certificate of its public name, which `127.0.0.1` is not; nothing
 * secret is sent.
 */
const get = (url: URL, isOwn: boolean): Promise<IncomingMessage> =>
  new Promise((done, failed) => {
    const options = { signal: AbortSignal.timeout(waitMillis), rejectUnauthorized: !isOwn, agent: false }
    const request = url.protocol === "https:" ? httpsRequest : httpRequest
    request(url, options, done).on("error", failed).end()
  })

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
  const settings = Result.isSuccess(outcome) ? outcome.success.settings : { server: defaultServer }
  return `${renderAddress(settings, settings.server.port)}/`
})

export const health = Effect.fn("Cli.health")(function* (options: {
  readonly config: string | undefined
  readonly url: string | undefined
  readonly json: boolean
}): Effect.fn.Return<void, Failure> {
  const url = readyUrl(options.url ?? (yield* addressOf(options.config)))
  if (url === undefined) return yield* usageFailure("--url takes an http or https URL")
  const answer = yield* Effect.tryPromise({
    try: () => get(url, options.url === undefined),
    catch: () => commandFailure(`no answer from ${url.origin}`)
  })
  const body = yield* Effect.tryPromise({
    try: () => text(answer),
    catch: () => commandFailure(`the answer of ${url.origin} broke off`)
  })
  if (options.json) yield* Console.log(body)
  const report = readReport(body)
  const status = textOf(report["status"])
  if (answer.statusCode !== 200) {
    const state = status === undefined ? "" : ` (${status})`
    const lines = [`not ready: ${url.origin} answered ${answer.statusCode}${state}`, ...faultLines(report)]
    return yield* commandFailure(options.json ? "" : lines.join("\n"))
  }
  // A degraded gateway still takes requests, so the exit code stays 0.
  if (!options.json)
    yield* Console.log([status === undefined || status === "ok" ? "ready" : status, ...faultLines(report)].join("\n"))
})
