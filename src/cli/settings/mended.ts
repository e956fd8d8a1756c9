// Makes a configuration whose shape is at fault sound enough for its meaning to be checked in the same run.
// It must not know what is wrong, nor what a value means; what it puts in is for the check alone and is never served.
import type { FaultPath } from "../../domain/faults.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import { unreadName } from "../../domain/text/nearest.ts"

/** A configuration to check, and the places in it that were changed. */
export interface Mended {
  readonly value: JsonObject
  readonly places: ReadonlyArray<FaultPath>
}

const provider: Json = { slug: unreadName, provider: "vertex-ai" }
const key: Json = { name: unreadName, key: unreadName }

/** Sound values for what may not be missing, and for what others name: without it those would be at fault. */
const placeholders: Readonly<Record<string, Json>> = {
  providers: [provider],
  "providers[]": provider,
  "providers[].slug": unreadName,
  // No field is without meaning for it.
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
  // Targets are named by their places, which removing one would change.
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

/** The value with another one at the path, or with none. */
const replaced = (value: Json | undefined, [part, ...rest]: FaultPath, put: Json | undefined): Json | undefined => {
  if (part === undefined) return put
  if (Array.isArray(value))
    return value.map((item: Json, index) => (index === part ? (replaced(item, rest, put) ?? null) : item))
  if (!isJsonObject(value)) return value
  const members = Object.entries(value).filter(([name]) => name !== part)
  const member = replaced(memberOf(value, part), rest, put)
  return Object.fromEntries(member === undefined ? members : [...members, [String(part), member]])
}

/** The nearest place at or above the path that can be changed: by a placeholder, or by leaving a member out. */
const mendable = (value: JsonObject, path: FaultPath): FaultPath => {
  const isThere = path.reduce<Json | undefined>(memberOf, value) !== undefined
  const isItem = typeof path.at(-1) === "number"
  return path.length <= 1 || placeholderFor(path) !== undefined || (isThere && !isItem)
    ? path
    : mendable(value, path.slice(0, -1))
}

/** Each fault mended at its own place, or above it where something must stand there. */
export const mended = ({ value, places }: Mended, faults: ReadonlyArray<FaultPath>): Mended => {
  let sound = value
  const changed = [...places]
  for (const path of faults) {
    const place = mendable(sound, path)
    const next = replaced(sound, place, placeholderFor(place))
    if (isJsonObject(next)) sound = next
    changed.push(place)
  }
  return { value: sound, places: changed }
}

/** True for a fault at a place that was changed, or below it: it follows from the change. */
export const isMended = (places: ReadonlyArray<FaultPath>, at: FaultPath | undefined): boolean =>
  at !== undefined && places.some((place) => place.every((part, index) => at[index] === part))
