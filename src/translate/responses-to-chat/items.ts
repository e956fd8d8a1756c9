// The items of a conversation in order, with references resolved, and the parts of an item as parts of a chat message.
// It must not know what becomes of an item, or any provider. Rules: R203, R205, R207, R209, R217, R225, R228.
import { defaultLimits } from "../../domain/Limits.ts"
import type { Reader } from "../../domain/Reader.ts"
import { isJsonObject, type Json, type JsonObject, jsonObjectOf } from "../../domain/text/json.ts"
import type { ChatMessage } from "../../wire/openai/Chat.ts"
import type { ResponsesRequest } from "../../wire/openai/Responses.ts"
import type { Carrier } from "../shared/carrier.ts"
import { chatPart } from "../shared/chat-request/partSpellings.ts"
import { inputPositions, itemId, type ItemPrefix, type RequestFacts, responseOfItem } from "./facts.ts"

/** An item and where it came from; `carrier` is what the store kept with it. */
export interface SourcedItem {
  readonly item: JsonObject
  readonly type: string
  readonly path: string
  readonly carrier: Carrier | undefined
}

export interface Conversation {
  readonly items: ReadonlyArray<SourcedItem>
  /** This request's own items, as they are kept. */
  readonly input: ReadonlyArray<JsonObject>
  readonly ignored: ReadonlyArray<string>
}

/** What this request needs from the store before it can be translated. */
export interface Needed {
  readonly previous: string | undefined
  /** Ids of items that are meant by id. */
  readonly items: ReadonlyArray<string>
}

/** A message may have no type, a reference neither type nor role. */
export const typeOf = (item: JsonObject): Json | undefined => {
  const type = item["type"] ?? undefined
  if (type !== undefined) return type
  if ((item["role"] ?? undefined) !== undefined) return "message"
  return typeof item["id"] === "string" ? "item_reference" : undefined
}

const references = (input: unknown): ReadonlyArray<string> =>
  Array.isArray(input)
    ? input.flatMap((item: unknown) => {
        const id = isJsonObject(item) && typeOf(item) === "item_reference" ? item["id"] : undefined
        return typeof id === "string" && responseOfItem(id) !== undefined ? [id] : []
      })
    : []

/** Runs before validation, so any shape is taken. */
export const neededOf = (body: JsonObject): Needed => {
  const previous = body["previous_response_id"]
  return { previous: typeof previous === "string" ? previous : undefined, items: references(body["input"]) }
}

const prefixes: Readonly<Record<string, ItemPrefix>> = {
  reasoning: "rs",
  function_call: "fc",
  function_call_output: "fc",
  custom_tool_call: "ctc",
  custom_tool_call_output: "ctc",
  web_search_call: "ws",
  code_interpreter_call: "ci",
  image_generation_call: "ig"
}

/** Every item that is kept can be asked for by id. */
const withId = (item: JsonObject, type: string, responseId: string, position: number): JsonObject =>
  typeof item["id"] === "string" && item["id"] !== ""
    ? { ...item, type }
    : { ...item, type, id: itemId(prefixes[type] ?? "msg", responseId, inputPositions + position) }

export const conversationOf = (reader: Reader<never>, body: ResponsesRequest, facts: RequestFacts): Conversation => {
  const input = inputItems(reader, body, facts)
  const past = facts.history.flatMap((turn): ReadonlyArray<SourcedItem> => {
    const sourced = (item: JsonObject): SourcedItem => ({
      item,
      type: String(typeOf(item)),
      path: "previous_response_id",
      carrier: undefined
    })
    const last = turn.output.length - 1
    return [
      ...turn.input.map(sourced),
      ...turn.output.map((item, index) => ({
        ...sourced(item),
        carrier: index === last ? turn.carrier : undefined
      }))
    ]
  })
  const items = [...past, ...input.items]
  if (items.length > defaultLimits.messages) {
    reader.invalid("input", "array_too_long", `input and history hold more than ${defaultLimits.messages} items.`)
    return { items: [], input: [], ignored: [] }
  }
  return {
    items,
    input: input.items.map(({ item, type }, position) => withId(item, type, facts.id, position)),
    ignored: input.ignored
  }
}

const inputItems = (
  reader: Reader<never>,
  body: ResponsesRequest,
  facts: RequestFacts
): Pick<Conversation, "items" | "ignored"> => {
  const prompted = (facts.prompt?.messages ?? []).flatMap(itemsOfMessage)
  const listed = inputList(reader, body, prompted.length > 0 || facts.history.length > 0)
  const references = new References(reader, facts)
  const items = reader.each(listed, (item, index) => references.read(item, `input[${index}]`))
  return { items: [...prompted, ...items], ignored: references.ignored }
}

const inputList = (
  reader: Reader<never>,
  { input, instructions }: ResponsesRequest,
  hasMore: boolean
): ReadonlyArray<unknown> => {
  const isEnough = hasMore || (instructions ?? "") !== ""
  if (typeof input === "string") return [{ type: "message", role: "user", content: input }]
  if (Array.isArray(input)) {
    if (input.length === 0 && !isEnough)
      reader.invalid("input", "empty_array", "input is empty; send at least one item.")
    return input
  }
  if (input !== undefined && input !== null)
    reader.invalid("input", "invalid_type", "input must be a string or an array of items.")
  else if (!isEnough)
    reader.invalid("input", "missing_required_parameter", "input is missing: a text, or an array of items.")
  return []
}

/** A reference and the item it means stand for one thing: the first of them counts. */
class References {
  readonly ignored: Array<string> = []
  private readonly put = new Set<string>()
  private readonly reader: Reader<never>
  private readonly facts: RequestFacts

  constructor(reader: Reader<never>, facts: RequestFacts) {
    this.reader = reader
    this.facts = facts
    for (const { input, output } of facts.history)
      for (const { id } of [...input, ...output]) if (typeof id === "string") this.put.add(id)
  }

  /** Undefined for an item that is there already. */
  read(given: unknown, path: string): SourcedItem | undefined {
    if (!isJsonObject(given)) return this.reader.invalid(path, "invalid_type", "An item must be an object.")
    const type = typeOf(given)
    if (typeof type !== "string")
      return this.reader.invalid(`${path}.type`, "invalid_value", "An item needs a type or a role.")
    const id = typeof given["id"] === "string" ? given["id"] : ""
    if (type !== "item_reference") {
      if (this.put.has(id) && responseOfItem(id) !== undefined) return undefined
      return { item: given, type, path, carrier: undefined }
    }
    if (this.put.has(id)) return undefined
    const storedItem = this.facts.stored(id)
    if (storedItem !== undefined) {
      this.put.add(id)
      const itemType = typeOf(storedItem.item)
      return { item: storedItem.item, type: String(itemType), path, carrier: storedItem.carrier }
    }
    if (id.startsWith("rs_")) {
      this.ignored.push(path)
      return undefined
    }
    return this.reader.invalid(
      `${path}.id`,
      "item_not_found",
      `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`
    )
  }
}

/** A message of a rendered prompt as the item it becomes. */
const itemsOfMessage = (message: ChatMessage): ReadonlyArray<SourcedItem> => {
  const { content, role } = jsonObjectOf(message)
  const isAssistant = role === "assistant"
  const parts = Array.isArray(content) ? content.map((part) => itemPart(part, isAssistant)) : (content ?? null)
  return [
    {
      item: { type: "message", role: role ?? null, content: parts },
      type: "message",
      path: "prompt",
      carrier: undefined
    }
  ]
}

/** A part of a chat as the part of an item that it becomes. */
export const itemPart = (part: Json, isAssistant: boolean): Json => {
  if (!isJsonObject(part)) return part
  switch (part["type"]) {
    case "text":
      return { ...part, type: isAssistant ? "output_text" : "input_text" }
    case "image_url": {
      const image = part["image_url"]
      const { url, ...options } = isJsonObject(image) ? image : { url: image }
      return { type: "input_image", ...options, image_url: url ?? null }
    }
    case "file":
      return { type: "input_file", ...(isJsonObject(part["file"]) ? part["file"] : {}) }
    default:
      return part
  }
}

// The parts of an input item as parts of a chat message.

const partTypes = "input_text, output_text, text, summary_text, refusal, input_image, input_file, input_audio"

const stringAt = (part: JsonObject, ...names: ReadonlyArray<string>): string | undefined => {
  for (const name of names) {
    const value = part[name]
    if (typeof value === "string") return value
  }
  return undefined
}

/** A mark that the prompt may be cached up to here, in the word the chat has for it. */
const marksOf = (part: JsonObject): JsonObject =>
  (part["prompt_cache_breakpoint"] ?? undefined) === undefined ? {} : { cache_control: { type: "ephemeral" } }

/** One part. Refusals of earlier answers are parts of their own in a chat too. */
const readPart = (reader: Reader<never>, part: Json | undefined, path: string): JsonObject | undefined => {
  if (typeof part === "string") return { type: "text", text: part }
  if (!isJsonObject(part)) return reader.invalid(path, "invalid_type", "A content part must be an object.")
  switch (part["type"]) {
    case "input_text":
    case "output_text":
    case "text":
    case "summary_text": {
      const text = part["text"]
      return typeof text === "string"
        ? { type: "text", text, ...marksOf(part) }
        : reader.invalid(`${path}.text`, "invalid_type", "text must be a string.")
    }
    case "refusal": {
      const refusal = part["refusal"]
      return typeof refusal === "string"
        ? { type: "text", text: refusal }
        : reader.invalid(`${path}.refusal`, "invalid_type", "refusal must be a string.")
    }
    case "input_image":
      return readImage(reader, part, path)
    case "input_file":
      return readFile(reader, part, path)
    case "input_audio":
      return readAudio(reader, part, path)
    default:
      return readSpelled(reader, chatPart(part), path)
  }
}

const ofChat: ReadonlySet<Json | undefined> = new Set(["text", "image_url", "input_audio", "file"])

/** Parts as a chat, Anthropic or Google spells them. */
const readSpelled = (reader: Reader<never>, part: JsonObject, path: string): JsonObject | undefined =>
  ofChat.has(part["type"])
    ? part
    : reader.invalid(`${path}.type`, "invalid_value", `A content part has one of the types ${partTypes}.`)

/** A file here is named by its address: the part takes the form the chat has for one. */
const fileOf = (id: string, part: JsonObject): JsonObject => ({ type: "file", file: { file_id: id }, ...marksOf(part) })

const readImage = (reader: Reader<never>, part: JsonObject, path: string): JsonObject | undefined => {
  const given = part["image_url"]
  const url = isJsonObject(given) ? given["url"] : given
  const id = stringAt(part, "file_id")
  if (typeof url === "string" && url !== "") {
    const detail = stringAt(part, "detail")
    return { type: "image_url", image_url: { url, ...(detail === undefined ? {} : { detail }) }, ...marksOf(part) }
  }
  return id === undefined
    ? reader.invalid(`${path}.image_url`, "missing_required_parameter", "An input_image needs image_url or file_id.")
    : fileOf(id, part)
}

const fileSources = ["file_data", "file_url", "file_id"] as const

const readFile = (reader: Reader<never>, part: JsonObject, path: string): JsonObject | undefined => {
  const source = fileSources.find((name) => (stringAt(part, name) ?? "") !== "")
  if (source === undefined)
    return reader.invalid(path, "missing_required_parameter", "An input_file needs file_data, file_url or file_id.")
  const filename = stringAt(part, "filename")
  return {
    type: "file",
    file: { ...(filename === undefined ? {} : { filename }), [source]: part[source], ...optionsOf(part) },
    ...marksOf(part)
  }
}

/** What a chat knows of any media. */
const optionsOf = (part: JsonObject): JsonObject =>
  Object.fromEntries(
    ["mime_type", "format", "detail", "video_metadata"].flatMap((name) =>
      (part[name] ?? undefined) === undefined ? [] : [[name, part[name]]]
    )
  )

const readAudio = (reader: Reader<never>, part: JsonObject, path: string): JsonObject | undefined => {
  const inner = part["input_audio"]
  const given = isJsonObject(inner) ? inner : part
  const data = stringAt(given, "data")
  return data === undefined
    ? reader.invalid(`${path}.data`, "missing_required_parameter", "An input_audio needs data, base64 text.")
    : { type: "input_audio", input_audio: { data, format: given["format"] ?? null }, ...marksOf(part) }
}

/** Thoughts in the content of a message are those of a chat; this API has items for them, and a model makes its own (W3). */
const isThought = (part: Json): boolean => isJsonObject(part) && thoughts.has(part["type"])
const thoughts: ReadonlySet<Json | undefined> = new Set(["thinking", "redacted_thinking", "reasoning"])

/** `content` of a message or `output` of a tool: text as it is, or a list of parts. */
export const readResponsesContent = (
  reader: Reader<never>,
  content: Json,
  path: string
): string | ReadonlyArray<JsonObject> => {
  if (typeof content === "string") return content
  const list = isJsonObject(content) ? [content] : content
  if (Array.isArray(list))
    return reader.each(list, (item, index) =>
      isThought(item) ? undefined : readPart(reader, item, `${path}[${index}]`)
    )
  reader.invalid(path, "invalid_type", `${path} must be a string or an array of parts.`)
  return []
}

/** The texts of a content in one. */
export const textOf = (content: string | ReadonlyArray<JsonObject>): string =>
  typeof content === "string"
    ? content
    : content.map((part) => (part["type"] === "text" && typeof part["text"] === "string" ? part["text"] : "")).join("")
