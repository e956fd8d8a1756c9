// Translates thinking options to Gemini's `thinkingConfig`: a budget or a level, never both.
// Must not depend on the request parameter that set them.
import * as Result from "effect/Result"
import type { RequestFault } from "../../../domain/GatewayError.ts"
import type { JsonObject } from "../../../domain/text/json.ts"
import type { ChatRequest } from "../../../wire/openai/Chat.ts"
import type { ModelFacts } from "../../shared/google/modelFacts.ts"
import { readThinking } from "../../shared/chat-request/reasoning.ts"
import type { Adjustment } from "../../Translator.ts"
import { budgetThinking } from "./thinkingBudget.ts"
import { levelThinking } from "./thinkingLevel.ts"

export interface ThinkingConfig {
  readonly config: JsonObject | undefined
  readonly unused: ReadonlyArray<string>
  /** Undefined: the model does as asked, or an equivalent of it. */
  readonly adjusted: Adjustment | undefined
}

/**
 * `verbatim` is Google's own configuration at `path` of the request; it takes precedence over all other thinking
 * options.
 */
export const thinkingConfig = (
  request: ChatRequest,
  facts: ModelFacts,
  verbatim: { readonly path: string; readonly value: JsonObject } | undefined
): Result.Result<ThinkingConfig, RequestFault> => {
  const read = readThinking(request)
  if (Result.isFailure(read)) return Result.fail(read.failure)
  const asked = read.success
  if (verbatim !== undefined) return verbatimConfig(verbatim, namedParams(request), facts)
  // A word that is no effort.
  if (asked === undefined) return Result.succeed({ ...nothing, unused: namedParams(request) })
  const losers = namedParams(request).filter((param) => param !== asked.param)
  if (facts.thinking === "none") {
    return Result.succeed({
      config: undefined,
      unused: asked.thinking._tag === "Off" ? losers : [asked.param, ...losers],
      adjusted: undefined
    })
  }
  const { bent, config } = facts.thinking === "level" ? levelThinking(asked, facts) : budgetThinking(asked, facts)
  return Result.succeed({
    config,
    unused: losers,
    adjusted: bent === undefined ? undefined : { param: asked.param, ...bent }
  })
}

const nothing: ThinkingConfig = { config: undefined, unused: [], adjusted: undefined }

const namedParams = (request: ChatRequest): ReadonlyArray<"thinking" | "reasoning_effort"> =>
  (["thinking", "reasoning_effort"] as const).filter((param) => (request[param] ?? undefined) !== undefined)

const verbatimConfig = (
  { path, value }: { readonly path: string; readonly value: JsonObject },
  params: ReadonlyArray<string>,
  facts: ModelFacts
): Result.Result<ThinkingConfig, RequestFault> => {
  const config = camelCased(value)
  if ("thinkingBudget" in config && "thinkingLevel" in config) {
    const { thinkingBudget: _budget, ...others } = config
    return verbatimConfig({ path, value: others }, [...params, `${path}.thinking_budget`], facts)
  }
  return Result.succeed(
    facts.thinking === "none"
      ? { config: undefined, unused: [path, ...params], adjusted: undefined }
      : { config, unused: params, adjusted: undefined }
  )
}

const camelCased = (value: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== null)
      .map(([name, inner]) => [name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()), inner])
  )
