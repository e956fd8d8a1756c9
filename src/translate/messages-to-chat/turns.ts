// The turns of a message read: their blocks as parts of the chat, opened carriers, and the assistant's turn.
// It must not know the order of turns. Rules: D201, D204, D207, D208, D306, D307, R406, R409, Table 1.
import * as Result from "effect/Result"
import type { BodyInvalid } from "../../domain/GatewayError.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import type { ChatMessage } from "../../wire/openai/Chat.ts"
import {
  AssistantTurn,
  type Carrier,
  readCarrier,
  sealedPrefix,
  type Signed,
  type TurnPath
} from "../shared/carrier.ts"
import { invalid } from "../shared/chat-request/paramReader.ts"
import type { RequestFacts } from "./facts.ts"
import { ownSearchPrefix } from "./marks.ts"

type Read<A> = Result.Result<A, BodyInvalid>

/** One message of the request with its blocks. */
export interface ReadMessage {
  readonly role: "user" | "assistant" | "system"
  readonly given: JsonObject
  readonly blocks: Blocks
  readonly path: string
}

export const readTurns = (given: ReadonlyArray<Json>): Read<ReadonlyArray<ReadMessage>> => {
  const read: Array<ReadMessage> = []
  for (const [index, message] of given.entries()) {
    const path = `messages[${index}]`
    if (!isJsonObject(message)) return invalid(path, "invalid_type", `${path} must be an object.`)
    const { role } = message
    if (role !== "user" && role !== "assistant" && role !== "system")
      return invalid(`${path}.role`, "invalid_value", `${path}.role must be user, assistant or system.`)
    const blocks = blocksOf(message["content"], `${path}.content`)
    if (Result.isFailure(blocks)) return Result.fail(blocks.failure)
    read.push({ role, given: message, blocks: blocks.success, path })
  }
  return Result.succeed(read)
}

// The blocks of a user turn, or of a tool result, as parts of the chat.

/** A part of the chat, and the block it came from. */
export interface PlacedPart {
  readonly part: JsonObject
  readonly path: string
}

export type Blocks = ReadonlyArray<{ readonly block: JsonObject; readonly path: string }>

const isBlank = (text: string): boolean => text.trim() === ""

/** The blocks of a content: a text is one block, null is none. */
export const blocksOf = (content: Json | undefined, path: string): Read<Blocks> => {
  if (content === undefined || content === null) return Result.succeed([])
  if (typeof content === "string") return Result.succeed([{ block: { type: "text", text: content }, path }])
  if (!Array.isArray(content)) return invalid(path, "invalid_type", `${path} must be a string or an array of blocks.`)
  const blocks: Array<Blocks[number]> = []
  for (const [index, block] of content.entries()) {
    const at = `${path}[${index}]`
    if (!isJsonObject(block) || typeof block["type"] !== "string")
      return invalid(at, "invalid_value", `${at} must be a block with a type.`)
    blocks.push({ block, path: at })
  }
  return Result.succeed(blocks)
}

/** The text of a block; undefined for white space, which is dropped. */
const textOfBlock = ({ text }: JsonObject, path: string): Read<string | undefined> => {
  if (typeof text !== "string") return invalid(`${path}.text`, "invalid_type", `${path}.text must be a string.`)
  return Result.succeed(isBlank(text) ? undefined : text)
}

const serverBlock = /^(?:server_tool_use|mcp_tool_use|mcp_tool_result|advisor_\w+|fallback|\w+_tool_result)$/

/** Blocks of server tools: their makers alone can read them. */
const isServerBlock = (type: unknown): boolean => typeof type === "string" && serverBlock.test(type)

const unknownBlock = (path: string, type: unknown): Result.Result<never, BodyInvalid> =>
  invalid(
    path,
    "invalid_value",
    `${path} has the type ${JSON.stringify(type)}, which models other than Claude do not take here.`
  )

const textPart = (text: string, path: string): PlacedPart => ({ part: { type: "text", text }, path })

/** The parts of one block; `ignored` collects what has no effect. */
export const partsOfBlock = (
  block: JsonObject,
  path: string,
  ignored: Array<string>
): Read<ReadonlyArray<PlacedPart>> => {
  switch (block["type"]) {
    case "text":
      return Result.map(textOfBlock(block, path), (text) => (text === undefined ? [] : [textPart(text, path)]))
    case "image":
      return imagePart(block["source"], path)
    case "document":
      return documentParts(block, path, ignored)
    case "search_result":
      return Result.map(textsOf(block["content"], `${path}.content`), (texts) => [
        textPart(`${String(block["title"])}\n${String(block["source"])}\n\n${texts.join("\n")}`, path)
      ])
    case "tool_reference":
      return Result.succeed([textPart(`Tool ${String(block["tool_name"])} is available now.`, path)])
    default:
      if (!isServerBlock(block["type"])) return unknownBlock(path, block["type"])
      ignored.push(path)
      return Result.succeed([])
  }
}

/** The texts of a content of text blocks. */
export const textsOf = (content: Json | undefined, path: string): Read<ReadonlyArray<string>> =>
  Result.flatMap(blocksOf(content, path), textsOfBlocks)

export const textsOfBlocks = (blocks: Blocks): Read<ReadonlyArray<string>> => {
  const texts: Array<string> = []
  for (const { block, path } of blocks) {
    if (block["type"] !== "text") return unknownBlock(path, block["type"])
    const text = textOfBlock(block, path)
    if (Result.isFailure(text)) return Result.fail(text.failure)
    if (text.success !== undefined) texts.push(text.success)
  }
  return Result.succeed(texts)
}

/** The address of a source; a file of Anthropic's store cannot be read here. */
const addressOf = (source: Json | undefined, path: string): Read<string> => {
  const at = `${path}.source`
  if (!isJsonObject(source)) return invalid(at, "invalid_type", `${at} must be an object.`)
  const { data, media_type: type, type: kind, url } = source
  if (kind === "base64" && typeof data === "string" && typeof type === "string")
    return Result.succeed(`data:${type};base64,${data}`)
  if (kind === "url" && typeof url === "string") return Result.succeed(url)
  return invalid(
    at,
    "invalid_value",
    `${at} must be {type: "base64", media_type, data} or {type: "url", url}: files of Anthropic's own store are not there for other models.`
  )
}

const imagePart = (source: Json | undefined, path: string): Read<ReadonlyArray<PlacedPart>> =>
  Result.map(addressOf(source, path), (url) => [{ part: { type: "image_url", image_url: { url } }, path }])

const documentParts = (block: JsonObject, path: string, ignored: Array<string>): Read<ReadonlyArray<PlacedPart>> => {
  const { citations, context, source, title } = block
  if (isJsonObject(citations) && citations["enabled"] === true) ignored.push(`${path}.citations`)
  const before = typeof context === "string" && !isBlank(context) ? [textPart(context, path)] : []
  const named = typeof title === "string" && title !== "" ? title : undefined
  const join = (parts: ReadonlyArray<PlacedPart>) => [...before, ...parts]
  if (isJsonObject(source) && source["type"] === "text") {
    const { data } = source
    if (typeof data !== "string")
      return invalid(`${path}.source.data`, "invalid_type", `${path}.source.data must be a string.`)
    return Result.succeed(
      isBlank(data) ? before : join([textPart(named === undefined ? data : `${named}\n\n${data}`, path)])
    )
  }
  if (isJsonObject(source) && source["type"] === "content")
    return Result.flatMap(blocksOf(source["content"], `${path}.source.content`), (blocks) => {
      const parts: Array<PlacedPart> = []
      for (const inner of blocks) {
        const { type } = inner.block
        if (type !== "text" && type !== "image") return unknownBlock(inner.path, type)
        const read = partsOfBlock(inner.block, inner.path, ignored)
        if (Result.isFailure(read)) return Result.fail(read.failure)
        parts.push(...read.success)
      }
      return Result.succeed(join(parts))
    })
  return Result.map(addressOf(source, path), (address) => {
    const place = address.startsWith("data:") ? { file_data: address } : { file_url: address }
    return join([
      { part: { type: "file", file: { ...place, ...(named === undefined ? {} : { filename: named }) } }, path }
    ])
  })
}

// The thinking blocks of a history: those of this gateway are opened, all others are as if they were absent.

interface OpenedCarriers {
  /** By the path of the block. */
  readonly byPath: ReadonlyMap<string, Carrier>
  /** Of several carriers of one answer the last counts: later ones repeat the earlier. */
  readonly latest: ReadonlyMap<string, Carrier>
}

/** What cannot be opened was sealed for another key, or was changed; sessions move between keys. */
export const openCarriers = (
  all: ReadonlyArray<ReadMessage>,
  { unseal }: Pick<RequestFacts, "unseal">,
  ignored: Array<string>
): OpenedCarriers => {
  const byPath = new Map<string, Carrier>()
  const latest = new Map<string, Carrier>()
  for (const { blocks, role } of all) {
    if (role !== "assistant") continue
    for (const { block, path } of blocks) {
      const sealed =
        block["type"] === "thinking"
          ? block["signature"]
          : block["type"] === "redacted_thinking"
            ? block["data"]
            : undefined
      if (typeof sealed !== "string" || !sealed.startsWith(sealedPrefix)) continue
      const text = unseal(sealed)
      const carrier = text === undefined ? undefined : readCarrier(text)
      if (carrier === undefined) ignored.push(path)
      else {
        byPath.set(path, carrier)
        latest.set(carrier.r, carrier)
      }
    }
  }
  return { byPath, latest }
}

// An assistant turn as a message of the chat: its texts and calls, with what carriers know of them.

export interface ReadTurn {
  readonly message: ChatMessage
  readonly path: TurnPath
  readonly calls: ReadonlyArray<{ readonly id: string; readonly name: string }>
}

/** A compaction that can be read. */
export const isCompacted = ({ block }: Blocks[number]): boolean =>
  block["type"] === "compaction" && typeof block["content"] === "string"

/** A search that an answer of this gateway showed: its text has what was found. */
const isOwnSearch = ({ id, tool_use_id: of }: Blocks[number]["block"]): boolean =>
  [id, of].some((one) => typeof one === "string" && one.startsWith(ownSearchPrefix))

const readCall = ({ block, path }: Blocks[number]): Read<{ id: string; name: string; text: string }> => {
  const { id, input, name } = block
  if (typeof id !== "string" || id === "") return invalid(`${path}.id`, "invalid_value", `${path}.id is missing.`)
  if (typeof name !== "string" || name === "")
    return invalid(`${path}.name`, "invalid_value", `${path}.name is missing.`)
  return Result.succeed({ id, name, text: JSON.stringify(input ?? {}) })
}

/** Undefined for a turn of which nothing is left. */
export const assistantMessage = (
  { blocks, path }: ReadMessage,
  signed: Signed,
  carriers: OpenedCarriers,
  { digest }: Pick<RequestFacts, "digest">,
  ignored: Array<string>
): Read<ReadTurn | undefined> => {
  const turn = new AssistantTurn()
  const calls: Array<ReadTurn["calls"][number]> = []
  for (const one of blocks) {
    const { block } = one
    const fault = readBlock(turn, one, path)
    if (Result.isFailure(fault)) return Result.fail(fault.failure)
    if (fault.success === "server") ignored.push(one.path)
    if (block["type"] === "thinking" || block["type"] === "redacted_thinking") {
      const opened = carriers.byPath.get(one.path)
      // Later carriers of an answer repeat the earlier ones.
      if (opened !== undefined && carriers.latest.get(opened.r) === opened) turn.carrier(opened)
    }
    if (typeof fault.success === "object") calls.push(fault.success)
  }
  const made = turn.message(signed, digest)
  if (made === undefined) return Result.succeed(undefined)
  const reasoning = reasoningOf(blocks, carriers)
  const message = reasoning === "" ? made.message : { ...made.message, reasoning_content: reasoning }
  return Result.succeed({ message, path: made.path, calls })
}

/** Thoughts of open models, whose pair gives them back to models that want them (W29). */
const reasoningOf = (blocks: Blocks, { byPath }: OpenedCarriers): string =>
  blocks
    .map(({ block, path }) => {
      const isOpen = byPath.get(path)?.i.startsWith("openai/") === true
      return isOpen && typeof block["thinking"] === "string" ? block["thinking"] : ""
    })
    .join("")

type Outcome = "read" | "server" | { readonly id: string; readonly name: string }

const readBlock = (turn: AssistantTurn, one: Blocks[number], at: string): Read<Outcome> => {
  const { block, path } = one
  const { type } = block
  switch (type) {
    case "text":
      return Result.map(textOfBlock(block, path), (text): Outcome => {
        if (text !== undefined) turn.text(text, at)
        return "read"
      })
    case "tool_use":
      return Result.map(readCall(one), ({ id, name, text }): Outcome => {
        turn.call(id, name, text, path)
        return { id, name }
      })
    case "thinking":
    case "redacted_thinking":
      return Result.succeed("read")
    case "compaction":
      return invalid(path, "unsupported_item", `${path} is a compaction that Anthropic alone can read.`)
    default:
      if (!isServerBlock(type)) return unknownBlock(path, type)
      return Result.succeed(isOwnSearch(block) ? "read" : "server")
  }
}
