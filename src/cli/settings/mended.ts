// Repairs a configuration with faults of shape, so that the same run can also check its meaning.
// Must not know the faults or the meaning of a value. A repaired configuration is only checked, never served.
import type { FaultPath } from "../../domain/faults.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import { unreadName } from "../../domain/text/nearest.ts"

/** A configuration to check, and the paths in it that were repaired. */
export interface RepairedConfiguration {
  readonly value: JsonObject
  readonly places: ReadonlyArray<FaultPath>
}

const provider: Json = { slug: unreadName, provider: "vertex-ai" }
const key: Json = { name: unreadName, key: unreadName }

/** Valid values for required members and for members that others refer to. Without them those would be faults too. */
const placeholders: Readonly<Record<string, Json>> = {
  providers: [provider],
  "providers[]": provider,
  "providers[].slug": unreadName,
  // Every field is allowed for this kind.
  "providers[].provider": "vertex-ai",
  "keys[]": key,
  "keys[].name": unreadName,
  "keys[].key": unreadName,
  prompts: [{ id: unreadName, text: "" }],
  "prompts[]": { id: unreadName, text: "" },
  "prompts[].id": unreadName,
  "prompts[].text": "",
  "prompts[].messages": [{ role: "user", content: "" }],
  configs: { [unreadName]: {} },
  "configs.*": {}
}

const placeholderFor = (path: FaultPath): Json | undefined => {
  const [section, second] = path
  // Errors name a target by its index, and removing a target would shift the others.
  if (section === "configs" && typeof path.at(-1) === "number" && path.at(-2) === "targets") return {}
  if (section === "configs" && path.length === 2) return placeholders["configs.*"]
  const name = path.map((part, index) => (typeof part === "number" ? "[]" : index === 0 ? part : `.${part}`)).join("")
  return path.length <= 3 && (path.length < 3 || typeof second === "number") && Object.hasOwn(placeholders, name)
    ? placeholders[name]
    : undefined
}

const memberOf = (value: Json | undefined, part: string | number): Json | undefined => {
  if (Array.isArray(value)) return typeof part === "number" ? value[part] : undefined
  return isJsonObject(value) && Object.hasOwn(value, part) ? value[part] : undefined
}

/** The value with another value at the path. Undefined removes the member. */
const replaceAt = (value: Json | undefined, [part, ...rest]: FaultPath, put: Json | undefined): Json | undefined => {
  if (part === undefined) return put
  if (Array.isArray(value))
    return value.map((item: Json, index) => (index === part ? (replaceAt(item, rest, put) ?? null) : item))
  if (!isJsonObject(value)) return value
  const members = Object.entries(value).filter(([name]) => name !== part)
  const member = replaceAt(memberOf(value, part), rest, put)
  return Object.fromEntries(member === undefined ? members : [...members, [String(part), member]])
}

/** The nearest path, at or above this one, that can be replaced by a placeholder or removed. */
const nearestRepairable = (value: JsonObject, path: FaultPath): FaultPath => {
  const isThere = path.reduce<Json | undefined>(memberOf, value) !== undefined
  const isItem = typeof path.at(-1) === "number"
  return path.length <= 1 || placeholderFor(path) !== undefined || (isThere && !isItem)
    ? path
    : nearestRepairable(value, path.slice(0, -1))
}

/** Repairs each fault at its own path, or above it where a member is required. */
export const repairFaults = (
  { value, places }: RepairedConfiguration,
  faults: ReadonlyArray<FaultPath>
): RepairedConfiguration => {
  let sound = value
  const changed = [...places]
  for (const path of faults) {
    const place = nearestRepairable(sound, path)
    const next = replaceAt(sound, place, placeholderFor(place))
    if (isJsonObject(next)) sound = next
    changed.push(place)
  }
  return { value: sound, places: changed }
}

/** True for a fault at or below a repaired path: the repair causes it. */
export const isRepaired = (places: ReadonlyArray<FaultPath>, at: FaultPath | undefined): boolean =>
  at !== undefined && places.some((place) => place.every((part, index) => at[index] === part))
