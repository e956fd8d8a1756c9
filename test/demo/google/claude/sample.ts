// Seeded instances of a published JSON Schema: what no recording happens to hold is drawn from the description itself.
import type { Random } from "../mutate.ts"

interface Schema {
  readonly $ref?: string
  readonly anyOf?: ReadonlyArray<Schema>
  readonly enum?: ReadonlyArray<unknown>
  readonly const?: unknown
  readonly type?: string | ReadonlyArray<string>
  readonly properties?: Readonly<Record<string, Schema | true>>
  readonly required?: ReadonlyArray<string>
  readonly items?: Schema
  readonly additionalProperties?: boolean | Schema
  readonly pattern?: string
  readonly minLength?: number
  readonly minimum?: number
  readonly exclusiveMinimum?: number
}

const pick = <A>(random: Random, list: ReadonlyArray<A>): A | undefined => list[Math.floor(random() * list.length)]

/** An instance of `#/$defs/<entry>`; optional members come and go, lists have up to two items, depth ends them. */
export const sample = (defs: Readonly<Record<string, unknown>>, entry: string, random: Random): unknown => {
  const draw = (schema: Schema | true, depth: number): unknown => {
    if (schema === true) return { any: [1, "thing"] }
    if (schema.$ref !== undefined) return draw(defs[schema.$ref.replace("#/$defs/", "")] as Schema, depth)
    if (schema.anyOf !== undefined) return draw(pick(random, schema.anyOf) ?? true, depth)
    if (schema.enum !== undefined) return pick(random, schema.enum)
    if (schema.const !== undefined) return schema.const
    const type = typeof schema.type === "object" ? pick(random, schema.type) : schema.type
    if (type === "null") return null
    if (type === "boolean") return random() < 0.5
    if (type === "integer" || type === "number")
      return (schema.minimum ?? schema.exclusiveMinimum ?? 0) + (schema.exclusiveMinimum === undefined ? 0 : 1)
    if (type === "string")
      return schema.pattern?.includes("srvtoolu_") ? "srvtoolu_a1" : "ab".slice(0, Math.max(2, schema.minLength ?? 0))
    if (type === "array")
      return depth > 9 || schema.items === undefined
        ? []
        : Array.from({ length: Math.floor(random() * 3) }, () => draw(schema.items ?? true, depth + 1))
    const chance = depth > 9 ? 0 : depth === 0 ? 0.25 : 0.5
    const members = Object.entries(schema.properties ?? {}).filter(
      ([key]) => schema.required?.includes(key) || random() < chance
    )
    const object: Record<string, unknown> = {}
    for (const [key, inner] of members) object[key] = draw(inner, depth + 1)
    if (typeof schema.additionalProperties === "object") object["extra"] = draw(schema.additionalProperties, depth + 1)
    return object
  }
  return draw({ $ref: `#/$defs/${entry}` }, 0)
}
