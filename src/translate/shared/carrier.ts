// What a client carries from turn to turn without reading it, and the assistant's message that is built of it.
// It must not know how it is sealed, or other roles. Rules: R210, R219, R220, R402, R407, R409, R411.
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { type Json, type JsonObject, parseJsonText } from "../../domain/text/json.ts"
import { JsonValue } from "../../wire/json.ts"
import type { ChatMessage } from "../../wire/openai/Chat.ts"

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
  const filledLists = Object.entries(all).filter(([, list]) => list.length > 0)
  return { v, r, i, ...Object.fromEntries(filledLists) }
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

// Neighbouring items of the assistant as one message of the chat, with what carriers know of them.

/** The pieces of a turn in order. Calls are apart, because a chat message has them last. */
type Piece =
  | { readonly _tag: "Text"; readonly text: string }
  /** A part in the chat's own form. */
  | { readonly _tag: "Part"; readonly part: JsonObject; readonly path: string }
  | { readonly _tag: "Image"; readonly id: string; readonly data: string; readonly path: string }
  /** An item without text; the provider's own parts may take its place. */
  | { readonly _tag: "Place"; readonly id: string }

interface Call {
  readonly id: string
  readonly name: string
  readonly text: string
  readonly path: string
}

/** Signatures of all carriers of a request: they belong to ids, wherever the carrier is. */
export interface Signed {
  readonly calls: ReadonlyMap<string, { readonly signature: string; readonly issuer: string }>
  readonly images: ReadonlyMap<string, { readonly signature: string; readonly issuer: string }>
  /** Items of which a carrier holds the provider's own parts. */
  readonly parts: ReadonlySet<string>
}

export const signedBy = (carriers: ReadonlyArray<Carrier>): Signed => {
  const calls = new Map<string, { signature: string; issuer: string }>()
  const images = new Map<string, { signature: string; issuer: string }>()
  for (const { c = [], g = [], i: issuer } of carriers) {
    for (const { id, s: signature } of c) calls.set(id, { signature, issuer })
    for (const { id, s: signature } of g) images.set(id, { signature, issuer })
  }
  return { calls, images, parts: new Set(carriers.flatMap(({ p = [] }) => p.map(({ at }) => at))) }
}

/** A block of the message, and the place in the request to name for it. */
interface Placed {
  readonly block: JsonObject
  readonly path: string
}

/** Where in a request a message came from: `input[3]` of a response, `messages[2]` of Anthropic's. */
export interface TurnPath {
  readonly at: string
  /** The list that the content came from. */
  readonly list: "content" | "output"
  readonly calls: ReadonlyArray<string>
  /** Of each block of an assistant's message, where it has blocks. */
  readonly parts: ReadonlyArray<string>
}

/** One assistant message that is being put together. */
export class AssistantTurn {
  private readonly pieces: Array<Piece> = []
  private readonly calls: Array<Call> = []
  private readonly carriers: Array<Carrier> = []
  private at = ""

  text(text: string, path: string): void {
    this.at ||= path
    if (text !== "") this.pieces.push({ _tag: "Text", text })
  }

  part(part: JsonObject, path: string): void {
    this.at ||= path
    this.pieces.push({ _tag: "Part", part, path })
  }

  image(id: string, data: string, path: string): void {
    this.at ||= path
    this.pieces.push({ _tag: "Image", id, data, path: `${path}.result` })
  }

  place(id: string): void {
    if (id !== "") this.pieces.push({ _tag: "Place", id })
  }

  call(id: string, name: string, text: string, path: string): void {
    this.at ||= path
    this.calls.push({ id, name, text, path })
  }

  carrier(carrier: Carrier | undefined): void {
    if (carrier !== undefined) this.carriers.push(carrier)
  }

  /** Undefined for an empty turn: empty texts and thinking alone are no message. */
  message(
    signed: Signed,
    digest: (text: string) => string
  ): { readonly message: ChatMessage; readonly path: TurnPath } | undefined {
    const placed = this.blocks(signed, digest)
    const blocks = placed.map(({ block }) => block)
    if (this.calls.length === 0 && !blocks.some(({ type }) => type !== "thinking" && type !== "redacted_thinking"))
      return undefined
    const content = this.pieces.map((piece) => (piece._tag === "Text" ? piece.text : "")).join("")
    const isPlain = blocks.every((block) => block["type"] === "text" && block["signature"] === undefined)
    const hasParts = this.pieces.some(({ _tag }) => _tag === "Image" || _tag === "Part")
    return {
      message: {
        role: "assistant",
        content: content === "" && this.calls.length > 0 ? null : content,
        ...(isPlain ? {} : { [hasParts ? "content_parts" : "content_blocks"]: blocks }),
        ...(this.calls.length === 0 ? {} : { tool_calls: this.calls.map((call) => toolCall(call, signed)) })
      },
      path: {
        at: this.at,
        list: "content",
        calls: this.calls.map(({ path }) => path),
        parts: isPlain ? [] : placed.map(({ path }) => path)
      }
    }
  }

  /** Thinking stands first, as it did in the answer; everything else as the items do. */
  private blocks(signed: Signed, digest: (text: string) => string): ReadonlyArray<Placed> {
    const texts = new Map<string, JsonObject>()
    const parts = new Map<string, Array<JsonObject>>()
    const ids = new Set(this.pieces.flatMap((piece) => ("id" in piece ? [piece.id] : [])))
    const front: Array<JsonObject> = []
    for (const { b = [], i: issuer, p = [], t = [] } of this.carriers) {
      for (const thought of b) front.push({ ...thought, issuer })
      for (const { h, s: signature } of t) texts.set(h, { signature, issuer })
      for (const { at, part } of p) {
        const place = ids.has(at) ? at : ""
        const placed = parts.get(place) ?? []
        placed.push({ type: "provider_part", ...part, issuer })
        parts.set(place, placed)
      }
    }
    const blocksOf = (piece: Piece): ReadonlyArray<JsonObject> => {
      switch (piece._tag) {
        case "Text":
          return [
            { type: "text", text: piece.text, ...(texts.size === 0 ? {} : (texts.get(digest(piece.text)) ?? {})) }
          ]
        case "Part":
          return [piece.part]
        case "Place":
          return parts.get(piece.id) ?? []
        case "Image":
          return [
            imagePart(piece.data, signed.images.get(piece.id)),
            ...(piece.id === "" ? [] : (parts.get(piece.id) ?? []))
          ]
      }
    }
    const pieceBlocks = this.pieces.flatMap((piece) => {
      const path = "path" in piece ? piece.path : this.at
      return blocksOf(piece).map((block) => ({ block, path }))
    })
    const carried = [...front, ...(parts.get("") ?? [])].map((block) => ({ block, path: this.at }))
    return carried.length === 0 ? pieceBlocks : [...carried, ...pieceBlocks]
  }
}

const imagePart = (data: string, signed: { signature: string; issuer: string } | undefined): JsonObject => ({
  type: "image",
  image: { b64_json: data },
  ...(signed === undefined ? {} : { thought_signature: signed.signature, issuer: signed.issuer })
})

const toolCall = ({ id, name, text }: Call, { calls }: Signed): Json => {
  const signed = calls.get(id)
  return {
    id,
    type: "function",
    function: { name, arguments: text, ...(signed === undefined ? {} : { thought_signature: signed.signature }) },
    ...(signed === undefined ? {} : { issuer: signed.issuer })
  }
}
