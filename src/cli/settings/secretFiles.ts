// Reads secrets that are mounted as files: `NAME_FILE` holds the path of a file with the value of `NAME`.
// Must not know what a secret is for. Its text never enters a fault.
import * as Result from "effect/Result"
import type { Fault } from "../../domain/faults.ts"
import type { Json } from "../../domain/text/json.ts"
import { type Environment, referencesIn } from "./substitute.ts"

/** Variables that hold secrets. Variables that the configuration refers to are added. */
const secretVariables: ReadonlyArray<string> = [
  "GEMINI_API_KEY",
  "GOOGLE_API_KEY",
  "GATEWAY_API_KEY",
  "GATEWAY_ADMIN_KEY",
  "GATEWAY_SECRET_KEY",
  "GATEWAY_REDIS_URL",
  "REDIS_URL",
  "GATEWAY_STORE_URL",
  "DATABASE_URL"
]

const nonEmptyVariable = (env: Environment, name: string): string | undefined =>
  Object.hasOwn(env, name) ? env[name] || undefined : undefined

/** The environment with the content of the secret files. A variable that is set wins over its file. */
export const withSecretFiles = (
  env: Environment,
  configuration: Json,
  read: (path: string) => Result.Result<string, string>
): { readonly env: Environment; readonly faults: ReadonlyArray<Fault> } => {
  const found: Record<string, string> = {}
  const faults: Array<Fault> = []
  for (const name of new Set([...secretVariables, ...referencesIn(configuration)])) {
    const path = nonEmptyVariable(env, name) === undefined ? nonEmptyVariable(env, `${name}_FILE`) : undefined
    if (path === undefined) continue
    const text = read(path)
    if (Result.isFailure(text)) faults.push({ path: `${name}_FILE`, message: text.failure, at: undefined })
    else found[name] = text.success.replace(/\r?\n$/, "")
  }
  return { env: { ...env, ...found }, faults }
}
