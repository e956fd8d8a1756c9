// Reads parameters that several operations share: numbers moved into their range, stop texts, modalities, labels, safety settings.
// Must not depend on an upstream or an operation; ranges and rules come from the caller.
import * as Result from "effect/Result"
import { BodyInvalid, type RequestFault } from "../../../domain/GatewayError.ts"
import { defaultLimits } from "../../../domain/Limits.ts"
import { Reader } from "../../../domain/Reader.ts"
import { isJsonObject, isLongInteger, type Json, type JsonObject } from "../../../domain/text/json.ts"
import type { ChatRequest } from "../../../wire/openai/Chat.ts"
import type { Adjustment, ParamRule, TranslateContext } from "../../Translator.ts"

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

/** Reads the parameters of one chat request. A parameter of the wrong type reads as absent. */
export class ParamReader extends Reader {
  readonly request: ChatRequest
  /** Values that were moved into their range. */
  readonly adjusted: Array<Adjustment> = []

  constructor(request: ChatRequest) {
    super()
    this.request = request
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

/** The adjustment of a number that was moved into the range of its model. */
export const numberAdjusted = (param: string, asked: number | string, sent: number, range: string): Adjustment => ({
  param,
  asked: String(asked),
  sent: String(sent),
  takes: [range],
  refusal: {
    code: "unsupported_parameter",
    param,
    message: `"${param}" takes ${range} at this model, and the request asked for refusal of other values.`
  }
})

// Reads and checks the attribution `labels` of a request; every Vertex AI operation with labels uses the same form.

export interface RequestLabels {
  readonly body: { readonly labels?: Readonly<Record<string, string>> }
  readonly unused: ReadonlyArray<string>
}

const key = /^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]{0,62}$/u
const text = /^[^\p{Cc}]{0,63}$/u
const most = 64

/** Only models that Vertex AI publishes itself accept labels; for every other target `labels` is reported as unused. */
export const readLabels = (
  asked: unknown,
  target: TranslateContext["target"]
): Result.Result<RequestLabels, RequestFault> => {
  if (asked === undefined || asked === null) return Result.succeed({ body: {}, unused: [] })
  const isPublished = target.family === "gemini" && target.facts.generation !== "tuned"
  if (target.kind !== "vertex-ai" || !isPublished) return Result.succeed({ body: {}, unused: ["labels"] })
  if (!isJsonObject(asked) || Object.keys(asked).length > most) {
    return invalid("labels", "invalid_label", `labels must be an object of up to ${most} names and strings.`)
  }
  const labels: Array<readonly [string, string]> = []
  for (const [name, value] of Object.entries(asked)) {
    if (!key.test(name) || typeof value !== "string" || !text.test(value)) {
      return invalid(
        `labels.${name.slice(0, 64)}`,
        "invalid_label",
        "A label key starts with a lower-case letter and goes on with letters, digits, _ and - up to 63 characters; its value has up to 63."
      )
    }
    labels.push([name, value])
  }
  return Result.succeed({ body: labels.length === 0 ? {} : { labels: Object.fromEntries(labels) }, unused: [] })
}

// Reads `safety_settings` of a request in Google's form; the gateway adds no settings of its own.

/** Categories and thresholds are open lists, so only their types are checked. */
export const readSafety = (
  path: string,
  value: unknown,
  target: TranslateContext["target"]
): Result.Result<ReadonlyArray<JsonObject>, RequestFault> => {
  if (value === undefined || value === null) return Result.succeed([])
  if (!Array.isArray(value)) return invalid(path, "invalid_type", `${path} must be an array.`)
  const settings: Array<JsonObject> = []
  for (const [index, setting] of value.entries()) {
    const { category, threshold, method }: JsonObject = isJsonObject(setting) ? setting : {}
    const wrong = typeof category !== "string" ? "category" : typeof threshold !== "string" ? "threshold" : undefined
    if (wrong !== undefined) {
      return invalid(`${path}[${index}].${wrong}`, "invalid_type", `${path}[${index}].${wrong} must be a string.`)
    }
    const how = typeof method === "string" && target.kind === "vertex-ai" ? { method } : {}
    settings.push({ category, threshold, ...how })
  }
  return Result.succeed(settings)
}

// Builds parameter rules (mapped, ignored, silent) and lists the ignored parameters of a request.

export const mapped = (to: string): ParamRule => ({ kind: "mapped", to })
export const ignored = (why: string): ParamRule => ({ kind: "ignored", why })
export const silent = (why: string): ParamRule => ({ kind: "silent", why })

/**
 * Lists the parameters that change nothing upstream, in the order of the request: unknown names, names ignored by
 * rule, and `unused`. `unused` is collected during translation: a name, or a path below a name such as
 * `image_config.person_generation`.
 */
export const ignoredBy = (table: Readonly<Record<string, ParamRule>>) => {
  const rules: ReadonlyMap<string, ParamRule> = new Map(Object.entries(table))
  return (request: Readonly<Record<string, unknown>>, unused: ReadonlyArray<string>): ReadonlyArray<string> => {
    const names: Array<string> = []
    // Runs for every request, and most have no path: keys alone, and no search per name.
    const paths = unused.length === 0 ? unused : unused.filter((path) => /[.[]/.test(path))
    for (const name in request) {
      if (request[name] === undefined || request[name] === null) continue
      const rule = rules.get(name)
      if (rule === undefined || rule.kind === "ignored" || unused.includes(name)) names.push(name)
      else if (paths.length > 0)
        for (const path of paths) if (path.startsWith(`${name}.`) || path.startsWith(`${name}[`)) names.push(path)
    }
    return names
  }
}

/** Refuses a request at `param`, with a stable code and a message that explains how to correct the request. */
export const invalid = (param: string, code: string, message: string): Result.Result<never, BodyInvalid> =>
  Result.fail(new BodyInvalid({ code, param, message }))
