// An assistant turn as a message of the chat: its texts and calls, with what carriers know of them.
// It must not know other roles. Rules: D204, D207, D208, D306, D307.
import * as Result from "effect/Result"
import type { BodyInvalid } from "../../../domain/GatewayError.ts"
import type { ChatMessage } from "../../../wire/openai/Chat.ts"
import { AssistantTurn, type Signed, type TurnPath } from "../../shared/carrier/assistantTurn.ts"
import { invalid } from "../../shared/fault.ts"
import type { RequestFacts } from "../facts.ts"
import { ownSearchPrefix } from "../ids.ts"
import { type Blocks, isServerBlock, textOfBlock, unknownBlock } from "./blocks.ts"
import type { OpenedCarriers } from "./carriers.ts"
import type { ReadMessage } from "./readTurns.ts"

type Read<A> = Result.Result<A, BodyInvalid>

export interface ReadTurn {
  readonly message: ChatMessage
  readonly path: TurnPath
  readonly calls: ReadonlyArray<{ readonly id: string; readonly name: string }>
}

/** A compaction that can be read. */
export const isCompacted = ({ block }: Blocks[number]): boolean =>
  block["type"] === "compaction" && typeof block["content"] === "string"

/** A search that an answer of this gateway showed: its text has what was found. */
const isOwnSearch = ({ id, tool_use_id: of }: Blocks[number]["block"]): boolean =>
  [id, of].some((one) => typeof one === "string" && one.startsWith(ownSearchPrefix))

const readCall = ({ block, path }: Blocks[number]): Read<{ id: string; name: string; text: string }> => {
  const { id, input, name } = block
  if (typeof id !== "string" || id === "") return invalid(`${path}.id`, "invalid_value", `${path}.id is missing.`)
  if (typeof name !== "string" || name === "")
    return invalid(`${path}.name`, "invalid_value", `${path}.name is missing.`)
  return Result.succeed({ id, name, text: JSON.stringify(input ?? {}) })
}

/** Undefined for a turn of which nothing is left. */
export const assistantMessage = (
  { blocks, path }: ReadMessage,
  signed: Signed,
  carriers: OpenedCarriers,
  { digest }: Pick<RequestFacts, "digest">,
  ignored: Array<string>
): Read<ReadTurn | undefined> => {
  const turn = new AssistantTurn()
  const calls: Array<ReadTurn["calls"][number]> = []
  for (const one of blocks) {
    const { block } = one
    const fault = readBlock(turn, one, path)
    if (Result.isFailure(fault)) return Result.fail(fault.failure)
    if (fault.success === "server") ignored.push(one.path)
    if (block["type"] === "thinking" || block["type"] === "redacted_thinking") {
      const opened = carriers.byPath.get(one.path)
      // Later carriers of an answer repeat the earlier ones.
      if (opened !== undefined && carriers.latest.get(opened.r) === opened) turn.carrier(opened)
    }
    if (typeof fault.success === "object") calls.push(fault.success)
  }
  const made = turn.message(signed, digest)
  if (made === undefined) return Result.succeed(undefined)
  const reasoning = reasoningOf(blocks, carriers)
  const message = reasoning === "" ? made.message : { ...made.message, reasoning_content: reasoning }
  return Result.succeed({ message, path: made.path, calls })
}

/** Thoughts of open models, whose pair gives them back to models that want them (W29). */
const reasoningOf = (blocks: Blocks, { byPath }: OpenedCarriers): string =>
  blocks
    .map(({ block, path }) => {
      const isOpen = byPath.get(path)?.i.startsWith("openai/") === true
      return isOpen && typeof block["thinking"] === "string" ? block["thinking"] : ""
    })
    .join("")

type Outcome = "read" | "server" | { readonly id: string; readonly name: string }

const readBlock = (turn: AssistantTurn, one: Blocks[number], at: string): Read<Outcome> => {
  const { block, path } = one
  const { type } = block
  switch (type) {
    case "text":
      return Result.map(textOfBlock(block, path), (text): Outcome => {
        if (text !== undefined) turn.text(text, at)
        return "read"
      })
    case "tool_use":
      return Result.map(readCall(one), ({ id, name, text }): Outcome => {
        turn.call(id, name, text, path)
        return { id, name }
      })
    case "thinking":
    case "redacted_thinking":
      return Result.succeed("read")
    case "compaction":
      return invalid(path, "unsupported_item", `${path} is a compaction that Anthropic alone can read.`)
    default:
      if (!isServerBlock(type)) return unknownBlock(path, type)
      return Result.succeed(isOwnSearch(block) ? "read" : "server")
  }
}
