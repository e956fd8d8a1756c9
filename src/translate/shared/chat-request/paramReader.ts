// Reads the numbers, stop sequences and modalities of one chat request and keeps the first fault: types and bounds.
// Must not depend on an upstream; ranges that differ by model are left to the upstream's own check.
import { BodyInvalid, type RequestFault } from "../../../domain/GatewayError.ts"
import type { ChatRequest } from "../../../wire/openai/Chat.ts"

const modalities: ReadonlySet<unknown> = new Set(["text", "image", "audio"])

/** A caller reads all parameters and asks for the fault once. A faulty parameter reads as absent. */
export class ParamReader {
  readonly request: ChatRequest
  /** The first fault in the order of reading. */
  fault: RequestFault | undefined = undefined

  constructor(request: ChatRequest) {
    this.request = request
  }

  /** Keeps the fault, unless an earlier parameter has one. */
  refuse(fault: RequestFault): undefined {
    this.fault ??= fault
  }

  /** Refuses a parameter, with a stable code and a message that explains how to correct the request. */
  invalid(param: string, code: string, message: string): undefined {
    this.refuse(new BodyInvalid({ code, param, message }))
  }

  /** A finite number, whole or not; undefined when the parameter is absent. */
  finite(param: "temperature" | "top_p" | "presence_penalty" | "frequency_penalty"): number | undefined {
    const value = this.request[param] ?? undefined
    return value === undefined || Number.isFinite(value)
      ? value
      : this.invalid(param, "invalid_value", `${param} must be a finite number.`)
  }

  /** A whole number within bounds; undefined when the parameter is absent. */
  whole(
    param: "top_k" | "n" | "seed" | "top_logprobs" | "max_tokens" | "max_completion_tokens",
    least: number,
    most: number
  ): number | undefined {
    const value = this.request[param] ?? undefined
    return value === undefined ||
      (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most)
      ? value
      : this.invalid(param, "invalid_value", `${param} must be a whole number from ${least} to ${most}.`)
  }

  /** `max_completion_tokens` takes precedence; a different `max_tokens` is then reported in `unused`. */
  maxTokens(): { readonly maxTokens: number | undefined; readonly unused: ReadonlyArray<string> } {
    const older = this.whole("max_tokens", 1, Number.MAX_SAFE_INTEGER)
    const newer = this.whole("max_completion_tokens", 1, Number.MAX_SAFE_INTEGER)
    return {
      maxTokens: newer ?? older,
      unused: newer !== undefined && older !== undefined && newer !== older ? ["max_tokens"] : []
    }
  }

  /** `stop` as a list, empty when the parameter is absent. */
  stop(most: number): ReadonlyArray<string> {
    const stop = this.request.stop ?? undefined
    if (stop === undefined) return []
    const list: ReadonlyArray<unknown> = Array.isArray(stop) ? stop : [stop]
    const words = list.filter((word) => typeof word === "string" && word !== "").map(String)
    if (words.length === list.length && words.length <= most) return words
    this.invalid("stop", "invalid_value", `stop must be a string or up to ${most} strings, none of them empty.`)
    return []
  }

  /** The output modalities; undefined when the parameter is absent. */
  modalities(): ReadonlyArray<string> | undefined {
    const asked = this.request.modalities ?? undefined
    if (asked === undefined) return undefined
    const list: ReadonlyArray<unknown> = Array.isArray(asked) ? asked : []
    return list.length > 0 && list.every((word) => modalities.has(word))
      ? list.map(String)
      : this.invalid(
          "modalities",
          "invalid_value",
          "modalities must be an array of text, image and audio, and not empty."
        )
  }
}
