// Every setting with its value and its origin: a flag, a variable, a line of the file, or the default.
// Must not show a secret: of addresses that may hold a password only the place is shown.
import * as AST from "effect/SchemaAST"
import { defaultLimits } from "../../domain/Limits.ts"
import { defaultServer, type SettingOrigin } from "../../domain/settings/Settings.ts"
import { settingsFile } from "../../domain/settings/settingsFile.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import {
  applyOverrides,
  collectOverrides,
  type Environment,
  type Flags,
  originOf,
  type References,
  substitute
} from "./environment.ts"
import type { SettingsText } from "./SettingsText.ts"

export interface OriginsInput {
  /** The name of the file and its text; undefined where there is none. */
  readonly file: { readonly name: string; readonly text: SettingsText } | undefined
  readonly env: Environment
  readonly flags: Flags
  readonly references?: References
}

interface Setting {
  readonly path: ReadonlyArray<string>
  readonly description: string | undefined
  /** A list or mapping of entries, of which the number is shown. */
  readonly hasEntries: boolean
}

/** These are listed by routes of their own. */
const listedElsewhere: ReadonlySet<string> = new Set(["providers", "keys", "prompts", "configs"])

const isSection = (ast: AST.AST): ast is AST.Objects => ast._tag === "Objects" && ast.indexSignatures.length === 0

const settingOf = (path: ReadonlyArray<string>, ast: AST.AST): Setting => ({
  path,
  description: AST.resolveDescription(ast),
  hasEntries: ast._tag === "Objects"
})

const membersOf = (ast: AST.AST, path: ReadonlyArray<string>): ReadonlyArray<Setting> =>
  isSection(ast)
    ? ast.propertySignatures.flatMap(({ name, type }) => membersOf(type, [...path, String(name)]))
    : [settingOf(path, ast)]

const settings: ReadonlyArray<Setting> = membersOf(settingsFile.ast, []).filter(
  ({ path: [section = ""] }) => !listedElsewhere.has(section)
)

/** Addresses that may hold a password. */
const secretNames: ReadonlySet<string> = new Set(["store.url", "redis.url"])

/** The address without name and password, and without a query, which may hold one too. */
const placeOf = (text: string): string => {
  if (text.startsWith("sqlite:")) return text
  const url = URL.parse(text)
  return url === null ? "***" : `${url.protocol}//${url.host}${url.pathname}`
}

const defaults: JsonObject = {
  server: { host: defaultServer.host, port: defaultServer.port },
  limits: { ...defaultLimits }
}

const valueAt = (root: Json, path: ReadonlyArray<string>): Json | undefined =>
  path.reduce<Json | undefined>((value, name) => (isJsonObject(value) ? value[name] : undefined), root)

const shownValue = (name: string, value: Json | undefined, hasEntries: boolean): Json | undefined => {
  if (typeof value === "string" && secretNames.has(name)) return placeOf(value)
  if (!hasEntries || !isJsonObject(value)) return value
  const count = Object.keys(value).length
  return count === 1 ? "1 entry" : `${count} entries`
}

/** Every setting in the order of the schema. The file has no faults. */
export const settingOrigins = ({ env, file, flags, references }: OriginsInput): ReadonlyArray<SettingOrigin> => {
  const over = collectOverrides(env, flags)
  const written = substitute(file?.text.value ?? {}, env, references).value
  const whole = applyOverrides(isJsonObject(written) ? written : {}, over)
  return settings.map(({ description, hasEntries, path }) => {
    const name = path.join(".")
    const value = valueAt(whole, path)
    const shared = { name, description }
    if (value === undefined || value === null)
      return { ...shared, value: valueAt(defaults, path), source: "default", from: undefined }
    const from = originOf(name, over)
    const shown = shownValue(name, value, hasEntries)
    if (from !== undefined)
      return { ...shared, value: shown, source: from.startsWith("--") ? "flag" : "variable", from }
    const line = file?.text.locate(path)?.line
    return { ...shared, value: shown, source: "file", from: `${file?.name}${line === undefined ? "" : `:${line}`}` }
  })
}
