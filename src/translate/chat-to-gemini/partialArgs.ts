// Assembles the arguments of a Gemini tool call that arrives in pieces (`partialArgs`), each with its JSON path.
// Must not depend on deltas: the call is sent whole when it closes.
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import type { FunctionCall } from "../../wire/google.ts"
import { growBy, type GrownList, itemsOf } from "../../wire/grownList.ts"

export interface PartialCall {
  readonly name: string
  readonly signature: string | undefined
  readonly args: JsonObject
  readonly pieces: GrownList<Json>
}

/** True for a part that continues a call, or starts a call with more to come. */
export const isPartial = (call: FunctionCall): boolean =>
  call.willContinue === true || (call.partialArgs?.length ?? 0) > 0

export const startPartialCall = (call: FunctionCall, name: string, signature: string | undefined): PartialCall =>
  addPieces({ name, signature, args: isJsonObject(call.args) ? call.args : {}, pieces: undefined }, call, undefined)

export const addPieces = (open: PartialCall, call: FunctionCall, signature: string | undefined): PartialCall => {
  return { ...open, pieces: growBy(open.pieces, call.partialArgs ?? []), signature: open.signature ?? signature }
}

/** Builds the arguments from all pieces. */
export const buildArgs = (open: PartialCall): JsonObject => {
  if (open.pieces === undefined) return open.args
  const root: Tree = {
    kind: "object",
    members: new Map(Object.entries(open.args).map(([key, value]) => [key, leaf(value)]))
  }
  for (const piece of itemsOf(open.pieces)) if (isJsonObject(piece)) placePiece(root, piece)
  // Cast: the value of an object node is an object.
  return valueOf(root) as JsonObject
}

/**
 * The tree of arguments. Maps, and indexes clamped to the array's end, make hostile keys and indexes harmless.
 */
type Tree =
  | { readonly kind: "object"; readonly members: Map<string, Tree> }
  | { readonly kind: "array"; readonly items: Array<Tree> }
  | { readonly kind: "leaf"; value: Json }

const leaf = (value: Json | undefined): Tree => ({ kind: "leaf", value: value ?? null })
const maxDepth = 128

const placePiece = (root: Tree, piece: JsonObject): void => {
  const path = typeof piece["jsonPath"] === "string" ? parsePath(piece["jsonPath"]) : undefined
  const value = pieceValue(piece)
  if (path === undefined || value === undefined) return
  let tree = root
  path.forEach((key, depth) => {
    const next = path[depth + 1]
    const fresh = (): Tree =>
      next === undefined
        ? leaf("")
        : typeof next === "number"
          ? { kind: "array", items: [] }
          : { kind: "object", members: new Map() }
    tree = child(tree, key, fresh)
  })
  if (tree.kind !== "leaf") return
  tree.value = typeof value === "string" && typeof tree.value === "string" ? tree.value + value : value
}

const child = (tree: Tree, key: string | number, fresh: () => Tree): Tree => {
  if (tree.kind === "object") {
    const name = String(key)
    const member = tree.members.get(name) ?? fresh()
    tree.members.set(name, member)
    return member
  }
  if (tree.kind === "array") {
    const index = typeof key === "number" ? Math.min(key, tree.items.length) : tree.items.length
    const item = tree.items[index] ?? fresh()
    tree.items[index] = item
    return item
  }
  return tree
}

const pieceValue = (piece: JsonObject): Json | undefined => {
  if (typeof piece["stringValue"] === "string") return piece["stringValue"]
  if (piece["numberValue"] !== undefined && piece["numberValue"] !== null) return piece["numberValue"]
  if (typeof piece["boolValue"] === "boolean") return piece["boolValue"]
  return "nullValue" in piece ? null : undefined
}

/** Parses a path such as `$.a.b[0]['c d']`; undefined when the syntax is invalid. */
const parsePath = (text: string): ReadonlyArray<string | number> | undefined => {
  const path: Array<string | number> = []
  const segment = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y
  segment.lastIndex = text.startsWith("$") ? 1 : 0
  if (segment.lastIndex === 0) return undefined
  while (segment.lastIndex < text.length) {
    const match = segment.exec(text)
    if (match === null || path.length === maxDepth) return undefined
    path.push(
      match[2] !== undefined ? Number(match[2]) : (match[1] ?? (match[3] ?? match[4] ?? "").replace(/\\(.)/g, "$1"))
    )
  }
  return path.length === 0 ? undefined : path
}

const valueOf = (tree: Tree): Json => {
  if (tree.kind === "leaf") return tree.value
  if (tree.kind === "array") return tree.items.map(valueOf)
  return Object.fromEntries([...tree.members].map(([key, value]) => [key, valueOf(value)]))
}
