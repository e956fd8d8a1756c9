// The results of one assistant turn as messages of the chat, directly after it and in the order of its calls.
// It must not know other turns. Rules: D205, D206.
import * as Result from "effect/Result"
import type { BodyInvalid } from "../../../domain/GatewayError.ts"
import type { JsonObject } from "../../../domain/text/json.ts"
import type { ChatMessage } from "../../../wire/openai/Chat.ts"
import type { TurnPath } from "../../shared/carrier/assistantTurn.ts"
import { invalid } from "../../shared/fault.ts"
import type { RequestFacts } from "../facts.ts"
import { type Blocks, blocksOf, type PlacedPart, partsOfBlock } from "./blocks.ts"
import type { ReadMessage } from "./readTurns.ts"

type Read<A> = Result.Result<A, BodyInvalid>

interface ToolResult {
  readonly id: string
  readonly isError: boolean
  readonly parts: ReadonlyArray<PlacedPart>
  readonly path: string
}

/** What one user message holds: results, and everything else in order. */
export interface RunParts {
  readonly at: string
  readonly results: ReadonlyArray<ToolResult>
  readonly parts: ReadonlyArray<PlacedPart>
}

interface Placed {
  readonly message: ChatMessage
  readonly path: TurnPath
}

const partsOfAll = (blocks: Blocks, ignored: Array<string>): Read<ReadonlyArray<PlacedPart>> => {
  const parts: Array<PlacedPart> = []
  for (const { block, path } of blocks) {
    const read = partsOfBlock(block, path, ignored)
    if (Result.isFailure(read)) return Result.fail(read.failure)
    parts.push(...read.success)
  }
  return Result.succeed(parts)
}

const readResult = (block: JsonObject, path: string, ignored: Array<string>): Read<ToolResult> => {
  const { content, is_error: isError, tool_use_id: id } = block
  if (typeof id !== "string" || id === "")
    return invalid(`${path}.tool_use_id`, "missing_required_parameter", `${path}.tool_use_id is missing.`)
  return Result.flatMap(blocksOf(content, `${path}.content`), (blocks) =>
    Result.map(partsOfAll(blocks, ignored), (parts) => ({ id, isError: isError === true, parts, path }))
  )
}

/** Results and other blocks of a user message. */
export const runOf = ({ blocks, path }: ReadMessage, ignored: Array<string>): Read<RunParts> => {
  const results: Array<ToolResult> = []
  const others: Array<Blocks[number]> = []
  for (const one of blocks) {
    if (one.block["type"] !== "tool_result") {
      others.push(one)
      continue
    }
    const read = readResult(one.block, one.path, ignored)
    if (Result.isFailure(read)) return Result.fail(read.failure)
    results.push(read.success)
  }
  return Result.map(partsOfAll(others, ignored), (parts) => ({ at: path, results, parts }))
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
export const resultMessages = (
  run: ReadonlyArray<RunParts>,
  calls: ReadonlyArray<{ readonly id: string; readonly name: string }>,
  facts: Pick<RequestFacts, "family">,
  ignored: Array<string>
): Read<ReadonlyArray<Placed>> => {
  const byId = new Map<string, ToolResult>()
  for (const { results } of run)
    for (const result of results) {
      if (byId.has(result.id)) ignored.push(result.path)
      else byId.set(result.id, result)
    }
  const order = new Map(calls.map(({ id }, index) => [id, index]))
  const placeOf = ({ id }: ToolResult): number => order.get(id) ?? calls.length
  const results = [...byId.values()].toSorted((one, other) => placeOf(one) - placeOf(other))
  const names = new Map(calls.map(({ id, name }) => [id, name]))
  return Result.succeed([...results.map((result) => toolMessage(result, facts)), ...apart(results, names, facts)])
}
