// Puts calls and their results in order, and has the text that continues a history without prefill.
// Must not depend on a family, and leaves everything else of a message to the reader of messages.
import * as Result from "effect/Result"
import { BodyInvalid, type RequestFault } from "../../../domain/GatewayError.ts"
import { isJsonObject } from "../../../domain/text/json.ts"
import type { ChatMessage, ChatRequest } from "../../../wire/openai/Chat.ts"
import type { Adjustment, TranslateContext, Translated } from "../../Translator.ts"

type Messages = ChatRequest["messages"]

/** Text in the place of a result that is missing: upstreams require a result for every call. */
export const missingResult = "No result was returned; see the next message."

interface OpenCall {
  readonly id: string
  readonly name: unknown
  /** False for an id that the gateway made up. */
  readonly isGiven: boolean
  result: ChatMessage | undefined
  /** The place of its result. */
  at: number
  /** A result came after it. */
  isAnswered: boolean
}

interface Entry {
  readonly message: ChatMessage
  readonly calls: ReadonlyArray<OpenCall>
  /** The id of a result whose call has not come yet. */
  readonly orphan?: unknown
}

/** What names the repair. A client that wants nothing bent is refused with it. */
export const historyAdjusted = (asked: "turns" | "arguments" | "blank"): Adjustment => ({
  param: "messages",
  asked,
  sent: "repaired",
  takes: [],
  refusal: {
    code: "invalid_value",
    param: "messages",
    message:
      asked === "arguments"
        ? "messages has a call whose arguments are not the JSON text of an object, and the request asked for refusal of such calls."
        : asked === "blank"
          ? "messages has nothing but white space, and the request asked for refusal of such messages."
          : "messages has calls without results, results without calls or turns without content, and the request asked for refusal of such messages."
  }
})

/** The same list where nothing is to be repaired. */
export const repairHistory = (messages: Messages): Messages => {
  if (!messages.every(isPlain)) {
    const repaired = new Repair(messages).messages()
    if (repaired.length !== messages.length || repaired.some((message, at) => message !== messages[at])) return repaired
  }
  return messages
}

type Translate<Body> = (
  request: ChatRequest,
  context: TranslateContext
) => Result.Result<Translated<Body>, RequestFault>

/** Translates a request with its history in order, and names that. A fault has the place in the client's own messages. */
export const repairing =
  <Body>(translate: Translate<Body>): Translate<Body> =>
  (request, context) => {
    const messages = repairHistory(request.messages)
    if (messages === request.messages) return translate(request, context)
    return Result.mapBoth(translate({ ...request, messages }, context), {
      onFailure: (fault) => inClientsPlace(fault, request.messages, messages),
      onSuccess: (translated) => ({
        ...translated,
        adjusted: [historyAdjusted("turns"), ...(translated.adjusted ?? [])]
      })
    })
  }

const inClientsPlace = (fault: RequestFault, given: Messages, repaired: Messages): RequestFault => {
  if (fault._tag !== "BodyInvalid") return fault
  const [, index = "", rest = ""] = /^messages\[(\d+)\](.*)$/.exec(fault.param ?? "") ?? []
  const message = repaired[Number(index)]
  const at = index === "" || message === undefined ? -1 : given.indexOf(message)
  return at < 0 ? fault : new BodyInvalid({ code: fault.code, message: fault.message, param: `messages[${at}]${rest}` })
}

const isPlain = (message: ChatMessage): boolean =>
  isJsonObject(message) &&
  (message.role === "assistant"
    ? !Array.isArray(message.tool_calls)
    : message.role !== "tool" && message.role !== "function" && !(message.role === "user" && isEmpty(message)))

const isEmpty = ({ content }: ChatMessage): boolean =>
  content === undefined || content === null || (Array.isArray(content) && content.length === 0)

const isTalk = ({ role }: ChatMessage): boolean => role !== "system" && role !== "developer"

class Repair {
  private readonly given: Messages
  private readonly entries: Array<Entry | undefined> = []
  /** Of the nearest turn that has the id. */
  private readonly byId = new Map<string, Array<OpenCall>>()
  private readonly open: Array<OpenCall> = []
  /** By id, the places of results whose call has not come yet. */
  private readonly early = new Map<unknown, Array<number>>()
  /** Names of functions called in the older form. */
  private readonly functions = new Set<unknown>()

  constructor(given: Messages) {
    this.given = given
  }

  messages(): Messages {
    for (const [index, message] of this.given.entries()) this.read(message, index)
    const entries = this.entries.filter((entry) => entry !== undefined)
    const last = entries.findLastIndex(({ message }) => isTalk(message))
    return entries.flatMap(({ calls, message, orphan }, at): Messages => {
      if (orphan !== undefined) return [asText(message)]
      if (calls.length === 0) return [message]
      // Results may come in another order than their calls.
      const answered = calls.filter(({ result }) => result !== undefined).toSorted((a, b) => a.at - b.at)
      const missing = at === last ? [] : calls.filter(({ result }) => result === undefined)
      const results = answered.map(({ result }) => result).filter((result) => result !== undefined)
      return [message, ...results, ...missing.map(({ id }) => placeholder(id))]
    })
  }

  private read(message: ChatMessage, index: number): void {
    const keep = (entry: Partial<Entry> = {}): void => void this.entries.push({ message, calls: [], ...entry })
    if (!isJsonObject(message)) return keep()
    switch (message.role) {
      case "assistant":
        return this.assistant(message, index)
      case "tool":
        return this.result(message, index)
      case "function":
        return this.functions.has(message.name) || this.open.some(({ name }) => name === message.name)
          ? keep()
          : keep({ orphan: message.name ?? null })
      case "user":
        return isEmpty(message) && this.given.some((one) => one !== message && isTalk(one)) ? undefined : keep()
      default:
        return keep()
    }
  }

  private assistant(message: ChatMessage, index: number): void {
    const { function_call: called, tool_calls: list } = message
    if (isJsonObject(called)) this.functions.add(called["name"])
    if (!Array.isArray(list)) return void this.entries.push({ message, calls: [] })
    const calls = list.map((call: unknown, position) => openCall(call, `call-${index}-${position}`))
    const before = this.entries.findLast((entry) => entry !== undefined)
    // The same turn a second time.
    const isAgain =
      calls.length > 0 &&
      calls.every(({ id }, at) => id === before?.calls[at]?.id && before.calls[at].isAnswered === false)
    if (isAgain && JSON.stringify(before?.message) === JSON.stringify(message)) return
    const isSame = calls.every(({ isGiven }) => isGiven)
    const named = isSame ? message : { ...message, tool_calls: list.map((call, at) => withId(call, calls[at])) }
    this.entries.push({ message: named, calls })
    for (const { id } of calls) this.byId.delete(id)
    for (const call of calls) {
      const same = this.byId.get(call.id)
      if (same === undefined) this.byId.set(call.id, [call])
      else same.push(call)
      this.open.push(call)
      const [at, ...others] = this.early.get(call.id) ?? []
      if (at === undefined) continue
      call.result = this.entries[at]?.message
      call.at = at
      this.entries[at] = undefined
      this.early.set(call.id, others)
    }
  }

  private result(message: ChatMessage, index: number): void {
    const { tool_call_id: id } = message
    const call = this.callOf(id, message.name)
    if (call === undefined) {
      const list = this.early.get(id)
      if (list === undefined) this.early.set(id, [this.entries.length])
      else list.push(this.entries.length)
      this.entries.push({ message, calls: [], orphan: id ?? null })
      return
    }
    const renamed = call.id === id ? message : { ...message, tool_call_id: call.id }
    call.result = call.result === undefined ? renamed : joined(call.result, renamed)
    call.at = index
    call.isAnswered = true
  }

  /** By its id; a result without a known one answers the next call without an id, or the next of its name. */
  private callOf(id: unknown, name: unknown): OpenCall | undefined {
    const isOpen = ({ result }: OpenCall) => result === undefined
    const known = typeof id === "string" ? this.byId.get(id) : undefined
    if (known !== undefined) return known.find(isOpen) ?? known[0]
    return (
      this.open.find((call) => isOpen(call) && !call.isGiven) ??
      (typeof id === "string" && id !== "" ? undefined : this.open.find((call) => isOpen(call) && call.name === name))
    )
  }
}

const openCall = (call: unknown, made: string): OpenCall => {
  const { function: called, id } = isJsonObject(call) ? call : {}
  const isGiven = typeof id === "string" && id !== ""
  return {
    id: isGiven ? id : made,
    name: isJsonObject(called) ? called["name"] : undefined,
    isGiven: isGiven || (id !== undefined && id !== null && id !== ""),
    result: undefined,
    at: 0,
    isAnswered: false
  }
}

const withId = (call: unknown, open: OpenCall | undefined): unknown =>
  open === undefined || open.isGiven || !isJsonObject(call) ? call : { ...call, id: open.id }

const placeholder = (id: string): ChatMessage => ({ role: "tool", tool_call_id: id, content: missingResult })

/** Of two results of one call both count, unless they are the same. */
const joined = (first: ChatMessage, second: ChatMessage): ChatMessage =>
  JSON.stringify(first.content) === JSON.stringify(second.content)
    ? first
    : { ...first, ...second, content: [...partsOf(first), ...partsOf(second)] }

const partsOf = ({ content }: ChatMessage): ReadonlyArray<unknown> =>
  Array.isArray(content) ? content : content === undefined || content === null ? [] : [{ type: "text", text: content }]

/** A result without a call becomes text of the user. */
const asText = (message: ChatMessage): ChatMessage => {
  const { content, name, tool_call_id: id } = message
  const of = typeof name === "string" && name !== "" ? name : typeof id === "string" && id !== "" ? id : "a tool"
  const title = `Result of ${of}:`
  return {
    role: "user",
    content: typeof content === "string" ? `${title}\n${content}` : [{ type: "text", text: title }, ...partsOf(message)]
  }
}

/** The user turn that asks for the continuation of the assistant's last message, for models without prefill. */
export const continueText = "Continue exactly where your last message stopped."
