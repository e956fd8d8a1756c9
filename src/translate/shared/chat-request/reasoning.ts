// Reads the thinking options of a chat request (`reasoning_effort`, `thinking`) as an effort, a budget or a switch.
// Must not depend on an upstream.
import * as Result from "effect/Result"
import type { RequestFault } from "../../../domain/GatewayError.ts"
import type { ChatRequest } from "../../../wire/openai/Chat.ts"
import { invalid } from "../fault.ts"
import { numberOf } from "./paramReader.ts"

export type Effort = "minimal" | "low" | "medium" | "high" | "xhigh" | "max"

export type Thinking =
  | { readonly _tag: "Off" }
  /** Thinking on; the model chooses the amount. */
  | { readonly _tag: "On" }
  /** Thinking with the model's dynamic budget, requested explicitly (-1). */
  | { readonly _tag: "Dynamic" }
  | { readonly _tag: "Effort"; readonly effort: Effort }
  /** A budget in tokens, greater than 0. */
  | { readonly _tag: "Budget"; readonly tokens: number }

/** The requested thinking and the parameter that requested it; undefined when both parameters are absent. */
export interface AskedThinking {
  readonly thinking: Thinking
  readonly param: "thinking" | "reasoning_effort"
}

/** Budget in tokens of each effort, for upstreams that accept budgets; the two highest depend on the model (M-201). */
export const effortTokens: Readonly<Record<Effort, number>> = {
  minimal: 1_024,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576
}

const efforts: ReadonlyMap<unknown, Thinking> = new Map<unknown, Thinking>([
  ["none", { _tag: "Off" }],
  ["minimal", { _tag: "Effort", effort: "minimal" }],
  ["low", { _tag: "Effort", effort: "low" }],
  ["medium", { _tag: "Effort", effort: "medium" }],
  ["high", { _tag: "Effort", effort: "high" }],
  ["xhigh", { _tag: "Effort", effort: "xhigh" }],
  ["max", { _tag: "Effort", effort: "max" }]
])

/** Checks both parameters; `thinking` takes precedence over `reasoning_effort`. */
export const readThinking = (request: ChatRequest): Result.Result<AskedThinking | undefined, RequestFault> => {
  const effort = readEffort(request.reasoning_effort)
  if (Result.isFailure(effort)) return Result.fail(effort.failure)
  const thinking = readSwitch(request.thinking)
  if (Result.isFailure(thinking)) return Result.fail(thinking.failure)
  if (thinking.success !== undefined) return Result.succeed({ thinking: thinking.success, param: "thinking" })
  return Result.succeed(
    effort.success === undefined ? undefined : { thinking: effort.success, param: "reasoning_effort" }
  )
}

/** A word that is no effort asks for nothing. */
const readEffort = (value: unknown): Result.Result<Thinking | undefined, RequestFault> =>
  value === undefined || value === null || typeof value === "string"
    ? Result.succeed(efforts.get(value?.toLowerCase()))
    : invalid("reasoning_effort", "invalid_type", "reasoning_effort has the wrong type: expected string.")

const readSwitch = (value: ChatRequest["thinking"]): Result.Result<Thinking | undefined, RequestFault> => {
  if (value === undefined || value === null) return Result.succeed(undefined)
  const type = value["type"] ?? "enabled"
  const given = value["budget_tokens"] ?? undefined
  const tokens = given === undefined ? undefined : numberOf(given)
  if (typeof type !== "string" || (given !== undefined && tokens === undefined)) {
    const [name, expected] = typeof type === "string" ? ["budget_tokens", "number"] : ["type", "string"]
    return invalid(`thinking.${name}`, "invalid_type", `thinking.${name} has the wrong type: expected ${expected}.`)
  }
  const budget = tokens === undefined ? undefined : Math.round(Math.min(tokens, Number.MAX_SAFE_INTEGER))
  if (type === "disabled" || budget === 0) return Result.succeed({ _tag: "Off" })
  if (budget === undefined) return Result.succeed({ _tag: "On" })
  return Result.succeed(budget < 0 ? { _tag: "Dynamic" } : { _tag: "Budget", tokens: budget })
}
