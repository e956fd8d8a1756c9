// Parses the YAML or JSON text of a configuration file, with the line of each key.
// Must not know what the keys mean.
import * as Yaml from "effect/encoding/Yaml"
import * as Result from "effect/Result"
import { isJsonObject, type Json, parseJsonText } from "../../domain/text/json.ts"
import { locatePath, type Position } from "./locate.ts"
import type { FaultPath } from "../../domain/faults.ts"

export interface SettingsText {
  readonly value: Json
  readonly isBlank: boolean
  readonly locate: (path: FaultPath) => Position | undefined
}

/** A text that is not valid YAML or JSON. The line is present when the parser reports one. */
export interface Unreadable {
  readonly message: string
  readonly line: number | undefined
}

/** `{ key: ${NAME} }` is not valid YAML. References are masked at equal length while the text is parsed. */
const maskReferences = (text: string): string => text.replace(/\$\{([^}\n]*)\}/g, "\uE000\uE001$1\uE002")
const unmaskReferences = (text: string): string => text.replace(/\uE000\uE001([^\uE002]*)\uE002/g, "${$1}")

const toJson = (value: unknown): Json => {
  if (typeof value === "string") return unmaskReferences(value)
  if (value === null || typeof value === "boolean" || typeof value === "number") return value
  if (Array.isArray(value)) return value.map(toJson)
  if (!isJsonObject(value)) return null
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [unmaskReferences(key), toJson(member)]))
}

const yamlOf = (text: string): Result.Result<unknown, string> =>
  Result.try({ try: () => Yaml.parse(text), catch: (error) => (error instanceof Error ? error.message : "not YAML") })

/** The line of a fault that the parser reports without one: the shortest prefix of the text with the same fault. */
const lineOf = (text: string, fault: string): number => {
  const lines = text.split("\n")
  let [sound, wrong] = [0, lines.length]
  while (wrong - sound > 1) {
    const middle = (sound + wrong) >> 1
    const read = yamlOf(lines.slice(0, middle).join("\n"))
    if (Result.isFailure(read) && read.failure === fault) wrong = middle
    else sound = middle
  }
  return wrong
}

const parseYaml = (text: string): Result.Result<Json, Unreadable> =>
  Result.mapBoth(yamlOf(text), {
    onSuccess: toJson,
    onFailure: (fault) => {
      const located = /^(.*) at line (\d+)$/.exec(fault)
      return {
        message: unmaskReferences(located?.[1] ?? fault.replace(/ at flow offset \d+$/, " in a flow collection")),
        line: located?.[2] === undefined ? lineOf(text, fault) : Number(located[2])
      }
    }
  })

const parseJson = (text: string): Result.Result<Json, Unreadable> =>
  // The parser's message quotes the text around the fault, which may be a secret.
  Result.mapBoth(parseJsonText(text), {
    onSuccess: toJson,
    onFailure: (message) => {
      const line = /\(line (\d+) /.exec(message)?.[1]
      return { message: "not JSON", line: line === undefined ? undefined : Number(line) }
    }
  })

/** Parses YAML, or JSON when the name ends in `.json`. */
export const parseSettingsText = (name: string, text: string): Result.Result<SettingsText, Unreadable> => {
  const masked = maskReferences(text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n"))
  return Result.map(name.endsWith(".json") ? parseJson(masked) : parseYaml(masked), (value) => ({
    value,
    isBlank: masked.trim() === "",
    locate: (path) => locatePath(masked, path)
  }))
}
