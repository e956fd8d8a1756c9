// Contents and parts for the other Google product, and signatures that it did not make.
// It must not know the rest of a body. Rules: N503, N506, and the rows on parts of table 1.
import * as Result from "effect/Result"
import { readEach } from "../../domain/text/readEach.ts"
import type { RequestFault } from "../../domain/GatewayError.ts"
import type { BuiltInKind } from "../../domain/ProviderAccount.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import { listOf } from "./camelMembers.ts"
import { mimeOfPath } from "../shared/media/mime.ts"

export interface PartCrossing {
  /** The product that will serve. */
  readonly kind: BuiltInKind
  readonly ignored: Array<string>
  readonly refused: (param: string) => Result.Result<never, RequestFault>
}

type Read<A> = Result.Result<A, RequestFault>

const filesApi = /^https:\/\/generativelanguage\.googleapis\.com\//

/** Parts that only the Gemini API has: calls of server tools cannot be left out, notes can. */
const refusedParts: Readonly<Record<BuiltInKind, ReadonlyArray<string>>> = {
  "vertex-ai": ["toolCall", "toolResponse"],
  google: []
}
const droppedMembers: Readonly<Record<BuiltInKind, ReadonlyArray<string>>> = {
  "vertex-ai": ["partMetadata", "mediaProcessing"],
  google: ["audioTranscription"]
}
/** Members inside of a part's own member. */
const droppedInside: Readonly<
  Record<BuiltInKind, ReadonlyArray<readonly [part: string, names: ReadonlyArray<string>]>>
> = {
  "vertex-ai": [["functionResponse", ["willContinue"]]],
  google: [
    ["functionCall", ["partialArgs", "willContinue"]],
    ["inlineData", ["displayName"]],
    ["fileData", ["displayName"]]
  ]
}

/** The object without these members; each that was there is named, after the prefix of its path. */
export const withoutForeign = (
  holder: JsonObject,
  names: ReadonlyArray<string>,
  prefix: string,
  ignored: Array<string>
): JsonObject => {
  const found = names.filter((name) => holder[name] !== undefined)
  if (found.length === 0) return holder
  ignored.push(...found.map((name) => prefix + name))
  return Object.fromEntries(Object.entries(holder).filter(([name]) => !found.includes(name)))
}

/** An address that the other product can read, with the type that Vertex AI demands. */
const crossFile = (file: JsonObject, path: string, { kind, refused }: PartCrossing): Read<JsonObject> => {
  const { fileUri, mimeType } = file
  if (typeof fileUri !== "string") return Result.succeed(file)
  if (kind === "google") return /^gs:/i.test(fileUri) ? refused(`${path}.fileUri`) : Result.succeed(file)
  if (filesApi.test(fileUri)) return refused(`${path}.fileUri`)
  if (mimeType !== undefined) return Result.succeed(file)
  const type = mimeOfPath(fileUri)
  return type === undefined ? refused(`${path}.mimeType`) : Result.succeed({ ...file, mimeType: type })
}

const crossPart = (written: Json, path: string, crossing: PartCrossing): Read<Json> => {
  if (!isJsonObject(written)) return Result.succeed(written)
  const { ignored, kind, refused } = crossing
  const foreign = refusedParts[kind].find((name) => written[name] !== undefined)
  if (foreign !== undefined) return refused(`${path}.${foreign}`)
  const part: Record<string, Json | undefined> = {
    ...withoutForeign(written, droppedMembers[kind], `${path}.`, ignored)
  }
  for (const [name, names] of droppedInside[kind]) {
    const inner = part[name]
    if (isJsonObject(inner)) part[name] = withoutForeign(inner, names, `${path}.${name}.`, ignored)
  }
  const response = part["functionResponse"]
  const answered = isJsonObject(response) ? listOf(response["parts"]) : undefined
  if (isJsonObject(response) && Array.isArray(answered)) {
    const crossed = readEach(answered, (inner: Json, index) =>
      crossResponsePart(inner, `${path}.functionResponse.parts[${index}]`, crossing)
    )
    if (Result.isFailure(crossed)) return Result.fail(crossed.failure)
    part["functionResponse"] = { ...response, parts: crossed.success }
  }
  const file = part["fileData"]
  return isJsonObject(file)
    ? Result.map(crossFile(file, `${path}.fileData`, crossing), (fileData) => ({ ...part, fileData }))
    : Result.succeed(part)
}

/** A part of a function's response, where the Gemini API takes bytes alone. */
const crossResponsePart = (part: Json, path: string, crossing: PartCrossing): Read<Json> =>
  crossing.kind === "google" && isJsonObject(part) && part["fileData"] !== undefined
    ? crossing.refused(`${path}.fileData`)
    : crossPart(part, path, crossing)

/** A content with its role: a missing one is the user's, which Vertex AI demands. An instruction has none. */
export const crossContent = (content: Json, path: string, crossing: PartCrossing): Read<Json> => {
  if (!isJsonObject(content)) return Result.succeed(content)
  const parts = listOf(content["parts"])
  const isTurn = path.startsWith("contents")
  const role = content["role"] === undefined && isTurn ? { role: "user" } : {}
  if (!Array.isArray(parts)) return Result.succeed({ ...role, ...content })
  return Result.map(
    readEach(parts, (part, index) => crossPart(part, `${path}.parts[${index}]`, crossing)),
    (crossed) => ({ ...role, ...content, parts: crossed })
  )
}

/** What Gemini takes where a signature is not known. Source: Google's page on thought signatures. */
const sentinel = "skip_thought_signature_validator"

/**
 * The body without signatures, for one more try after they were refused. The first call of each turn of the model gets the
 * sentinel where the model takes it.
 */
export const withoutSignatures = (body: JsonObject, takesSentinel: boolean): JsonObject => {
  const { contents } = body
  if (!Array.isArray(contents)) return body
  return {
    ...body,
    contents: contents.map((content: Json) => {
      const parts = isJsonObject(content) ? content["parts"] : undefined
      if (!isJsonObject(content) || !Array.isArray(parts)) return content
      const first = parts.findIndex((part: Json) => isJsonObject(part) && part["functionCall"] !== undefined)
      return {
        ...content,
        parts: parts.map((part: Json, index): Json => {
          if (!isJsonObject(part)) return part
          const { thoughtSignature: _theirs, thought_signature: _also, ...rest } = part
          return takesSentinel && index === first ? { ...rest, thoughtSignature: sentinel } : rest
        })
      }
    })
  }
}
