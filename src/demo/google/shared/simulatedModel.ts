// What the simulated model makes of a prompt: the text of its answer, the functions it calls, and values that fit a schema.
// It must not depend on how a reply is framed, counted or signed.
import { isRecord } from "../shapes/open.ts"
import {
  declarationsOf,
  type FunctionDeclaration,
  type GenerateRequest,
  type JsonSchema,
  lastUserContent,
  lastUserText,
  type Part,
  partsOf,
  pendingResponses
} from "./generateRequest.ts"

const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most)}...` : text)

const greeting = /^\s*(hello|hi|hey|good (morning|evening|afternoon)|hallo|moin|bonjour|hola)\b/i

const mediaSentence = (part: Part): string | undefined => {
  if (part.inlineData !== undefined) {
    const type = part.inlineData.mimeType ?? "application/octet-stream"
    const bytes = Buffer.from(part.inlineData.data ?? "", "base64").length
    return `I see ${/^[aeiou]/.test(type) ? "an" : "a"} ${type} of ${bytes} bytes.`
  }
  return part.fileData === undefined
    ? undefined
    : `I see the file ${part.fileData.fileUri ?? ""} (${part.fileData.mimeType ?? "type not given"}).`
}

const resultSentence = (name: string, response: unknown): string => {
  const output = typeof response === "object" && response !== null && "output" in response ? response.output : response
  return `The tool ${name} answered ${cut(typeof output === "string" ? output : JSON.stringify(output), 400)}.`
}

const proseAnswer = (request: GenerateRequest, family: string): string => {
  const results = pendingResponses(request).map((result) =>
    resultSentence(result.name ?? "without a name", result.response)
  )
  if (results.length > 0) return `${results.join(" ")} That is all I need to answer you.`
  const text = lastUserText(request)
  const media = partsOf(lastUserContent(request)).flatMap((part) => mediaSentence(part) ?? [])
  if (media.length === 0 && greeting.test(text)) {
    return `Hello! I am a simulated ${family} model, so nothing you write leaves this machine. What would you like to try?`
  }
  const quoted = text === "" ? "You sent no words." : `You wrote: "${cut(text, 240)}".`
  const system = partsOf(request.systemInstruction)
    .map((part) => part.text ?? "")
    .join(" ")
  const obeyed = system === "" ? "" : ` I keep to the instruction "${cut(system, 120)}".`
  const seen = media.length === 0 ? "" : `${media.join(" ")} `
  return `${seen}${quoted}${obeyed} A simulated model cannot think about it, but it answers in the true wire format.`
}

/** The answer's text: prose, or JSON that fits the requested schema; `family` is the model name in the prose. */
export const answerText = (request: GenerateRequest, family = "Gemini"): string => {
  const config = request.generationConfig
  const schema = config?.responseJsonSchema ?? config?.responseSchema
  const text = lastUserText(request)
  if (schema !== undefined) {
    const value = synthesise(schema, { text, place: placesIn(text)[0], properties: "all" })
    return config?.responseMimeType === "text/x.enum" ? String(value) : JSON.stringify(value, null, 2)
  }
  const prose = proseAnswer(request, family)
  return config?.responseMimeType === "application/json" ? JSON.stringify({ answer: prose }, null, 2) : prose
}

/** The text of the thoughts that precede the answer. */
export const thoughtText = (request: GenerateRequest): string => {
  const asked = cut(lastUserText(request), 120)
  return `**Reading the Request**\n\nThe user wrote "${asked}". I look at what is offered to me and choose the plainest way to answer.\n\n\n`
}

export interface PlannedCall {
  readonly name: string
  readonly args: Record<string, unknown>
}

const idle = new Set([
  "get",
  "set",
  "the",
  "for",
  "and",
  "with",
  "from",
  "current",
  "function",
  "tool",
  "call",
  "this",
  "that",
  "given",
  "returns",
  "return",
  "lookup",
  "find",
  "make"
])

const wordsOf = (text: string): ReadonlyArray<string> =>
  text
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 2 && !idle.has(word))

const stem = (word: string): string => word.replace(/(ing|ed|es|s)$/, "")

/** How well the prompt matches: 10 for the whole name, else 2 for a word of the name, 1 for one of the description. */
const relevance = (declaration: FunctionDeclaration, text: string): number => {
  if (text.toLowerCase().includes(declaration.name.toLowerCase())) return 10
  const asked = new Set(wordsOf(text).map(stem))
  const hits = (source: string) =>
    new Set(
      wordsOf(source)
        .map(stem)
        .filter((word) => asked.has(word))
    ).size
  return 2 * hits(declaration.name) + hits(declaration.description ?? "")
}

const argumentsFor = (
  declaration: FunctionDeclaration,
  text: string,
  place: string | undefined
): Record<string, unknown> => {
  const schema = declaration.parametersJsonSchema ?? declaration.parameters
  const value =
    schema === undefined ? {} : synthesise({ ...schema, type: "object" }, { text, place, properties: "required" })
  return isRecord(value) ? value : {}
}

const takesPlace = (declaration: FunctionDeclaration): boolean => {
  const schema = declaration.parametersJsonSchema ?? declaration.parameters
  return Object.keys(schema?.properties ?? {}).some((key) => /city|location|place|town/i.test(key))
}

/**
 * The call that the prompt spells out: `demo:call read_file {"path":"notes.txt"}`.
 * None after `demo:no-call`, or if the function is not offered or the arguments are not JSON; undefined without either.
 */
const spelledCall = (
  offered: ReadonlyArray<FunctionDeclaration>,
  text: string
): ReadonlyArray<PlannedCall> | undefined => {
  if (text.includes("demo:no-call")) return []
  const [spelled, name = "", json = ""] = /demo:call (\S+) (\{.*?\})(?=\s|$)/.exec(text) ?? []
  if (spelled === undefined) return undefined
  if (!offered.some((declaration) => declaration.name === name)) return []
  try {
    return [{ name, args: JSON.parse(json) }]
  } catch {
    return []
  }
}

/** The calls of this turn: the one that the prompt spells out, else none, one, or one for each place that it names. */
export const planCalls = (request: GenerateRequest): ReadonlyArray<PlannedCall> => {
  const config = request.toolConfig?.functionCallingConfig
  const mode = config?.mode ?? "AUTO"
  const allowed = config?.allowedFunctionNames ?? []
  const offered = declarationsOf(request).filter(
    (declaration) => allowed.length === 0 || allowed.includes(declaration.name)
  )
  const forced = mode === "ANY"
  if (mode === "NONE" || offered.length === 0 || (!forced && pendingResponses(request).length > 0)) return []
  const text = lastUserText(request)
  const spelled = spelledCall(offered, text)
  if (spelled !== undefined) return spelled
  const ranked = offered.map((declaration) => ({ declaration, score: relevance(declaration, text) }))
  const best = ranked.reduce((winner, next) => (next.score > winner.score ? next : winner))
  if (!forced && best.score < 2) return []
  const chosen = best.declaration
  const places = takesPlace(chosen) ? placesIn(text).slice(0, 5) : []
  const targets = places.length > 0 ? places : [placesIn(text)[0]]
  return targets.map((place) => ({ name: chosen.name, args: argumentsFor(chosen, text, place) }))
}

export interface Hints {
  /** The text of the prompt. */
  readonly text: string
  /** The place for this value, if the prompt names several. */
  readonly place: string | undefined
  /** `all` for JSON answers; `required` for tool arguments: only required properties, if the schema names any. */
  readonly properties: "all" | "required"
}

const capital = "\\p{Lu}[\\p{L}'’-]*"
const name = `${capital}(?:\\s+${capital})*`
const places = new RegExp(
  `\\b(?:in|for|at|near|of|between|from|to)\\s+(${name}(?:(?:\\s*,\\s*(?:and\\s+)?|\\s+and\\s+|\\s+or\\s+)${name})*)`,
  "gu"
)

/** Places in the prompt: capitalised words after "in", "for", "near" and the like, or the word after "in". */
export const placesIn = (text: string): ReadonlyArray<string> => {
  const matches = [...text.matchAll(places)].flatMap((match) =>
    (match[1] ?? "").split(/\s*,\s*(?:and\s+)?|\s+and\s+|\s+or\s+/u)
  )
  if (matches.length > 0) return [...new Set(matches)]
  const plain = /\bin\s+([\p{L}-]+)/u.exec(text)?.[1]
  return plain === undefined ? [] : [plain]
}

const numbersIn = (text: string): ReadonlyArray<number> =>
  [...text.matchAll(/-?\d+(?:\.\d+)?/g)].map((match) => Number(match[0]))

interface Walk {
  readonly hints: Hints
  readonly root: JsonSchema
  readonly numbers: Array<number>
}

const resolve = (schema: JsonSchema, root: JsonSchema): JsonSchema => {
  const pointer = schema.$ref ?? schema.ref
  if (pointer === undefined) return schema
  if (pointer === "#") return root
  const key = pointer.split("/").at(-1) ?? ""
  return root.$defs?.[key] ?? root.definitions?.[key] ?? root.defs?.[key] ?? {}
}

const typeOf = (schema: JsonSchema): string => {
  const listed = Array.isArray(schema.type) ? schema.type.find((type: string) => type !== "null") : schema.type
  if (typeof listed === "string" && listed !== "TYPE_UNSPECIFIED") return listed.toLowerCase()
  if (schema.properties !== undefined) return "object"
  return schema.items !== undefined || schema.prefixItems !== undefined ? "array" : "string"
}

const byFormat: Readonly<Record<string, string>> = {
  "date-time": "2026-01-15T09:30:00Z",
  date: "2026-01-15",
  time: "09:30:00Z",
  email: "ada@example.com",
  uri: "https://example.com/",
  url: "https://example.com/",
  uuid: "123e4567-e89b-42d3-a456-426614174000"
}

const stringFor = (key: string, schema: JsonSchema, { text, place }: Hints): string => {
  const format = schema.format?.toLowerCase() ?? ""
  const word = key.toLowerCase()
  if (byFormat[format] !== undefined) return byFormat[format]
  if (/city|location|place|destination|town|address|origin|country/.test(word)) return place ?? "Paris"
  if (/e-?mail/.test(word)) return /\S+@\S+\.\w+/.exec(text)?.[0] ?? "ada@example.com"
  if (/url|link|uri/.test(word)) return /https?:\/\/\S+/.exec(text)?.[0] ?? "https://example.com/"
  if (/date|day/.test(word)) return /\d{4}-\d{2}-\d{2}/.exec(text)?.[0] ?? "2026-01-15"
  if (/expression|formula|equation/.test(word)) return /[\d(][\d\s.+*/()^-]*[\d)]/.exec(text)?.[0] ?? "1 + 1"
  const quoted = /["“']([^"”']+)["”']/.exec(text)?.[1]
  if (quoted !== undefined) return quoted
  if (/query|question|text|prompt|message|input|content|search|answer|summary|description/.test(word))
    return text === "" ? "nothing" : text
  return place ?? (key === "" ? text || "text" : `a ${key.replaceAll("_", " ")}`)
}

const withinLength = (value: string, schema: JsonSchema): string =>
  value.slice(0, Number(schema.maxLength ?? value.length)).padEnd(Number(schema.minLength ?? 0), ".")

const numberFor = (schema: JsonSchema, walk: Walk, whole: boolean): number => {
  const value = walk.numbers.shift() ?? schema.minimum ?? Math.min(1, schema.maximum ?? 1)
  const bounded = Math.min(schema.maximum ?? value, Math.max(schema.minimum ?? value, value))
  return whole ? Math.round(bounded) : bounded
}

const objectFor = (schema: JsonSchema, walk: Walk, depth: number): Record<string, unknown> => {
  const properties = schema.properties ?? {}
  const required = schema.required ?? []
  const named = schema.propertyOrdering ?? Object.keys(properties)
  const wanted =
    walk.hints.properties === "required" && required.length > 0 ? named.filter((key) => required.includes(key)) : named
  const entries = wanted.flatMap((key) => {
    const property = properties[key]
    // Optional properties are omitted below depth 4, so a recursive schema ends.
    if (property === undefined || (depth > 4 && !required.includes(key))) return []
    return [[key, valueFor(key, property, walk, depth + 1)] as const]
  })
  return Object.fromEntries(entries)
}

const arrayFor = (key: string, schema: JsonSchema, walk: Walk, depth: number): ReadonlyArray<unknown> => {
  if (schema.prefixItems !== undefined) return schema.prefixItems.map((item) => valueFor(key, item, walk, depth + 1))
  const length = Math.max(Number(schema.minItems ?? 0), depth > 4 ? 0 : 1)
  return Array.from({ length: Math.min(length, 100) }, () => valueFor(key, schema.items ?? {}, walk, depth + 1))
}

const valueFor = (key: string, unresolved: JsonSchema, walk: Walk, depth: number): unknown => {
  const schema = resolve(unresolved, walk.root)
  if (depth > 12) return null
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined && schema.enum.length > 0) {
    const words = walk.hints.text.toLowerCase()
    return schema.enum.find((word) => typeof word === "string" && words.includes(word.toLowerCase())) ?? schema.enum[0]
  }
  const branches = (schema.anyOf ?? schema.oneOf)?.map((branch) => resolve(branch, walk.root))
  const branch = branches?.find((candidate) => candidate.type !== "null" && candidate.type !== "NULL")
  if (branch !== undefined) return valueFor(key, branch, walk, depth + 1)
  if (schema.allOf !== undefined) {
    return Object.assign(
      {},
      objectFor(schema, walk, depth),
      ...schema.allOf.map((part) => valueFor(key, part, walk, depth + 1))
    )
  }
  const type = typeOf(schema)
  if (type === "object") return objectFor(schema, walk, depth)
  if (type === "array") return arrayFor(key, schema, walk, depth)
  if (schema.default !== undefined) return schema.default
  if (type === "integer" || type === "number") return numberFor(schema, walk, type === "integer")
  if (type === "boolean") return true
  if (type === "null") return null
  return withinLength(stringFor(key, schema, walk.hints), schema)
}

/** A value of `schema`; uses the numbers of the prompt in order, and enum values that the prompt contains. */
export const synthesise = (schema: JsonSchema, hints: Hints): unknown =>
  valueFor("", schema, { hints, root: schema, numbers: [...numbersIn(hints.text)] }, 0)
