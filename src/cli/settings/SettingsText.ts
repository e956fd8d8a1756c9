// Text of a configuration file to JSON values, with the places of its keys.
// It must not know what the keys mean.
import * as Yaml from "effect/encoding/Yaml"
import * as Result from "effect/Result"
import { isJsonObject, type Json, parseJsonText } from "../../domain/text/json.ts"
import { locate, type Position } from "./locate.ts"
import type { FaultPath } from "../../domain/faults.ts"

export interface SettingsText {
  readonly value: Json
  readonly isBlank: boolean
  readonly locate: (path: FaultPath) => Position | undefined
}

/** A text that is no YAML or JSON; the line when the parser named it. */
export interface Unreadable {
  readonly message: string
  readonly line: number | undefined
}

/** `${NAME}` in a flow collection (`{ key: ${NAME} }`) is no YAML: its braces are masked, at equal length, while it is parsed. */
const mask = (text: string): string => text.replace(/\$\{([^}\n]*)\}/g, "\uE000\uE001$1\uE002")
const unmask = (text: string): string => text.replace(/\uE000\uE001([^\uE002]*)\uE002/g, "${$1}")

const toJson = (value: unknown): Json => {
  if (typeof value === "string") return unmask(value)
  if (value === null || typeof value === "boolean" || typeof value === "number") return value
  if (Array.isArray(value)) return value.map(toJson)
  if (!isJsonObject(value)) return null
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [unmask(key), toJson(member)]))
}

const yamlOf = (text: string): Result.Result<unknown, string> =>
  Result.try({ try: () => Yaml.parse(text), catch: (error) => (error instanceof Error ? error.message : "not YAML") })

/** Of a fault the parser names no line for: the first line up to which the text is at fault in the same words. */
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
      const told = /^(.*) at line (\d+)$/.exec(fault)
      return {
        message: unmask(told?.[1] ?? fault.replace(/ at flow offset \d+$/, " in a flow collection")),
        line: told?.[2] === undefined ? lineOf(text, fault) : Number(told[2])
      }
    }
  })

const parseJson = (text: string): Result.Result<Json, Unreadable> =>
  // The parser's own sentence quotes the text around the fault, which may be a secret.
  Result.mapBoth(parseJsonText(text), {
    onSuccess: toJson,
    onFailure: (message) => {
      const line = /\(line (\d+) /.exec(message)?.[1]
      return { message: "not JSON", line: line === undefined ? undefined : Number(line) }
    }
  })

/** Reads YAML, or JSON when the name ends in `.json`. */
export const parseSettingsText = (name: string, text: string): Result.Result<SettingsText, Unreadable> => {
  const masked = mask(text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n"))
  return Result.map(name.endsWith(".json") ? parseJson(masked) : parseYaml(masked), (value) => ({
    value,
    isBlank: masked.trim() === "",
    locate: (path) => locate(masked, path)
  }))
}
