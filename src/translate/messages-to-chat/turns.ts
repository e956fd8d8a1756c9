// The turns of a message read: their blocks as parts of the chat, opened carriers, and the assistant's turn.
// It must not know the order of turns. Rules: D201, D204, D207, D208, D306, D307, R406, R409, Table 1.
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
import type { MessagesReader, RequestFacts } from "./facts.ts"
import { ownSearchPrefix } from "./marks.ts"

/** One message of the request with its blocks. */
export interface ReadMessage {
  readonly role: "user" | "assistant" | "system"
  readonly given: JsonObject
  readonly blocks: Blocks
  readonly path: string
}

export const readTurns = (reader: MessagesReader, given: ReadonlyArray<Json>): ReadonlyArray<ReadMessage> =>
  reader.each(given, (message, index): ReadMessage | undefined => {
    const path = `messages[${index}]`
    if (!isJsonObject(message)) return reader.invalid(path, "invalid_type", `${path} must be an object.`)
    const { role } = message
    if (role !== "user" && role !== "assistant" && role !== "system")
      return reader.invalid(`${path}.role`, "invalid_value", `${path}.role must be user, assistant or system.`)
    return { role, given: message, blocks: blocksOf(reader, message["content"], `${path}.content`), path }
  })

// The blocks of a user turn, or of a tool result, as parts of the chat.

/** A part of the chat, and the block it came from. */
export interface PlacedPart {
  readonly part: JsonObject
  readonly path: string
}

export interface PlacedBlock {
  readonly block: JsonObject
  readonly path: string
}

export type Blocks = ReadonlyArray<PlacedBlock>

const isBlank = (text: string): boolean => text.trim() === ""

/** The blocks of a content: a text is one block, null is none. */
export const blocksOf = (reader: MessagesReader, content: Json | undefined, path: string): Blocks => {
  if (content === undefined || content === null) return []
  if (typeof content === "string") return [{ block: { type: "text", text: content }, path }]
  if (!Array.isArray(content)) {
    reader.invalid(path, "invalid_type", `${path} must be a string or an array of blocks.`)
    return []
  }
  return reader.each(content, (block, index): PlacedBlock | undefined => {
    const at = `${path}[${index}]`
    return isJsonObject(block) && typeof block["type"] === "string"
      ? { block, path: at }
      : reader.invalid(at, "invalid_value", `${at} must be a block with a type.`)
  })
}

/** Undefined for white space, which is dropped. */
const textOf = (reader: MessagesReader, text: Json | undefined, path: string): string | undefined => {
  if (typeof text !== "string") return reader.invalid(path, "invalid_type", `${path} must be a string.`)
  return isBlank(text) ? undefined : text
}

const textOfBlock = (reader: MessagesReader, { block, path }: PlacedBlock): string | undefined =>
  textOf(reader, block["text"], `${path}.text`)

const serverBlock = /^(?:server_tool_use|mcp_tool_use|mcp_tool_result|advisor_\w+|fallback|\w+_tool_result)$/

/** Blocks of server tools: their makers alone can read them. */
const isServerBlock = (type: unknown): boolean => typeof type === "string" && serverBlock.test(type)

const unknownBlock = (reader: MessagesReader, path: string, type: unknown): undefined =>
  reader.invalid(
    path,
    "invalid_value",
    `${path} has the type ${JSON.stringify(type)}, which models other than Claude do not take here.`
  )

const textPart = (text: string, path: string): PlacedPart => ({ part: { type: "text", text }, path })

/** The parts of one block. */
const partsOfBlock = (reader: MessagesReader, placed: PlacedBlock): ReadonlyArray<PlacedPart> => {
  const { block, path } = placed
  switch (block["type"]) {
    case "text": {
      const text = textOfBlock(reader, placed)
      return text === undefined ? [] : [textPart(text, path)]
    }
    case "image":
      return imagePart(reader, block["source"], path)
    case "document":
      return documentParts(reader, block, path)
    case "search_result": {
      const texts = textsOf(reader, block["content"], `${path}.content`)
      return [textPart(`${String(block["title"])}\n${String(block["source"])}\n\n${texts.join("\n")}`, path)]
    }
    case "tool_reference":
      return [textPart(`Tool ${String(block["tool_name"])} is available now.`, path)]
    default:
      if (isServerBlock(block["type"])) reader.ignored.push(path)
      else unknownBlock(reader, path, block["type"])
      return []
  }
}

export const partsOfBlocks = (reader: MessagesReader, blocks: Blocks): ReadonlyArray<PlacedPart> =>
  reader.each(blocks, (placed) => partsOfBlock(reader, placed)).flat()

/** The texts of a content of text blocks. */
export const textsOf = (reader: MessagesReader, content: Json | undefined, path: string): ReadonlyArray<string> =>
  textsOfBlocks(reader, blocksOf(reader, content, path))

export const textsOfBlocks = (reader: MessagesReader, blocks: Blocks): ReadonlyArray<string> =>
  reader.each(blocks, (placed) => {
    const { type } = placed.block
    return type === "text" ? textOfBlock(reader, placed) : unknownBlock(reader, placed.path, type)
  })

/** The address of a source; a file of Anthropic's store cannot be read here. */
const addressOf = (reader: MessagesReader, source: Json | undefined, path: string): string | undefined => {
  const at = `${path}.source`
  if (!isJsonObject(source)) return reader.invalid(at, "invalid_type", `${at} must be an object.`)
  const { data, media_type: type, type: kind, url } = source
  if (kind === "base64" && typeof data === "string" && typeof type === "string") return `data:${type};base64,${data}`
  if (kind === "url" && typeof url === "string") return url
  return reader.invalid(
    at,
    "invalid_value",
    `${at} must be {type: "base64", media_type, data} or {type: "url", url}: files of Anthropic's own store are not there for other models.`
  )
}

const imagePart = (reader: MessagesReader, source: Json | undefined, path: string): ReadonlyArray<PlacedPart> => {
  const url = addressOf(reader, source, path)
  return url === undefined ? [] : [{ part: { type: "image_url", image_url: { url } }, path }]
}

const documentParts = (reader: MessagesReader, block: JsonObject, path: string): ReadonlyArray<PlacedPart> => {
  const { citations, context, source, title } = block
  if (isJsonObject(citations) && citations["enabled"] === true) reader.ignored.push(`${path}.citations`)
  const before = typeof context === "string" && !isBlank(context) ? [textPart(context, path)] : []
  return [...before, ...sourceParts(reader, source, typeof title === "string" ? title : "", path)]
}

const sourceParts = (
  reader: MessagesReader,
  source: Json | undefined,
  title: string,
  path: string
): ReadonlyArray<PlacedPart> => {
  if (isJsonObject(source) && source["type"] === "text") {
    const data = textOf(reader, source["data"], `${path}.source.data`)
    return data === undefined ? [] : [textPart(title === "" ? data : `${title}\n\n${data}`, path)]
  }
  if (isJsonObject(source) && source["type"] === "content") {
    const blocks = blocksOf(reader, source["content"], `${path}.source.content`)
    return reader
      .each(blocks, (placed) => {
        const { type } = placed.block
        return type === "text" || type === "image"
          ? partsOfBlock(reader, placed)
          : unknownBlock(reader, placed.path, type)
      })
      .flat()
  }
  const address = addressOf(reader, source, path)
  if (address === undefined) return []
  const place = address.startsWith("data:") ? { file_data: address } : { file_url: address }
  return [{ part: { type: "file", file: { ...place, ...(title === "" ? {} : { filename: title }) } }, path }]
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
  reader: MessagesReader,
  all: ReadonlyArray<ReadMessage>,
  { unseal }: Pick<RequestFacts, "unseal">
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
      if (carrier === undefined) reader.ignored.push(path)
      else {
        byPath.set(path, carrier)
        latest.set(carrier.r, carrier)
      }
    }
  }
  return { byPath, latest }
}

// An assistant turn as a message of the chat: its texts and calls, with what carriers know of them.

interface ReadCall {
  readonly id: string
  readonly name: string
  /** The arguments. */
  readonly text: string
}

export interface ReadTurn {
  readonly message: ChatMessage
  readonly path: TurnPath
  readonly calls: ReadonlyArray<ReadCall>
}

/** A compaction that can be read. */
export const isCompacted = ({ block }: PlacedBlock): boolean =>
  block["type"] === "compaction" && typeof block["content"] === "string"

/** A search that an answer of this gateway showed: its text has what was found. */
const isOwnSearch = ({ id, tool_use_id: of }: JsonObject): boolean =>
  [id, of].some((one) => typeof one === "string" && one.startsWith(ownSearchPrefix))

const readCall = (reader: MessagesReader, { block, path }: PlacedBlock): ReadCall | undefined => {
  const { id, input, name } = block
  if (typeof id !== "string" || id === "")
    return reader.invalid(`${path}.id`, "invalid_value", `${path}.id is missing.`)
  if (typeof name !== "string" || name === "")
    return reader.invalid(`${path}.name`, "invalid_value", `${path}.name is missing.`)
  return { id, name, text: JSON.stringify(input ?? {}) }
}

/** Undefined for a turn of which nothing is left. */
export const assistantMessage = (
  reader: MessagesReader,
  { blocks, path }: ReadMessage,
  signed: Signed,
  carriers: OpenedCarriers,
  { digest }: Pick<RequestFacts, "digest">
): ReadTurn | undefined => {
  const turn = new AssistantTurn()
  const calls = reader.each(blocks, (placed) => readBlock(reader, turn, placed, path, carriers))
  const made = turn.message(signed, digest)
  if (made === undefined) return undefined
  const reasoning = reasoningOf(blocks, carriers)
  const message = reasoning === "" ? made.message : { ...made.message, reasoning_content: reasoning }
  return { message, path: made.path, calls }
}

/** Thoughts of open models, whose pair gives them back to models that want them (W29). */
const reasoningOf = (blocks: Blocks, { byPath }: OpenedCarriers): string =>
  blocks
    .map(({ block, path }) => {
      const isOpen = byPath.get(path)?.i.startsWith("openai/") === true
      return isOpen && typeof block["thinking"] === "string" ? block["thinking"] : ""
    })
    .join("")

/** Adds a block to its turn; returns the call that the block is. */
const readBlock = (
  reader: MessagesReader,
  turn: AssistantTurn,
  placed: PlacedBlock,
  turnPath: string,
  carriers: OpenedCarriers
): ReadCall | undefined => {
  const { block, path } = placed
  const { type } = block
  switch (type) {
    case "text": {
      const text = textOfBlock(reader, placed)
      if (text !== undefined) turn.text(text, turnPath)
      return undefined
    }
    case "tool_use": {
      const call = readCall(reader, placed)
      if (call !== undefined) turn.call(call.id, call.name, call.text, path)
      return call
    }
    case "thinking":
    case "redacted_thinking": {
      const opened = carriers.byPath.get(path)
      // Later carriers of an answer repeat the earlier ones.
      if (opened !== undefined && carriers.latest.get(opened.r) === opened) turn.carrier(opened)
      return undefined
    }
    case "compaction":
      return reader.invalid(path, "unsupported_item", `${path} is a compaction that Anthropic alone can read.`)
    default:
      if (!isServerBlock(type)) return unknownBlock(reader, path, type)
      if (!isOwnSearch(block)) reader.ignored.push(path)
      return undefined
  }
}
