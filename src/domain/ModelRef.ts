// Reads the `model` field: provider slug, model family by prefix, and model id.
// It must not know accounts or URLs. No other file reads model prefixes.
import * as Result from "effect/Result"
import { BodyInvalid, UnsupportedOperation } from "./GatewayError.ts"
import { printable } from "./text/printable.ts"
import { memoizeBounded } from "./memoizeBounded.ts"
import { isClaudeName } from "./models/modelName.ts"

/** `endpoint` is a self-deployed endpoint; its account defines the dialect. */
export type ModelFamily = "gemini" | "claude" | "openai" | "endpoint"

export interface ModelRef {
  /** From the `@slug/` prefix; undefined when the field has none. */
  readonly slug: string | undefined
  /** The field without its slug. */
  readonly rest: string
}

export interface FamilyRef {
  readonly family: ModelFamily
  /** The id as the provider spells it, without any family prefix. */
  readonly modelId: string
}

const slugGrammar = /^[a-z0-9][a-z0-9-]{0,62}$/
const endpointGrammar = /^[A-Za-z0-9][A-Za-z0-9-]{0,62}$/
/**
 * Publishers, dots and one `@version`. It excludes `..`, empty segments and every character with a meaning in a URL.
 */
const modelGrammar = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}(@[A-Za-z0-9._-]{1,64})?$/

const invalid = (message: string, code = "invalid_model") =>
  Result.fail(new BodyInvalid({ code, param: "model", message }))

/** True for text that may be a catalog slug. */
export const isSlug = (text: string): boolean => slugGrammar.test(text)

/** True for text that may be the id of a self-deployed endpoint. */
export const isEndpointId = (text: string): boolean => endpointGrammar.test(text)

/** Splits `@slug/model` at the first `/`; the rest may contain `/` and `@`. */
export const parseModelRef: (model: string) => Result.Result<ModelRef, BodyInvalid> = memoizeBounded((model) => {
  if (!model.startsWith("@")) return Result.succeed({ slug: undefined, rest: model })
  const slash = model.indexOf("/")
  if (slash < 0) return invalid('model names a provider but no model; write "@slug/model".')
  const slug = model.slice(1, slash)
  const rest = model.slice(slash + 1)
  if (!isSlug(slug))
    return invalid('The provider slug before "/" is not valid: lower-case letters, digits and "-", at most 63.')
  return rest === ""
    ? invalid('model names a provider but no model; write "@slug/model".')
    : Result.succeed({ slug, rest })
})

const families: ReadonlyArray<readonly [prefix: string, family: ModelFamily, keep: string]> = [
  ["anthropic.", "claude", ""],
  ["anthropic/", "claude", ""],
  ["endpoints.", "endpoint", ""],
  ["meta.", "openai", "meta/"],
  ["meta/", "openai", "meta/"],
  ["models/", "gemini", ""],
  ["google/", "gemini", ""]
]

/** True for a word before `/` that names a family, whatever accounts are called. */
export const isFamilyWord = (word: string): boolean => families.some(([prefix]) => prefix === `${word}/`)

/** Publishers whose models Vertex AI serves by rawPredict in a dialect of their own (T2017). */
const unserved = /^(mistralai|ai21)[./]/

/** A publisher's model as Vertex AI names the resource; `publisher/model` means the same. */
const asResource = /^publishers\/([a-z0-9-]{1,63})\/models\//

/** Accepts both spellings of a Claude date: Vertex AI writes it after `@`, Anthropic after `-` (T1802). */
const dated = (id: string): string => id.replace(/^([^@]*)-(\d{8})$/, "$1@$2")

/** Reads the family prefix of a model without slug and checks the id against a closed grammar. */
export const parseFamily: (model: string) => Result.Result<FamilyRef, BodyInvalid | UnsupportedOperation> =
  memoizeBounded((model) => {
    const rest = model.replace(asResource, "$1/")
    const publisher = unserved.exec(rest)?.[1]
    if (publisher !== undefined) {
      return Result.fail(
        new UnsupportedOperation({
          message: `Models of ${publisher} speak a dialect of their own, which is not offered; deployed to an endpoint they are written "endpoints.<id>".`
        })
      )
    }
    if (rest.startsWith("projects/")) {
      return invalid(
        'Full resource names are not taken: project and location come from the credential, endpoints are written "endpoints.<id>".'
      )
    }
    const found = families.find(([prefix]) => rest.startsWith(prefix))
    const id = found === undefined ? rest : rest.slice(found[0].length)
    if (found?.[1] === "endpoint") {
      return isEndpointId(id)
        ? Result.succeed({ family: "endpoint", modelId: id })
        : invalid('After "endpoints." comes one endpoint id: letters, digits and "-", at most 63.', "invalid_endpoint")
    }
    if (!modelGrammar.test(id) || id.includes("..") || id.includes("//") || id.endsWith("/")) {
      return invalid(
        `"${printable(rest)}" is not a model id: letters, digits, ".", "_", "-", "/" and one "@version" are allowed.`
      )
    }
    if (found === undefined && id.includes("/")) return Result.succeed({ family: "openai", modelId: id })
    const family = found?.[1] ?? (isClaudeName(id) ? "claude" : "gemini")
    return Result.succeed({ family, modelId: family === "claude" ? dated(id) : `${found?.[2] ?? ""}${id}` })
  })

/**
 * The id by which a model is priced, counted and listed, for every spelling of it. An invalid id is returned unchanged.
 */
export const modelIdOf = (model: string): string =>
  Result.match(parseFamily(model), { onFailure: () => model, onSuccess: ({ modelId }) => modelId })

/** The same for a model as clients write it, where the slug of a provider may come first. */
export const writtenModelId = (model: string): string => modelIdOf(model.replace(/^@[^/]*\//, ""))
