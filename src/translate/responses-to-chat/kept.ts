// What is kept of a response, and what it is read for again: the next turn, an item meant by id, the response and its input.
// It must not know where it is kept. Rules: R111, R412, R702.
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { isJsonObject, type Json, type JsonObject, jsonObjectOf } from "../../domain/text/json.ts"
import { type OutputItem, type ResponseItemList, ResponseObject } from "../../wire/openai/Responses.ts"
import { Carrier, carrierText, isEmptyCarrier } from "../shared/carrier.ts"
import { chatPart } from "../shared/chat-request/partSpellings.ts"
import type { Plan, Shown, StoredItem, StoredTurn } from "./facts.ts"
import { itemPart } from "./items.ts"
import type { AnswerFinished } from "./response.ts"

const Kept = Schema.Struct({
  response: ResponseObject,
  input: Schema.Array(Schema.JsonObject),
  carrier: Schema.NullOr(Carrier)
})
type Kept = typeof Kept.Type

const decode = Schema.decodeUnknownResult(Kept)

/** A response with what led to it in this turn; history is named by it, never copied. */
export const keptContent = (
  response: ResponseObject,
  { carrier, whole }: AnswerFinished,
  { input }: Pick<Plan, "input">
): JsonObject => {
  const wholeById = new Map(whole.map((item) => [item.id, item]))
  const wholeOf = (item: OutputItem): OutputItem => wholeById.get(item.id) ?? item
  const stored = whole.length === 0 ? response : { ...response, output: response.output.map(wholeOf) }
  return jsonObjectOf({ response: stored, input, carrier: isEmptyCarrier(carrier) ? null : carrier })
}

/** Undefined for what was kept in another form. */
export const readKept = (content: JsonObject): Kept | undefined => Result.getOrUndefined(decode(content))

export const turnOf = ({ carrier, input, response }: Kept): StoredTurn => ({
  input: input.map(jsonObjectOf),
  output: response.output.map(jsonObjectOf),
  carrier: carrier ?? undefined
})

/** Finds its items by id, with all that the response carries: ids and digests select what belongs to the item. */
export const itemFinder = ({ carrier, input, response }: Kept): ((id: string) => StoredItem | undefined) => {
  const byId = new Map<unknown, Found>()
  for (const item of input) if (isJsonObject(item)) addFirst(byId, item["id"], { item, isOutput: false })
  const output = new Map<unknown, Found>()
  for (const item of response.output) addFirst(output, item.id, { item, isOutput: true })
  return (id) => {
    const match = output.get(id) ?? byId.get(id)
    return match === undefined
      ? undefined
      : { item: jsonObjectOf(match.item), carrier: match.isOutput ? (carrier ?? undefined) : undefined }
  }
}

interface Found {
  readonly item: object
  readonly isOutput: boolean
}

const addFirst = (items: Map<unknown, Found>, id: unknown, item: Found): void => {
  if (!items.has(id)) items.set(id, item)
}

/** The response as it is asked for again: what was answered, of which `shown` leaves out. */
export const shownAgain = (
  { carrier, response }: Kept,
  shown: Omit<Shown, "summaries">,
  seal: (text: string) => string
): ResponseObject => {
  const last = response.output.findLastIndex(({ type }) => type === "reasoning")
  const whole = shown.carriers && carrier !== null ? seal(carrierText(carrier)) : undefined
  return {
    ...response,
    output: response.output.map((item, at) => shownItem(item, shown, at === last ? whole : undefined))
  }
}

const shownItem = (item: OutputItem, shown: Omit<Shown, "summaries">, carrier: string | undefined): OutputItem => {
  switch (item.type) {
    case "reasoning": {
      const { encrypted_content: given, ...rest } = item
      const sealed = shown.carriers ? (given ?? carrier) : undefined
      return sealed === undefined ? rest : { ...rest, encrypted_content: sealed }
    }
    case "web_search_call": {
      const { sources, ...action } = item.action
      return { ...item, action: shown.sources && sources !== undefined ? { ...action, sources } : action }
    }
    case "code_interpreter_call":
      return shown.outputs ? item : { ...item, outputs: null }
    case "message":
      return {
        ...item,
        content: item.content.map((part) =>
          part.type === "output_text" && !shown.logprobs ? { ...part, logprobs: [] } : part
        )
      }
    default:
      return item
  }
}

export interface ItemsAsked {
  readonly limit: number
  readonly order: "asc" | "desc"
  /** The last item of the page before. */
  readonly after: string | undefined
}

const idOf = (item: JsonObject | undefined): string | null => {
  const id = item?.["id"]
  return typeof id === "string" ? id : null
}

/** A page of this turn's own input; after an unknown item the page is empty. The schema knows no null for its ids. */
export const inputItems = ({ input }: Kept, { after, limit, order }: ItemsAsked): ResponseItemList => {
  const given = input.map(jsonObjectOf)
  const all = order === "asc" ? given : given.toReversed()
  const at = after === undefined ? 0 : all.findIndex((item) => idOf(item) === after) + 1
  const from = after !== undefined && at === 0 ? all.length : at
  const data = all.slice(from, from + limit).map(listedItem)
  return {
    object: "list",
    data,
    first_id: idOf(data[0]) ?? "",
    last_id: idOf(data.at(-1)) ?? "",
    has_more: from + limit < all.length
  }
}

// An item of a kept input as OpenAI's schema lists it: content as parts, and what clients leave out filled in.

/** Roles whose content is an answer. */
const isAssistant = (item: JsonObject): boolean => item["role"] === "assistant"

const outputText = (part: JsonObject): JsonObject => ({ annotations: [], logprobs: [], ...part, type: "output_text" })

const listedPart = (part: Json, ofAnswer: boolean): Json => {
  if (typeof part === "string") return textPart(part, ofAnswer)
  if (!isJsonObject(part)) return part
  switch (part["type"]) {
    case "text":
    case "input_text":
    case "output_text":
      return ofAnswer ? outputText(part) : { ...part, type: "input_text" }
    case "input_image":
      return listedImage(isJsonObject(part["image_url"]) ? chatPart(part) : part)
    case "input_file":
    case "refusal":
      return part
    default:
      return listedImage(chatPart(part))
  }
}

/** The schema asks for the detail of a picture; other spellings of media are those of a chat. */
const listedImage = (part: JsonObject): Json => {
  const listed = itemPart(part, false)
  return isJsonObject(listed) && listed["type"] === "input_image"
    ? { ...listed, detail: listed["detail"] ?? "auto" }
    : listed
}

const textPart = (text: string, ofAnswer: boolean): JsonObject =>
  ofAnswer ? outputText({ text }) : { type: "input_text", text }

/** A text is one part. */
const listedParts = (content: Json | undefined, ofAnswer: boolean): Json =>
  Array.isArray(content)
    ? content.map((part: Json) => listedPart(part, ofAnswer))
    : [listedPart(content ?? "", ofAnswer)]

/** A result is a text or parts; a client may send any JSON. */
const listedOutput = (output: Json | undefined): Json =>
  typeof output === "string" || output === undefined || output === null
    ? (output ?? "")
    : Array.isArray(output) && output.every(isJsonObject)
      ? listedParts(output, false)
      : JSON.stringify(output)

const argumentsText = (given: Json | undefined): Json =>
  given === undefined || given === null ? "{}" : typeof given === "string" ? given : JSON.stringify(given)

/** A field of a type that the schema knows without null is left out instead. */
const withoutNulls = (item: JsonObject, names: ReadonlyArray<string>): JsonObject =>
  Object.fromEntries(Object.entries(item).filter(([name, value]) => value !== null || !names.includes(name)))

const itemFields = (item: JsonObject): JsonObject => {
  switch (item["type"]) {
    case "message":
      return { content: listedParts(item["content"], isAssistant(item)) }
    case "function_call":
      return { call_id: item["call_id"] ?? item["id"] ?? "", arguments: argumentsText(item["arguments"]) }
    case "custom_tool_call":
      return { call_id: item["call_id"] ?? item["id"] ?? "", input: item["input"] ?? "" }
    case "function_call_output":
    case "custom_tool_call_output":
      return { output: listedOutput(item["output"]) }
    case "reasoning":
      return { summary: item["summary"] ?? [] }
    case "code_interpreter_call":
      return { container_id: item["container_id"] ?? "", code: item["code"] ?? null, outputs: item["outputs"] ?? null }
    case "image_generation_call":
      return { result: item["result"] ?? null }
    default:
      return {}
  }
}

/** Items that have no state. */
const stateless: ReadonlySet<unknown> = new Set(["additional_tools", "mcp_approval_request", "mcp_approval_response"])

const listedItem = (item: JsonObject): JsonObject => {
  const given = withoutNulls(item, ["status", "content", "namespace", "caller"])
  const fields = { ...given, ...itemFields(item) }
  return stateless.has(item["type"]) ? fields : { ...fields, status: given["status"] ?? "completed" }
}
