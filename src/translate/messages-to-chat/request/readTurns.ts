// The messages of a request with their roles and blocks.
// It must not know what becomes of a block. Rule: D201.
import * as Result from "effect/Result"
import type { BodyInvalid } from "../../../domain/GatewayError.ts"
import { isJsonObject, type Json, type JsonObject } from "../../../domain/text/json.ts"
import { invalid } from "../../shared/fault.ts"
import { type Blocks, blocksOf } from "./blocks.ts"

type Read<A> = Result.Result<A, BodyInvalid>

/** One message of the request with its blocks. */
export interface ReadMessage {
  readonly role: "user" | "assistant" | "system"
  readonly given: JsonObject
  readonly blocks: Blocks
  readonly path: string
}

export const readTurns = (given: ReadonlyArray<Json>): Read<ReadonlyArray<ReadMessage>> => {
  const read: Array<ReadMessage> = []
  for (const [index, message] of given.entries()) {
    const path = `messages[${index}]`
    if (!isJsonObject(message)) return invalid(path, "invalid_type", `${path} must be an object.`)
    const { role } = message
    if (role !== "user" && role !== "assistant" && role !== "system")
      return invalid(`${path}.role`, "invalid_value", `${path}.role must be user, assistant or system.`)
    const blocks = blocksOf(message["content"], `${path}.content`)
    if (Result.isFailure(blocks)) return Result.fail(blocks.failure)
    read.push({ role, given: message, blocks: blocks.success, path })
  }
  return Result.succeed(read)
}
