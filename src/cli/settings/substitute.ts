// Replaces ${NAME} and ${NAME:-default} in the texts of a configuration by environment variables.
// Must not know the configuration's schema. A variable's value never enters a fault.
import type * as Result from "effect/Result"
import { isJsonObject, type Json } from "../../domain/text/json.ts"
import { faultAt, type Fault, type FaultPath } from "../../domain/faults.ts"
import { unreadName } from "../../domain/text/nearest.ts"

/** Environment variables by name. Empty counts as unset. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Reads a file of the configuration by its path as written, and by where it is written. The failure is one sentence. */
export type FileText = (path: string, writtenIn: "file" | "environment") => Result.Result<string, string>

const referencePattern = /\$\{([^}:]*)(?::-([^}]*))?\}/g
const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Names of the variables that a configuration refers to. */
export const referencesIn = (value: Json): ReadonlyArray<string> =>
  [...(JSON.stringify(value) ?? "").matchAll(referencePattern)]
    .map(([, name = ""]) => name)
    .filter((name) => variableName.test(name))

const substituteText = (text: string, env: Environment, path: FaultPath, faults: Array<Fault>): string => {
  const before = faults.length
  const replaced = text.replace(referencePattern, (_, name: string, fallback: string | undefined) => {
    const found = Object.hasOwn(env, name) ? env[name] : undefined
    if (found !== undefined && found !== "") return found
    if (fallback !== undefined) return fallback
    faults.push(
      faultAt(
        path,
        variableName.test(name)
          ? `the environment variable ${name} is not set; set it, or write \${${name}:-default}`
          : "expected ${NAME} or ${NAME:-default}"
      )
    )
    return ""
  })
  return faults.length === before ? replaced : unreadName
}

const substituteValue = (value: Json, env: Environment, path: FaultPath, faults: Array<Fault>): Json => {
  if (typeof value === "string") return substituteText(value, env, path, faults)
  if (Array.isArray(value))
    return value.map((item: Json, index) => substituteValue(item, env, [...path, index], faults))
  if (!isJsonObject(value)) return value
  // `Object.fromEntries` keeps a member named `__proto__` an ordinary member.
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) =>
      member === undefined ? [] : [[key, substituteValue(member, env, [...path, key], faults)] as const]
    )
  )
}

/** The value with every reference replaced, and a fault for each unset variable. A text with a fault is `unreadName`. */
export const substitute = (
  value: Json,
  env: Environment
): { readonly value: Json; readonly faults: ReadonlyArray<Fault> } => {
  const faults: Array<Fault> = []
  return { value: substituteValue(value, env, [], faults), faults }
}
