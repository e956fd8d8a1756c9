// Reads and checks the attribution `labels` of a request; every Vertex AI operation with labels uses the same form.
// Must not depend on the operation.
import * as Result from "effect/Result"
import type { RequestFault } from "../../../domain/GatewayError.ts"
import { isJsonObject } from "../../../domain/text/json.ts"
import type { TranslateContext } from "../../Translator.ts"
import { invalid } from "../fault.ts"

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
