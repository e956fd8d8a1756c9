// Reads the numbers, stop texts and modalities of one chat request: a value out of range is moved to the nearest one.
// Must not depend on an upstream; its ranges come from the caller.
import { BodyInvalid, type RequestFault } from "../../../domain/GatewayError.ts"
import { defaultLimits } from "../../../domain/Limits.ts"
import { isLongInteger, type Json } from "../../../domain/text/json.ts"
import type { ChatRequest } from "../../../wire/openai/Chat.ts"
import type { Adjustment } from "../../Translator.ts"
import { numberAdjusted } from "./numberAdjusted.ts"

const modalities: ReadonlySet<unknown> = new Set(["text", "image", "audio"])

/** The value of a number, of its text (`"0.7"`), or of an integer that is kept as its digits; undefined for no number. */
export const numberOf = (value: unknown): number | undefined => {
  if (typeof value === "number") return value
  if (typeof value === "string") return value.trim() === "" || Number.isNaN(Number(value)) ? undefined : Number(value)
  return isLongInteger(value) ? Number(JSON.stringify(value)) : undefined
}

/** The lowest 32 bits of a seed; a change is noted in `adjusted`. */
export const foldedSeed = (seed: unknown, adjusted: Array<Adjustment>): number => {
  const digits = isLongInteger(seed) ? JSON.stringify(seed) : undefined
  const asked = numberOf(seed) ?? 0
  const sent = Number(BigInt.asIntN(32, BigInt(digits ?? Math.trunc(finiteOf(asked)))))
  if (sent !== asked) adjusted.push(numberAdjusted("seed", digits ?? asked, sent, "a whole number of 32 bits"))
  return sent
}

const finiteOf = (value: number): number => Math.min(Math.max(value, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER)

/** The stop texts of a request without repetitions; undefined for another type than texts. */
export const stopTexts = ({ stop }: Pick<ChatRequest, "stop">): ReadonlyArray<string> | undefined => {
  if (stop === undefined || stop === null) return []
  const list: ReadonlyArray<unknown> = Array.isArray(stop) ? stop : [stop]
  const texts = list.filter((text) => typeof text === "string").filter((text) => text !== "")
  return list.every((text) => typeof text === "string" || text === null) ? [...new Set(texts)] : undefined
}

/** A caller reads all parameters and asks for the fault once. A parameter of the wrong type reads as absent. */
export class ParamReader {
  readonly request: ChatRequest
  /** The first fault in the order of reading. */
  fault: RequestFault | undefined = undefined
  /** Values that were moved into their range. */
  readonly adjusted: Array<Adjustment> = []

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

  /** The nearest number within the range; undefined when the parameter is absent. */
  finite(
    param: "temperature" | "top_p" | "presence_penalty" | "frequency_penalty",
    least: number,
    most: number
  ): number | undefined {
    return this.within(param, least, most, (value) => value)
  }

  /** The nearest whole number within the range; undefined when the parameter is absent. */
  whole(param: "top_k" | "n" | "top_logprobs", least: number, most: number): number | undefined {
    return this.within(param, least, most, Math.round)
  }

  /** `top_k` above 0; undefined for 0 and -1, with which clients switch it off. */
  topK(most: number): number | undefined {
    const asked = this.number("top_k")
    return asked !== undefined && asked < 1 ? undefined : this.whole("top_k", 1, most)
  }

  /** The lowest 32 bits of a seed, which may have 64. */
  seed(): number | undefined {
    const asked = this.number("seed")
    return asked === undefined ? undefined : foldedSeed(this.request.seed, this.adjusted)
  }

  /** A seed of 64 bits: a whole number, or an integer as its digits. */
  longSeed(): Json | undefined {
    const { seed } = this.request
    const asked = this.number("seed")
    // Cast: a long integer of a parsed body is JSON.
    if (asked === undefined || isLongInteger(seed)) return seed as Json | undefined
    const sent = Math.trunc(finiteOf(asked))
    if (sent !== asked) this.adjusted.push(numberAdjusted("seed", asked, sent, "a whole number"))
    return sent
  }

  /**
   * `max_completion_tokens` takes precedence; a different `max_tokens` is then reported in `unused`. So is a bound below
   * 1, with which clients ask for no bound. A bound above the model's is lowered to that.
   */
  maxTokens(most = Number.MAX_SAFE_INTEGER): {
    readonly maxTokens: number | undefined
    readonly unused: ReadonlyArray<string>
  } {
    const newer = this.number("max_completion_tokens")
    const older = this.number("max_tokens")
    const [param, other] =
      (newer ?? 0) >= 1 || (older ?? 0) < 1
        ? (["max_completion_tokens", "max_tokens"] as const)
        : (["max_tokens", "max_completion_tokens"] as const)
    const maxTokens = this.bound(param, most)
    return {
      maxTokens,
      unused: [
        ...(maxTokens === undefined && this.number(param) !== undefined ? [param] : []),
        ...(this.number(other) === undefined || (older === newer && maxTokens !== undefined) ? [] : [other])
      ]
    }
  }

  /** The length of an answer, at most that of the model; undefined below 1, with which clients ask for no bound. */
  bound(param: "max_tokens" | "max_completion_tokens", most = Number.MAX_SAFE_INTEGER): number | undefined {
    const asked = this.number(param)
    if (asked === undefined || asked < 1) return undefined
    const sent = Math.min(Math.floor(asked), most)
    if (sent !== asked) this.adjusted.push(numberAdjusted(param, asked, sent, `a whole number from 1 to ${most}`))
    return sent
  }

  /** `stop` as a list, empty when the parameter is absent. */
  stop(): ReadonlyArray<string> {
    const texts = stopTexts(this.request)
    const most = defaultLimits.stopSequences
    if (texts !== undefined && texts.length > most)
      this.adjusted.push(numberAdjusted("stop", texts.length, most, `up to ${most} texts`))
    if (texts !== undefined) return texts.slice(0, most)
    this.invalid("stop", "invalid_type", "stop must be a string or an array of strings.")
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

  private number(param: keyof ChatRequest & string): number | undefined {
    const value = this.request[param] ?? undefined
    if (value === undefined) return undefined
    const read = numberOf(value)
    return read ?? this.invalid(param, "invalid_type", `${param} has the wrong type: expected number.`)
  }

  private within(
    param: keyof ChatRequest & string,
    least: number,
    most: number,
    round: (value: number) => number
  ): number | undefined {
    const asked = this.number(param)
    if (asked === undefined) return undefined
    const sent = Math.min(Math.max(round(asked), least), most)
    if (sent !== asked)
      this.adjusted.push(
        numberAdjusted(param, asked, sent, least === most ? `${least} alone` : `a number from ${least} to ${most}`)
      )
    return sent
  }
}
