// Templates with {{variables}} and {{>partials}} in JSON strings: compiled once, rendered for each request.
// It must not know prompts, requests, or where partials are stored.
import * as Result from "effect/Result"
import { BodyInvalid, BodyTooLarge } from "../domain/GatewayError.ts"
import { isJsonObject, type Json, type JsonObject, pathText } from "../domain/text/json.ts"
import type { LimitValues } from "../domain/Limits.ts"
import { printable } from "../domain/text/printable.ts"
import { isRefusedKey } from "../domain/config/configured.ts"

export type Variables = Readonly<Record<string, string>>

/** A template fault: its path in the value, and a sentence. */
export interface TemplateFault {
  readonly at: ReadonlyArray<string | number>
  readonly message: string
}

/** Looks up the text of a partial; the failure is the reason why there is none. */
export type Partials = (reference: string) => Result.Result<string, string>

export type TemplateLimits = Pick<LimitValues, "promptDepth" | "promptPartials">

/** A compiled object: strings are split and partials included, so rendering does not search text. */
export interface Template {
  /** How often each variable occurs. */
  readonly uses: ReadonlyMap<string, number>
  /** Total length of the text around the variables. */
  readonly length: number
  readonly filledBy: (variables: Variables) => JsonObject
}

/** Fixed text, or a variable. */
type Piece = string | { readonly variable: string }

/** A constant value, or a value that depends on the variables. */
type Part<A extends Json> = { readonly value: A } | { readonly filledBy: (variables: Variables) => A }

const filled = <A extends Json>(part: Part<A>, variables: Variables): A =>
  "value" in part ? part.value : part.filledBy(variables)

const variableTag = /^[A-Za-z_][\w.-]{0,63}$/
const partialTag = /^>\s*([A-Za-z0-9][\w.-]*(?:@[A-Za-z0-9][\w.-]*)?)$/
const forms = "a variable is written {{name}}, a partial {{>id}}, and braces that are text \\{{"

/** Text between tags, a tag without its braces, or the fault that ends the parse. */
type Token = { readonly text: string } | { readonly tag: string } | { readonly fault: string }

const tokens = (text: string): ReadonlyArray<Token> => {
  const out: Array<Token> = []
  let from = 0
  for (let open = text.indexOf("{{"); open >= 0; open = text.indexOf("{{", from)) {
    if (text[open - 1] === "\\" && open > from) {
      out.push({ text: `${text.slice(from, open - 1)}{{` })
      from = open + 2
      continue
    }
    const close = text.indexOf("}}", open)
    if (close < 0)
      return [...out, { fault: `"${printable(text.slice(open, open + 32))}" has no closing braces: ${forms}` }]
    out.push({ text: text.slice(from, open) }, { tag: text.slice(open + 2, close).trim() })
    from = close + 2
  }
  out.push({ text: text.slice(from) })
  return out
}

/** Splits text into pieces and includes partials; a faulty tag produces no piece. */
const splitter = (
  partials: Partials,
  limits: TemplateLimits,
  fault: (at: TemplateFault["at"], message: string) => void
) => {
  let taken = 0
  const split = (text: string, at: TemplateFault["at"], inside: ReadonlyArray<string>): ReadonlyArray<Piece> =>
    tokens(text).flatMap((token): ReadonlyArray<Piece> => {
      if ("text" in token) return token.text === "" ? [] : [token.text]
      if ("tag" in token && variableTag.test(token.tag) && !isRefusedKey(token.tag)) return [{ variable: token.tag }]
      const id = "tag" in token ? partialTag.exec(token.tag)?.[1] : undefined
      if (id !== undefined) return partial(id, at, inside)
      fault(
        at,
        "tag" in token ? `"{{${printable(token.tag)}}}" is neither variable nor partial: ${forms}` : token.fault
      )
      return []
    })
  const partial = (id: string, at: TemplateFault["at"], inside: ReadonlyArray<string>): ReadonlyArray<Piece> => {
    const within = [...inside, id]
    const refused = inside.includes(id)
      ? `the partials ${within.join(" > ")} go round in a circle`
      : within.length > limits.promptDepth
        ? `the partials ${within.join(" > ")} are nested deeper than ${limits.promptDepth}`
        : ++taken > limits.promptPartials
          ? `more than ${limits.promptPartials} partials in one prompt`
          : undefined
    const partial = refused === undefined ? partials(id) : Result.fail(refused)
    if (Result.isSuccess(partial)) return split(partial.success, at, within)
    fault(at, partial.failure)
    return []
  }
  return (text: string, at: TemplateFault["at"]) => split(text, at, [])
}

/** Compiles an object; with any fault the template must not be used. */
export const compileTemplate = (
  value: JsonObject,
  partials: Partials,
  limits: TemplateLimits
): { readonly template: Template; readonly faults: ReadonlyArray<TemplateFault> } => {
  const faults: Array<TemplateFault> = []
  const uses = new Map<string, number>()
  let length = 0
  const split = splitter(partials, limits, (at, message) => faults.push({ at, message }))
  const text = (written: string, at: TemplateFault["at"]): Part<string> => {
    const pieces = split(written, at)
    for (const piece of pieces) {
      if (typeof piece === "string") length += piece.length
      else uses.set(piece.variable, (uses.get(piece.variable) ?? 0) + 1)
    }
    return pieces.every((piece) => typeof piece === "string")
      ? { value: pieces.join("") }
      : { filledBy: (variables) => joined(pieces, variables) }
  }
  const list = (items: ReadonlyArray<Json>, at: TemplateFault["at"]): Part<ReadonlyArray<Json>> => {
    const parts = items.map((item, index) => any(item, [...at, index]))
    return parts.every((part) => "value" in part)
      ? { value: parts.map((part) => part.value) }
      : { filledBy: (variables) => parts.map((part) => filled(part, variables)) }
  }
  const object = (members: JsonObject, at: TemplateFault["at"]): Part<JsonObject> => {
    const parts = Object.entries(members).map(([key, member]) => [key, any(member ?? null, [...at, key])] as const)
    // `fromEntries` keeps a member named `__proto__` as plain data.
    const fill = (variables: Variables) =>
      Object.fromEntries(parts.map(([key, part]) => [key, filled(part, variables)]))
    return parts.every(([, part]) => "value" in part) ? { value: fill({}) } : { filledBy: fill }
  }
  const any = (one: Json, at: TemplateFault["at"]): Part<Json> => {
    if (typeof one === "string") return text(one, at)
    if (Array.isArray(one)) return list(one, at)
    return isJsonObject(one) ? object(one, at) : { value: one }
  }
  const whole = object(value, [])
  return { template: { uses, length, filledBy: (variables) => filled(whole, variables) }, faults }
}

/** Values are inserted as plain text; tags inside a value are not expanded. */
const joined = (pieces: ReadonlyArray<Piece>, variables: Variables): string => {
  let text = ""
  for (const piece of pieces) text += typeof piece === "string" ? piece : (variables[piece.variable] ?? "")
  return text
}

const invalid = (code: string, param: string, message: string) => Result.fail(new BodyInvalid({ code, param, message }))

/** The variables of a request: an object of strings, or absent. */
export const readVariables = (value: Json | undefined): Result.Result<Variables, BodyInvalid> => {
  if (value === undefined || value === null) return Result.succeed({})
  if (!isJsonObject(value))
    return invalid("invalid_type", "variables", "variables has the wrong type: expected object.")
  const entries: Array<readonly [string, string]> = []
  for (const [name, one] of Object.entries(value)) {
    const param = pathText(["variables", name])
    if (isRefusedKey(name)) return invalid("invalid_key", param, `variables may not use the key "${name}".`)
    if (typeof one !== "string")
      return invalid("missing_variable", param, `${param} has the wrong type: expected string.`)
    entries.push([name, one])
  }
  return Result.succeed(Object.fromEntries(entries))
}

/** Renders the object, or reports all missing variables. The size is checked before any text is built. */
export const renderTemplate = (
  { filledBy, length, uses }: Template,
  variables: Variables,
  mostBytes: number
): Result.Result<JsonObject, BodyInvalid | BodyTooLarge> => {
  const missing: Array<string> = []
  let size = length
  for (const [name, times] of uses) {
    // Inherited properties do not count as variables.
    if (Object.hasOwn(variables, name)) size += times * (variables[name] ?? "").length
    else missing.push(name)
  }
  const [first] = missing
  if (first !== undefined) {
    return invalid(
      "missing_variable",
      `variables.${first}`,
      `The prompt needs ${missing.join(", ")}; send each as a string in variables.`
    )
  }
  return size > mostBytes
    ? Result.fail(new BodyTooLarge({ limitBytes: mostBytes, param: "variables" }))
    : Result.succeed(filledBy(variables))
}
