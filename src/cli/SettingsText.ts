// Text of a configuration file to JSON values, with the places of its keys.
// It must not know what the keys mean.
import * as Yaml from "effect/encoding/Yaml"
import * as Result from "effect/Result"
import { isJsonObject, type Json, parseJsonText } from "../domain/json.ts"
import { locate, type Position } from "./locate.ts"
import type { FaultPath } from "../domain/faults.ts"

export interface SettingsText {
  readonly value: Json
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

const parseYaml = (text: string): Result.Result<Json, Unreadable> => {
  try {
    return Result.succeed(toJson(Yaml.parse(text)))
  } catch (error) {
    const message = error instanceof Error ? error.message : "not YAML"
    const line = /^(.*) at line (\d+)$/.exec(message)
    return Result.fail({
      message: unmask(line?.[1] ?? message.replace(/ at flow offset \d+$/, " in a flow collection")),
      line: line?.[2] === undefined ? undefined : Number(line[2])
    })
  }
}

const parseJson = (text: string): Result.Result<Json, Unreadable> =>
  // The parser's own sentence quotes the text around the fault, which may be a secret.
  Result.mapBoth(parseJsonText(text), { onSuccess: toJson, onFailure: (message) => {
    const line = /\(line (\d+) /.exec(message)?.[1]
    return { message: "not JSON", line: line === undefined ? undefined : Number(line) }
  } })

/** Reads YAML, or JSON when the name ends in `.json`. */
export const parseSettingsText = (name: string, text: string): Result.Result<SettingsText, Unreadable> => {
  const masked = mask(text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n"))
  return Result.map(name.endsWith(".json") ? parseJson(masked) : parseYaml(masked), (value) => ({
    value,
    locate: (path) => locate(masked, path)
  }))
}
