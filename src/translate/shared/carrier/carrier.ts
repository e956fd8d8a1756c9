// What a client carries from turn to turn without reading it: signatures, signed thinking and a provider's own parts.
// It must not know how it is sealed. Rules: R402, R409, R411.
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { parseJsonText } from "../../../domain/text/json.ts"
import { JsonValue } from "../../../wire/json.ts"

const opt = Schema.optionalKey

const Thought = Schema.Union([
  Schema.Struct({ type: Schema.Literal("thinking"), thinking: Schema.String, signature: Schema.String }),
  Schema.Struct({ type: Schema.Literal("redacted_thinking"), data: Schema.String })
])
export type Thought = typeof Thought.Type

const ofId = Schema.Struct({ id: Schema.String, s: Schema.String })
const ofText = Schema.Struct({ h: Schema.String, s: Schema.String })
const ofPart = Schema.Struct({
  at: Schema.String,
  part: Schema.Struct({ provider: Schema.String, part: JsonValue })
})

/** `r` is the response, `i` the backend that made everything in it; a list that is absent is empty. */
export const Carrier = Schema.Struct({
  v: Schema.Literal(1),
  r: Schema.String,
  i: Schema.String,
  /** Signatures by call. */
  c: opt(Schema.Array(ofId)),
  /** Thinking that must go back, in order. */
  b: opt(Schema.Array(Thought)),
  /** Signatures of texts, by the digest of the text. */
  t: opt(Schema.Array(ofText)),
  /** Signatures of pictures, by item. */
  g: opt(Schema.Array(ofId)),
  /** Parts of the provider's own, by the item they belong to; `""` stands before all items. */
  p: opt(Schema.Array(ofPart))
})
export type Carrier = typeof Carrier.Type

const decode = Schema.decodeUnknownResult(Carrier)

/** The carrier in an opened text; undefined for any other text. */
export const readCarrier = (text: string): Carrier | undefined => {
  const json = parseJsonText(text)
  return Result.isFailure(json) ? undefined : Result.getOrUndefined(decode(json.success))
}

export const carrierText = (carrier: Carrier): string => JSON.stringify(carrier)

const lists = ["c", "b", "t", "g", "p"] as const
type List = (typeof lists)[number]

/** The same without empty lists. */
export const compacted = (carrier: Carrier): Carrier => {
  const { i, r, v, ...all } = carrier
  const kept = Object.entries(all).filter(([, list]) => list.length > 0)
  return { v, r, i, ...Object.fromEntries(kept) }
}

export const isEmptyCarrier = (carrier: Carrier): boolean => lists.every((name) => (carrier[name] ?? []).length === 0)

/** What a sealed text is longer than what it holds: prefix, form, nonce and tag, then four letters for three bytes. */
const sealedHead = 5
const sealedBytes = 29

/** The longest text that fits into so many characters once it is sealed. */
export const plainBytes = (sealed: number): number => Math.floor(((sealed - sealedHead) * 3) / 4) - sealedBytes

/** What our own sealed texts begin with; any other signature is of another maker. */
export const sealedPrefix = "mgr1."

/** A carrier that fits, and how many entries had to leave for it. */
export interface Fitted {
  readonly carrier: Carrier
  readonly cut: number
}

/** Leaves out the largest entries until the text has at most so many characters. */
export const fitted = (carrier: Carrier, mostCharacters: number): Fitted => {
  let size = carrierText(carrier).length
  if (size <= mostCharacters) return { carrier, cut: 0 }
  const entries = lists
    .flatMap((name) => (carrier[name] ?? []).map((entry) => ({ name, entry, size: JSON.stringify(entry).length })))
    .toSorted((one, other) => other.size - one.size)
  const gone = new Set<unknown>()
  for (const { entry, size: own } of entries) {
    if (size <= mostCharacters) break
    gone.add(entry)
    size -= own + 1
  }
  const left = (name: List) => ({ [name]: (carrier[name] ?? []).filter((entry: unknown) => !gone.has(entry)) })
  return {
    carrier: compacted({ ...carrier, ...Object.assign({}, ...lists.map(left)) }),
    cut: gone.size
  }
}
