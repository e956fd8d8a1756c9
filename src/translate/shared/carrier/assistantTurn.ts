// Neighbouring items of the assistant as one message of the chat, with what carriers know of them.
// It must not know other roles. Rules: R210, R219, R220, R407.
import type { Json, JsonObject } from "../../../domain/text/json.ts"
import type { ChatMessage } from "../../../wire/openai/Chat.ts"
import type { Carrier } from "./carrier.ts"

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
    const own = this.pieces.flatMap((piece) => {
      const path = "path" in piece ? piece.path : this.at
      return blocksOf(piece).map((block) => ({ block, path }))
    })
    const carried = [...front, ...(parts.get("") ?? [])].map((block) => ({ block, path: this.at }))
    return carried.length === 0 ? own : [...carried, ...own]
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
