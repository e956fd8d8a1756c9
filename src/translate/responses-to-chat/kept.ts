// What is kept of a response, and what it is read for again: the next turn, an item meant by id, the response itself.
// It must not know where it is kept. Rules: R111, R412, R702.
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { isJsonObject, type JsonObject, jsonObjectOf } from "../../domain/text/json.ts"
import type { OutputItem } from "../../wire/openai/responses/Items.ts"
import { type ResponseItemList, ResponseObject } from "../../wire/openai/responses/Response.ts"
import { Carrier, carrierText, isEmptyCarrier } from "../shared/carrier/carrier.ts"
import type { AnswerFinished } from "./answer/envelope.ts"
import type { Plan, Shown, StoredItem, StoredTurn } from "./facts.ts"
import { listedItem } from "./listedItem.ts"

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
  const kept = whole.length === 0 ? response : { ...response, output: response.output.map(wholeOf) }
  return jsonObjectOf({ response: kept, input, carrier: isEmptyCarrier(carrier) ? null : carrier })
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
    const found = output.get(id) ?? byId.get(id)
    return found === undefined
      ? undefined
      : { item: jsonObjectOf(found.item), carrier: found.isOutput ? (carrier ?? undefined) : undefined }
  }
}

interface Found {
  readonly item: object
  readonly isOutput: boolean
}

const addFirst = (items: Map<unknown, Found>, id: unknown, found: Found): void => {
  if (!items.has(id)) items.set(id, found)
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
