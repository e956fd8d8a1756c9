// The blocks of a user turn, or of a tool result, as parts of the chat.
// It must not know turns. Rules: D201, D204, Table 1.
import * as Result from "effect/Result"
import type { BodyInvalid } from "../../../domain/GatewayError.ts"
import { isJsonObject, type Json, type JsonObject } from "../../../domain/text/json.ts"
import { invalid } from "../../shared/fault.ts"

type Read<A> = Result.Result<A, BodyInvalid>

/** A part of the chat, and the block it came from. */
export interface PlacedPart {
  readonly part: JsonObject
  readonly path: string
}

export type Blocks = ReadonlyArray<{ readonly block: JsonObject; readonly path: string }>

const isBlank = (text: string): boolean => text.trim() === ""

/** The blocks of a content: a text is one block, null is none. */
export const blocksOf = (content: Json | undefined, path: string): Read<Blocks> => {
  if (content === undefined || content === null) return Result.succeed([])
  if (typeof content === "string") return Result.succeed([{ block: { type: "text", text: content }, path }])
  if (!Array.isArray(content)) return invalid(path, "invalid_type", `${path} must be a string or an array of blocks.`)
  const blocks: Array<Blocks[number]> = []
  for (const [index, block] of content.entries()) {
    const at = `${path}[${index}]`
    if (!isJsonObject(block) || typeof block["type"] !== "string")
      return invalid(at, "invalid_value", `${at} must be a block with a type.`)
    blocks.push({ block, path: at })
  }
  return Result.succeed(blocks)
}

/** The text of a block; undefined for white space, which is dropped. */
export const textOfBlock = ({ text }: JsonObject, path: string): Read<string | undefined> => {
  if (typeof text !== "string") return invalid(`${path}.text`, "invalid_type", `${path}.text must be a string.`)
  return Result.succeed(isBlank(text) ? undefined : text)
}

const serverBlock = /^(?:server_tool_use|mcp_tool_use|mcp_tool_result|advisor_\w+|fallback|\w+_tool_result)$/

/** Blocks of server tools: their makers alone can read them. */
export const isServerBlock = (type: unknown): boolean => typeof type === "string" && serverBlock.test(type)

export const unknownBlock = (path: string, type: unknown): Result.Result<never, BodyInvalid> =>
  invalid(
    path,
    "invalid_value",
    `${path} has the type ${JSON.stringify(type)}, which models other than Claude do not take here.`
  )

const textPart = (text: string, path: string): PlacedPart => ({ part: { type: "text", text }, path })

/** The parts of one block; `ignored` collects what has no effect. */
export const partsOfBlock = (
  block: JsonObject,
  path: string,
  ignored: Array<string>
): Read<ReadonlyArray<PlacedPart>> => {
  switch (block["type"]) {
    case "text":
      return Result.map(textOfBlock(block, path), (text) => (text === undefined ? [] : [textPart(text, path)]))
    case "image":
      return imagePart(block["source"], path)
    case "document":
      return documentParts(block, path, ignored)
    case "search_result":
      return Result.map(textsOf(block["content"], `${path}.content`), (texts) => [
        textPart(`${String(block["title"])}\n${String(block["source"])}\n\n${texts.join("\n")}`, path)
      ])
    case "tool_reference":
      return Result.succeed([textPart(`Tool ${String(block["tool_name"])} is available now.`, path)])
    default:
      if (!isServerBlock(block["type"])) return unknownBlock(path, block["type"])
      ignored.push(path)
      return Result.succeed([])
  }
}

/** The texts of a content of text blocks. */
export const textsOf = (content: Json | undefined, path: string): Read<ReadonlyArray<string>> =>
  Result.flatMap(blocksOf(content, path), (blocks) => {
    const texts: Array<string> = []
    for (const { block, path: at } of blocks) {
      if (block["type"] !== "text") return unknownBlock(at, block["type"])
      const text = textOfBlock(block, at)
      if (Result.isFailure(text)) return Result.fail(text.failure)
      if (text.success !== undefined) texts.push(text.success)
    }
    return Result.succeed(texts)
  })

/** The address of a source; a file of Anthropic's store cannot be read here. */
const addressOf = (source: Json | undefined, path: string): Read<string> => {
  const at = `${path}.source`
  if (!isJsonObject(source)) return invalid(at, "invalid_type", `${at} must be an object.`)
  const { data, media_type: type, type: kind, url } = source
  if (kind === "base64" && typeof data === "string" && typeof type === "string")
    return Result.succeed(`data:${type};base64,${data}`)
  if (kind === "url" && typeof url === "string") return Result.succeed(url)
  return invalid(
    at,
    "invalid_value",
    `${at} must be {type: "base64", media_type, data} or {type: "url", url}: files of Anthropic's own store are not there for other models.`
  )
}

const imagePart = (source: Json | undefined, path: string): Read<ReadonlyArray<PlacedPart>> =>
  Result.map(addressOf(source, path), (url) => [{ part: { type: "image_url", image_url: { url } }, path }])

const documentParts = (block: JsonObject, path: string, ignored: Array<string>): Read<ReadonlyArray<PlacedPart>> => {
  const { citations, context, source, title } = block
  if (isJsonObject(citations) && citations["enabled"] === true) ignored.push(`${path}.citations`)
  const before = typeof context === "string" && !isBlank(context) ? [textPart(context, path)] : []
  const named = typeof title === "string" && title !== "" ? title : undefined
  const join = (parts: ReadonlyArray<PlacedPart>) => [...before, ...parts]
  if (isJsonObject(source) && source["type"] === "text") {
    const { data } = source
    if (typeof data !== "string")
      return invalid(`${path}.source.data`, "invalid_type", `${path}.source.data must be a string.`)
    return Result.succeed(
      isBlank(data) ? before : join([textPart(named === undefined ? data : `${named}\n\n${data}`, path)])
    )
  }
  if (isJsonObject(source) && source["type"] === "content")
    return Result.flatMap(blocksOf(source["content"], `${path}.source.content`), (blocks) => {
      const parts: Array<PlacedPart> = []
      for (const inner of blocks) {
        const { type } = inner.block
        if (type !== "text" && type !== "image") return unknownBlock(inner.path, type)
        const read = partsOfBlock(inner.block, inner.path, ignored)
        if (Result.isFailure(read)) return Result.fail(read.failure)
        parts.push(...read.success)
      }
      return Result.succeed(join(parts))
    })
  return Result.map(addressOf(source, path), (address) => {
    const place = address.startsWith("data:") ? { file_data: address } : { file_url: address }
    return join([
      { part: { type: "file", file: { ...place, ...(named === undefined ? {} : { filename: named }) } }, path }
    ])
  })
}
