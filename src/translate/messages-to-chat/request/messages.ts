// The turns of a message as messages of the chat: system texts, results after their calls, and what carriers hold.
// It must not know parameters or any provider. Rules: D202-D208, D306, D307.
import * as Result from "effect/Result"
import type { BodyInvalid } from "../../../domain/GatewayError.ts"
import { isJsonObject, type Json, type JsonObject } from "../../../domain/text/json.ts"
import type { ChatMessage } from "../../../wire/openai/Chat.ts"
import { signedBy, type TurnPath } from "../../shared/carrier/assistantTurn.ts"
import type { RequestFacts } from "../facts.ts"
import { assistantMessage, isCompacted } from "./assistant.ts"
import { type Blocks, type PlacedPart, textsOf } from "./blocks.ts"
import { openCarriers } from "./carriers.ts"
import { type ReadMessage, readTurns } from "./readTurns.ts"
import { resultMessages, type RunParts, runOf } from "./results.ts"
import type { ToolMentions } from "./tools.ts"

type Read<A> = Result.Result<A, BodyInvalid>

export interface ReadMessages {
  readonly messages: ReadonlyArray<ChatMessage>
  readonly paths: ReadonlyArray<TurnPath>
  readonly ignored: ReadonlyArray<string>
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
  const text: Blocks[number] = { block: { type: "text", text: compaction.block["content"] }, path: compaction.path }
  return [{ ...turn, role: "user", blocks: [text] }, { ...turn, blocks: rest }, ...all.slice(at + 1)]
}

const isRealUser = ({ blocks, role }: ReadMessage): boolean =>
  role === "user" && blocks.some(({ block }) => block["type"] !== "tool_result")

const billing = "x-anthropic-billing-header:"

const reminder = (texts: ReadonlyArray<string>): string =>
  `<system-reminder>\n${texts.join("\n\n")}\n</system-reminder>`

/** The texts of a system message; its tool changes are read apart. */
const systemTexts = ({ blocks }: Pick<ReadMessage, "blocks">): Read<ReadonlyArray<string>> => {
  const texts: Array<string> = []
  for (const { block, path } of blocks) {
    if (block["type"] === "tool_addition" || block["type"] === "tool_removal") continue
    const read = textsOf([block], path)
    if (Result.isFailure(read)) return Result.fail(read.failure)
    texts.push(...read.success)
  }
  return Result.succeed(texts.filter((text) => !text.startsWith(billing)))
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
  system: Json | undefined,
  given: ReadonlyArray<Json>,
  facts: RequestFacts
): Read<ReadMessages> =>
  Result.gen(function* () {
    const whole = yield* readTurns(given)
    const all = sinceCompaction(whole)
    const ignored: Array<string> = []
    const first = all.findIndex(({ role }) => role === "assistant")
    const leading = all.slice(0, first < 0 ? all.length : first)
    const systems = yield* textsOf(system, "system")
    const texts = systems.filter((text) => !text.startsWith(billing))
    for (const one of leading) if (one.role === "system") texts.push(...(yield* systemTexts(one)))
    const chat = new Conversation()
    if (texts.length > 0)
      chat.add({ role: "system", content: texts.join("\n\n") }, { at: "system", list: "content", calls: [], parts: [] })
    const carriers = openCarriers(all, facts, ignored)
    const signed = signedBy([...carriers.latest.values()])
    const lastReal = all.findLastIndex(isRealUser)
    const callIds = new Set<string>()
    let run: Array<RunParts> = []
    let calls: ReadonlyArray<{ readonly id: string; readonly name: string }> = []
    const endRun = (): Read<void> =>
      Result.map(resultMessages(run, calls, facts, ignored), (results) => {
        for (const { message, path } of results) chat.add(message, path)
        for (const { at, parts } of run) chat.user(parts, at)
        run = []
        calls = []
      })
    for (const [index, one] of all.entries()) {
      if (one.role === "assistant") {
        yield* endRun()
        const turn = yield* assistantMessage(one, signed, carriers, facts, ignored)
        if (turn === undefined) continue
        chat.add(turn.message, turn.path)
        calls = turn.calls
        for (const { id } of turn.calls) callIds.add(id)
      } else if (one.role === "user") run.push(yield* runOf(one, ignored))
      else if (index >= leading.length && !(one.given["clear_at"] === "next_user_message" && index < lastReal)) {
        const late = yield* systemTexts(one)
        if (late.length === 0) continue
        const part: PlacedPart = { part: { type: "text", text: reminder(late) }, path: one.path }
        const before = run.at(-1)
        if (before === undefined) run.push({ at: one.path, results: [], parts: [part] })
        else run[run.length - 1] = { ...before, parts: [...before.parts, part] }
      }
    }
    yield* endRun()
    return {
      messages: chat.messages,
      paths: chat.paths,
      ignored,
      mentions: mentionsOf(whole),
      effort: effortOf(whole),
      callIds
    }
  })
