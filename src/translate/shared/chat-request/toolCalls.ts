// Calls of tools between client and upstream: legal names, arguments and results as JSON, custom tools as functions, their size.
// Must not depend on schemas, or on where a tool is declared or called. Rule: R313.
import * as Result from "effect/Result"
import { BodyInvalid } from "../../../domain/GatewayError.ts"
import { defaultLimits } from "../../../domain/Limits.ts"
import { countValues, parseInnerJsonText } from "../../../domain/text/innerJson.ts"
import { isJsonObject, type Json, type JsonObject, parseJsonText } from "../../../domain/text/json.ts"
import type { ChatRequest } from "../../../wire/openai/Chat.ts"

/** The name map of one request; both functions return legal names unchanged. */
export interface ToolNames {
  readonly mangle: (name: string) => string
  readonly unmangle: (name: string) => string
}

/** The upstream's grammar of names: the whole name, illegal characters, and the legal start. */
export interface NameGrammar {
  readonly legal: RegExp
  readonly illegal: RegExp
  readonly start: RegExp
}

/** Source: Gemini API, FunctionDeclaration.name. */
export const geminiNames: NameGrammar = {
  legal: /^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/,
  illegal: /[^A-Za-z0-9_.:-]/gu,
  start: /^[A-Za-z_]/
}

/** Source: Anthropic Messages API, Tool.name. */
export const claudeNames: NameGrammar = {
  legal: /^[A-Za-z0-9_-]{1,128}$/,
  illegal: /[^A-Za-z0-9_-]/gu,
  start: /^/
}

const keptLength = 55

/**
 * Builds the map between the client's function names and the upstream's.
 * An illegal name becomes its legal characters, cut, plus 8 hex digits of a hash. The hash is FNV-1a over UTF-16:
 * pure, and collisions inside one request are resolved by hashing again. Declared tools come before names of the
 * history, so the same request always gives the same map.
 */
export const toolNamesOf = (request: ChatRequest, grammar: NameGrammar): ToolNames => {
  const mangled = (name: string) => legalName(name, grammar)
  if (!namesFunctions(request)) return { mangle: mangled, unmangle: same }
  const { legal } = grammar
  const names = namesOf(request)
  const taken = new Set<string>()
  for (const name of names) if (legal.test(name)) taken.add(name)
  const there = new Map<string, string>()
  const back = new Map<string, string>()
  // Names that collide once collide with every salt: each starts after the salt of the one before.
  const salts = new Map<string, number>()
  for (const name of names) {
    if (legal.test(name)) continue
    const first = mangledName(name, 0, grammar)
    let salt = salts.get(first) ?? 0
    let free = salt === 0 ? first : mangledName(name, salt, grammar)
    while (taken.has(free)) free = mangledName(name, ++salt, grammar)
    taken.add(free)
    salts.set(first, salt)
    there.set(name, free)
    back.set(free, name)
  }
  const isCalled = (name: string): boolean => back.has(name) || names.has(name)
  return {
    mangle: (name) => there.get(name) ?? mangled(name),
    unmangle: (name) => {
      const bareName = withoutPrefix(name, isCalled)
      return back.get(bareName) ?? bareName
    }
  }
}

/** Models put words before a name, as in `default_api:get_weather` and `functions.get_weather`. */
export const withoutPrefix = (name: string, isKnown: (name: string) => boolean): string => {
  if (isKnown(name)) return name
  for (const { index } of name.matchAll(/[:./]/g)) if (isKnown(name.slice(index + 1))) return name.slice(index + 1)
  return name
}

const same = (name: string): string => name

/** Of a name that no other name of its request concerns. */
export const legalName = (name: string, grammar: NameGrammar): string =>
  grammar.legal.test(name) ? name : mangledName(name, 0, grammar)

/** False for most requests: their maps are empty. */
const namesFunctions = ({ functions, messages, tools }: ChatRequest): boolean =>
  tools !== undefined ||
  functions !== undefined ||
  messages.some(
    ({ function_call, role, tool_calls }) =>
      tool_calls !== undefined || function_call !== undefined || role === "function"
  )

const mangledName = (name: string, salt: number, { illegal, start }: NameGrammar): string => {
  const cleaned = name.replace(illegal, "_")
  const started = start.test(cleaned) ? cleaned : `_${cleaned}`
  return `${started.slice(0, keptLength)}_${hash(salt === 0 ? name : `${name}\n${salt}`)}`
}

const hash = (text: string): string => {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  }
  return (value >>> 0).toString(16).padStart(8, "0")
}

/** The names of functions that a request declares or has called. */
export const namesOf = (request: ChatRequest): ReadonlySet<string> => {
  const names = new Set<string>()
  const add = (holder: unknown): void => {
    if (isJsonObject(holder) && typeof holder["name"] === "string") names.add(holder["name"])
  }
  for (const tool of request.tools ?? []) if (isJsonObject(tool)) add(tool["function"])
  for (const declared of request.functions ?? []) add(declared)
  for (const message of request.messages) {
    if (Array.isArray(message.tool_calls)) {
      for (const call of message.tool_calls) if (isJsonObject(call)) add(call["function"])
    }
    add(message.function_call)
    if (message.role === "function") add(message)
  }
  return names
}

// Converts tool call arguments and tool results between JSON text (client) and objects (upstream).

/** Arguments as an object; `isRepaired` where the text is not that of one. */
export interface ReadArguments {
  readonly args: JsonObject
  readonly isRepaired: boolean
}

/** What is no object is kept as text under this name. */
const rawName = "_raw"

const parsed = (text: string): Json | undefined =>
  Result.getOrElse(parseInnerJsonText(text, defaultLimits), () => undefined)

/**
 * Parses the arguments of a call; empty text becomes `{}`. Integers of any size keep their digits. Calls of a history may
 * be cut, or written by hand: what can be read as an object is, anything else stays as text.
 */
export const parseArguments = (given: Json | undefined): ReadArguments => {
  if (isJsonObject(given)) return { args: given, isRepaired: false }
  const text = typeof given === "string" ? given : given === undefined || given === null ? "" : JSON.stringify(given)
  if (text.trim() === "") return { args: {}, isRepaired: false }
  const value = parsed(text)
  if (isJsonObject(value)) return { args: value, isRepaired: false }
  const inner = typeof value === "string" ? parsed(value) : value === undefined ? parsed(asJson(text)) : undefined
  return { args: isJsonObject(inner) ? inner : { [rawName]: text }, isRepaired: true }
}

const token = /"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*'|,(?=\s*[}\]])|\b(?:None|True|False)\b/g
const words: ReadonlyMap<string, string> = new Map([
  [",", ""],
  ["None", "null"],
  ["True", "true"],
  ["False", "false"]
])

/** Python's spelling of an object, and commas at the end, in JSON's. */
const asJson = (text: string): string =>
  text.replace(token, (word) => {
    if (word.startsWith('"')) return word
    if (!word.startsWith("'")) return words.get(word) ?? word
    const inner = word.slice(1, -1).replace(/\\[^]|"/g, (one) => (one === "\\'" ? "'" : one === '"' ? '\\"' : one))
    return `"${inner}"`
  })

const isObjectText = (text: string): boolean => text.trimStart().startsWith("{")

/** Parses a tool result: a JSON object stays as it is, any other text goes under `output`. */
export const parseResult = (text: string): JsonObject => {
  if (!isObjectText(text)) return { output: text }
  const value = parseInnerJsonText(text, defaultLimits)
  return Result.isSuccess(value) && isJsonObject(value.success) ? value.success : { output: text }
}

// The function that replaces a custom tool upstream, whose input is plain text: one member with the text, and back.

const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "")

/** Description and parameters of the function. The grammar is in `format`, nested under its name on the chat route. */
export const customFunction = ({ description, format: given }: JsonObject): JsonObject => {
  const format = isJsonObject(given) ? given : {}
  const { definition, syntax } = isJsonObject(format["grammar"]) ? format["grammar"] : format
  const grammar =
    format["type"] === "grammar" ? `It must follow this ${textOf(syntax)} grammar:\n${textOf(definition)}` : ""
  return {
    description: [textOf(description), 'Put the whole input as text into "input".', grammar]
      .filter((text) => text !== "")
      .join("\n\n"),
    parameters: {
      type: "object",
      properties: { input: { type: "string" } },
      required: ["input"],
      additionalProperties: false
    }
  }
}

/** The arguments of a call of the function. */
export const customArguments = (input: string): string => JSON.stringify({ input })

/** What stands under `input`; whatever else came, as it came. */
export const customInput = (text: string): string => {
  const read = parseJsonText(text)
  const input = Result.isSuccess(read) && isJsonObject(read.success) ? read.success["input"] : undefined
  return typeof input === "string" ? input : text
}

// Counts the JSON values in the texts of a chat that translators parse: arguments of calls, and results of tools.

/** A shorter text has no values that matter. */
const shortText = 64

/** The texts of a chat that may be parsed, in any shape a client may send. */
const eachText = ({ messages }: ChatRequest, visit: (text: string, param: string, isResult: boolean) => void): void => {
  for (const [index, message] of messages.entries()) {
    const { content, function_call: legacy, role, tool_calls: calls } = message
    const take = (text: unknown, place: string, isResult = false): void => {
      if (typeof text === "string" && text.length >= shortText) visit(text, `messages[${index}].${place}`, isResult)
    }
    if (role === "tool" || role === "function") {
      if (Array.isArray(content)) {
        for (const part of content) if (isJsonObject(part)) take(part["text"], "content", true)
      } else take(content, "content", true)
    }
    if (Array.isArray(calls)) {
      for (const [at, call] of calls.entries()) {
        const called: unknown = isJsonObject(call) ? call["function"] : undefined
        if (isJsonObject(called)) take(called["arguments"], `tool_calls[${at}].function.arguments`)
      }
    }
    if (isJsonObject(legacy)) take(legacy["arguments"], "function_call.arguments")
  }
}

/** Any other text is not parsed to its end. */
const mayBeParsed = /^\s*[{[]/

/** The place where the values of a request exceed its limit, and those before it. */
interface InnerValues {
  readonly values: number
  readonly beyond: string | undefined
}

const unlimited = Number.MAX_SAFE_INTEGER
const limits = { jsonDepth: unlimited, jsonKeys: unlimited, jsonValues: defaultLimits.jsonValues }

/** The values that translators will make of texts. A result that is beyond the limit by itself stays text. */
const countInner = (chat: ChatRequest, most: number): InnerValues => {
  let values = 0
  let beyond: string | undefined
  eachText(chat, (text, param, isResult) => {
    if (beyond !== undefined || !mayBeParsed.test(text)) return
    const count = countValues(text, limits)
    values += count ?? 0
    if (values > most || (count === undefined && !isResult)) beyond = param
  })
  return { values, beyond }
}

/** The values in the texts of a chat that its check has passed. */
export const innerValues = (chat: ChatRequest): number => countInner(chat, unlimited).values

/** The first text beyond what the limit leaves. Texts of fewer characters than values are not counted. */
export const innerFault = (chat: ChatRequest, most: number): BodyInvalid | undefined => {
  let characters = 0
  eachText(chat, (text) => {
    characters += text.length
  })
  const param = characters <= most ? undefined : countInner(chat, most).beyond
  return param === undefined
    ? undefined
    : new BodyInvalid({
        code: "json_too_large",
        param,
        message: `${param} has JSON with which the request holds more values than limits.jsonValues allows in its body, its arguments and its tool results together; send large results as plain text, and fewer of them.`
      })
}
