// The turns of a message as messages of the chat: system texts, results after their calls, and what carriers hold.
// It must not know parameters or any provider. Rules: D202-D208, D306, D307.
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import type { ChatMessage } from "../../wire/openai/Chat.ts"
import { signedBy, type TurnPath } from "../shared/carrier.ts"
import type { MessagesReader, RequestFacts } from "./facts.ts"
import type { ToolMentions } from "./tools.ts"
import {
  assistantMessage,
  blocksOf,
  isCompacted,
  openCarriers,
  partsOfBlocks,
  type PlacedBlock,
  type PlacedPart,
  type ReadMessage,
  type ReadTurn,
  readTurns,
  textsOf,
  textsOfBlocks
} from "./turns.ts"

export interface ReadMessages {
  readonly messages: ReadonlyArray<ChatMessage>
  readonly paths: ReadonlyArray<TurnPath>
  readonly mentions: ToolMentions
  /** The effort of the last system message that sets one. */
  readonly effort: Json | undefined
  readonly callIds: ReadonlySet<string>
}

/** Ids of all calls of the history. Runs before validation, so it accepts any shape. */
export const historyCallIds = ({ messages }: JsonObject): ReadonlyArray<string> =>
  (Array.isArray(messages) ? messages : []).flatMap((message: Json) =>
    isJsonObject(message) && Array.isArray(message["content"])
      ? message["content"].flatMap((block: Json) =>
          isJsonObject(block) && block["type"] === "tool_use" && typeof block["id"] === "string" ? [block["id"]] : []
        )
      : []
  )

/** The text of the last compaction replaces everything before it. */
const sinceCompaction = (all: ReadonlyArray<ReadMessage>): ReadonlyArray<ReadMessage> => {
  const at = all.findLastIndex(({ blocks }) => blocks.some(isCompacted))
  const turn = all[at]
  if (turn === undefined) return all
  const from = turn.blocks.findLastIndex(isCompacted)
  const [compaction, ...rest] = turn.blocks.slice(from)
  if (compaction === undefined) return all
  const text: PlacedBlock = { block: { type: "text", text: compaction.block["content"] }, path: compaction.path }
  return [{ ...turn, role: "user", blocks: [text] }, { ...turn, blocks: rest }, ...all.slice(at + 1)]
}

const isRealUser = ({ blocks, role }: ReadMessage): boolean =>
  role === "user" && blocks.some(({ block }) => block["type"] !== "tool_result")

const billing = "x-anthropic-billing-header:"

const reminder = (texts: ReadonlyArray<string>): string =>
  `<system-reminder>\n${texts.join("\n\n")}\n</system-reminder>`

/** The texts of a system message; its tool changes are read apart. */
const systemTexts = (reader: MessagesReader, { blocks }: Pick<ReadMessage, "blocks">): ReadonlyArray<string> => {
  const spoken = blocks.filter(({ block: { type } }) => type !== "tool_addition" && type !== "tool_removal")
  return textsOfBlocks(reader, spoken).filter((text) => !text.startsWith(billing))
}

const nameIn = (block: JsonObject): string => {
  const tool = isJsonObject(block["tool"]) ? block["tool"] : block
  return String(tool["name"] ?? tool["tool_name"])
}

/** The tools that the conversation names, in order: the last change counts. */
const mentionsOf = (all: ReadonlyArray<ReadMessage>): ToolMentions => {
  const known = new Set<string>()
  const removed = new Set<string>()
  const visit = (block: JsonObject): void => {
    const { content, name, type } = block
    if (type === "tool_use") known.add(String(name))
    if (type === "tool_reference") known.add(String(block["tool_name"]))
    if (type === "tool_addition") {
      known.add(nameIn(block))
      removed.delete(nameIn(block))
    }
    if (type === "tool_removal") removed.add(nameIn(block))
    if (type === "tool_result" && Array.isArray(content))
      for (const inner of content) if (isJsonObject(inner)) visit(inner)
  }
  for (const { blocks } of all) for (const { block } of blocks) visit(block)
  return { known, removed }
}

const effortOf = (all: ReadonlyArray<ReadMessage>): Json | undefined =>
  all
    .filter(({ role }) => role === "system")
    .map(({ given }) => (isJsonObject(given["output_config"]) ? given["output_config"]["effort"] : undefined))
    .findLast((effort) => (effort ?? undefined) !== undefined)

class Conversation {
  readonly messages: Array<ChatMessage> = []
  readonly paths: Array<TurnPath> = []

  add(message: ChatMessage, path: TurnPath): void {
    this.messages.push(message)
    this.paths.push(path)
  }

  user(parts: ReadonlyArray<PlacedPart>, at: string): void {
    if (parts.length === 0) return
    const [only] = parts
    const isText = parts.length === 1 && only?.part["type"] === "text"
    this.add(
      { role: "user", content: isText ? only.part["text"] : parts.map(({ part }) => part) },
      { at, list: "content", calls: [], parts: parts.map(({ path }) => path) }
    )
  }
}

export const readMessages = (
  reader: MessagesReader,
  system: Json | undefined,
  given: ReadonlyArray<Json>,
  facts: RequestFacts
): ReadMessages => {
  const whole = readTurns(reader, given)
  const all = sinceCompaction(whole)
  const first = all.findIndex(({ role }) => role === "assistant")
  const leading = all.slice(0, first < 0 ? all.length : first)
  const texts = textsOf(reader, system, "system").filter((text) => !text.startsWith(billing))
  for (const turn of leading) if (turn.role === "system") texts.push(...systemTexts(reader, turn))
  const chat = new Conversation()
  if (texts.length > 0)
    chat.add({ role: "system", content: texts.join("\n\n") }, { at: "system", list: "content", calls: [], parts: [] })
  const carriers = openCarriers(reader, all, facts)
  const signed = signedBy([...carriers.latest.values()])
  const lastReal = all.findLastIndex(isRealUser)
  const callIds = new Set<string>()
  let run: Array<RunParts> = []
  let calls: ReadTurn["calls"] = []
  const endRun = (): void => {
    for (const { message, path } of resultMessages(reader, run, calls, facts)) chat.add(message, path)
    for (const { at, parts } of run) chat.user(parts, at)
    run = []
    calls = []
  }
  for (const [index, turn] of all.entries()) {
    if (turn.role === "assistant") {
      endRun()
      const read = assistantMessage(reader, turn, signed, carriers, facts)
      if (read === undefined) continue
      chat.add(read.message, read.path)
      calls = read.calls
      for (const { id } of read.calls) callIds.add(id)
    } else if (turn.role === "user") run.push(runOf(reader, turn))
    else if (index >= leading.length && !(turn.given["clear_at"] === "next_user_message" && index < lastReal)) {
      const late = systemTexts(reader, turn)
      if (late.length === 0) continue
      const part: PlacedPart = { part: { type: "text", text: reminder(late) }, path: turn.path }
      const before = run.at(-1)
      if (before === undefined) run.push({ at: turn.path, results: [], parts: [part] })
      else run[run.length - 1] = { ...before, parts: [...before.parts, part] }
    }
  }
  endRun()
  return { messages: chat.messages, paths: chat.paths, mentions: mentionsOf(whole), effort: effortOf(whole), callIds }
}

// The results of one assistant turn as messages of the chat, directly after it and in the order of its calls.

interface ToolResult {
  readonly id: string
  readonly isError: boolean
  readonly parts: ReadonlyArray<PlacedPart>
  readonly path: string
}

/** What one user message holds: results, and everything else in order. */
interface RunParts {
  readonly at: string
  readonly results: ReadonlyArray<ToolResult>
  readonly parts: ReadonlyArray<PlacedPart>
}

interface Placed {
  readonly message: ChatMessage
  readonly path: TurnPath
}

const readResult = (reader: MessagesReader, { block, path }: PlacedBlock): ToolResult | undefined => {
  const { content, is_error: isError, tool_use_id: id } = block
  if (typeof id !== "string" || id === "")
    return reader.invalid(`${path}.tool_use_id`, "missing_required_parameter", `${path}.tool_use_id is missing.`)
  const blocks = blocksOf(reader, content, `${path}.content`)
  return { id, isError: isError === true, parts: partsOfBlocks(reader, blocks), path }
}

/** Results and other blocks of a user message. */
const runOf = (reader: MessagesReader, { blocks, path }: ReadMessage): RunParts => {
  const isResult = ({ block }: PlacedBlock): boolean => block["type"] === "tool_result"
  const others = blocks.filter((placed) => !isResult(placed))
  const results = reader.each(blocks.filter(isResult), (placed) => readResult(reader, placed))
  return { at: path, results, parts: partsOfBlocks(reader, others) }
}

const isText = ({ part }: PlacedPart): boolean => part["type"] === "text"

/** Gemini has a place for a failed result; other models read it. */
const toolMessage = ({ id, isError, parts, path }: ToolResult, { family }: Pick<RequestFacts, "family">): Placed => {
  const named = isError && family !== "gemini"
  const shown = family === "gemini" ? parts : parts.filter(isText)
  const text = shown.map(({ part }) => String(part["text"])).join("\n")
  return {
    message: {
      role: "tool",
      tool_call_id: id,
      content: shown.every(isText) ? (named ? `Error: ${text}` : text) : shown.map(({ part }) => part),
      ...(isError && family === "gemini" ? { is_error: true } : {})
    },
    path: { at: path, list: "content", calls: [], parts: shown.every(isText) ? [] : shown.map((part) => part.path) }
  }
}

/** Pictures and documents of results, which other families take from users only. */
const apart = (
  results: ReadonlyArray<ToolResult>,
  names: ReadonlyMap<string, string>,
  { family }: Pick<RequestFacts, "family">
): ReadonlyArray<Placed> => {
  const parts = results.flatMap(({ id, parts: all, path }) => {
    const media = family === "gemini" ? [] : all.filter((part) => !isText(part))
    const title: PlacedPart = {
      part: { type: "text", text: `From the result of ${names.get(id) ?? ""} (${id}):` },
      path
    }
    return media.length === 0 ? [] : [title, ...media]
  })
  const [first] = parts
  return first === undefined
    ? []
    : [
        {
          message: { role: "user", content: parts.map(({ part }) => part) },
          path: { at: first.path, list: "content", calls: [], parts: parts.map(({ path }) => path) }
        }
      ]
}

/** All results of a run; a second result for one call is ignored, one without a call is left for the chat to refuse. */
const resultMessages = (
  reader: MessagesReader,
  run: ReadonlyArray<RunParts>,
  calls: ReadTurn["calls"],
  facts: Pick<RequestFacts, "family">
): ReadonlyArray<Placed> => {
  const byId = new Map<string, ToolResult>()
  for (const { results } of run)
    for (const result of results) {
      if (byId.has(result.id)) reader.ignored.push(result.path)
      else byId.set(result.id, result)
    }
  const order = new Map(calls.map(({ id }, index) => [id, index]))
  const placeOf = ({ id }: ToolResult): number => order.get(id) ?? calls.length
  const results = [...byId.values()].toSorted((one, other) => placeOf(one) - placeOf(other))
  const names = new Map(calls.map(({ id, name }) => [id, name]))
  return [...results.map((result) => toolMessage(result, facts)), ...apart(results, names, facts)]
}
