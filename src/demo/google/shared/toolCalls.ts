// Chooses which declared functions the simulated model calls for a prompt, and their arguments.
// Must not depend on how a reply is framed, counted or signed.

import { declarationsOf, lastUserText, pendingResponses } from "./generateRequest.ts"
import type { FunctionDeclaration, GenerateRequest } from "./generateRequest.ts"
import { placesIn, synthesise } from "./schemaValues.ts"

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

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

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
