// Reads `safety_settings` of a request in Google's form; the gateway adds no settings of its own.
// Must not depend on the position of the settings in the request.
import * as Result from "effect/Result"
import type { RequestFault } from "../../../domain/GatewayError.ts"
import { isJsonObject, type JsonObject } from "../../../domain/text/json.ts"
import type { TranslateContext } from "../../Translator.ts"
import { invalid } from "../fault.ts"

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
