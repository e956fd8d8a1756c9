// Maps function names the upstream rejects to legal names, and back.
// Must not depend on schemas or the purpose of a tool.
import { isJsonObject } from "../../../domain/text/json.ts"
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
      const own = withoutPrefix(name, isCalled)
      return back.get(own) ?? own
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
