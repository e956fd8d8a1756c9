// Reads the numbers, stop sequences and modalities of a chat request and checks their types and bounds.
// Must not depend on an upstream; ranges that differ by model are left to the upstream's own check.
import * as Result from "effect/Result"
import type { RequestFault } from "../../../domain/GatewayError.ts"
import type { ChatRequest } from "../../../wire/openai/Chat.ts"
import { invalid } from "../fault.ts"

type Read<A> = Result.Result<A, RequestFault>

/** Shared result for an absent parameter; most requests set few parameters. */
const absent: Read<undefined> = Result.succeed(undefined)

/** Reads a finite number, whole or not; undefined when the parameter is absent. */
export const readFinite = (
  request: ChatRequest,
  param: "temperature" | "top_p" | "presence_penalty" | "frequency_penalty"
): Read<number | undefined> => {
  const value = request[param]
  if (value === undefined || value === null) return absent
  return Number.isFinite(value)
    ? Result.succeed(value)
    : invalid(param, "invalid_value", `${param} must be a finite number.`)
}

/** Reads a whole number within bounds; undefined when the parameter is absent. */
export const readWhole = (
  request: ChatRequest,
  param: "top_k" | "n" | "seed" | "top_logprobs" | "max_tokens" | "max_completion_tokens",
  least: number,
  most: number
): Read<number | undefined> => {
  const value = request[param]
  if (value === undefined || value === null) return absent
  return typeof value === "number" && Number.isInteger(value) && value >= least && value <= most
    ? Result.succeed(value)
    : invalid(param, "invalid_value", `${param} must be a whole number from ${least} to ${most}.`)
}

/** `max_completion_tokens` takes precedence; a different `max_tokens` is then reported in `unused`. */
export const readMaxTokens = (
  request: ChatRequest
): Read<{ readonly maxTokens: number | undefined; readonly unused: ReadonlyArray<string> }> =>
  Result.flatMap(readWhole(request, "max_tokens", 1, Number.MAX_SAFE_INTEGER), (older) =>
    Result.map(readWhole(request, "max_completion_tokens", 1, Number.MAX_SAFE_INTEGER), (newer) => ({
      maxTokens: newer ?? older,
      unused: newer !== undefined && older !== undefined && newer !== older ? ["max_tokens"] : []
    }))
  )

/** Reads `stop` as a list, empty when the parameter is absent. */
export const readStop = (stop: ChatRequest["stop"], most: number): Read<ReadonlyArray<string>> => {
  if (stop === undefined || stop === null) return Result.succeed([])
  const list: ReadonlyArray<unknown> = Array.isArray(stop) ? stop : [stop]
  const words = list.filter((word) => typeof word === "string" && word !== "").map(String)
  return words.length === list.length && words.length <= most
    ? Result.succeed(words)
    : invalid("stop", "invalid_value", `stop must be a string or up to ${most} strings, none of them empty.`)
}

const modalities: ReadonlySet<unknown> = new Set(["text", "image", "audio"])

/** Reads the output modalities; undefined when the parameter is absent. */
export const readModalities = (asked: ChatRequest["modalities"]): Read<ReadonlyArray<string> | undefined> => {
  if (asked === undefined || asked === null) return Result.succeed(undefined)
  const list: ReadonlyArray<unknown> = Array.isArray(asked) ? asked : []
  return list.length > 0 && list.every((word) => modalities.has(word))
    ? Result.succeed(list.map(String))
    : invalid("modalities", "invalid_value", "modalities must be an array of text, image and audio, and not empty.")
}
