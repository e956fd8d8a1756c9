// The chunks of a chat as the items of an answer: what each piece opens, grows and closes; calls, pictures, searches, code.
// It must not know envelopes, or how an answer reaches the client. Rules: R314, R317, R501-R525, R604-R606.
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import { grow, growBy, itemsOf, withLast } from "../../wire/grownList.ts"
import type {
  ChatChunk,
  ChunkChoice,
  ContentPart,
  Delta,
  FinishReason,
  ToolCallDelta
} from "../../wire/openai/ChatReply.ts"
import type {
  CodeInterpreterItem,
  CodeOutput,
  CustomToolCallItem,
  FunctionCallItem,
  OutputItem,
  WebSearchItem
} from "../../wire/openai/Responses.ts"
import { customInput } from "../shared/chat-request/toolCalls.ts"
import { blockPieces } from "../shared/reply/completion.ts"
import { mergeFields } from "../shared/reply/usage.ts"
import { numberOf, type ToolName } from "./facts.ts"
import {
  addAnnotations,
  closeMessage,
  closeReasoning,
  giveCarrier,
  giveLastCarrier,
  growReasoning,
  growRefusal,
  growText,
  openMessage,
  openReasoning,
  textLogprobs
} from "./textItems.ts"
import {
  announce,
  type CodeRun,
  done,
  type MessageStatus,
  next,
  type OpenCall,
  type OpenMessage,
  place,
  type Work
} from "./work.ts"

/** Reads the first choice of a chunk; a config may ask for more, and they are not read. */
export const readChoices = (work: Work, { choices }: ChatChunk): void => {
  for (const choice of choices) if (choice.index === 0 && work.finish === undefined) readChoice(work, choice)
}

const readChoice = (work: Work, choice: ChunkChoice): void => {
  const { delta, finish_reason: finish, groundingMetadata: grounding } = choice
  readBlocks(work, delta)
  const logprobs = work.facts.plan.shown.logprobs ? textLogprobs(choice.logprobs) : []
  if (delta.content || logprobs.length > 0) addText(work, delta.content ?? "", logprobs)
  if (delta.refusal) addRefusal(work, delta.refusal)
  for (const call of delta.tool_calls ?? []) addCall(work, call)
  for (const part of delta.content_parts ?? []) {
    if (part.type !== "image") continue
    if (work.code !== undefined) addCodeImage(work, part)
    else {
      closeAll(work, "completed")
      giveCarrier(work)
      addImage(work, part)
    }
  }
  if (isJsonObject(grounding)) work.grounding = mergeFields(work.grounding, grounding)
  if (delta.annotations !== undefined && work.open?._tag === "Message")
    work.open = addAnnotations(work, work.open, delta.annotations)
  if (finish !== null) end(work, finish)
}

/** Thinking first; then signatures of texts and the provider's own parts. */
const readBlocks = (work: Work, delta: Delta): void => {
  const { open, pieces } = blockPieces(delta, work.block)
  work.block = open
  for (const piece of pieces) {
    if (piece._tag === "Thought") addThought(work, piece.block, piece.text, piece.signature)
    else if (piece._tag === "SignedText") signText(work, piece.text, piece.signature)
    else if (piece._tag === "Redacted") addRedacted(work, piece.block, piece.data)
    else addProviderPart(work, piece.part)
  }
}

const addThought = (work: Work, block: number, thinking: string, signature: string | undefined): void => {
  const last = work.thoughts?.last
  const isMore = last?.block === block && last.redacted === undefined
  const grown = {
    block,
    thinking: (isMore ? last.thinking : "") + thinking,
    signature: signature ?? (isMore ? last.signature : undefined),
    redacted: undefined
  }
  work.thoughts = isMore ? withLast(work.thoughts, grown) : grow(work.thoughts, grown)
  if (!work.facts.plan.shown.summaries || thinking === "") return
  if (work.open?._tag !== "Reasoning") {
    closeAll(work, "completed")
    work.open = openReasoning(work, block)
  }
  work.open = growReasoning(work, work.open, block, thinking)
}

const addRedacted = (work: Work, block: number, data: string): void => {
  work.thoughts = grow(work.thoughts, { block, thinking: "", signature: undefined, redacted: data })
}

/** The text itself may come in the same delta, as its content. */
const signText = (work: Work, text: string, signature: string): void => {
  if (text !== "") intoMessage(work, "text")
  if (work.open?._tag === "Message") work.open = { ...work.open, signature }
}

/** The open message, or a new one; no other item is open with a message. */
const intoMessage = (work: Work, part: OpenMessage["part"]): OpenMessage => {
  if (work.open?._tag === "Message") return work.open
  closeAll(work, "completed")
  giveCarrier(work)
  const open = openMessage(work, part)
  work.open = open
  return open
}

const addText = (work: Work, text: string, logprobs: ReturnType<typeof textLogprobs>): void => {
  const open = text === "" ? work.open : intoMessage(work, "text")
  // Probabilities of tokens that are no text belong to no message; text after a refusal is left out.
  if (open?._tag !== "Message" || open.part !== "text") return
  work.open =
    text === "" ? { ...open, logprobs: growBy(open.logprobs, logprobs) } : growText(work, open, text, logprobs)
}

const addRefusal = (work: Work, refusal: string): void => {
  work.open = growRefusal(work, intoMessage(work, "refusal"), refusal)
}

const addCall = (work: Work, piece: ToolCallDelta): void => {
  const { arguments: text = "", thought_signature: signature } = piece.function
  let call = Option.getOrUndefined(HashMap.get(work.calls, piece.index))
  const known = call
  if (call === undefined) {
    closeOpen(work, "completed")
    if (HashMap.isEmpty(work.calls)) giveCarrier(work)
    call = openCall(work, piece)
  }
  const after = growCall(work, call, text)
  if (after !== known) work.calls = HashMap.set(work.calls, piece.index, after)
  if (signature !== undefined) work.callSignatures = grow(work.callSignatures, { id: call.callId, s: signature })
}

const closeOpen = (work: Work, status: MessageStatus): void => {
  const { open } = work
  work.open = undefined
  if (open?._tag === "Message") closeMessage(work, open, status)
  if (open?._tag === "Reasoning") closeReasoning(work, open)
}

/** By number; of an answer that was cut the last one is not whole. */
const closeCalls = (work: Work, status: "completed" | "incomplete"): void => {
  const calls = HashMap.toValues(work.calls).toSorted((one, other) => one.index - other.index)
  work.calls = HashMap.empty()
  for (const [position, call] of calls.entries())
    closeCall(work, call, position === calls.length - 1 ? status : "completed")
}

const closeAll = (work: Work, status: "completed" | "incomplete"): void => {
  closeOpen(work, status)
  closeCalls(work, status)
}

const isAnswer = (type: string): boolean =>
  type === "message" || type === "function_call" || type === "custom_tool_call" || type === "image_generation_call"

/** The end of the choice. Searches and code follow the message, because sources come with the last chunk. */
const end = (work: Work, finish: FinishReason): void => {
  work.finish = finish === "length" ? "max_output_tokens" : finish === "content_filter" ? finish : "completed"
  const isEmpty = work.open?._tag !== "Message" && HashMap.isEmpty(work.calls)
  if (work.finish === "completed" && isEmpty && !itemsOf(work.closed).some(({ item }) => isAnswer(item.type)))
    intoMessage(work, "text")
  closeAll(work, work.finish === "completed" ? "completed" : "incomplete")
  giveSearch(work)
  giveCode(work)
  giveLastCarrier(work)
}

// Calls as items: functions piece by piece, custom tools as one text when they are whole.

const nameOf = (work: Work, called: string): ToolName =>
  work.facts.plan.names.get(called) ?? { name: called, namespace: undefined, isCustom: false }

const functionItem = (
  { callId, id, text }: OpenCall,
  { name, namespace }: ToolName,
  status: FunctionCallItem["status"]
): FunctionCallItem => ({
  id,
  type: "function_call",
  status,
  call_id: callId,
  ...(namespace === undefined ? {} : { namespace }),
  name,
  arguments: text
})

const customItem = ({ callId, id }: OpenCall, { name, namespace }: ToolName, input: string): CustomToolCallItem => ({
  id,
  type: "custom_tool_call",
  call_id: callId,
  ...(namespace === undefined ? {} : { namespace }),
  name,
  input
})

const openCall = (work: Work, { function: called, id = "", index }: ToolCallDelta): OpenCall => {
  const toolName = nameOf(work, called.name ?? "")
  const at = place(work, toolName.isCustom ? "ctc" : "fc")
  const open: OpenCall = { index, ...at, callId: id, called: called.name ?? "", text: "" }
  announce(
    work,
    open.outputIndex,
    toolName.isCustom ? customItem(open, toolName, "") : functionItem(open, toolName, "in_progress")
  )
  return open
}

const growCall = (work: Work, open: OpenCall, text: string): OpenCall => {
  if (text === "") return open
  if (!nameOf(work, open.called).isCustom)
    work.events.push({
      type: "response.function_call_arguments.delta",
      sequence_number: next(work),
      item_id: open.id,
      output_index: open.outputIndex,
      delta: text
    })
  return { ...open, text: open.text + text }
}

const closeCall = (work: Work, open: OpenCall, status: "completed" | "incomplete"): void => {
  const toolName = nameOf(work, open.called)
  const at = { item_id: open.id, output_index: open.outputIndex }
  if (toolName.isCustom) {
    const input = customInput(open.text)
    work.events.push(
      { type: "response.custom_tool_call_input.delta", sequence_number: next(work), ...at, delta: input },
      { type: "response.custom_tool_call_input.done", sequence_number: next(work), ...at, input }
    )
    return done(work, open.outputIndex, customItem(open, toolName, input))
  }
  work.events.push({
    type: "response.function_call_arguments.done",
    sequence_number: next(work),
    ...at,
    name: toolName.name,
    arguments: open.text
  })
  done(work, open.outputIndex, functionItem(open, toolName, status))
}

// Items of what the provider ran itself: pictures, searches, code.

type ImagePart = ContentPart & { readonly type: "image" }

const addImage = (work: Work, { image, thought_signature: signature }: ImagePart): void => {
  const { id, outputIndex } = place(work, "ig")
  const at = { item_id: id, output_index: outputIndex }
  announce(work, outputIndex, { id, type: "image_generation_call", status: "in_progress", result: null })
  work.events.push(
    { type: "response.image_generation_call.in_progress", sequence_number: next(work), ...at },
    { type: "response.image_generation_call.generating", sequence_number: next(work), ...at },
    { type: "response.image_generation_call.completed", sequence_number: next(work), ...at }
  )
  if (signature !== undefined) work.imageSignatures = grow(work.imageSignatures, { id, s: signature })
  done(work, outputIndex, { id, type: "image_generation_call", status: "completed", result: image.b64_json })
}

/** A picture that code made is one of its outputs. */
const addCodeImage = (work: Work, { image }: ImagePart): void =>
  growCode(work, (run) => ({
    ...run,
    outputs: grow<CodeOutput>(run.outputs, { type: "image", url: `data:${image.mime_type};base64,${image.b64_json}` })
  }))

const growCode = (work: Work, change: (run: CodeRun) => CodeRun): void => {
  if (work.code !== undefined) work.code = withLast(work.code, change(work.code.last))
}

const textIn = (holder: JsonObject, field: string): string => {
  const value = holder[field]
  return typeof value === "string" ? value : ""
}

const noRun: CodeRun = { code: "", outputs: undefined, hasFailed: false, hasResult: false, parts: undefined }

/** A provider's own part: code and its result become an item, everything else is only carried. */
const addProviderPart = (work: Work, given: { readonly provider: string; readonly part: unknown }): void => {
  const { provider } = given
  const part: Json = isJsonObject(given.part) ? given.part : {}
  const { codeExecutionResult: result, executableCode: code } = part
  if (isJsonObject(code)) {
    work.code = grow(work.code, { ...noRun, code: textIn(code, "code"), parts: grow(undefined, { provider, part }) })
  } else if (isJsonObject(result)) {
    if (work.code?.last.hasResult !== false) work.code = grow(work.code, noRun)
    growCode(work, (run) => withResult(run, result, { provider, part }))
  } else {
    const at = work.open?.id ?? work.lastClosed?.item.id ?? ""
    work.parts = grow(work.parts, { at, part: { provider, part } })
  }
}

const withResult = (
  run: CodeRun,
  result: JsonObject,
  part: { readonly provider: string; readonly part: JsonObject }
): CodeRun => {
  return {
    ...run,
    outputs: grow<CodeOutput>(run.outputs, { type: "logs", logs: textIn(result, "output") }),
    hasFailed: result["outcome"] !== "OUTCOME_OK",
    hasResult: true,
    parts: grow(run.parts, part)
  }
}

/** An item that is shown with less than is kept of it. */
const doneInPart = (work: Work, outputIndex: number, shown: OutputItem, whole: OutputItem): void => {
  work.whole = grow(work.whole, whole)
  done(work, outputIndex, shown)
}

const giveCode = (work: Work): void => {
  for (const { code, hasFailed, outputs, parts } of itemsOf(work.code)) {
    const { id, outputIndex } = place(work, "ci")
    const at = { item_id: id, output_index: outputIndex }
    const item = {
      id,
      type: "code_interpreter_call",
      container_id: `cntr_${numberOf(work.facts.id)}`,
      outputs: null
    } as const
    announce(work, outputIndex, { ...item, status: "in_progress", code: "" })
    work.events.push(
      { type: "response.code_interpreter_call.in_progress", sequence_number: next(work), ...at },
      { type: "response.code_interpreter_call_code.delta", sequence_number: next(work), ...at, delta: code },
      { type: "response.code_interpreter_call_code.done", sequence_number: next(work), ...at, code },
      { type: "response.code_interpreter_call.interpreting", sequence_number: next(work), ...at },
      { type: "response.code_interpreter_call.completed", sequence_number: next(work), ...at }
    )
    for (const part of itemsOf(parts)) work.parts = grow(work.parts, { at: id, part })
    const status = hasFailed ? "failed" : "completed"
    const whole: CodeInterpreterItem = { ...item, status, code, outputs: itemsOf(outputs) }
    if (work.facts.plan.shown.outputs) done(work, outputIndex, whole)
    else doneInPart(work, outputIndex, { ...whole, outputs: null }, whole)
  }
}

const list = (value: Json | undefined): ReadonlyArray<Json> => (Array.isArray(value) ? value : [])

const sourcesOf = (grounding: JsonObject): ReadonlyArray<{ readonly type: "url"; readonly url: string }> =>
  list(grounding["groundingChunks"]).flatMap((chunk) => {
    const web = isJsonObject(chunk) ? chunk["web"] : undefined
    const url = isJsonObject(web) ? web["uri"] : undefined
    return typeof url === "string" ? [{ type: "url" as const, url }] : []
  })

const giveSearch = (work: Work): void => {
  const { grounding } = work
  const queries = list(grounding?.["webSearchQueries"]).filter((query) => typeof query === "string")
  const [query] = queries
  if (grounding === undefined || query === undefined) return
  const { id, outputIndex } = place(work, "ws")
  const at = { item_id: id, output_index: outputIndex }
  const item: WebSearchItem = {
    id,
    type: "web_search_call",
    status: "in_progress",
    action: { type: "search", query, queries }
  }
  announce(work, outputIndex, item)
  work.events.push(
    { type: "response.web_search_call.in_progress", sequence_number: next(work), ...at },
    { type: "response.web_search_call.searching", sequence_number: next(work), ...at },
    { type: "response.web_search_call.completed", sequence_number: next(work), ...at }
  )
  const shown: WebSearchItem = { ...item, status: "completed" }
  const whole: WebSearchItem = { ...shown, action: { ...item.action, sources: sourcesOf(grounding) } }
  if (work.facts.plan.shown.sources) done(work, outputIndex, whole)
  else doneInPart(work, outputIndex, shown, whole)
}
