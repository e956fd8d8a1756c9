// The items of a conversation as messages of the chat.
// It must not know parameters, tools or any provider. Rules: R204-R223, R405.
import type { Reader } from "../../domain/Reader.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import type { ChatMessage } from "../../wire/openai/Chat.ts"
import { AssistantTurn, type Carrier, readCarrier, type Signed, signedBy } from "../shared/carrier.ts"
import { customArguments } from "../shared/chat-request/toolCalls.ts"
import type { MessagePath, RequestFacts } from "./facts.ts"
import { readResponsesContent, type SourcedItem, textOf } from "./items.ts"
import { joinedName } from "./tools.ts"

export interface ChatMessages {
  readonly messages: ReadonlyArray<ChatMessage>
  readonly paths: ReadonlyArray<MessagePath>
  readonly ignored: ReadonlyArray<string>
}

interface Work {
  readonly reader: Reader<never>
  readonly facts: RequestFacts
  readonly signed: Signed
  readonly messages: Array<ChatMessage>
  readonly paths: Array<MessagePath>
  readonly ignored: Array<string>
  turn: AssistantTurn | undefined
}

/** An item with what it carries, opened. */
interface Opened extends SourcedItem {
  readonly carried: Carrier | undefined
}

export const chatMessages = (
  reader: Reader<never>,
  instructions: string,
  items: ReadonlyArray<SourcedItem>,
  facts: RequestFacts
): ChatMessages => {
  const ignored: Array<string> = []
  const opened = reader.each(items, (item) => open(reader, item, facts, ignored))
  const carriers = latestOf(opened)
  const work: Work = {
    reader,
    facts,
    signed: signedBy([...carriers.values()]),
    messages: [],
    paths: [],
    ignored,
    turn: undefined
  }
  if (instructions !== "") give(work, { role: "system", content: instructions }, "instructions")
  for (const item of opened) {
    const response = item.carried?.r ?? ""
    if (item.carried !== undefined) turnOf(work).carrier(carriers.get(response))
    carriers.delete(response)
    readItem(work, item)
  }
  endTurn(work)
  return { messages: work.messages, paths: work.paths, ignored }
}

/** Of several carriers of one response the last counts, at the place of the first: later ones repeat the earlier. */
const latestOf = (opened: ReadonlyArray<Opened>): Map<string, Carrier> =>
  new Map(opened.flatMap(({ carried }) => (carried === undefined ? [] : [[carried.r, carried] as const])))

const broken = "It was not made by this gateway for this key, or it was changed."

/** What does not open is as if it were absent: sessions move between providers, keys and gateways. */
const open = (
  reader: Reader<never>,
  item: SourcedItem,
  facts: RequestFacts,
  ignored: Array<string>
): Opened | undefined => {
  const sealed = item.type === "reasoning" ? item.item["encrypted_content"] : undefined
  if (item.carrier !== undefined || sealed === undefined || sealed === null || item.path === "previous_response_id")
    return { ...item, carried: item.carrier }
  const text = typeof sealed === "string" ? facts.unseal(sealed) : undefined
  const carried = text === undefined ? undefined : readCarrier(text)
  if (carried === undefined) {
    const path = `${item.path}.encrypted_content`
    if (facts.rejects) return reader.invalid(path, "invalid_encrypted_content", broken)
    ignored.push(path)
  }
  return { ...item, carried }
}

const give = (work: Work, message: ChatMessage, at: string, list: MessagePath["list"] = "content"): void => {
  work.messages.push(message)
  work.paths.push({ at, list, calls: [], parts: [] })
}

const endTurn = (work: Work): void => {
  const made = work.turn?.message(work.signed, work.facts.digest)
  work.turn = undefined
  if (made === undefined) return
  work.messages.push(made.message)
  work.paths.push(made.path)
}

/** Calls of tools that another service ran, and their results: another model reads them as text. */
const readAsText = /^(?:computer|local_shell|shell|apply_patch)_call(?:_output)?$|^program(?:_output)?$/

/** Of an older turn, made elsewhere: another model has no words for it. Tools that came late are declared with the others. */
const passedOver: ReadonlySet<string> = new Set([
  "web_search_call",
  "file_search_call",
  "mcp_list_tools",
  "mcp_call",
  "mcp_approval_request",
  "mcp_approval_response",
  "tool_search_call",
  "tool_search_output",
  "compaction_trigger"
])

const turnOf = (work: Work): AssistantTurn => (work.turn ??= new AssistantTurn())

const stringAt = (item: JsonObject, name: string): string => {
  const value = item[name]
  return typeof value === "string" ? value : ""
}

const readItem = (work: Work, opened: Opened): void => {
  const { item, path, type } = opened
  switch (type) {
    case "message":
      return readMessage(work, item, path)
    case "reasoning":
      // Summaries are never sent as text; parts that followed the item take its place.
      turnOf(work).place(stringAt(item, "id"))
      return undefined
    case "function_call":
    case "custom_tool_call":
      return readCall(work, item, path)
    case "function_call_output":
    case "custom_tool_call_output":
      return readOutput(work, item, path)
    case "image_generation_call":
      if (stringAt(item, "result") !== "") turnOf(work).image(stringAt(item, "id"), stringAt(item, "result"), path)
      return undefined
    case "code_interpreter_call":
      return readCode(work, opened)
    case "compaction":
    case "context_compaction":
      return work.reader.invalid(
        `${path}.encrypted_content`,
        "invalid_encrypted_content",
        "A compacted history of another service cannot be opened, and without it the conversation is gone."
      )
    default:
      return readOther(work, opened)
  }
}

const readOther = (work: Work, { item, path, type }: Opened): void => {
  if (type === "additional_tools") return undefined
  if (passedOver.has(type)) {
    if (path !== "previous_response_id") work.ignored.push(path)
    return undefined
  }
  if (!readAsText.test(type))
    return work.reader.invalid(`${path}.type`, "invalid_value", "This type of item is not known.")
  const { id: _id, call_id: _call, status: _status, type: _type, ...stated } = item
  const text = `${type}: ${JSON.stringify(stated)}`
  if (type.endsWith("_output")) {
    endTurn(work)
    give(work, { role: "user", content: text }, path)
  } else turnOf(work).text(text, path)
}

const readMessage = (work: Work, item: JsonObject, path: string): void => {
  const role = item["role"]
  if (role !== "assistant" && role !== "user" && role !== "system" && role !== "developer")
    return work.reader.invalid(
      `${path}.role`,
      "invalid_value",
      "role must be one of user, assistant, system, developer."
    )
  const content = readResponsesContent(work.reader, item["content"] ?? "", `${path}.content`)
  if (role === "assistant") return addContent(turnOf(work), content, stringAt(item, "id"), path)
  endTurn(work)
  give(work, { role, content }, path)
}

/** The texts of an item are one text: that is what its signature was made for. */
const addContent = (
  turn: AssistantTurn,
  content: string | ReadonlyArray<JsonObject>,
  id: string,
  path: string
): void => {
  turn.text(textOf(content), path)
  if (typeof content !== "string") for (const part of content) if (part["type"] !== "text") turn.part(part, path)
  turn.place(id)
}

/** A call names its function as this request declares it; a namespace that is gone keeps the joined name. */
const readCall = (work: Work, item: JsonObject, path: string): void => {
  const bareName = stringAt(item, "name")
  if (bareName === "") return work.reader.invalid(`${path}.name`, "invalid_value", "A call needs the name of its tool.")
  const namespace = stringAt(item, "namespace")
  const name = namespace === "" ? bareName : joinedName(namespace, bareName)
  const isCustom = item["type"] === "custom_tool_call"
  const given = item[isCustom ? "input" : "arguments"] ?? ""
  const text = typeof given === "string" ? given : JSON.stringify(given)
  // A call without an id is answered by its place.
  const id = stringAt(item, "call_id") || stringAt(item, "id")
  turnOf(work).call(id, name, isCustom ? customArguments(text) : text, path)
}

const readOutput = (work: Work, item: JsonObject, path: string): void => {
  const output = readResponsesContent(work.reader, outputOf(item["output"]), `${path}.output`)
  endTurn(work)
  const content = typeof output === "string" ? output : output.map(asMedia)
  give(work, { role: "tool", tool_call_id: stringAt(item, "call_id"), content }, path, "output")
}

/** Text and parts as they are, nothing as an empty text, any other value as its JSON. */
const outputOf = (output: Json | undefined): Json => {
  if (output === undefined || output === null) return ""
  const isParts =
    Array.isArray(output) && output.every((part) => isJsonObject(part) && typeof part["type"] === "string")
  return typeof output === "string" || isParts ? output : JSON.stringify(output)
}

/** A tool message of a chat holds media of any type as an address, which may be a data URI. */
const asMedia = (part: JsonObject): JsonObject => {
  const file = part["file"]
  if (part["type"] !== "file" || !isJsonObject(file)) return part
  const url = file["file_data"] ?? file["file_url"] ?? file["file_id"] ?? ""
  return { type: "image_url", image_url: { url } }
}

/** The code itself belongs to the model that ran it: its parts come out of the carrier, or not at all. */
const readCode = (work: Work, { item, path }: Opened): void => {
  const id = stringAt(item, "id")
  turnOf(work).place(id)
  if (path !== "previous_response_id" && !work.signed.parts.has(id)) work.ignored.push(path)
}
